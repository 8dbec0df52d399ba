# SPDX-License-Identifier: MIT
"""Binder with raw ioctls, from its documented interface: numbers, structs, parcels.

Nothing of this project's is used, so that what is documented is what works. One thread a
process.
"""
import ctypes
import fcntl
import mmap
import os
import struct

# _IOC(dir, type, nr, size)
WRITE_READ, VERSION = 0xC0306201, 0xC0046209


def bc(number, size=0):
    return (0x40000000 if size else 0) | size << 16 | ord("c") << 8 | number


def br(number, size=0):
    return (0x80000000 if size else 0) | size << 16 | ord("r") << 8 | number


BC_TRANSACTION, BC_REPLY, BC_FREE_BUFFER = bc(0, 64), bc(1, 64), bc(3, 8)
BC_ACQUIRE = bc(5, 4)
BC_INCREFS_DONE, BC_ACQUIRE_DONE, BC_ENTER_LOOPER = bc(8, 16), bc(9, 16), bc(12)
BC_REQUEST_DEATH, BC_DEAD_BINDER_DONE = bc(14, 12), bc(16, 8)
BR_TRANSACTION, BR_REPLY = br(2, 64), br(3, 64)
BR_DEAD_REPLY, BR_COMPLETE, BR_FAILED_REPLY = br(5), br(6), br(17)
BR_INCREFS, BR_ACQUIRE, BR_DEAD_BINDER = br(7, 16), br(8, 16), br(15, 8)
TF_ONE_WAY, TF_STATUS_CODE, TF_ACCEPT_FDS = 0x01, 0x08, 0x10
TYPE_BINDER, TYPE_HANDLE = 0x73622A85, 0x73682A85
MAP_SIZE, MAP_NORESERVE = 1 << 20, 0x4000
TRANSACTION = struct.Struct("<QQIIiIQQQQ")  # target cookie code flags pid euid sizes pointers
FLAT = struct.Struct("<IIQQ")  # type flags binder-or-handle cookie


def meta(name):
    return int.from_bytes(name.encode(), "big")


class Dead(Exception):
    """BR_DEAD_REPLY"""


class Failed(Exception):
    """BR_FAILED_REPLY, or a status in place of a reply"""


class Parcel:
    """A message to be sent."""

    def __init__(self):
        self.data, self.offsets = bytearray(), []

    def i32(self, *values):
        for value in values:
            self.data += struct.pack("<i", value)
        return self

    def s16(self, text):
        if text is None:
            return self.i32(-1)
        units = text.encode("utf-16-le")
        self.i32(len(units) // 2)
        self.data += units + b"\0\0"
        self.data += b"\0" * (-len(self.data) % 4)
        return self

    def object(self, kind, number, stability):
        """Ours by its number, or a handle; stability is the bytes behind it."""
        if kind is not None:
            self.offsets.append(len(self.data))
        self.data += FLAT.pack(kind or TYPE_BINDER, 0x100 if kind == TYPE_BINDER else 0, number,
                               number if kind == TYPE_BINDER else 0)
        self.data += stability
        return self


class Reader:
    """A message that was received."""

    def __init__(self, data):
        self.data, self.pos = data, 0

    def i32(self):
        self.pos += 4
        return struct.unpack_from("<i", self.data, self.pos - 4)[0]

    def s16(self):
        count = self.i32()
        if count < 0:
            return None
        text = bytes(self.data[self.pos:self.pos + 2 * count]).decode("utf-16-le")
        self.pos += (2 * count + 2 + 3) & ~3
        return text

    def handle(self, stability_size):
        """The handle of an object that is somebody else's; None for null."""
        kind, _, number, _ = FLAT.unpack_from(self.data, self.pos)
        self.pos += FLAT.size + stability_size
        return number & 0xFFFFFFFF if kind == TYPE_HANDLE else None


class Binder:
    """An open device."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        version = bytearray(4)
        fcntl.ioctl(self.fd, VERSION, version)
        assert struct.unpack("<i", version)[0] == 8
        libc = ctypes.CDLL(None, use_errno=True)
        self._ioctl = libc.ioctl
        # Python's own mmap() wants a file of that size, which a device is not.
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                              ctypes.c_int, ctypes.c_long]
        mapped = libc.mmap(None, MAP_SIZE, mmap.PROT_READ, mmap.MAP_PRIVATE | MAP_NORESERVE,
                           self.fd, 0)
        if mapped == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "mmap")
        self.out, self.returns, self.deaths = bytearray(), [], []
        self.serve = None  # (code, Reader, pid, euid) -> Parcel

    def put(self, command, payload=b""):
        self.out += struct.pack("<I", command) + payload

    def talk(self, read=True):
        """One ioctl."""
        out = ctypes.create_string_buffer(bytes(self.out), max(len(self.out), 1))
        back = ctypes.create_string_buffer(512)
        bwr = ctypes.create_string_buffer(struct.pack(
            "<QQQQQQ", len(self.out), 0, ctypes.addressof(out), 512 if read else 0, 0,
            ctypes.addressof(back)), 48)
        if self._ioctl(self.fd, ctypes.c_ulong(WRITE_READ), bwr) < 0:
            raise OSError(ctypes.get_errno(), "BINDER_WRITE_READ")
        _, written, _, _, got, _ = struct.unpack("<QQQQQQ", bwr.raw)
        del self.out[:written]
        data = back.raw[:got]
        while data:
            command = struct.unpack_from("<I", data)[0]
            size = command >> 16 & 0x3FFF
            self.returns.append((command, data[4:4 + size]))
            data = data[4 + size:]

    def next(self):
        while not self.returns:
            self.talk()
        return self.returns.pop(0)

    def transaction(self, command, handle, code, flags, parcel):
        """Queue and send: what it points to must stay until the driver has it."""
        data = ctypes.create_string_buffer(bytes(parcel.data), max(len(parcel.data), 1))
        offsets = (ctypes.c_uint64 * max(len(parcel.offsets), 1))(*parcel.offsets)
        self.put(command, TRANSACTION.pack(
            handle, 0, code, flags, 0, 0, len(parcel.data), 8 * len(parcel.offsets),
            ctypes.addressof(data), ctypes.addressof(offsets)))
        self.talk(read=False)

    def received(self, payload):
        """(fields, Reader); the buffer goes back with the next ioctl, after the copy."""
        fields = TRANSACTION.unpack(payload)
        data = ctypes.string_at(fields[8], fields[6])
        return fields, Reader(data)

    def handle_return(self, command, payload):
        """All that is not the answer to a call of ours."""
        if command in (BR_INCREFS, BR_ACQUIRE):
            self.put(BC_INCREFS_DONE if command == BR_INCREFS else BC_ACQUIRE_DONE, payload)
        elif command == BR_DEAD_BINDER:
            self.deaths.append(struct.unpack("<Q", payload)[0])
            self.put(BC_DEAD_BINDER_DONE, payload)
        elif command == BR_TRANSACTION:
            fields, reader = self.received(payload)
            parcel = self.serve(fields[2], reader, fields[4], fields[5])
            self.put(BC_FREE_BUFFER, struct.pack("<Q", fields[8]))
            if not fields[3] & TF_ONE_WAY:
                self.transaction(BC_REPLY, 0, 0, 0, parcel)

    def call(self, handle, code, parcel):
        """The reply, as a Reader."""
        self.transaction(BC_TRANSACTION, handle, code, TF_ACCEPT_FDS, parcel)
        while True:
            command, payload = self.next()
            if command == BR_DEAD_REPLY:
                raise Dead
            if command == BR_FAILED_REPLY:
                raise Failed("BR_FAILED_REPLY")
            if command == BR_REPLY:
                break
            self.handle_return(command, payload)
        fields, reader = self.received(payload)
        # Handles in it are the buffer's: take our own before it goes.
        for i in range(fields[7] // 8):
            offset = struct.unpack("<Q", ctypes.string_at(fields[9] + 8 * i, 8))[0]
            kind, _, number, _ = FLAT.unpack_from(reader.data, offset)
            if kind == TYPE_HANDLE:
                self.put(BC_ACQUIRE, struct.pack("<I", number & 0xFFFFFFFF))
        self.put(BC_FREE_BUFFER, struct.pack("<Q", fields[8]))
        if fields[3] & TF_STATUS_CODE:
            raise Failed(reader.i32())
        return reader

    def loop(self, until=lambda: False):
        self.put(BC_ENTER_LOOPER)
        while not until():
            self.handle_return(*self.next())

    def link_death(self, handle, cookie):
        self.put(BC_REQUEST_DEATH, struct.pack("<IQ", handle, cookie))
        self.talk(read=False)
