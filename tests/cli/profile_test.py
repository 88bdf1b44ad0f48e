# SPDX-License-Identifier: Apache-2.0
"""kiln bench --profile and --html: every operator compared with the machine's peak, as text, JSON and a page."""

import html.parser
import json
import os
import platform
import re
import unittest

from tests.cli.cli_case import DIGITS, CliCase

# A model with known counts.
DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(24, 360), float32], %w: Tensor[(36, 360), float32]) {
  nn.softmax(nn.dense(%x, %w, units=36))
}
"""


class Page(html.parser.HTMLParser):
    """Tags with their attributes, the texts in rows of the table, and the contents of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.scripts, self.inside = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "td" in self.inside or "th" in self.inside:
            self.rows[-1][-1] += data
        if "script" in self.inside:
            self.scripts[-1] += data


class ProfileTest(CliCase):
    def compile(self, *options, model=DIGITS):
        self.succeeds("compile", model, "-o", self.out, "--module-name", "m", *options)
        return os.path.join(self.out, "m.so")

    def bench(self, library, *options):
        return self.succeeds("bench", library, "--seconds", "0.01", *options)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def check_operators(self, library):
        result = json.loads(self.bench(library, "--profile", "--json"))
        profile = result["profile"]
        names = " ".join(operator["op_names"] for operator in profile["operators"])
        self.assertEqual(names.count("nn.conv2d"), 3, names)
        self.assertIn("nn.dense", names)
        metadata = json.loads(self.succeeds("inspect", library, "--json"))
        functions = {function["name"]: function for function in metadata["functions"]}
        for operator in profile["operators"]:
            function = functions[operator["function_name"]]
            self.assertEqual(operator["calls"], 1)
            self.assertGreater(operator["seconds"], 0)
            self.assertTrue(operator["schedule"])
            self.assertEqual(operator["schedule"], function["schedule"])
            self.assertEqual(operator["operations"], function["cost"]["operations"])
            self.assertEqual(operator["accessed_bytes"], function["cost"]["accessed_bytes"])
            self.assertIn(operator["bound"], ("FMA", "memory"))
            rate = operator["operations"] / operator["seconds"] / 1e9
            self.assertAlmostEqual(operator["gflops_per_second"], rate, delta=1e-6 * rate)
            self.check_percent(operator, profile["machine"]["all_threads"])
        self.assertLessEqual(sum(operator["seconds"] for operator in profile["operators"]), profile["total_seconds"])
        total = sum(operator["operations"] for operator in profile["operators"])
        self.assertEqual(metadata["functions"][0]["cost"]["operations"], total)

    def check_percent(self, operator, peak):
        fma = operator["operations"] / (peak["gflops_per_second"] * 1e9)
        memory = operator["accessed_bytes"] / (peak["read_gigabytes_per_second"] * 1e9)
        self.assertEqual(operator["bound"], "FMA" if fma >= memory else "memory")
        percent = 100 * max(fma, memory) / operator["seconds"]
        self.assertAlmostEqual(operator["percent_of_peak"], percent, delta=1e-6 * percent)

    def test_operators_on_both_executors(self):
        for options in (["--profile"], ["--profile", "--codegen", "c"], ["--executor", "graph"]):
            with self.subTest(" ".join(options)):
                self.check_operators(self.compile(*options))

    def test_counts_and_peaks(self):
        library = self.compile("--profile", model=self.write("dense.relay", DENSE))
        result = json.loads(self.bench(library, "--profile", "--json", "--threads", "2"))
        dense = result["profile"]["operators"][0]
        self.assertEqual(dense["operations"], 2 * 24 * 360 * 36)
        self.assertEqual(dense["accessed_bytes"], 4 * (24 * 360 + 360 * 36 + 24 * 36))
        machine = result["profile"]["machine"]
        self.assertTrue(machine["instructions"])
        self.assertEqual(machine["one_thread"]["threads"], 1)
        self.assertEqual(machine["all_threads"]["threads"], 2)
        for rates in (machine["one_thread"], machine["all_threads"]):
            for name in ("gflops_per_second", "read_gigabytes_per_second", "copy_gigabytes_per_second"):
                self.assertGreater(rates[name], 0)

    def test_text(self):
        library = self.compile("--profile")
        lines = self.bench(library, "--profile", "--threads", "1").splitlines()
        self.assertRegex(lines[0], r"^m, aot executor, 1 threads: \d+ runs, median ")
        self.assertRegex(lines[1], r"^peak of 1 thread: [\d.]+ GFLOP/s of multiply-adds, [\d.]+ GB/s read, [\d.]+ GB/s copied")
        titles = ["microseconds", "share", "GFLOP/s", "GB/s", "% of peak", "operator", "schedule"]
        self.assertEqual(re.split(r"  +", lines[2].strip()), titles)
        first = [line for line in lines if "fused_nn_conv2d" in line][0]
        self.assertRegex(first, r"^ +[\d.]+ +[\d.]+% +[\d.]+ +[\d.]+ +[\d.]+% (FMA|memory)  fused_nn_conv2d\w*  +\w")
        for line in lines:
            # The schedule, which is last, may be longer.
            self.assertLess(len(line[: lines[2].index("schedule")].rstrip()), 120, line)
        # The notes below the table depend on the load of the machine.
        (whole,) = [i for i, line in enumerate(lines) if line.endswith("the whole run")]
        self.assertIn("100.00%  ", lines[whole])
        shares = [float(re.search(r"([\d.]+)%", line).group(1)) for line in lines[3 : whole - 1]]
        self.assertEqual(shares, sorted(shares, reverse=True))

    def test_peak_of_the_target(self):
        if platform.machine() != "x86_64":
            self.skipTest("compiles for x86-64")
        library = self.compile("--profile", "--target", "x86-64")
        self.assertEqual(json.loads(self.bench(library, "--profile", "--json"))["profile"]["machine"]["instructions"], "sse2")
        variants = self.compile("--profile", "--cpu-variants", "x86-64,x86-64-v3")
        bench = ("--profile", "--json", "--cpu-variant", "x86-64")
        self.assertEqual(json.loads(self.bench(variants, *bench))["profile"]["machine"]["instructions"], "sse2")

    def test_a_library_without_hooks(self):
        library = self.compile()
        for options in (["--profile"], ["--html", self.path("page.html")]):
            result = self.kiln("bench", library, "--seconds", "0.01", *options)
            self.assertEqual(result.returncode, 2)
            self.assertIn("compile it with --profile", result.stderr.decode())
        self.assertFalse(os.path.exists(self.path("page.html")))

    def test_page(self):
        library = self.compile("--profile")
        result = json.loads(self.bench(library, "--html", self.path("page.html"), "--json"))
        text = self.read("page.html")
        page = Page(text)
        self.assertIn("m: kiln bench", text)
        operators = result["profile"]["operators"]
        # Header, one row per operator, sum.
        self.assertEqual(len(page.rows), len(operators) + 2)
        shown = [row[1] for row in page.rows]
        for operator in operators:
            self.assertIn(operator["function_name"].replace("tvmgen_m_", "", 1), shown)
        self.assertEqual([tag for tag, _ in page.tags].count("canvas"), 2)
        # The scripts are the data, the chart library, the code of all pages, and the page's own code.
        self.assertEqual(len(page.scripts), 4)
        data = json.loads(page.scripts[0])
        for operator in data["profile"]["operators"]:
            del operator["label"]
        self.assertEqual(data, result)

    def test_page_says_what_was_measured(self):
        library = self.compile("--profile")
        self.bench(library, "--html", "page.html")
        text = self.read("page.html")
        self.assertRegex(text, r"<dt>measured</dt><dd>\d{4}-\d\d-\d\d \d\d:\d\d UTC</dd>")
        for name in "CPU", "compiled for", "measured by":
            self.assertRegex(text, f"<dt>{name}</dt><dd>[^<]+</dd>")

    def test_trace(self):
        library = self.compile("--profile")
        result = json.loads(self.bench(library, "--trace", self.path("trace.json"), "--json"))
        trace = json.loads(self.read("trace.json"))
        events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual([event["args"]["function"] for event in events], [op["function_name"] for op in result["profile"]["operators"]])
        for event, following in zip(events, events[1:]):
            self.assertAlmostEqual(event["ts"] + event["dur"], following["ts"])
        self.assertEqual(trace["otherData"]["module"], "m")

    def test_page_needs_no_network(self):
        library = self.compile("--executor", "graph")
        self.bench(library, "--html", "page.html")
        text = self.read("page.html")
        for tag, attributes in Page(text).tags:
            self.assertFalse({"src", "href", "srcset", "action"} & set(attributes), (tag, attributes))
        self.assertIn("default-src 'none'", text)
        self.assertNotRegex(text, r"@import|url\(")

    def test_names_of_the_model_are_text(self):
        with open(DIGITS, "rb") as file:
            model = file.read()
        # The name of a node is replaced by one of the same length.
        self.assertIn(b"\x1a\x05conv1", model)
        library = self.compile("--profile", model=self.write("m.onnx", model.replace(b"\x1a\x05conv1", b'\x1a\x05<b>&"')))
        result = json.loads(self.bench(library, "--html", "page.html", "--json"))
        sources = [operator["source"] for operator in result["profile"]["operators"]]
        self.assertTrue(any('<b>&"' in source for source in sources), sources)
        page = Page(self.read("page.html"))
        self.assertNotIn("b", [tag for tag, _ in page.tags])
        # An operator that comes from no node of the model has the name of its function.
        shown = [op["source"] or op["function_name"].replace("tvmgen_m_", "", 1) for op in result["profile"]["operators"]]
        self.assertEqual(sorted(row[0] for row in page.rows[1:-1]), sorted(shown))
        self.assertNotIn("<b>", page.scripts[0])
        data = json.loads(page.scripts[0])
        self.assertEqual([operator["source"] for operator in data["profile"]["operators"]], sources)

    def test_where_the_page_is_written_to(self):
        library = self.compile("--profile")
        before = self.files(self.out)
        bench = ["bench", library, "--seconds", "0.01", "--html"]
        self.write("file", "kept")
        for words, path in (
            ("found the folder", self.folder),
            ("--html: found an empty text, wanted a value", ""),
            ("cannot be", self.path("file/page.html")),
            ("is what is read", library),
        ):
            with self.subTest(path):
                result = self.kiln(*bench, path)
                self.assertEqual(result.returncode, 2)
                self.assertIn(words, result.stderr.decode())
        self.assertEqual(self.files(self.out), before)
        self.assertEqual(self.read("file"), "kept")
        # A link stays a link and its target is replaced. No other file is left.
        os.mkdir(self.path("pages"))
        self.write("pages/page.html", "old")
        os.symlink("page.html", self.path("pages/link"))
        self.succeeds(*bench, self.path("pages/link"))
        self.assertEqual(sorted(os.listdir(self.path("pages"))), ["link", "page.html"])
        self.assertTrue(os.path.islink(self.path("pages/link")))
        self.assertTrue(self.read("pages/page.html").endswith("</html>\n"))


if __name__ == "__main__":
    unittest.main()
