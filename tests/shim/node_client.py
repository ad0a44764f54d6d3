# SPDX-License-Identifier: Apache-2.0
"""A client of the node in plain Python: runs a golden case with fcntl.ioctl and mmap, compares its outputs.

node_client.py CASE [fork|malformed|hold]; prints one line of JSON.
"""
import ctypes
import fcntl
import json
import mmap
import os
import struct
import sys

VERSION, GEM_CLOSE = 0xc0406400, 0x40086409
CREATE_BO, SUBMIT, PREP_BO, FINI_BO = 0xc0186440, 0x40186441, 0x40106442, 0x40086443
FOREVER = 2**63 - 1


class Node:
    def __init__(self):
        self.fd = os.open("/dev/accel/accel0", os.O_RDWR)

    def version(self):
        return struct.unpack_from("<iii", fcntl.ioctl(self.fd, VERSION, bytes(64)))[:2]

    def create(self, size):
        """(handle, address, mmap offset) of a new object."""
        return struct.unpack("<IIQQ", fcntl.ioctl(self.fd, CREATE_BO, struct.pack("<IIQQ", size, 0, 0, 0)))[1:]

    def close(self, handle):
        fcntl.ioctl(self.fd, GEM_CLOSE, struct.pack("<II", handle, 0))

    def prep(self, handle, deadline=FOREVER):
        fcntl.ioctl(self.fd, PREP_BO, struct.pack("<IIq", handle, 0, deadline))

    def fini(self, handle):
        fcntl.ioctl(self.fd, FINI_BO, struct.pack("<II", handle, 0))

    def submit(self, tasks, inputs, outputs, flags=0):
        words = (ctypes.c_uint32 * (2 * len(tasks)))(*[word for task in tasks for word in task])
        lists = [(ctypes.c_uint32 * len(handles))(*handles) for handles in (inputs, outputs)]
        job = ctypes.create_string_buffer(struct.pack(
            "<QQQIIIIII", ctypes.addressof(words), ctypes.addressof(lists[0]), ctypes.addressof(lists[1]), len(tasks), 8,
            len(inputs), len(outputs), flags, 0), 48)
        fcntl.ioctl(self.fd, SUBMIT, struct.pack("<QIIQ", ctypes.addressof(job), 1, 48, 0))


def element_offsets(check):
    """Byte offsets of a check's elements from its base."""
    count = 1
    for extent in check["shape"]:
        count *= extent
    for index in range(count):
        position, rest = [], index
        for extent in reversed(check["shape"]):
            position.insert(0, rest % extent)
            rest //= extent
        yield sum((p // d % m if m else p // d) * s for p, terms in zip(position, check["layout"]["axes"]) for d, m, s in terms)


class Case:
    """A golden case in objects at exactly its addresses."""

    def __init__(self, node, path):
        self.node = node
        with open(os.path.join(path, "case.json"), encoding="utf-8") as text:
            self.case = json.load(text)
        with open(os.path.join(path, "data.bin"), "rb") as data:
            self.data = data.read()
        self.objects, fillers, at = {}, [], 0
        for buffer in sorted(self.case["buffers"], key=lambda b: b["iova"]):
            if buffer["iova"] > at:
                fillers.append(node.create(buffer["iova"] - at))
            handle, address, offset = node.create(buffer["size"])
            assert address == buffer["iova"]
            memory = mmap.mmap(node.fd, buffer["size"], offset=offset)
            assert memory.size() == 0  # as a character device
            self.objects[buffer["id"]] = (handle, memory, address)
            at = address + buffer["size"]
        for handle, _, _ in fillers:
            node.close(handle)

    def run(self):
        """Runs every submission; the number of elements that differ."""
        different = 0
        for submit in self.case["submits"]:
            for record in submit["memory"]:
                handle, memory, _ = self.objects[record["buffer"]]
                memory[:] = bytes([record["fill"]]) * len(memory)
                for offset, length, data in record["segments"]:
                    memory[offset:offset + length] = self.data[data:data + length]
                self.node.fini(handle)
            for job in submit["jobs"]:
                handles = [[self.objects[i][0] for i in job[side]] for side in ("in", "out")]
                self.node.submit([(t["regcmd"], t["count"]) for t in job["tasks"]], *handles, job["flags"])
                for handle in handles[1]:
                    self.node.prep(handle)
            different += sum(self.differences(check) for check in submit["checks"])
        return different

    def differences(self, check):
        base, size, different = check["layout"]["base"], check["layout"]["element_bytes"], 0
        _, memory, address = next(o for o in self.objects.values() if 0 <= base - o[2] < len(o[1]))
        for index, offset in enumerate(element_offsets(check)):
            at = base - address + offset
            expected = self.data[check["offset"] + index * size:check["offset"] + (index + 1) * size]
            different += memory[at:at + size] != expected
        return different


def child_error(node, handle):
    """The errno a forked child gets from the parent's node."""
    child = os.fork()
    if child == 0:
        try:
            node.prep(handle, 0)
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main():
    path, mode = sys.argv[1], (sys.argv[2:] or ["run"])[0]
    node = Node()
    report = {"version": node.version()}
    if mode == "malformed":
        handle = node.create(4096)[0]
        node.submit([(0, 0)], [], [handle])  # a zero count crashes a stock kernel
    else:
        case = Case(node, path)
        report["different"] = case.run()
        if mode == "fork":
            report["child_errno"] = child_error(node, next(iter(case.objects.values()))[0])
            report["different_after"] = case.run()
    print(json.dumps(report))


if __name__ == "__main__":
    main()
