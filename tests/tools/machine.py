# SPDX-License-Identifier: MIT
"""A machine for the doctor: a folder with what it reads of /proc, /sys, /dev and so on."""
import json
import os
import shutil
import subprocess
import tempfile

RELEASE = "6.12.1"
MANAGER = "manager android.os.IServiceManager\n"
DAEMON = "31 30 0:31 / /dev/binderfs rw - fuse.binder anybinderd rw\n"
BINDERFS = "31 30 0:31 / /dev/binderfs rw - binder binder rw\n"
NAMESPACES = ("mnt", "ipc", "pid", "user")
seen = {}  # check -> outcomes
mends = set()


class Machine:
    """All is well at first: Linux 6.12 with a binderfs, and a service manager on it."""

    def __init__(self, doctor, folder):
        self.doctor = doctor
        self.root = tempfile.mkdtemp(dir=folder)
        os.chmod(self.root, 0o755)
        self.write("/proc/self/mountinfo", "30 1 0:5 / /dev rw - devtmpfs devtmpfs rw\n" + BINDERFS)
        self.write("/proc/filesystems", "nodev\tproc\nnodev\tbinder\n")
        self.write("/proc/self/status", "Name:\tx\nCapBnd:\t000001ffffffffff\n")
        self.write("/proc/sys/kernel/osrelease", RELEASE + "\n")
        self.write("/proc/sys/kernel/yama/ptrace_scope", "1\n")
        self.write("/proc/sys/fs/fuse/default_request_timeout", "0\n")
        self.write("/proc/sys/fs/fuse/max_request_timeout", "0\n")
        self.write("/proc/1/cgroup", "0::/init.scope\n")
        self.config("CONFIG_FUSE_FS=y\nCONFIG_FUSE_PASSTHROUGH=y\nCONFIG_ANDROID_BINDER_IPC=y\n"
                    "CONFIG_ANDROID_BINDERFS=y\n# CONFIG_ANDROID_BINDER_IPC_RUST is not set\n")
        for name in NAMESPACES:
            for pid in ("self", "1"):
                self.link(f"/proc/{pid}/ns/{name}", f"{name}:[1]")
        for name in ("binder-control", "hwbinder", "vndbinder", "features/extended_error"):
            self.write(f"/dev/binderfs/{name}", "")
        self.write("/dev/fuse", "")
        self.device(MANAGER)

    def path(self, path):
        return self.root + path

    def write(self, path, text):
        self.remove(path)
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os.chmod(self.path(path), 0o666)

    def link(self, path, target):
        self.remove(path)
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        os.symlink(target, self.path(path))

    def remove(self, path):
        full = self.path(path)
        if os.path.islink(full) or os.path.isfile(full):
            os.unlink(full)
        elif os.path.isdir(full):
            shutil.rmtree(full)

    def device(self, text):
        self.write("/dev/binderfs/binder", text)

    def mounts(self, *lines):
        self.write("/proc/self/mountinfo",
                   "30 1 0:5 / /dev rw - devtmpfs devtmpfs rw\n" + "".join(lines))

    def config(self, text):
        self.remove("/proc/config.gz")
        self.write(f"/boot/config-{RELEASE}", text)

    def bare(self, release=RELEASE):
        """No driver but what can be had; no device."""
        self.remove("/dev/binderfs")
        self.mounts()
        self.write("/proc/filesystems", "nodev\tproc\n")
        self.write("/proc/sys/kernel/osrelease", release + "\n")
        self.config("CONFIG_FUSE_FS=y\nCONFIG_FUSE_PASSTHROUGH=y\n")

    def daemon(self):
        self.mounts(DAEMON)

    def examine(self, *words):
        """(findings by check, verdict, exit status)"""
        done = subprocess.run([self.doctor, f"--root={self.root}", "--json", *words], check=False,
                              text=True, timeout=60, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if not lines or done.returncode not in (0, 1) or done.stderr:
            raise AssertionError(f"{done.returncode}: {done.stdout}{done.stderr}")
        findings = {line["check"]: line for line in lines[:-1]}
        for name, finding in findings.items():
            seen.setdefault(name, set()).add(finding["outcome"])
            if finding["mend"]:
                mends.add(finding["mend"])
        return findings, lines[-1], done.returncode
