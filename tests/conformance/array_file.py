# SPDX-License-Identifier: Apache-2.0
"""The elements of a NumPy file."""

import re
import struct

_FORMATS = {"|i1": "b", "|u1": "B", "<i2": "h", "<i4": "i", "<f4": "f"}


class ArrayFile:
    """The bytes of the elements, and of which format of `struct` each is."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        size = struct.unpack("<H", data[8:10])[0]
        header = data[10 : 10 + size].decode()
        self.format = _FORMATS[re.search("'descr': '([^']*)'", header).group(1)]
        self.bytes = data[10 + size :]

    def step(self, number, step_bytes):
        """The bytes of one of the steps, which lie behind each other."""
        return self.bytes[number * step_bytes : (number + 1) * step_bytes]

    def values(self, data):
        """The numbers that are in bytes of this array, or of one of the same type."""
        return struct.unpack("<{}{}".format(len(data) // struct.calcsize(self.format), self.format), data)
