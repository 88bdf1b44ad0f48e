# SPDX-License-Identifier: Apache-2.0
"""Models on boards in QEMU by gcc, clang and LLVM. The C compilers get only the flags that docs/embedded.md names. All give the same
bytes and about as many instructions, and call no function for floats if the core has instructions.

    flags_test BOARDS          digits on every board, and float models of MLPerf Tiny on two boards if KILN_SHARED_DATA is set.
    flags_test --all BOARDS    every model of MLPerf Tiny, of floats and of integers, on every board that has the memory.

BOARDS is JSON, as for tflite_models.py.
"""

import json
import os
import re
import string
import subprocess
import sys
import tempfile
import unittest

from tests.firmware import tflite_models
from tests.firmware.board import CLANG, CLANG_RISCV, DATA, KILN, OF_GCC, Board, codegens
from tests.firmware.limits_test import RATIO

PAGE = "docs/embedded.md"
DIGITS = "models/digits/digits.onnx"
FLOATS = {
    "ad": "mlperf_tiny/ad/ad01_fp32.tflite",
    "ic": "mlperf_tiny/ic/pretrainedResnet.tflite",
    "kws": "mlperf_tiny/kws/kws_saved_model_true_float32.tflite",
    "vww": "mlperf_tiny/vww/vww_96_float.tflite",
}
INTEGERS = {
    "ad_int8": "mlperf_tiny/ad/ad01_int8.tflite",
    "ic_int8": "mlperf_tiny/ic/pretrainedResnet_quant.tflite",
    "kws_int8": "mlperf_tiny/kws/kws_ref_model.tflite",
    "vww_int8": "mlperf_tiny/vww/vww_96_int8.tflite",
}
# Float models that run without --all.
CHEAP = {"cortex_m4f": ("ad", "kws"), "cortex_m55": ("kws",)}
# Models that do not fit into the memory of the board.
TOO_LARGE = {"cortex_m55": ("ad", "vww")}
# Flag for the address of an image in the memory of a RISC-V.
CODE_MODEL = "-mcmodel="
# Functions for memory. Clang calls them by the names of Arm's run-time ABI.
MEMORY = {"memcpy", "memmove", "memset"}.union(
    "__aeabi_" + name + alignment for name in ("memclr", "memcpy", "memmove", "memset") for alignment in ("", "4")
)
# Cores without a floating-point unit, and the helpers of the compiler's library that they need for float32.
SOFT_FLOATS = ("cortex-m3", "riscv32imac")
HELPERS = re.compile("__aeabi_(f[a-z0-9]+|u?i2f)|__([a-z]+sf2|[a-z]+sf3|fix(uns)?sfsi|float(un)?sisf)")
# A depthwise convolution. On a Cortex-M4, its tiles are assembly with twelve operands.
TILES = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 12, 4, 8), int8]) {
  %0 = qnn.conv2d(%x, full(5i8, shape=[1, 3, 3, 8], dtype="int8"), 0.0235f64, -128, 0.01f64, 0, padding=[1, 1, 1, 1], groups=8, channels=8, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="IHWO", out_dtype="int32");
  %1 = nn.bias_add(%0, full(9, shape=[8], dtype="int32"), axis=-1);
  qnn.requantize(%1, 0.0002f64, 0, 1f64, -128, rounding="TFLITE", out_dtype="int8")
}
"""
# Flags of sanitizers and profilers. They keep values alive around the tiles, and use one more register.
OF_DEBUGGING = (
    ["-fsanitize=undefined"],
    ["-finstrument-functions"],
    ["--coverage"],
    ["-fsanitize=undefined", "-fstack-protector-all"],
    ["-fsanitize=undefined", "-fPIC"],
)
# Flags of firmware projects: link-time optimization, a register that belongs to the system, no data in code, and a build without the
# floating-point unit. -ffat-lto-objects makes the compiler generate code, too.
OF_FIRMWARE = (
    ["-flto", "-ffat-lto-objects"],
    ["-ffixed-r9"],
    ["-mpure-code"],
    ["-mfloat-abi=soft"],
)
# Clang does not know this flag.
OF_GCC_ALONE = (["-mslow-flash-data"],)
MAIN = string.Template(
    tflite_models.BEGINNING
    + """
static void Fill(uint8_t* bytes, uint32_t count, uint32_t seed) {
  uint32_t i;
  for (i = 0; i < count; i += $element_bytes) {
    seed = seed * 1664525u + 1013904223u;
#if $element_bytes == 4
    {
      const float value = (float)(int32_t)(seed >> 8) / 16777216.0f;
      memcpy(bytes + i, &value, 4);
    }
#else
    bytes[i] = (uint8_t)(seed >> 24);
#endif
  }
}

int main(void) {
  const uint8_t* output;
  uint32_t i, sum = 2166136261u;
  Reset();
  Fill((uint8_t*)tvmgen_m_map_inputs(&pools).$input, $input_bytes, 1);
  if (Run() != 0) return 1;
  output = (const uint8_t*)tvmgen_m_map_outputs(&pools).$output;
  for (i = 0; i < $output_bytes; ++i) sum = (sum ^ output[i]) * 16777619u;
  SemihostingWrite("outputs: ");
  SemihostingWriteHex(sum);
  SemihostingWrite("\\n");
  return 0;
}
"""
)


def documented_flags():
    """Returns the page's flags for every machine, and the flags for each target."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    always = re.search(r"Always add `([^`]*)` to the flags", text).group(1).split()
    rows = re.findall(r"^\|[^|]*\| `([a-z0-9-]+)` \| `([^`]*)` \|$", text, re.M)
    return always, {target: flags.split() for target, flags in rows}


def compiled(board, way, model):
    """Compiles the model with the documented flags. Returns the folder of its files, and the object."""
    target = board.properties["target"]
    folder = board.path("model_" + way)
    codegen = "llvm" if way == "llvm" else "c"
    options = ["--target", target, "--runtime", "crt", "--interface", "c", "--codegen", codegen, "--workspace-io"]
    subprocess.run([KILN, "compile", model, "-o", folder, "--module-name", "m"] + options, check=True)
    result = os.path.join(folder, "m.o")
    if codegen == "c":
        flags = ["-std=c99"] + [flag for flag in board.properties["flags"] if flag.startswith(CODE_MODEL)]
        if way == "clang":
            flags = (CLANG_RISCV if board.is_riscv() else CLANG) + flags
        else:
            libraries = [flag for flag in board.properties["flags"] if flag.startswith(OF_GCC)]
            flags = [board.properties["compiler"] + "-gcc"] + libraries + flags
        always, of_target = documented_flags()
        subprocess.run(flags + always + of_target[target] + ["-c", os.path.join(folder, "m.c"), "-o", result], check=True)
    return folder, result


def calls(board, model):
    """Returns the undefined symbols of an object."""
    command = [board.properties["compiler"] + "-nm", "-u", model]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if line.strip()}


def program(folder):
    """Returns a C program that runs a model once and writes a checksum of its output."""
    with open(os.path.join(folder, "m.metadata.json"), encoding="utf-8") as file:
        tensors = json.load(file)["functions"][0]["parameters"]
    assert len(tensors) == 2, "wanted a model with one input and one output"
    values = {"element_bytes": 4 if tensors[0]["dtype"] == "float32" else 1}
    for what, tensor in zip(("input", "output"), tensors):
        values[what] = tensor["tir_name_hint"]
        values[what + "_bytes"] = tensor["size_bytes"]
    return MAIN.substitute(values)


def ways_of(board, model):
    """Returns for each compiler the undefined symbols of the object, and the instructions and output of the image."""
    found = {}
    for way in codegens() + ["clang"]:
        folder, result = compiled(board, way, model)
        source = board.path("main.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program(folder))
        counted = board.count(board.link([board.compile(source, "main", ["-I" + folder]), result], "image"))
        written = re.search("^outputs: .*$", counted["output"], re.M).group()
        found[way] = (calls(board, result), max(counted["instructions"]), written)
    return found


class Flags(unittest.TestCase):
    def check(self, board, model):
        ways = ways_of(board, model)
        self.assertEqual(len({written for _, _, written in ways.values()}), 1, ways)
        best = min(instructions for _, instructions, _ in ways.values())
        for way, (called, instructions, _) in ways.items():
            self.assertLessEqual(instructions, RATIO * best, (way, ways))
            others = called - MEMORY
            if board.properties["target"] in SOFT_FLOATS:
                others = {name for name in others if not HELPERS.fullmatch(name)}
            self.assertEqual(others, set(), way)

    def check_all(self, models):
        """Checks models. `models` returns paths for the name of a board."""
        for name, properties in BOARDS.items():
            with tempfile.TemporaryDirectory() as folder:
                board = Board(name, properties, folder)
                for model in models(name):
                    with self.subTest(model, board=name):
                        self.check(board, model)

    def test_flags_are_found(self):
        always, of_target = documented_flags()
        self.assertEqual(always, ["-O2", "-ffp-contract=off"])
        self.assertLessEqual({properties["target"] for properties in BOARDS.values()}, set(of_target))

    def test_digits(self):
        self.check_all(lambda board: [DIGITS])

    def tiles(self):
        """Returns a board, and the folder of the C of TILES for it."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        model = os.path.join(folder.name, "tiles.relay")
        with open(model, "w", encoding="utf-8") as file:
            file.write(TILES)
        board = Board("cortex_m4f", BOARDS["cortex_m4f"], folder.name)
        return board, compiled(board, "c", model)[0]

    def test_tiles_compile_with_flags_of_debugging_and_firmware(self):
        board, folder = self.tiles()
        source = os.path.join(folder, "m.c")
        with open(source, encoding="utf-8") as file:
            self.assertIn("smlad", file.read())
        for compiler, choices in (board.gcc(), OF_DEBUGGING + OF_FIRMWARE + OF_GCC_ALONE), (board.clang(), OF_DEBUGGING + OF_FIRMWARE):
            for flags in choices:
                for level in ("-O1", "-O2", "-O3", "-Os") if flags in OF_DEBUGGING else ("-O2", "-Os"):
                    flags_of_all = ["-std=c99", "-fno-omit-frame-pointer", level] + flags
                    with self.subTest(compiler[0], flags=flags, level=level):
                        subprocess.run(compiler + flags_of_all + ["-c", source, "-o", board.path("tiles.o")], check=True)

    def test_link_time_optimization(self):
        board, folder = self.tiles()
        main = board.path("main.c")
        with open(main, "w", encoding="utf-8") as file:
            file.write(program(folder))
        outputs = []
        for flags in [], ["-flto"]:
            objects = [board.compile(source, name, flags + ["-I" + folder]) for name, source in (("main", main), ("m", os.path.join(folder, "m.c")))]
            outputs.append(board.run(board.link(objects, "image")))
        self.assertIn("outputs: ", outputs[0])
        self.assertEqual(outputs[0], outputs[1])

    @unittest.skipUnless(DATA, "KILN_SHARED_DATA does not name the folder with the models")
    def test_mlperf_tiny(self):
        def models(board):
            names = [name for name in FLOATS if name not in TOO_LARGE.get(board, ())] if ALL else CHEAP.get(board, ())
            paths = [FLOATS[name] for name in names] + (list(INTEGERS.values()) if ALL else [])
            return [os.path.join(DATA, path) for path in paths]

        self.check_all(models)


if __name__ == "__main__":
    BOARDS = json.loads(sys.argv[-1])
    ALL = sys.argv[1] == "--all"
    unittest.main(argv=sys.argv[:1], verbosity=2)  # prints the reason for skipping
