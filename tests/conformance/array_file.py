# SPDX-License-Identifier: Apache-2.0
"""Reads the elements of a NumPy file."""

import re
import struct

_FORMATS = {"|i1": "b", "|u1": "B", "<i2": "h", "<i4": "i", "<f4": "f"}


class ArrayFile:
    """The bytes of the elements, and the elements' format character for `struct`."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        size = struct.unpack("<H", data[8:10])[0]
        header = data[10 : 10 + size].decode()
        self.format = _FORMATS[re.search("'descr': '([^']*)'", header).group(1)]
        self.bytes = data[10 + size :]

    def step(self, number, step_bytes):
        """Returns the bytes of one step. Steps are contiguous."""
        return self.bytes[number * step_bytes : (number + 1) * step_bytes]

    def values(self, data):
        """Decodes bytes of this array, or of an array of the same type, to numbers."""
        return struct.unpack("<{}{}".format(len(data) // struct.calcsize(self.format), self.format), data)
