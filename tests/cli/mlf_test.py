# SPDX-License-Identifier: Apache-2.0
"""Archives of the Model Library Format on the command line: their contents, reading them back, and invalid archives."""

import gzip
import io
import itertools
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
DIGITS = os.path.abspath("models/digits/digits.onnx")
MY_MOD = os.path.abspath("models/my_mod/my_mod.relay")

# Every kind of code for the C runtime.
WAYS = [
    ["--interface", "c"],
    ["--interface", "packed"],
    ["--interface", "packed", "--calling-convention", "unpacked"],
    ["--interface", "packed", "--executor", "graph"],
]
CODEGENS = os.environ["CODEGENS"].split()


def unpack(data):
    """Returns the members of an archive by path."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers() if member.isfile()}


def pack(files):
    """Returns an archive of (path, bytes) pairs, packed by Python."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return output.getvalue()


class MlfTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def kiln(self, *args, **environment):
        return subprocess.run(
            [KILN] + list(args),
            cwd=self.folder,
            env=dict(os.environ, **environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def succeeds(self, *args, **environment):
        result = self.kiln(*args, **environment)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout.decode()

    def refuses(self, words, *args, **environment):
        result = self.kiln(*args, **environment)
        self.assertEqual(result.returncode, 2, result.stderr.decode())
        self.assertIn(words, result.stderr.decode())
        self.assertEqual(result.stdout, b"")

    def archive(self, *options, model=MY_MOD, name="a.tar"):
        self.succeeds("compile", model, "--runtime", "crt", "--target", "cortex-m4f", "--mlf", name, *options)
        return self.read(name)

    # Contents of an archive.

    def test_every_way_to_make_code(self):
        """The archive contains the files that -o writes, and the model as Relay text."""
        for way, codegen in itertools.product(WAYS, CODEGENS):
            with self.subTest(" ".join(way + [codegen])):
                options = way + ["--codegen", codegen, "--module-name", "digits"]
                files = unpack(self.archive("-o", "out", *options, model=DIGITS))
                suffix, folder = (".c", "src") if codegen == "c" else (".o", "lib")
                expected = {
                    "./codegen/host/{}/digits_lib0{}".format(folder, suffix): "digits" + suffix,
                    "./codegen/host/include/tvmgen_digits.h": "digits.h",
                    "./metadata/digits.json": "digits.metadata.json",
                }
                if "graph" in way:
                    expected["./executor-config/graph/digits.graph"] = "digits.graph.json"
                for path, name in expected.items():
                    self.assertEqual(files[path], self.read("out/" + name), path)
                if os.path.exists(self.path("out/digits_model.c")):
                    # The source includes the header by its name in the archive.
                    path = "./codegen/host/src/digits_lib{}.c".format(1 if codegen == "c" else 0)
                    source = self.read("out/digits_model.c").replace(b'"digits.h"', b'"tvmgen_digits.h"')
                    self.assertEqual(files[path], source)
                    expected[path] = "digits_model.c"
                # Kiln's own headers, which the C runtimes of other tools lack.
                for header in ("metadata.h", "model.h", "graph_table.h"):
                    if os.path.exists(self.path("out/kiln/" + header)):
                        path = "./codegen/host/src/kiln/" + header
                        self.assertEqual(files[path], self.read("out/kiln/" + header))
                        expected[path] = "kiln/" + header
                shutil.rmtree(self.path("out"))
                others = {"./SHA256SUMS", "./metadata.json", "./parameters/digits.params", "./src/digits.relay"}
                self.assertEqual(set(files), set(expected) | others)
                self.assertEqual(len(files["./parameters/digits.params"]), 32)
                self.write("again.relay", files["./src/digits.relay"])
                text = self.succeeds("compile", "again.relay", "--emit", "graph")
                self.assertEqual(text.encode(), files["./src/digits.relay"])
                self.succeeds("inspect", "a.tar")

    def test_description(self):
        files = unpack(self.archive("--executor", "graph", "--module-name", "m"))
        description = json.loads(files["./metadata.json"])
        metadata = json.loads(files["./metadata/m.json"])
        self.assertEqual(description["version"], 7)
        module = description["modules"]["m"]
        self.assertEqual(module["executors"], ["graph"])
        self.assertEqual(module["export_datetime"], "1970-01-01 00:00:00Z")
        main = metadata["functions"][0]
        self.assertEqual(
            module["memory"]["functions"]["main"],
            [
                {
                    "constants_size_bytes": main["constant_size_bytes"],
                    "device": 1,
                    "io_size_bytes": 6,
                    "workspace_size_bytes": main["workspace_size_bytes"],
                }
            ],
        )
        names = [function["name"] for function in metadata["functions"][1:]]
        functions = module["memory"]["functions"]["operator_functions"]
        self.assertEqual([function["function_name"] for function in functions], names)
        bindings = [storage.get("input_binding") for storage in module["memory"]["sids"]]
        self.assertEqual(sorted(filter(None, bindings)), ["a", "b"])
        self.assertEqual({storage["size_bytes"] for storage in module["memory"]["sids"]}, {2})

    def test_members(self):
        data = self.archive("--mlf-runtime")
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            members = archive.getmembers()
        self.assertEqual([m.name for m in members], sorted(m.name for m in members))
        for member in members:
            self.assertTrue(member.name.startswith("./") and member.isfile(), member.name)
            found = (member.uid, member.gid, member.uname, member.gname, member.mtime, member.mode)
            self.assertEqual(found, (0, 0, "root", "root", 0, 0o644))

    def test_same_bytes(self):
        for codegen in CODEGENS:
            first = self.archive("--codegen", codegen, "--mlf-runtime", model=DIGITS)
            self.assertEqual(first, self.archive("--codegen", codegen, "--mlf-runtime", model=DIGITS, name="b.tar"))

    def test_time(self):
        options = ["compile", MY_MOD, "--runtime", "crt", "--mlf", "a.tar"]
        self.succeeds(*options, SOURCE_DATE_EPOCH="1000000000")
        self.assertIn(b'"2001-09-09 01:46:40Z"', unpack(self.read("a.tar"))["./metadata.json"])
        self.assertIn("of 2001-09-09 01:46:40Z", self.succeeds("inspect", "a.tar"))
        for wrong in ("-1", "now", "999999999999999"):
            self.refuses("SOURCE_DATE_EPOCH: found '{}'".format(wrong), *options, SOURCE_DATE_EPOCH=wrong)

    def test_runtime_comes_from_the_tool_alone(self):
        """The C runtime is part of the tool: a copy in an empty folder has it. Its files do not name the build machine."""
        copy = self.path("kiln")
        shutil.copy(KILN, copy)
        command = [copy, "compile", MY_MOD, "--runtime", "crt", "--mlf", "a.tar", "--mlf-runtime"]
        subprocess.run(command, cwd=self.folder, check=True)
        files = unpack(self.read("a.tar"))
        for name in ("Makefile", "CMakeLists.txt", "src/common/module.c", "platform/host/platform.c"):
            self.assertIn("./runtime/" + name, files)
        for header in ("crt/aot_executor.h", "c_runtime_api.h", "metadata_types.h"):
            self.assertIn("./runtime/include/tvm/runtime/" + header, files)
        dependency = json.loads(files["./metadata.json"])["modules"]["my_mod"]["external_dependencies"][0]
        self.assertEqual(dependency["url"], "./runtime")
        for path, data in files.items():
            self.assertNotIn(b"bazel-out", data, path)
            self.assertNotIn(os.getcwd().encode(), data, path)

    # Command lines.

    def test_options_that_do_not_go_together(self):
        self.refuses("--mlf and --runtime cpp do not go together", "compile", MY_MOD, "--mlf", "a.tar")
        self.refuses("use --runtime crt", "compile", MY_MOD, "--mlf", "a.tar", "--system-lib")
        self.refuses("--mlf and --emit", "compile", MY_MOD, "--runtime", "crt", "--mlf", "a.tar", "--emit", "c")
        self.refuses("wanted --mlf FILE", "compile", MY_MOD, "--runtime", "crt", "-o", "out", "--mlf-runtime")
        self.refuses("found the folder", "compile", MY_MOD, "--runtime", "crt", "--mlf", self.folder)
        self.assertEqual(os.listdir(self.folder), [])

    # Several models.

    def test_merge(self):
        one = self.archive("--interface", "c", name="one.tar")
        two = self.archive("--interface", "c", "--mlf-runtime", "--module-name", "digits", model=DIGITS, name="two.tar")
        self.succeeds("mlf", "merge", "one.tar", "two.tar", "-o", "both.tar")
        files = unpack(self.read("both.tar"))
        for archive in (one, two):
            for path, data in unpack(archive).items():
                if path not in ("./SHA256SUMS", "./metadata.json"):
                    self.assertEqual(files[path], data, path)
        self.assertEqual(sorted(json.loads(files["./metadata.json"])["modules"]), ["digits", "my_mod"])
        text = self.succeeds("inspect", "both.tar")
        for words in ("module my_mod for cortex-m4f", "module digits for cortex-m4f", "with the C runtime"):
            self.assertIn(words, text)
        self.succeeds("mlf", "merge", "both.tar", "-o", "same.tar")
        self.assertEqual(self.read("same.tar"), self.read("both.tar"))

    def test_merge_refuses(self):
        self.archive()
        self.refuses("two modules have the name 'my_mod'", "mlf", "merge", "a.tar", "a.tar", "-o", "b.tar")
        self.refuses("none.tar: no such file", "mlf", "merge", "a.tar", "none.tar", "-o", "b.tar")
        self.refuses("not a tar archive", "mlf", "merge", "a.tar", MY_MOD, "-o", "b.tar")
        self.refuses("-o", "mlf", "merge", "a.tar")
        self.refuses("subcommand is required", "mlf")
        self.assertFalse(os.path.exists(self.path("b.tar")))

    # Invalid archives.

    def test_inspect_lists_everything(self):
        data = self.archive("--executor", "graph")
        text = self.succeeds("inspect", "a.tar")
        self.assertTrue(text.startswith("Model Library Format 7 of 1970-01-01 00:00:00Z, without the C runtime\n"), text)
        for path in unpack(data):
            self.assertIn(path[2:], text)
        self.assertIn("\ninputs:\n", text)

    def test_archives_that_are_not_right(self):
        data = self.archive()
        # Without the checksums, which would detect every change.
        files = sorted(item for item in unpack(data).items() if item[0] != "./SHA256SUMS")
        newer = [(p, d.replace(b'"version": 7', b'"version": 8') if p == "./metadata.json" else d) for p, d in files]
        metadata = json.loads(dict(files)["./metadata/my_mod.json"])
        later = json.dumps(dict(metadata, version=1000, surprise=1)).encode()
        changed = [(p, later if p == "./metadata/my_mod.json" else d) for p, d in files]
        known = "version {} can be read".format(7)
        for words, damaged in (
            ("has version 8 of the Model Library Format, " + known, pack(newer)),
            ("found metadata of version 1000, versions ", pack(changed)),
            ("to {} can be read; use a newer Kiln".format(metadata["version"]), pack(changed)),
            ("not of the Model Library Format", pack([("./readme.txt", b"hello")])),
            ("leaves the folder", pack(files + [("./../evil.c", b"")])),
            ("leaves the folder", pack(files + [("/evil.c", b"")])),
            ("comes twice", pack(files + [files[0]])),
            ("no part of a module", pack(files + [("./codegen/host/src/other_lib0.c", b"")])),
            ("no file src/my_mod.relay", pack([f for f in files if f[0] != "./src/my_mod.relay"])),
            ("cut off", data[:-512]),
            ("behind its end", data + data),
            ("damaged", data[:600] + b"\xff" * 2000 + data[2600:]),
        ):
            with self.subTest(words):
                self.write("bad.tar", damaged)
                self.refuses("bad.tar: ", "inspect", "bad.tar")
                self.refuses(words, "inspect", "bad.tar")
        # A file that is not a tar archive is read as a model.
        self.write("bad.tar.gz", gzip.compress(data))
        self.refuses("bad.tar.gz: ", "inspect", "bad.tar.gz")

    def test_checksums(self):
        data = self.archive("--mlf-runtime")
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            archive.extractall(self.path("model"))
        check = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
        subprocess.run(check, cwd=self.path("model"), check=True)
        files = unpack(data)
        self.assertEqual(files["./SHA256SUMS"].count(b"\n"), len(files) - 1)
        for path in files:
            damaged = dict(files)
            damaged[path] = bytes([files[path][0] ^ 1]) + files[path][1:]
            self.write("bad.tar", pack(damaged.items()))
            for command in (["inspect", "bad.tar"], ["mlf", "merge", "bad.tar", "-o", "b.tar"]):
                self.refuses("bad.tar: ", *command)
                self.refuses(path[2:], *command)
        self.assertFalse(os.path.exists(self.path("b.tar")))

    def test_other_programs_may_pack_it_again(self):
        data = self.archive("--mlf-runtime")
        self.write("other.tar", pack(sorted(unpack(data).items(), reverse=True)))
        self.succeeds("mlf", "merge", "other.tar", "-o", "mine.tar")
        self.assertEqual(self.read("mine.tar"), data)


if __name__ == "__main__":
    unittest.main()
