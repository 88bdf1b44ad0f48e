# SPDX-License-Identifier: Apache-2.0
"""kiln/runtime.hpp has every method of the runtime's Model and Executor, and libkiln_runtime.so exports only C functions."""

import re
import subprocess
import unittest

LIBRARY = "runtime_cpp/shared/libkiln_runtime.so.0"
C_HEADER = "runtime_cpp/shared/include/kiln/runtime.h"
WRAPPER = "runtime_cpp/shared/include/kiln/runtime.hpp"
# Classes, their headers, and methods that use types of the runtime's own C++ interface only.
CLASSES = {
    "Model": ("runtime_cpp/model.h", set()),
    "Executor": ("runtime_cpp/executor.h", {"FromModule", "program"}),
}
# Libraries that every Debian system has. Abseil and protobuf are not among them.
NEEDED = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"}


def read(path):
    with open(path) as file:
        return file.read()


def methods(path, name):
    """Returns the names of the public methods of a class with the number of their overloads."""
    text = re.sub(r"//[^\n]*", "", read(path))
    body = re.search(r"^class {} \{{\n public:\n(.*?)^ private:".format(name), text, re.MULTILINE | re.DOTALL).group(1)
    found = {}
    for method in re.findall(r"^  (?! |return|using|for|if|const KilnCode)(?:[\w:<>,*& ]+[ &*])(\w+)\((?!\))?", body, re.MULTILINE):
        found[method] = found.get(method, 0) + 1
    return found


class InterfaceTest(unittest.TestCase):
    def test_methods(self):
        for name, (path, internal) in CLASSES.items():
            wanted, found = methods(path, name), methods(WRAPPER, name)
            self.assertGreater(len(wanted), 8, name)
            self.assertGreaterEqual(set(wanted), internal, name)
            for method, count in wanted.items():
                if method not in internal:
                    # runtime.hpp has no overload of Create for a Program.
                    with self.subTest(method=name + "::" + method):
                        self.assertEqual(found.get(method, 0), 1 if method == "Create" else count)

    def test_functions(self):
        declared = set(re.findall(r"^KILN_API [^;(]*?(\w+)\(", read(C_HEADER), re.MULTILINE))
        self.assertGreater(len(declared), 40)
        listing = subprocess.run(["nm", "--dynamic", "--defined-only", LIBRARY], check=True, stdout=subprocess.PIPE).stdout.decode()
        symbols = {line.split()[-1].split("@")[0] for line in listing.splitlines()} - {"KILN_0"}
        self.assertEqual({symbol for symbol in symbols if symbol.startswith("Kiln")}, declared)
        others = {symbol for symbol in symbols if not symbol.startswith("Kiln")}
        self.assertIn("TVMModLoadFromFile", others)
        self.assertTrue(all(re.fullmatch("TVM[A-Za-z0-9]+", symbol) for symbol in others), others)
        # The class Model loads a module and makes the model from it, so it does not call KilnModelLoad.
        for function in declared - {"KilnModelLoad"}:
            self.assertRegex(read(WRAPPER), r"\b{}\b".format(function))

    def test_libraries(self):
        listing = subprocess.run(["readelf", "--dynamic", LIBRARY], check=True, stdout=subprocess.PIPE).stdout.decode()
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", listing))
        self.assertLessEqual(needed, NEEDED)
        self.assertIn("[libkiln_runtime.so.0]", listing)


if __name__ == "__main__":
    unittest.main()
