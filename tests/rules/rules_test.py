# SPDX-License-Identifier: Apache-2.0
"""Tests the files of cc_model, by output group, and the failure of a model_test."""

import os
import shutil
import subprocess
import tarfile
import unittest

FOLDER = "tests/rules"
WRONG = (
    "wrong_crt_c_c",
    "wrong_crt_c_llvm",
    "wrong_crt_packed_aot_c",
    "wrong_crt_packed_aot_llvm",
    "wrong_crt_packed_graph_c",
    "wrong_crt_packed_graph_llvm",
)


class OutputGroupsTest(unittest.TestCase):
    def read(self, *path):
        with open(os.path.join(FOLDER, *path), "rb") as file:
            return file.read()

    def test_library(self):
        self.assertTrue(self.read("libfirst.a").startswith(b"!<arch>\n"))

    @unittest.skipUnless(os.uname().machine == "x86_64" and shutil.which("objdump"), "x86-64 and objdump")
    def test_c_is_compiled_for_the_target(self):
        code = subprocess.run(["objdump", "-d", os.path.join(FOLDER, "libfor_avx512.a")], stdout=subprocess.PIPE, check=True).stdout
        self.assertIn(b"vpdpbusd", code)

    def test_objects(self):
        for name in (("first", "First.o"), ("first.shared", "First.so")):
            self.assertTrue(self.read(*name).startswith(b"\x7fELF"))

    def test_header(self):
        self.assertIn(b"#define TVMGEN_FIRST_NUM_INPUTS 2\n", self.read("first", "First.h"))

    def test_metadata(self):
        self.assertIn(b'"module_name": "First"', self.read("first", "First.metadata.json"))

    def test_tuning_file(self):
        self.assertIn(b'"schedule": "contraction 5x2x8 rows outside packed tuned"', self.read("tuned", "tuned.metadata.json"))

    def test_winograd_can_be_switched_off(self):
        self.assertIn(b'"schedule": "winograd F(4x4,3x3)', self.read("winograd", "winograd.metadata.json"))
        direct = self.read("direct", "direct.metadata.json")
        self.assertIn(b'"schedule": "contraction ', direct)
        self.assertNotIn(b"winograd", direct)

    def test_products_of_bfloat16(self):
        self.assertRegex(self.read("rounded", "rounded.metadata.json"), b'"schedule": "contraction [^"]* vdpbf16ps copied rows"')
        self.assertNotIn(b"bf16", self.read("first", "First.metadata.json"))

    def test_what_code_is_made_for(self):
        size, speed = (self.read(name, name + ".c") for name in ("made_for_size", "made_for_speed"))
        self.assertLess(len(size), len(speed))

    def test_c_sources_of_an_object(self):
        text = self.read("first.c_srcs", "First.c")
        self.assertIn(b"tvmgen_First___tvm_main__", text)
        self.assertIn(b"tvmgen_First___tvm_dev_mblob", text)
        self.assertIn(b'"tvmgen_First___tvm_dev_mblob"', self.read("first.c_srcs", "First_system_lib.c"))

    def test_llvm_text(self):
        for folder, name in (("first.llvm", "First.ll"), ("second.llvm", "second.ll")):
            self.assertIn(b"define ", self.read(folder, name))

    def test_archive(self):
        with tarfile.open(os.path.join(FOLDER, "third.mlf", "third.tar")) as archive:
            names = archive.getnames()
        self.assertIn("./codegen/host/include/tvmgen_third.h", names)
        self.assertIn("./runtime/include/tvm/runtime/c_runtime_api.h", names)

    def test_graph_calls_operators(self):
        self.assertIn(b"tvmgen_second_fused_", self.read("second", "second.c"))


class WrongTest(unittest.TestCase):
    def test_fails_and_says_where(self):
        for name in WRONG:
            with self.subTest(name):
                result = subprocess.run([os.path.join(FOLDER, name)], stdout=subprocess.PIPE)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(
                    result.stdout.decode().splitlines(),
                    ["{}: output 'return' in run {}: 1 of 1 values differ, the first at 0: found 3, wanted 3.5".format(name, run) for run in (1, 2)],
                )


if __name__ == "__main__":
    unittest.main()
