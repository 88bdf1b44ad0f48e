# SPDX-License-Identifier: Apache-2.0
"""The documentation site: its search finds the right page, every link has a target, and nothing comes from the network.

The search runs as in a browser: a JavaScript engine runs the site's search script on the site's index.
"""

import html.parser
import json
import os
import pathlib
import sys
import unittest
import urllib.parse

from py_mini_racer import MiniRacer

SITE = pathlib.Path(sys.argv[1])

# Queries of readers who do not know Kiln, by the page with the answer. The page must be among the first results.
FIRST_RESULTS = 2
QUESTIONS = {
    "embedded.html": ["compile for a cortex-m4", "compile for cortex m4", "microcontroller", "compile microcontrollers"],
    "tutorial_cortex_m4.html": ["cortex-m4", "first model on cortex-m4"],
    "shapes.html": ["choose batch size", "how to choose the batch size", "batch size", "input shapes", "dynamic batch"],
    "quantization.html": ["how exact is int8", "exact int8", "int8 exactness", "int8 accuracy", "int8 rounding"],
    "adding_an_operator.html": ["add an operator", "how to add an operator", "new operator"],
    "adding_a_target.html": ["add a target", "add an instruction"],
    "quantize.html": ["quantize a model", "quantize onnx"],
    "tuning.html": ["tune", "tune a model"],
    "profiling.html": ["profile"],
    "validate.html": ["kiln validate", "many samples", "verify", "verify against reference"],
    "compare.html": ["kiln compare", "compare layer by layer"],
    "inspect.html": ["inspect html"],
    "package.html": ["zephyr", "arduino", "esp-idf", "platformio"],
    "targets.html": ["which target"],
    "stability.html": ["stability"],
    "mlf.html": ["cmake", "make"],
    "bazel.html": ["cc_model", "bazel"],
    "external_codegen.html": ["external code generator"],
    "tutorial_cpp.html": ["first model c++"],
    "tutorial_python.html": ["first model python"],
    "python.html": ["python"],
    "cpp.html": ["c++ service"],
    "command_line.html": ["command line", "command line options"],
    "memory.html": ["memory", "memory planning", "workspace"],
    "schedules.html": ["schedules", "winograd", "packed weights"],
    "metadata.html": ["metadata schema"],
    "abi.html": ["abi", "calling convention"],
    "loop_ir.html": ["loop ir"],
    "onnx.html": ["onnx", "onnx operators"],
    "tflite.html": ["tflite"],
    "glossary.html": ["glossary"],
}


class Page(html.parser.HTMLParser):
    """The links, the link targets, and the text of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.text = [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]

    def handle_data(self, data):
        self.text.append(data)


class Search:
    """The script that answers queries. A browser runs it as a worker."""

    def __init__(self):
        (worker,) = SITE.glob("assets/javascripts/workers/search.*.min.js")
        self.engine = MiniRacer()
        self.engine.eval(
            "var self = globalThis, answer, receive, console = {warn() {}};"
            "function addEventListener(_, handler) { receive = handler }"
            "function postMessage(message) { answer = message }"
        )
        self.engine.eval((SITE / "search/search_index.js").read_text(encoding="utf-8"))
        self.engine.eval(worker.read_text(encoding="utf-8"))
        self.send("{type: 0, data: {...__index, options: {}}}")

    def send(self, message):
        self.engine.eval("receive({data: " + message + "})")
        return json.loads(self.engine.eval("JSON.stringify(answer)"))

    def pages(self, query):
        """Returns the pages of the results, the best first."""
        found = self.send(json.dumps({"type": 2, "data": query}))["data"]["items"]
        return [sections[0]["location"].partition("#")[0] for sections in found]


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {path.relative_to(SITE).as_posix(): Page(path) for path in SITE.glob("**/*.html")}
        cls.search = Search()
        # The engine's thread must end before the interpreter ends.
        cls.addClassCleanup(cls.search.engine.close)

    def test_search_finds_the_page_that_answers(self):
        for page, queries in QUESTIONS.items():
            for query in queries:
                with self.subTest(query=query):
                    self.assertIn(page, self.search.pages(query)[:FIRST_RESULTS])

    def test_search_finds_nothing_for_nonsense(self):
        self.assertEqual(self.search.pages("xyzzyplugh"), [])

    def target_of(self, name, path):
        """Returns the file of the site that is the target of a link's path on a page."""
        root = SITE if path.startswith("/") or not path else (SITE / name).parent
        target = pathlib.Path(os.path.normpath(root / urllib.parse.unquote(path or name).lstrip("/")))
        return target / "index.html" if target.is_dir() else target

    def test_links_lead_somewhere(self):
        count, broken = 0, []
        for name, page in self.pages.items():
            for link in page.links:
                address = urllib.parse.urlsplit(link)
                if address.scheme:
                    continue
                count += 1
                target = self.target_of(name, address.path)
                other = self.pages.get(target.relative_to(SITE).as_posix()) if target.is_file() else None
                anchor = urllib.parse.unquote(address.fragment)
                if not target.is_file() or (anchor and other is not None and anchor not in other.ids):
                    broken.append((name, link))
        self.assertEqual(broken, [])
        self.assertGreater(count, 1000)

    def test_nothing_comes_from_the_network(self):
        for name, page in self.pages.items():
            self.assertEqual([link for link in page.links if urllib.parse.urlsplit(link).netloc], [], name)

    def test_every_fence_is_code(self):
        for name, page in self.pages.items():
            self.assertNotIn("```", "".join(page.text), name)

    def test_the_command_line_is_what_the_program_prints(self):
        text = "".join(self.pages["command_line.html"].text)
        for words in ("kiln compile", "kiln mlf merge", "kiln quantize", "--target", "Usage: kiln run"):
            self.assertIn(words, text)

    def test_navigation_has_the_four_kinds_of_pages(self):
        text = "".join(self.pages["index.html"].text)
        for kind in ("Tutorials", "How-to guides", "Reference", "Explanation"):
            self.assertIn(kind, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
