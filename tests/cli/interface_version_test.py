# SPDX-License-Identifier: Apache-2.0
"""The header of one version of a model does not link with the object of another version."""

import re
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, CliCase

FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]

# A model with a window over %d steps, and a state.
MODEL = """#[version = "0.0.5"]
def @main(%%x: Tensor[(1, %d), float32], %%sum: Tensor[(1, %d), float32], output_tensor_names=["y", "sum.next"],
          state_inputs=["sum"], state_outputs=["sum.next"], state_initial=[0f]) {
  %%0 = add(%%sum, %%x);
  (nn.softmax(nn.softmax(transpose(nn.softmax(%%0), axes=[1, 0]))), %%0)
}
"""
# A call of each function in the header.
CALLS = {
    "run": """static float x[64], y[64];
int main(void) {
  const struct tvmgen_m_inputs inputs = {.x = x};
  const struct tvmgen_m_outputs outputs = {.y = y};
  return tvmgen_m_run(&inputs, &outputs);
}
""",
    "run_model": "static float x[64], y[64];\nint main(void) { return tvmgen_m_run_model(x, y, tvmgen_m_state); }\n",
    "run_with_workspace": "static float x[64], y[64];\nstatic uint8_t workspace[TVMGEN_M_WORKSPACE_SIZE_BYTES + 1];\n"
    "int main(void) { return tvmgen_m_run_with_workspace(x, y, workspace, tvmgen_m_state); }\n",
    "initialize_state": "static uint8_t state[TVMGEN_M_STATE_SIZE_BYTES];\n"
    "int main(void) { return tvmgen_m_initialize_state(state); }\n",
}


class InterfaceVersionTest(CliCase):
    def compile(self, version, size, codegen, *options):
        folder = self.path("{}_{}".format(version, codegen))
        model = self.write("{}.relay".format(version), MODEL % (size, size))
        common = ["--module-name", "m", "--runtime", "crt", "--interface", "c", "--codegen", codegen]
        self.succeeds("compile", model, "-o", folder, *common, *options)
        return folder

    def link(self, source, header, code, codegen):
        command = ["gcc", "-no-pie"] + FLAGS + ["-I" + header, source]
        command += [code + ("/m.c" if codegen == "c" else "/m.o"), "-lm", "-o", self.path("program")]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_only_what_is_of_one_version_links(self):
        for codegen in CODEGENS:
            # With the header of `small`, the code of `large` would write beyond the end of the workspace.
            small = self.compile("small", 8, codegen, "--target", "x86-64")
            large = self.compile("large", 64, codegen, "--target", "x86-64")
            for function, call in CALLS.items():
                source = self.write(function + ".c", '#include "m.h"\n' + call)
                with self.subTest(codegen=codegen, function=function):
                    for folder in small, large:
                        result = self.link(source, folder, folder, codegen)
                        self.assertEqual(result.returncode, 0, result.stdout.decode())
                    result = self.link(source, small, large, codegen)
                    self.assertNotEqual(result.returncode, 0)
                    name = "run_model" if function == "run" else function
                    self.assertRegex(result.stdout.decode(), "undefined reference to .tvmgen_m_{}_[0-9a-f]{{8}}".format(name))

    def test_code_of_any_generator_and_compilation(self):
        """The version identifies the contents of the header, which do not depend on the code generator."""
        versions = set()
        for name in ("first", "again"):
            for codegen in CODEGENS:
                folder = self.compile(name, 8, codegen, "--target", "x86-64")
                with open(folder + "/m.h", encoding="utf-8") as file:
                    versions.add(re.search("#define tvmgen_m_run_model tvmgen_m_run_model_(\\w+)\n", file.read()).group(1))
        self.assertEqual(len(versions), 1, versions)

    def test_a_program_without_the_header(self):
        """The plain names of docs/abi.md exist."""
        for codegen in CODEGENS:
            folder = self.compile("plain", 8, codegen, "--target", "x86-64")
            declarations = "#include <stdint.h>\nint32_t tvmgen_m_run_model(const void*, void*, uint8_t*);\nextern uint8_t tvmgen_m_state[];\n"
            source = self.write("main.c", declarations + CALLS["run_model"])
            result = self.link(source, folder, folder, codegen)
            self.assertEqual(result.returncode, 0, result.stdout.decode())


if __name__ == "__main__":
    unittest.main()
