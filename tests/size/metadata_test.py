# SPDX-License-Identifier: Apache-2.0
"""Metadata takes no flash in an image that does not refer to it."""

import os
import subprocess
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
MODEL = os.path.abspath("tests/tvm_compat/chain.relay")
CODEGENS = os.environ["CODEGENS"].split()
GCC = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
FLAGS = ["-std=c99", "-Os", "-ffunction-sections", "-fdata-sections"]
LINK = ["-nostartfiles", "-Wl,--gc-sections,-e,main"]

# Stubs of the runtime functions that the model calls, and a program that uses only `function`.
PROGRAM = """
#include <stddef.h>
int {function}(void*, int*, int, void*, int*, void*);
void TVMAPISetLastError(const char* text) {{ (void)text; }}
void* TVMBackendAllocWorkspace(int a, int b, unsigned long long c, int d, int e) {{ return NULL; }}
int TVMBackendFreeWorkspace(int a, int b, void* c) {{ return 0; }}
int main(void) {{ return {function}(NULL, NULL, 0, NULL, NULL, NULL); }}
"""

# Words that occur only in the metadata.
WORDS = [b"cortex-m4f", b"unpacked"]


class MetadataTest(unittest.TestCase):
    def image(self, codegen, function):
        """Returns the bytes of a program that calls `function` of a model."""
        with tempfile.TemporaryDirectory() as folder:
            options = ["--runtime", "crt", "--target", "cortex-m4f", "--calling-convention", "unpacked", "--codegen", codegen]
            subprocess.run([KILN, "compile", MODEL, "-o", folder, "--module-name", "m"] + options, check=True)
            with open(os.path.join(folder, "main.c"), "w") as program:
                program.write(PROGRAM.format(function=function))
            code = {"c": "m.c", "llvm": "m.o"}[codegen]
            subprocess.run(GCC + FLAGS + LINK + ["-I" + folder, "-o", "image", "main.c", code], cwd=folder, check=True)
            subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", "image", "bytes"], cwd=folder, check=True)
            with open(os.path.join(folder, "bytes"), "rb") as file:
                return file.read()

    def test_only_who_refers_to_it_has_it(self):
        for codegen in CODEGENS:
            with self.subTest(codegen):
                without = self.image(codegen, "tvmgen_m___tvm_main__")
                found = [word for word in WORDS if word in without]
                self.assertEqual(found, [])
                with_metadata = self.image(codegen, "tvmgen_m_get_model_metadata")
                self.assertEqual([word for word in WORDS if word not in with_metadata], [])


if __name__ == "__main__":
    unittest.main()
