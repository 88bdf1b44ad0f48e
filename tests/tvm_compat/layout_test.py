# SPDX-License-Identifier: Apache-2.0
"""Sizes and offsets of the ABI's structs: in the headers, with compilers for 64 and 32 bits, and in the objects that
Kiln makes."""

import itertools
import os
import re
import shutil
import subprocess
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
MODEL = os.path.abspath("tests/tvm_compat/chain.relay")
INCLUDE = os.path.abspath("runtime_crt/include")
ARM = "arm-none-eabi-gcc"
ARM_FLAGS = ["-mcpu=cortex-m3", "-mthumb"]
RISCV = "riscv64-unknown-elf-gcc"
RISCV_FLAGS = ["-march=rv32imac", "-mabi=ilp32", "--specs=picolibc.specs"]

# Pointers to functions that the C++ runtime sets when it loads a shared object.
POINTERS = {
    "__TVMAPISetLastError",
    "__TVMBackendAllocWorkspace",
    "__TVMBackendFreeWorkspace",
    "__TVMBackendGetFuncFromEnv",
    "__TVMBackendParallelBarrier",
    "__TVMBackendParallelLaunch",
    "__TVMFuncCall",
}

# Functions of the C runtime and the C library that linked models may call.
CRT_FUNCTIONS = {
    "TVMAPISetLastError",
    "TVMBackendAllocWorkspace",
    "TVMBackendFreeWorkspace",
    "TVMBackendGetFuncFromEnv",
    "TVMBackendParallelLaunch",
    "TVMFuncCall",
    "memcpy",
    "memset",
}

# Size and member offsets of each struct for x86-64 and AArch64, for 32-bit Arm and RISC-V, and for i386 (None: the same
# as Arm).
STRUCTS = {
    "DLDevice": (
        {"": 8, "device_type": 0, "device_id": 4},
        {"": 8, "device_type": 0, "device_id": 4},
        None,
    ),
    "DLDataType": (
        {"": 4, "code": 0, "bits": 1, "lanes": 2},
        {"": 4, "code": 0, "bits": 1, "lanes": 2},
        None,
    ),
    "DLTensor": (
        {"": 48, "data": 0, "device": 8, "ndim": 16, "dtype": 20, "shape": 24, "strides": 32, "byte_offset": 40},
        {"": 40, "data": 0, "device": 4, "ndim": 12, "dtype": 16, "shape": 20, "strides": 24, "byte_offset": 32},
        {"": 36, "data": 0, "device": 4, "ndim": 12, "dtype": 16, "shape": 20, "strides": 24, "byte_offset": 28},
    ),
    "TVMValue": ({"": 8}, {"": 8}, None),
    "TVMParallelGroupEnv": ({"": 16, "sync_handle": 0, "num_task": 8}, {"": 8, "sync_handle": 0, "num_task": 4}, None),
    "struct TVMTensorInfo": (
        {"": 32, "name": 0, "shape": 8, "num_shape": 16, "dtype": 24},
        {"": 24, "name": 0, "shape": 4, "num_shape": 8, "dtype": 16},
        {"": 20, "name": 0, "shape": 4, "num_shape": 8, "dtype": 16},
    ),
    "struct TVMConstantInfo": (
        {"": 32, "name_hint": 0, "byte_offset": 8, "data_len": 16, "data_bytes": 24},
        {"": 32, "name_hint": 0, "byte_offset": 8, "data_len": 16, "data_bytes": 24},
        {"": 24, "name_hint": 0, "byte_offset": 4, "data_len": 12, "data_bytes": 20},
    ),
    "struct TVMMetadata": (
        {
            "": 80,
            "version": 0,
            "inputs": 8,
            "num_inputs": 16,
            "outputs": 24,
            "num_outputs": 32,
            "workspace_pools": 40,
            "num_workspace_pools": 48,
            "constant_pools": 56,
            "num_constant_pools": 64,
            "mod_name": 72,
        },
        {
            "": 80,
            "version": 0,
            "inputs": 8,
            "num_inputs": 16,
            "outputs": 24,
            "num_outputs": 32,
            "workspace_pools": 40,
            "num_workspace_pools": 48,
            "constant_pools": 56,
            "num_constant_pools": 64,
            "mod_name": 72,
        },
        {"": 60},
    ),
    "TVMMutableFuncRegistry": ({"": 24, "registry": 0, "max_functions": 16}, {"": 12, "registry": 0, "max_functions": 8}, None),
    "TVMFuncRegistry": ({"": 16, "names": 0, "funcs": 8}, {"": 8, "names": 0, "funcs": 4}, None),
}


def assertions(machine):
    """Returns C source that compiles only if all structs have the layout of the table."""
    lines = ["#include <stddef.h>"]
    for header in ("c_backend_api.h", "metadata_types.h", "crt/error_codes.h", "crt/func_registry.h"):
        lines.append('#include "tvm/runtime/{}"'.format(header))
    for struct, layouts in STRUCTS.items():
        for member, number in (layouts[machine] or layouts[1]).items():
            found = "offsetof({}, {})".format(struct, member) if member else "sizeof({})".format(struct)
            lines.append('_Static_assert({0} == {1}, "{0}");'.format(found, number))
    # This is an enum in the ABI's header. It has one byte if the compiler uses the smallest type for enums.
    lines.append('_Static_assert(sizeof(((DLDevice*)0)->device_type) == sizeof(DLDeviceType), "DLDevice.device_type");')
    # This enum has four bytes even if the compiler uses the smallest type for enums.
    lines.append('_Static_assert(sizeof(tvm_crt_error_t) == 4, "tvm_crt_error_t");')
    lines.append('_Static_assert(kTvmErrorSystemErrorMask == -2147483647 - 1, "kTvmErrorSystemErrorMask");')
    return "\n".join(lines) + "\n"


class LayoutTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_command(self, *command):
        result = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, result.stdout.decode())
        return result.stdout.decode()

    def compile_assertions(self, machine, *compiler):
        path = os.path.join(self.folder, "layout.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(assertions(machine))
        self.run_command(*compiler, "-std=c11", "-ffreestanding", "-fsyntax-only", "-I" + INCLUDE, path)

    def test_shared_objects_want_nothing_else(self):
        """Shared objects call the runtime by pointers that it sets, and link no library that it does not have."""
        for codegen, executor in itertools.product(os.environ["CODEGENS"].split(), ("aot", "graph")):
            with self.subTest(codegen + " " + executor):
                options = ["--module-name", "chain", "--codegen", codegen, "--executor", executor, "--target", "x86-64"]
                self.run_command(KILN, "compile", MODEL, "-o", self.folder, *options)
                symbols = [line.split() for line in self.run_command("nm", "-D", "chain.so").splitlines()]
                names = {symbol[-1].split("@")[0] for symbol in symbols}
                self.assertLessEqual({name for name in names if name.startswith("__TVM")}, POINTERS)
                self.assertEqual([name for name in names if name.startswith(("TVM", "kiln"))], [])
                self.assertIn("__tvm_dev_mblob", names)

    def test_host(self):
        self.compile_assertions(0, "cc", "-m64")

    def test_i386(self):
        self.compile_assertions(2, "cc", "-m32")

    @unittest.skipIf(shutil.which(ARM) is None, ARM + " is not installed")
    def test_cortex_m3(self):
        self.compile_assertions(1, ARM, *ARM_FLAGS)
        self.compile_assertions(1, ARM, *ARM_FLAGS, "-fno-short-enums")

    @unittest.skipIf(shutil.which(RISCV) is None, RISCV + " is not installed")
    def test_riscv32(self):
        self.compile_assertions(1, RISCV, *RISCV_FLAGS)

    @unittest.skipIf(shutil.which(ARM) is None, ARM + " is not installed")
    def test_objects_for_cortex_m3(self):
        """Checks the sizes of the structs in the code of both code generators, and the bytes of the registry."""
        for codegen in os.environ["CODEGENS"].split():
            with self.subTest(codegen):
                options = ["--module-name", "chain", "--runtime", "crt", "--codegen", codegen, "--target", "cortex-m3"]
                self.run_command(KILN, "compile", MODEL, "-o", self.folder, *options)
                if codegen == "c":
                    self.run_command(ARM, *ARM_FLAGS, "-std=c99", "-O1", "-I" + INCLUDE, "-c", "chain.c", "-o", "chain.o")
                symbols = {}
                for line in self.run_command("arm-none-eabi-nm", "-S", "chain.o").splitlines():
                    match = re.match(r"^\w+ (\w+) \w (\S+)$", line)
                    if match:
                        symbols[match.group(2)] = int(match.group(1), 16)
                undefined = {line.split()[-1] for line in self.run_command("arm-none-eabi-nm", "-u", "chain.o").splitlines()}
                # Names with __ are in the compiler's library: arithmetic that the machine lacks.
                undefined = {name for name in undefined if not name.startswith("__")}
                self.assertLessEqual(undefined, CRT_FUNCTIONS)
                self.assertEqual(symbols["tvmgen_chain_tvm_metadata_root"], 80)
                self.assertEqual(symbols["tvmgen_chain_tvm_metadata_inputs"], 2 * 24)
                self.assertEqual(symbols["tvmgen_chain_tvm_metadata_outputs"], 2 * 24)
                self.assertEqual(symbols["tvmgen_chain_registry"], 8)
                # The names are a count of 16 bits, each name with its NUL, and one more NUL.
                with open(os.path.join(self.folder, "chain.o"), "rb") as file:
                    found = re.findall(rb"(?=(.)\0((?:tvmgen_chain_\w+\0)+)\0)", file.read(), re.DOTALL)
                self.assertIn(True, [count[0] == names.count(b"\0") for count, names in found])


if __name__ == "__main__":
    unittest.main()
