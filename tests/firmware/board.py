# SPDX-License-Identifier: Apache-2.0
"""Compiles models and programs for a board inside a test, and measures the resources of an image."""

import json
import os
import subprocess

from tools.firmware.run_images import run_image

KILN = os.path.abspath("tools/kiln/kiln")
BARE_METAL = "runtime_crt/platform/bare_metal/"
DATA = os.environ.get("KILN_SHARED_DATA", "")
RUN_SECONDS = 300
C_FLAGS = ["-std=c99", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections", "-I."]
CLANG = ["clang-19", "--target=arm-none-eabi", "-fshort-enums"]
CLANG_RISCV = ["clang-19", "--target=riscv32-unknown-elf"]
# Options of gcc that clang does not need: it knows only one specification, and uses no libraries.
OF_GCC = ("-misa-spec=", "--specs=")


class Board:
    """A board, with the objects that every program on it contains."""

    def __init__(self, name, properties, folder):
        self.name = name
        self.properties = properties
        self.folder = folder
        start = "start_riscv" if self.is_riscv() else "start_cortex_m"
        sources = ["semihosting", "stack_usage", "start", start]
        self.objects = [self.compile(BARE_METAL + source + ".c", source) for source in sources]

    def is_riscv(self):
        return self.properties["target"].startswith("riscv")

    def path(self, name):
        return os.path.join(self.folder, self.name + "_" + name)

    def gcc(self):
        return [self.properties["compiler"] + "-gcc"] + self.properties["flags"]

    def clang(self):
        flags = [flag for flag in self.properties["flags"] if not flag.startswith(OF_GCC)]
        return (CLANG_RISCV if self.is_riscv() else CLANG) + flags

    def compile(self, source, name, flags=(), compiler=None):
        result = self.path(name + ".o")
        command = (compiler or self.gcc()) + ["-O2"] + C_FLAGS + list(flags)
        subprocess.run(command + ["-c", source, "-o", result], check=True)
        return result

    def model(self, path, way, name="m", options=("--workspace-io",), optimize="speed"):
        """Compiles a model to C for gcc (`way` c) or clang (`way` clang), or to an object (`way` llvm). Returns the
        folder and the object."""
        folder = self.path(name + "_" + way)
        codegen = "llvm" if way == "llvm" else "c"
        arguments = ["--module-name", name, "--runtime", "crt", "--interface", "c", "--codegen", codegen] + list(options)
        arguments += ["--optimize", optimize]
        subprocess.run([KILN, "compile", path, "-o", folder, "--target", self.properties["target"]] + arguments, check=True)
        if codegen == "llvm":
            return folder, os.path.join(folder, name + ".o")
        flags = ["-fstack-usage"] + ([self.properties["size_level"]] if optimize == "size" else [])
        compiler = self.clang() if way == "clang" else self.gcc()
        return folder, self.compile(os.path.join(folder, name + ".c"), name, flags, compiler)

    def link(self, objects, name):
        result = self.path(name + ".elf")
        numbers = {
            "flash_start": self.properties["flash_start"],
            "flash_bytes": self.properties["max_flash_bytes"],
            "ram_start": self.properties["ram_start"],
            "ram_bytes": self.properties["max_ram_bytes"],
            "stack_bytes": 8192,
        }
        flags = ["-nostartfiles", "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-T", BARE_METAL + "image.ld"]
        flags += ["-Wl,--defsym={}={}".format(*item) for item in numbers.items()]
        subprocess.run(self.gcc() + objects + self.objects + flags + ["-o", result], check=True)
        return result

    def run(self, image, timeout_seconds=RUN_SECONDS):
        """Runs an image, which must end with status 0, and returns its output."""
        result = run_image(self.properties["name"], image, timeout_seconds)
        if result["status"] != 0:
            raise AssertionError("{}: status {}\n{}".format(image, result["status"], result["output"][:2000]))
        return result["output"]

    def count(self, image):
        """Runs an image, which must end with status 0, and returns the instructions and cycles of its inferences."""
        return run_image(self.properties["name"], image, RUN_SECONDS, "count", self.properties["core"])


def inspect(*arguments):
    """Returns the output of `kiln inspect --json`."""
    result = subprocess.run([KILN, "inspect", "--json"] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.decode(errors="replace"))
    return json.loads(result.stdout)


def codegens():
    words = subprocess.run([KILN, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [codegen for codegen in ("c", "llvm") if codegen in words.split("\n")[1].split(": ")[1].split(", ")]
