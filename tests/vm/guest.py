# SPDX-License-Identifier: MIT
"""One guest: what is in it, its boot under qemu, and the verdict.

A guest passes only if process 1 (tests/vm/init) reported "success" as its last
line and the kernel log has nothing in it that a kernel says when it is unwell.
"""
import base64
import io
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import image
import kernel_log

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
DRIVERS = ("ours", "intree", "daemon", "none")
# A boot that has not come to process 1 by then, with nothing of ours in it, is tried once more.
BOOT_SECONDS = 180
# The kernel has ttyS0 for its log alone, process 1 the two others. All processors have the same
# time stamp counter, which the kernel doubts at times, and then takes slower clocks.
KERNEL_ARGS = ("console=ttyS0,115200 loglevel=7 printk.devkmsg=on panic=-1 oops=panic tsc=reliable "
               "watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 rdinit=/init")


class Unusable(Exception):
    """There is no guest to be had; the words say why."""


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("ANYBINDER_VM_CACHE") or os.path.join(base, "anybinder", "vm")


def say(words):
    print(f"vm: {words}", file=sys.stderr, flush=True)


class Kernel:
    """A kernel of the cache (docs/vm.md has the layout), fetched if it is not there."""

    def __init__(self, name):
        self.name = name
        self.home = os.path.join(cache_folder(), name)
        if not os.path.exists(os.path.join(self.home, "complete")):
            done = subprocess.run([os.path.join(ROOT, "scripts", "vm-fetch"), name], check=False)
            if done.returncode:
                raise Unusable(f"no kernel {name}")
        with open(os.path.join(self.home, "release"), encoding="ascii") as file:
            self.release = file.read().strip()
        self.modules = image.Modules(os.path.join(self.home, "modules"))

    def path(self, name):
        return os.path.join(self.home, name)

    def has(self, option):
        with open(self.path("config"), encoding="ascii", errors="replace") as file:
            return f"{option}=y\n" in file.read()

    def build_module(self, folder):
        """Make anybinder.ko. Return: its path."""
        done = subprocess.run([os.path.join(ROOT, "scripts", "vm-build"), self.name, folder],
                              check=False, stdout=sys.stderr)
        if done.returncode:
            raise Unusable(f"anybinder.ko does not build for {self.name}")
        return os.path.join(folder, "anybinder.ko")


class Job:
    """What a guest is to do. Paths are the host's; programs bring their libraries."""

    def __init__(self, kernel, drivers, build):
        self.kernel, self.drivers, self.build = kernel, drivers, build
        self.command = ""          # shell text
        self.files = []            # (host path, path in the guest)
        self.texts = {}            # path in the guest -> text
        self.env = {}
        self.modules = []          # names, besides what the drivers need
        self.args = {"ours": "", "intree": ""}
        self.rounds = 1
        self.memory, self.cpus = "1024M", 2
        self.icount = self.fast_strings = None
        self.icount_shift = 0
        self.append = ""
        self.timeout = 300
        self.out = None

    def initramfs(self, path):
        """Write the guest's files."""
        here = os.path.join(ROOT, "tests", "vm")
        archive = image.Archive()
        archive.add_program(shutil.which("busybox") or "/bin/busybox", "/bin/busybox")
        archive.add_link("/bin/sh", "busybox")
        archive.add_link("/sbin", "bin")
        archive.add_file(os.path.join(here, "init"), "/init")
        archive.add_file(os.path.join(here, "vm-driver"), "/vm/vm-driver")
        modules = self.add_modules(archive)
        for source, target in self.files:
            archive.add_tree(source, target)
        for target, text in self.texts.items():
            archive.add_bytes(target, text.encode(), 0o755)
        exports = "".join(f"export {name}={shlex.quote(value)}\n"
                          for name, value in self.env.items())
        archive.add_bytes("/vm/command", (exports + self.command + "\n").encode(), 0o755)
        archive.add_bytes("/vm/job", "".join(
            f"{name}={shlex.quote(str(value))}\n" for name, value in {
                "drivers": " ".join(self.drivers), "modules": " ".join(modules),
                "rounds": self.rounds, "patience": int(min(self.timeout * 0.85, self.timeout - 15)),
                "ours_args": self.args["ours"], "intree_args": self.args["intree"],
            }.items()).encode())
        archive.write(path)

    def add_modules(self, archive):
        """Return: those that process 1 loads, in order."""
        wanted = list(self.modules)
        if "daemon" in self.drivers:
            wanted.append("fuse")
        loaded = self.kernel.modules.closure(wanted)
        packed = loaded
        if "intree" in self.drivers:
            packed = loaded + self.kernel.modules.closure(["binder_linux"])
        for name in packed:
            archive.add_bytes(f"/vm/modules/{name}.ko", self.kernel.modules.read(name))
        if "ours" in self.drivers:
            folder = os.path.join(self.build, "vm", self.kernel.name)
            archive.add_file(self.kernel.build_module(folder), "/vm/anybinder.ko")
        return [f"{name}.ko" for name in loaded]

    def qemu(self, initrd, out):
        cpu = "max" if self.fast_strings is not False else "max,erms=off,fsrm=off"
        words = ["qemu-system-x86_64", "-machine", "pc", "-nodefaults", "-no-user-config",
                 "-display", "none", "-no-reboot", "-m", self.memory, "-cpu", cpu,
                 "-kernel", self.kernel.path("vmlinuz"), "-initrd", initrd,
                 "-append", f"{KERNEL_ARGS} {self.append}".strip()]
        if self.icount:
            words += ["-accel", "tcg,thread=single", "-smp", "1",
                      "-icount", f"shift={self.icount_shift},sleep=off"]
        else:
            words += ["-accel", "tcg,thread=multi", "-smp", str(self.cpus)]
        for name in ("console", "report", "output"):
            words += ["-serial", f"file:{os.path.join(out, name + '.log')}"]
        return words

    def run(self, show=True):
        """Boot, wait for the end. Return: a Result; nothing is left running."""
        out = self.out or tempfile.mkdtemp(prefix="anybinder-vm-")
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="anybinder-vm-") as tmp:
            initrd = os.path.join(tmp, "initrd")
            self.initramfs(initrd)
            words = self.qemu(initrd, out)
            with open(os.path.join(out, "command.txt"), "w", encoding="utf-8") as file:
                file.write(shlex.join(words) + "\n")
            start = time.monotonic()
            ended, status = self.watch(words, out, show)
            if ended is None:
                say(f"the boot hangs after {BOOT_SECONDS} s; once more")
                os.replace(os.path.join(out, "console.log"), os.path.join(out, "hung.log"))
                ended, status = self.watch(words, out, show)
        result = Result(out, self.drivers, self.rounds)
        result.seconds = time.monotonic() - start
        result.keep = bool(self.out)
        if not ended:
            result.why.insert(0, f"still running after {self.timeout} s")
        elif status:
            result.why.insert(0, f"qemu ended with {status}")
        return result

    def watch(self, words, out, show):
        """Return: (True if it ended by itself, None if it did not even boot; its status)."""
        for name in ("console.log", "report.log", "output.log"):
            with open(os.path.join(out, name), "wb"):
                pass
        start = time.monotonic()
        guest = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *words],
                                 stdin=subprocess.DEVNULL, stdout=sys.stderr)
        booted = False
        try:
            with open(os.path.join(out, "output.log"), encoding="utf-8",
                      errors="replace") as output:
                while guest.poll() is None and time.monotonic() < start + self.timeout:
                    time.sleep(0.1)
                    if show:
                        print(output.read(), end="", flush=True)
                    booted = booted or os.path.getsize(os.path.join(out, "report.log")) > 0
                    if not booted and time.monotonic() > start + BOOT_SECONDS:
                        return None, None
                ended = guest.poll() is not None
                if show:
                    print(output.read(), end="", flush=True)
                return ended, guest.returncode
        finally:
            guest.kill()
            guest.wait()


class Result:
    """The verdict over a guest that has ended. @why is empty only if all was good."""

    def __init__(self, out, drivers, rounds):
        self.out, self.why, self.seconds, self.keep = out, [], 0, True
        self.report = self.read("report.log").replace("\r", "").split("\n")
        self.console = kernel_log.Log(self.read("console.log"))
        if not any(line.startswith("booted ") for line in self.report):
            self.why.append("it never came as far as process 1")
        self.why += [line for line in self.report if line.startswith("wrong: ")]
        statuses = [line for line in self.report if line.startswith("exit status ")]
        self.why += [line for line in statuses if not line.startswith("exit status 0:")]
        if not self.why and len(statuses) != len(drivers) * rounds:
            self.why.append(f"the command ended {len(statuses)} times, "
                            f"not {len(drivers) * rounds}")
        self.why += [f"kernel log: {line}" for line in self.console.bad()]
        self.unpack()
        if not self.why and [line for line in self.report if line][-1:] != ["success"]:
            self.why.append("it never said success")

    @property
    def good(self):
        return not self.why

    def read(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def unpack(self):
        """What the guest left in /out comes to files/."""
        if "out begins" not in self.report:
            return
        first = self.report.index("out begins") + 1
        try:
            last = self.report.index("out ends")
            data = base64.b64decode("".join(self.report[first:last]))
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                archive.extractall(os.path.join(self.out, "files"))
        except (ValueError, tarfile.TarError, OSError) as error:
            self.why.append(f"what it left in /out did not arrive: {error}")

    def tell(self):
        """Say how it went, with the kernel log's end if it went badly."""
        if not self.good:
            print("the kernel log ends:", file=sys.stderr)
            print("\n".join("    " + line for line in self.console.tail(60)), file=sys.stderr)
        for line in self.why:
            say(f"FAILED: {line}")
        say(f"{'success' if self.good else 'failed'} after {self.seconds:.0f} s"
            f"{'; all of it is in ' + self.out if self.keep or not self.good else ''}")

    def discard(self):
        """Of a good guest nothing is kept, unless somebody said where."""
        if self.good and not self.keep:
            shutil.rmtree(self.out)
