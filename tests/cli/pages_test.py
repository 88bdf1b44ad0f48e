# SPDX-License-Identifier: Apache-2.0
"""Pages that the tool writes: the contents of `kiln inspect --html`, and every page in a real browser if one is installed.

    bazel test //tests/cli:pages_test --test_output=all     # prints how long a page of 5,000 operators takes to load
"""

import json
import os
import re
import shutil
import subprocess
import unittest

import onnx
from onnx import TensorProto, helper

from tests.cli.cli_case import CODEGENS, DIGITS, KILN, CliCase

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

DRIVER = shutil.which("chromedriver", path=os.environ.get("PATH", "") + ":/usr/bin")
HOSTILE = ["</script><script>window.hit = 1</script>", "<img src=x onerror='window.hit = 1'>", "\u2028\u2029\";window.hit=1//", "'`${window.hit=1}`"]


def save_chain(path, names, operator="Softmax"):
    """Saves a model that is a chain of operators that are not fused."""
    nodes = [
        helper.make_node(operator, [names[i - 1] + str(i - 1) if i else "x"], [name + str(i)], name=name + str(i))
        for i, name in enumerate(names)
    ]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in ("x", nodes[-1].output[0])]
    onnx.save(helper.make_model(helper.make_graph(nodes, "chain", info[:1], info[1:]), opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


class PageCase(CliCase):
    def page(self, model, *options):
        path = self.path("page.html")
        self.succeeds("inspect", model, "--html", path, *options)
        with open(path, encoding="utf-8") as file:
            return file.read()

    def data(self, page):
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


class InspectPageTest(PageCase):
    def test_graph_and_memory_are_those_of_the_metadata(self):
        model = self.data(self.page(DIGITS))
        metadata = json.loads(self.succeeds("inspect", DIGITS, "--json"))
        self.assertEqual([call["function"] for call in model["calls"] if call["function"]], [f["name"] for f in metadata["functions"][1:]])
        conv = model["calls"][next(i for i, call in enumerate(model["calls"]) if call["layers"] == "conv1 relu1")]
        self.assertEqual(conv["operators"], "nn.conv2d nn.bias_add nn.relu")
        self.assertEqual(conv["layout"], "NHWC")
        self.assertEqual(model["tensors"][conv["outputs"][0]]["name"], "relu1")
        self.assertEqual(model["tensors"][conv["outputs"][0]]["shape"], [1, 8, 8, 16])
        pool = next(pool for pool in metadata["pools"] if pool.get("kind", "WORKSPACE") == "WORKSPACE")
        self.assertEqual(model["pools"][0]["bytes"], int(pool["size_bytes"]))
        self.assertEqual(model["pools"][0]["lower_bound"], int(pool["lower_bound_bytes"]))
        placed = [tensor for tensor in model["tensors"] if "pool" in tensor]
        self.assertEqual(len(placed), len(pool["buffers"]))
        self.assertEqual(sum(constant["bytes"] for constant in model["constants"]), sum(call["constant_bytes"] for call in model["calls"] if call["function"]))

    def test_callers(self):
        for options, callers in ([], "C, C++ and Python"), (["--target", "cortex-m4f"], "C and C++"):
            self.assertIn("<dt>called from</dt><dd>{}</dd>".format(callers), self.page(DIGITS, *options))

    def test_constants_that_two_operators_read_count_for_the_first(self):
        nodes = [
            helper.make_node("Add", ["x", "w"], ["sum"], name="add"),
            helper.make_node("Softmax", ["sum"], ["soft"], name="first"),
            helper.make_node("Softmax", ["soft"], ["softer"], name="second"),
            helper.make_node("Mul", ["softer", "w"], ["z"], name="mul"),
        ]
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 8]) for name in "xz"]
        weights = helper.make_tensor("w", TensorProto.FLOAT, [8, 8], [i / 64 for i in range(64)])
        path = self.path("shared.onnx")
        graph = helper.make_graph(nodes, "shared", info[:1], info[1:], [weights])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
        metadata = json.loads(self.succeeds("inspect", path, "--json"))
        readers = [f["name"] for f in metadata["functions"][1:] if int(f.get("constant_size_bytes", 0)) == 256]
        self.assertEqual(len(readers), 2)
        counted = {call["function"]: call["constant_bytes"] for call in self.data(self.page(path))["calls"]}
        self.assertEqual([counted[name] for name in readers], [256, 0])

    def test_every_tensor_that_is_read_is_written_before(self):
        model = self.data(self.page(DIGITS))
        known = {i for i, tensor in enumerate(model["tensors"]) if tensor["kind"] == "input"}
        for call in model["calls"]:
            self.assertLessEqual(set(call["inputs"]), known, call)
            known |= set(call["outputs"])
        outputs = [i for i, tensor in enumerate(model["tensors"]) if tensor["kind"] == "output"]
        self.assertLessEqual(set(outputs), known)

    def test_quantization(self):
        path = self.path("int8.onnx")
        self.succeeds("quantize", DIGITS, "--calibration", os.path.abspath("models/digits/calibration"), "-o", path)
        rows = {row["name"]: row for row in self.data(self.page(path))["quantization"]}
        self.assertEqual(rows["image_quantized"]["zero_point"], -128)
        self.assertAlmostEqual(rows["image_quantized"]["scale"], 1 / 255, places=6)

    def test_profile(self):
        self.succeeds("compile", DIGITS, "-o", self.out, "--module-name", "other", "--profile")
        profile = self.write("profile.json", self.succeeds("bench", self.path("out/other.so"), "--profile", "--json", "--seconds", "0.01"))
        with open(profile, encoding="utf-8") as file:
            operators = json.load(file)["profile"]["operators"]
        seconds = {op["function_name"].replace("tvmgen_other", "tvmgen_digits", 1): op["seconds"] for op in operators}
        calls = self.data(self.page(DIGITS, "--profile", profile))["calls"]
        self.assertEqual({call["function"]: call["seconds"] for call in calls if call["function"]}, seconds)
        html = ["--html", self.path("page.html"), "--profile"]
        with open(profile, "rb") as file:
            text = file.read()
        for source in "-", "/dev/stdin":
            os.remove(html[1])
            piped = subprocess.run([KILN, "inspect", DIGITS, *html, source], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual((piped.returncode, piped.stderr), (0, b""))
            with open(html[1], encoding="utf-8") as file:
                self.assertEqual(self.data(file.read())["calls"], calls)
        os.remove(html[1])
        shutil.rmtree(self.out)
        self.refuses("found no JSON, wanted what kiln bench --profile --json prints", "inspect", DIGITS, *html, self.write("bad", "x"))
        self.refuses("found no profile, wanted", "inspect", DIGITS, *html, self.write("bad", "{}"))
        chain = save_chain(self.path("chain.onnx"), ["a", "b"], "Exp")
        self.refuses("found a profile of another model, wanted", "inspect", chain, *html, profile)
        self.assertFalse(os.path.exists(html[1]))

    def test_a_library_has_no_graph(self):
        self.succeeds("compile", DIGITS, "-o", self.out, "--module-name", "digits")
        result = self.kiln("inspect", self.path("out/digits.so"), "--html", self.path("page.html"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("--html shows a model, wanted the file that it was compiled from", result.stderr.decode())

    def test_needs_no_network_and_names_are_no_code(self):
        page = self.page(save_chain(self.path("hostile.onnx"), HOSTILE))
        self.assertIn("default-src 'none'", page)
        self.assertNotRegex(page, r"@import|url\(|<(img|link|iframe)")
        self.assertEqual(page.count("<script"), 5)
        titles = [call["layers"] for call in self.data(page)["calls"]]
        self.assertEqual(titles[0], HOSTILE[0] + "0")


@unittest.skipUnless(webdriver and DRIVER, "no browser: wanted the Debian packages chromium-driver and python3-selenium")
class BrowserTest(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        options = Options()
        for option in "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000":
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(service=Service(DRIVER), options=options)
        cls.addClassCleanup(cls.browser.quit)

    def run_script(self, text):
        return self.browser.execute_script("return " + text)

    def open(self, path, width=1280, scheme="light"):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        )
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.browser.get("file://" + path)
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])
        # The page is not wider than the window.
        self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), width)

    def assert_numbers_are_visible(self, table, width):
        """The bars of a table, and the numbers next to them, need no scrolling to the side."""
        numbers = "Array.from(document.querySelector('{} tbody tr').querySelectorAll('td[data-value]'))".format(table)
        self.assertGreaterEqual(self.run_script(numbers + ".length"), 2)
        self.assertLessEqual(self.run_script(numbers + ".at(-1).getBoundingClientRect().right"), width)

    def test_inspect(self):
        self.page(DIGITS, "--target", "cortex-m4f")
        colors = set()
        for width in 1280, 420:
            for scheme in "light", "dark":
                self.open(self.path("page.html"), width, scheme)
                titles = self.run_script("Array.from(document.querySelectorAll('.node text:first-of-type'), (text) => text.textContent)")
                self.assertIn("conv1 relu1", titles)
                self.assertGreater(self.run_script("document.querySelectorAll('#memory svg rect').length"), 5)
                self.assertGreater(self.run_script("document.querySelectorAll('#flash tbody tr').length"), 5)
                # Outputs overlap inputs, so the lower bound is above the drawing, and shared bytes count once.
                self.assertIn("without overlap", self.run_script("document.querySelector('#memory').textContent"))
                self.assertNotIn("lower bound", self.run_script("document.querySelector('dl').textContent"))
                title = "Flash" if "llvm" in CODEGENS else "Constants of the operators"
                self.assertEqual(self.run_script("document.querySelector('#flash-title').textContent"), title)
                self.assert_numbers_are_visible("#flash", width)
                self.assertEqual(self.run_script("document.querySelectorAll('#memory line').length"), 0)
                self.assertGreaterEqual(self.run_script("document.querySelector('#memory .used').getBBox().y"), 0)
                colors.add(self.run_script("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(colors), 2)

    def test_profile(self):
        self.succeeds("compile", DIGITS, "-o", self.out, "--module-name", "digits", "--profile")
        times = self.succeeds("bench", self.path("out/digits.so"), "--profile", "--json", "--seconds", "0.01")
        self.page(DIGITS, "--profile", self.write("profile.json", times))
        for width, scheme in (1280, "light"), (420, "dark"):
            self.open(self.path("page.html"), width, scheme)
            self.assertGreater(self.run_script("document.querySelectorAll('#profile tbody tr').length"), 5)
            self.assert_numbers_are_visible("#profile", width)

    def test_keyboard_and_tables(self):
        self.page(DIGITS)
        self.open(self.path("page.html"))
        self.assertEqual(self.run_script("document.querySelector('#flash-title').textContent"), "Constants of the operators")
        graph = self.browser.find_element("id", "graph")
        title = "document.querySelector('#details h3').textContent"
        graph.send_keys(Keys.HOME)
        self.assertEqual(self.run_script(title), "image")
        graph.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        self.assertEqual(self.run_script(title), "conv1 relu1")
        graph.send_keys(Keys.END)
        self.assertEqual(self.run_script(title), "probabilities")
        self.browser.find_element("id", "find").send_keys("conv3")
        self.assertEqual(self.run_script(title), "conv3 relu3")
        self.run_script("document.querySelector('#calls summary').click()")
        names = "Array.from(document.querySelectorAll('#calls tbody tr'), (row) => row.children[5].dataset.value - 0)"
        self.browser.execute_async_script("setTimeout(arguments[0], 50)")
        self.run_script("document.querySelectorAll('#calls th button')[5].click()")
        operations = self.run_script(names)
        self.assertGreater(len(operations), 5)
        self.assertEqual(operations, sorted(operations, reverse=True))

    def test_layers_of_tflite_are_named_by_their_first_part(self):
        self.page(save_chain(self.path("chain.onnx"), ["model/relu;model/conv;", "plain"]))
        self.open(self.path("page.html"))
        self.browser.find_element("id", "graph").send_keys(Keys.HOME, Keys.ARROW_DOWN)
        self.assertEqual(self.run_script("document.querySelector('#details h3').textContent"), "model/relu")
        self.assertIn("model/relu;model/conv;0", self.run_script("document.querySelector('#details dl').textContent"))

    def test_names_are_inert(self):
        hostile = save_chain(self.path("hostile.onnx"), HOSTILE)
        self.page(hostile)
        pages = [self.path("page.html"), self.path("compare.html"), self.path("bench.html")]
        self.succeeds("compare", hostile, "--against-options=--passes=-fuse", "--html", pages[1])
        self.succeeds("compile", hostile, "-o", self.out, "--module-name", "m", "--profile")
        self.succeeds("bench", self.path("out/m.so"), "--seconds", "0.01", "--html", pages[2])
        for page in pages:
            self.open(page)
            self.assertIsNone(self.run_script("window.hit"))
            self.assertIn("window.hit = 1", self.run_script("document.body.textContent"))
            self.assertEqual(self.run_script("document.images.length"), 0)

    def test_bench(self):
        self.succeeds("compile", DIGITS, "-o", self.out, "--module-name", "m", "--profile")
        self.succeeds("bench", self.path("out/m.so"), "--seconds", "0.01", "--html", self.path("bench.html"))
        for width, scheme in (1280, "light"), (420, "dark"):
            self.open(self.path("bench.html"), width, scheme)
            self.assertIn("conv1 relu1", self.run_script("document.querySelector('tbody').textContent"))
            labels = self.run_script("Chart.getChart(document.querySelector('#times canvas')).data.labels")
            self.assertEqual(len(labels), self.run_script("document.querySelectorAll('tbody tr').length"))

    def test_thousands_of_operators(self):
        self.page(save_chain(self.path("chain.onnx"), ["layer"] * 5000))
        self.open(self.path("page.html"))
        milliseconds = self.run_script("performance.timing.loadEventEnd - performance.timing.navigationStart")
        print(f"a page of 5,000 operators loads in {milliseconds} ms")
        self.assertGreaterEqual(self.run_script("view.layout.nodes.length"), 5000)
        # Only visible nodes are drawn.
        self.assertLess(self.run_script("document.querySelectorAll('.node').length"), 100)
        # The line of used bytes has fewer steps than there are calls, or it would look like a filled area.
        self.assertLess(self.run_script("document.querySelector('#memory .used').getAttribute('d').match(/H/g).length"), 700)
        self.browser.find_element("id", "graph").send_keys(Keys.END)
        self.assertIn("layer4999", self.run_script("document.querySelector('#details h3').textContent"))


if __name__ == "__main__":
    unittest.main()
