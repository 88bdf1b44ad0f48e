# SPDX-License-Identifier: Apache-2.0
"""Conveniences of the command line: help that fits the terminal, completion, doctor, targets, standard input, several
models, the last line."""

import json
import os
import re
import shutil
import subprocess
import unittest

from tests.cli.cli_case import DIGITS, KILN, MY_MOD, CliCase


class ComfortsTest(CliCase):
    # Help.

    def test_help_is_in_groups_and_fits(self):
        text = self.succeeds("compile", "--help")
        headings = re.findall(r"^([A-Z][a-z ]+):$", text, re.M)
        for heading in ("Output", "Model", "Machine and speed", "Runtime and interface", "Memory"):
            self.assertIn(heading, headings)
        self.assertEqual(headings[:3], ["Positionals", "Options", "Most used"])
        most_used = text[text.index("Most used:") : text.index("Model:")]
        self.assertEqual(re.findall(r"^  (-\S+)", most_used, re.M), ["--input", "--dim", "--target", "--threads", "-o,--output"])
        options = text[: text.index("Examples:")]
        self.assertLessEqual(max(len(line) for line in options.splitlines()), 80)
        self.assertIn("--executor TEXT           aot or graph [aot]\n", text)
        for columns in (60, 100):
            text = self.in_terminal(columns, "compile", "--help")
            lengths = [len(line) for line in text[: text.index("Examples:")].splitlines()]
            self.assertLessEqual(max(lengths), columns)
            self.assertGreater(max(lengths), columns - 15)

    def commands(self):
        commands = re.findall(r"^  ([a-z-]+) {2,}", self.succeeds("--help").split("Subcommands:")[1], re.M)
        self.assertIn("validate", commands)
        return commands

    def test_help_of_many_options_is_in_groups_and_fits(self):
        for command in self.commands():
            with self.subTest(command):
                text = self.succeeds(command, "--help").split("\nExample")[0]
                self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)
                # A heading is followed by its entries.
                groups = dict(re.findall(r"^([A-Z][a-z ]+):\n((?:  .*\n)+)", text, re.M))
                options = {heading: re.findall(r"^  (-\S+)", entries, re.M) for heading, entries in groups.items()}
                if sum(map(len, options.values())) > 8 + 1:  # --help is one of them
                    self.assertEqual(options["Options"], ["-h,--help"])
                    self.assertGreater(len(options), 2)

    def test_every_command_has_help(self):
        for command in self.commands():
            with self.subTest(command):
                text = self.succeeds(command, "--help")
                self.assertEqual(text, self.succeeds("help", command))
                self.assertIn("Usage: kiln " + command, text)

    def options(self, command):
        """Returns the long names of a command's options."""
        text = self.succeeds(command, "--help").split("\nExample")[0]
        return {name for line in re.findall(r"^  (-\S+)", text, re.M) for name in re.findall(r"--[a-z0-9-]+", line)}

    def test_inspect_takes_the_options_of_compile(self):
        """inspect accepts all options of compile except the options for outputs, which docs/inspect.md lists."""
        with open("docs/inspect.md", encoding="utf-8") as file:
            row = next(line for line in file if line.startswith("| model (ONNX"))
        refused = set(re.findall(r"`(--[a-z-]+)`", row.split("The options for outputs are not:")[1]))
        refused.remove("--profile")  # inspect has an option of this name with another meaning
        self.assertEqual(self.options("compile") - self.options("inspect") - {"--no-headers"}, refused)
        # The page names only options that exist.
        with open("docs/inspect.md", encoding="utf-8") as file:
            named = set(re.findall(r"`(?:[^`]* )?(--[a-z-]+)[^`]*`", file.read()))
        for name in named - {"--seconds"}:
            self.assertIn(name, self.options("compile") | self.options("inspect"))

    # Completion.

    def complete(self, *words):
        """Returns bash's completions for the last word."""
        script = self.succeeds("completion", "bash")
        line = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kiln; printf "%s\\n" "${COMPREPLY[@]}"'
        result = subprocess.run(["bash", "-c", script + line, "bash", "kiln", *words], stdout=subprocess.PIPE, cwd=self.folder, check=True)
        return result.stdout.decode().split()

    def test_completion(self):
        self.assertEqual(self.complete("compl"), ["completion"])
        self.assertEqual(self.complete("compile", "--module"), ["--module-name"])
        self.assertEqual(self.complete("compile", "x.onnx", "--target", "cortex-m4"), ["cortex-m4", "cortex-m4f"])
        self.assertEqual(self.complete("mlf", "me"), ["merge"])
        self.assertEqual(self.complete("help", "insp"), ["inspect"])
        self.write("model.onnx", "x")
        self.assertEqual(self.complete("compile", "mod"), ["model.onnx"])
        zsh = self.succeeds("completion", "zsh")
        self.assertTrue(zsh.startswith("#compdef kiln\n"))
        self.assertTrue(zsh.endswith(self.succeeds("completion", "bash")))
        self.refuses("shell: tcsh not in {bash,fish,zsh}", "completion", "tcsh")

    def test_completion_of_fish(self):
        script = self.succeeds("completion", "fish")
        lines = script.splitlines()
        self.assertIn("complete -c kiln -f -n '__fish_use_subcommand' -a compile -d 'Compile a model (Relay text, ONNX or TFLite) into a library'", lines)
        self.assertTrue(any(line.startswith("complete -c kiln -n '__fish_seen_subcommand_from compile' -l target -d ") and "cortex-m4f" in line for line in lines))
        self.assertTrue(any(line.startswith("complete -c kiln -f -n '__fish_seen_subcommand_from mlf' -a merge ") for line in lines))
        fish = shutil.which("fish")
        if fish is not None:
            subprocess.run([fish, "--no-execute"], input=script.encode(), check=True)

    # The manual page.

    def test_manual_page(self):
        page = self.succeeds("man")
        self.assertTrue(page.startswith('.TH KILN 1 "" "kiln '))
        for heading in (".SH NAME", ".SH SYNOPSIS", ".SS kiln compile", ".SS kiln mlf merge", ".SH EXIT STATUS"):
            self.assertIn(heading + "\n", page)
        self.assertIn("\\fB\\-\\-target\\fR", page)
        groff = shutil.which("groff")
        if groff is not None:
            result = subprocess.run([groff, "-man", "-Tutf8", "-ww"], input=page.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
            self.assertEqual(result.stderr.decode(), "")
            self.assertIn("kiln compile", result.stdout.decode())

    # JSON.

    def test_json(self):
        version = json.loads(self.succeeds("version", "--json"))
        self.assertEqual(list(version), ["version", "code_generators", "external_code_generators", "llvm", "compiler", "targets"])
        self.assertIn("kiln " + version["version"] + "\n", self.succeeds("version"))
        self.assertIn("cortex-m4f", version["targets"])
        doctor = json.loads(self.succeeds("doctor", "--json"))
        self.assertEqual({key: doctor[key] for key in version}, version)
        programs = {program["name"]: program for program in doctor["programs"]}
        self.assertEqual(programs["cc"]["path"], shutil.which("cc"))
        nothing = subprocess.run([KILN, "doctor", "--json"], stdout=subprocess.PIPE, env={"PATH": self.folder}, check=True)
        self.assertEqual({program["path"] for program in json.loads(nothing.stdout)["programs"]}, {None})
        targets = json.loads(self.succeeds("targets", "--json"))
        self.assertEqual(targets["targets"], version["targets"])
        machines = {row["name"]: row for row in targets["machines"]}
        self.assertEqual(sorted(name for row in machines.values() for name in row["targets"]), sorted(version["targets"]))
        self.assertEqual((machines["zen4"]["processors"], machines["x86-64"]["measured_on"]), (["znver4"], "estimated"))
        self.assertIn("host", machines[doctor["machine"]["name"]]["targets"])
        chip = json.loads(self.succeeds("targets", "stm32f407", "--json"))
        self.assertIn(chip, targets["chips"])
        self.assertEqual(chip["target"], "cortex-m4f")

    # Information about the installation.

    def test_doctor(self):
        text = self.succeeds("doctor")
        self.assertTrue(text.startswith(self.succeeds("--version")))
        self.assertRegex(text, r"\nmachine of the host: [\w-]+ \(.+\)\n")
        self.assertIn(shutil.which("cc"), text)
        result = subprocess.run([KILN, "doctor"], stdout=subprocess.PIPE, env={"PATH": self.folder}, check=True)
        self.assertIn("arm-none-eabi-gcc is missing: on Debian install gcc-arm-none-eabi and libnewlib", result.stdout.decode())
        self.assertIn("qemu-system-riscv32 is missing: on Debian install qemu-system-misc\n", result.stdout.decode())

    def test_targets(self):
        text = self.succeeds("targets")
        self.assertIn("targets: host, x86-64", text)
        self.assertIn("STM32F4 ", text)
        self.assertRegex(text, r"\n  cortex-m4 +cortex-m4, cortex-m4f +cortex-m4 +instructions that QEMU counts for a Cortex-M4 ")
        found = self.succeeds("targets", "stm32f407")
        self.assertEqual(len(found.splitlines()), 2)
        self.assertIn("Cortex-M4F  cortex-m4f", found)
        self.refuses("targets: no chip is known by 'z80'", "targets", "z80")
        words = "--target: found 'STM32F407', which has a Cortex-M4F: wanted --target cortex-m4f"
        self.refuses(words, "compile", DIGITS, "-o", self.out, "--target", "STM32F407")
        self.refuses(", perhaps 'riscv64gc'", "compile", DIGITS, "-o", self.out, "--target", "riscv64")
        self.refuses("feature 'fma' is both on and off\n", "compile", DIGITS, "-o", self.out, "--target", "x86-64-v3 -mattr=+fma,-fma")

    def test_the_page_of_targets_is_complete(self):
        with open("docs/targets.md") as page:
            rows = page.read().split("|---|---|---|---|\n")[1]
        self.assertEqual(rows, self.succeeds("targets", "--markdown"))

    def test_parts_and_their_targets(self):
        for part, target in (
            ("STM32WB55", "cortex-m4f"),
            ("stm32wba52", "cortex-m33f"),
            ("stm32wb09", "cortex-m0plus"),
            ("nRF52810", "cortex-m4"),
            ("pico2", "cortex-m33f"),
            ("esp32c3", "riscv32-unknown-elf -mattr=+m,+c"),
            ("ESP32-S3", "xtensa-esp32s3-elf"),
            ("esp32", "xtensa-esp32-elf"),
            ("RA4M1", "cortex-m4f"),
            ("R7FA4M1AB", "cortex-m4f"),
            ("RA4M2", "cortex-m33f"),
            ("ra4m3", "cortex-m33f"),
            ("R7FA4M2AD", "cortex-m33f"),
            ("R7FA4M3AF", "cortex-m33f"),
            ("R7FA4E10B", "cortex-m33f"),
            ("RA6M3", "cortex-m4f"),
            ("RA6M4", "cortex-m33f"),
            ("ra6m5", "cortex-m33f"),
            ("R7FA6M4AF", "cortex-m33f"),
            ("R7FA6M5BH", "cortex-m33f"),
            ("nRF9151", "cortex-m33f"),
            ("nrf9160", "cortex-m33f"),
            ("RT1062", "cortex-m7f"),
            ("IMXRT1062", "cortex-m7f"),
            ("i.MX RT1052", "cortex-m7f"),
            ("MIMXRT1176", "cortex-m7f"),
            ("K64F", "cortex-m4f"),
            ("MK64FN1M0VLL12", "cortex-m4f"),
            ("K22F", "cortex-m4f"),
            ("MK20DX256", "cortex-m4"),
            ("MK20FN1M0", "cortex-m4f"),
            ("K210", "riscv64gc"),
            ("MAX78000", "cortex-m4f"),
            ("MAX78002", "cortex-m4f"),
            ("AE722F80F55D5", "cortex-m55"),
            ("AE302F80", "cortex-m55"),
            ("E7", "cortex-m55"),
            ("Ensemble E5", "cortex-m55"),
        ):
            with self.subTest(part):
                self.assertEqual(json.loads(self.succeeds("targets", part, "--json"))["target"], target)
        # The first name is too short, the second chip has too few registers, and the third is a core of SiFive.
        for part in ("stm32", "ch32v003", "e31"):
            self.refuses("targets: no chip is known by", "targets", part)

    def test_all_targets_of_chips_are_known(self):
        rows = self.succeeds("targets", "--markdown").splitlines()
        self.assertGreaterEqual(len(rows), 60)
        families = [family for row in rows for family in row.split(" | ")[0][2:].split(", ")]
        self.assertEqual(len(families), len(set(families)))
        for target in sorted({re.search("`(.*)`", row).group(1) for row in rows}):
            with self.subTest(target):
                self.succeeds("compile", MY_MOD, "--emit=c", "--runtime", "crt", "--codegen", "c", "--target", target)

    # Several models, and standard input.

    def test_a_model_from_standard_input(self):
        for path in (DIGITS, MY_MOD):
            with open(path, "rb") as model:
                result = subprocess.run([KILN, "compile", "-", "-o", self.out], stdin=model, stderr=subprocess.PIPE)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertIn("model.so", os.listdir(self.out))
        result = subprocess.run([KILN, "compile", "-", "--emit=plan"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stderr), (2, b"kiln: standard input: it is empty\n"))

    def test_several_models(self):
        self.succeeds("compile", DIGITS, MY_MOD, "-o", self.out)
        self.assertLessEqual({"digits.so", "my_mod.so"}, set(os.listdir(self.out)))
        shutil.rmtree(self.out)
        self.refuses("--module-name: found 2 models, wanted one", "compile", DIGITS, MY_MOD, "-o", self.out, "--module-name", "m")
        self.refuses("both make the module 'my_mod'", "compile", MY_MOD, MY_MOD, "-o", self.out)

    def test_the_last_line(self):
        line = r"^kiln: {}wrote{} out/my_mod.so, [0-9.]+ KiB, and [0-9] more files, [0-9.]+ KiB: [0-9.]+ s\n$"
        arguments = ["compile", MY_MOD, "-o", "out", "--target", "x86-64"]
        self.assertRegex(self.in_terminal(80, *arguments), line.format("\033\\[32m", "\033\\[0m"))
        self.assertRegex(self.in_terminal(80, *arguments, environment={"NO_COLOR": "1"}), line.format("", ""))
        self.assertEqual(self.in_terminal(80, *arguments, "--quiet"), "")
        self.assertEqual(self.kiln(*arguments).stderr, b"")

    def test_what_host_stands_for(self):
        arguments = ["compile", MY_MOD, "-o", "out"]
        self.assertRegex(self.in_terminal(80, *arguments), r"\nkiln: target host = .*\n$")
        self.assertEqual(self.in_terminal(80, *arguments, "--quiet"), "")
        self.assertEqual(self.kiln(*arguments).stderr, b"")


if __name__ == "__main__":
    unittest.main()
