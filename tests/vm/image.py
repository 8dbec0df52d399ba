# SPDX-License-Identifier: MIT
"""The files of a guest: a cpio archive in memory, and modules of a kernel."""
import lzma
import os
import re
import stat
import subprocess


class Archive:
    """Files by their absolute path in the guest; a later one replaces an earlier one."""

    def __init__(self):
        self.entries = {}  # path -> (mode, data or None)

    def add_bytes(self, path, data, mode=0o644):
        self._add_folders(path)
        self.entries[path] = (stat.S_IFREG | mode, data)

    def add_link(self, path, target):
        self._add_folders(path)
        self.entries[path] = (stat.S_IFLNK | 0o777, target.encode())

    def add_file(self, source, path):
        with open(source, "rb") as file:
            self.add_bytes(path, file.read(), stat.S_IMODE(os.stat(source).st_mode))

    def add_program(self, source, path):
        """A file, and what it needs to run, at the paths where this machine has it."""
        self.add_file(source, path)
        for library in libraries(source):
            if library not in self.entries:
                self.add_file(library, library)

    def add_tree(self, source, path):
        """A file, or a folder with all below it; links are followed."""
        if not os.path.isdir(source):
            self.add_program(source, path)
            return
        for folder, _, names in os.walk(source, followlinks=True):
            inside = os.path.normpath(os.path.join(path, os.path.relpath(folder, source)))
            self._add_folders(inside + "/x")
            for name in names:
                full = os.path.join(folder, name)
                if os.path.isfile(full):
                    self.add_program(full, os.path.join(inside, name))

    def _add_folders(self, path):
        parts = path.strip("/").split("/")[:-1]
        for i in range(len(parts)):
            self.entries.setdefault("/" + "/".join(parts[:i + 1]), (stat.S_IFDIR | 0o755, b""))

    def write(self, path):
        """As the kernel wants it: "newc"."""
        with open(path, "wb") as file:
            for inode, (name, (mode, data)) in enumerate(self.entries.items(), 1):
                file.write(self._entry(inode, name.lstrip("/"), mode, data))
            file.write(self._entry(0, "TRAILER!!!", 0, b""))

    @staticmethod
    def _entry(inode, name, mode, data):
        links = 2 if stat.S_ISDIR(mode) else 1
        numbers = (inode, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % number for number in numbers) + name.encode() + b"\0"
        return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def libraries(program):
    """Paths of what the dynamic linker would load, itself included."""
    with open(program, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    done = subprocess.run(["ldd", program], check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    missing = re.findall(r"^\s*(\S+) => not found", done.stdout, re.M)
    if missing:
        raise OSError(f"{program} needs {', '.join(missing)}, which are not here")
    return re.findall(r"(?:=> |^\s*)(/\S+) \(0x", done.stdout, re.M)


class Modules:
    """The modules of a kernel: found by name, with those they need, without compression."""

    def __init__(self, folder):
        self.folder = folder
        self.paths, self.needs = {}, {}
        with open(os.path.join(folder, "modules.dep"), encoding="ascii") as file:
            for line in file:
                path, _, rest = line.partition(":")
                name = self._name(path)
                self.paths[name] = path
                self.needs[name] = [self._name(word) for word in rest.split()]
        self.builtin = set()
        with open(os.path.join(folder, "modules.builtin"), encoding="ascii") as file:
            self.builtin = {self._name(line) for line in file}

    @staticmethod
    def _name(path):
        return os.path.basename(path.strip()).split(".ko")[0].replace("-", "_")

    def closure(self, names):
        """They and what they need, in the order in which they load; built-in ones left out."""
        order = []
        for name in (name.replace("-", "_") for name in names):
            if name in self.builtin:
                continue
            if name not in self.paths:
                raise OSError(f"there is no module {name} in {self.folder}")
            for each in [*reversed(self.needs[name]), name]:
                if each not in order:
                    order.append(each)
        return order

    def read(self, name):
        path = os.path.join(self.folder, self.paths[name])
        with open(path, "rb") as file:
            data = file.read()
        if path.endswith(".xz"):
            return lzma.decompress(data)
        if path.endswith(".zst"):
            return subprocess.run(["zstd", "-dc"], input=data, check=True,
                                  stdout=subprocess.PIPE).stdout
        return data
