# SPDX-License-Identifier: MIT
"""The kernel log of a guest: what in it means that the kernel is unwell."""
import re

BAD = re.compile("|".join((
    r"\bWARNING: ",
    r"\bBUG: ", r"\bkernel BUG at", r"\bOops\b", r"\bKASAN:", r"\bKCSAN:", r"\bUBSAN:",
    r"\bKFENCE:", r"\bKMSAN:",
    r"Kernel panic", r"Out of memory", r"oom-kill:", r"invoked oom-killer",
    r"possible recursive locking", r"possible circular locking", r"\block order inver",
    r"inconsistent lock state", r"\bdeadlock\b", r"\bsuspicious RCU usage", r"held lock freed",
    r"lock held when returning", r"locks? still held", r"bad unlock balance",
    r"\bsleeping function called", r"scheduling while atomic", r"\bvoluntary context switch within",
    r"INFO: task .* blocked", r"\bblocked for more than", r"rcu.*(detected stalls|self-detected)",
    r"soft lockup", r"hard LOCKUP", r"general protection", r"[Uu]nable to handle",
    r"double fault", r"stack guard page", r"kernel stack overflow",
    r"refcount_t: ", r"list_(add|del) corruption", r"ODEBUG:", r"DEBUG_LOCKS_WARN_ON",
    r"Slab corruption", r"\bBad page state", r"Bad rss-counter", r"\bPoison overwritten",
    r"Objects remaining", r"Redzone overwritten", r"[Uu]se-after-free",
    r"VFS: Busy inodes", r"VFS: Close: file count is 0", r"kobject.*(leak|tried to)",
    r"sysfs: cannot create duplicate", r"cut here", r"unregister_netdevice: waiting",
)))
# What some machine says of itself at boot, before anything of ours runs.
FINE = re.compile("|".join((
    r"RETBleed: WARNING", r"Spectre V2 : WARNING", r"MDS: .*WARNING",
    r"percpu.*deadlock detection", r"lockup detector", r"lockdep.*deadlock",
    r"RCU callback double-/use-after-free debug is enabled",
)))
MARKER = re.compile(r"vm: --- marker: (.*)")


class Log:
    """Lines of the console."""

    def __init__(self, text):
        self.lines = [line.rstrip("\r") for line in text.split("\n")]

    def bad(self, lines=None):
        """Those that tell that something is wrong, each once."""
        return list(dict.fromkeys(
            line.strip() for line in (self.lines if lines is None else lines)
            if BAD.search(line) and not FINE.search(line)))

    def tail(self, count):
        return [line for line in self.lines if line.strip()][-count:]

    def parts(self):
        """marker -> lines up to the next."""
        parts, name = {}, "boot"
        for line in self.lines:
            match = MARKER.search(line)
            if match:
                name = match.group(1).strip()
            parts.setdefault(name, []).append(line)
        return parts
