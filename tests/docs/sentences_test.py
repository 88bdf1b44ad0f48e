# SPDX-License-Identifier: Apache-2.0
"""Facts that readers once missed in a page, or found wrong there: phrases that the page has, and phrases that it must not have again.

A phrase is a few words, a command or a link that carries the fact, so that a sentence around it may be written anew. Line breaks count as blanks.
"""

import os
import re
import unittest

# The fact, its page, phrases of the page, and phrases that must not come back.
FACTS = [
    (
        "times are also known for more threads and for several runs at once",
        "README.md",
        [
            "docs/performance.md#one-and-two-threads-by-vectors-of-zen-4",
            "runs at once as there are cores",
            "docs/cpp.md#deadlines-threads-and-metrics",
        ],
        [],
    ),
    ("the example of Bazel names targets", "README.md", ["cpu_variants = [", "# without: for the oldest x86-64"], []),
    ("the example of Bazel names targets", "docs/bazel.md", ['cpu_variants = ["x86-64-v2", "x86-64-v3", "x86-64-v4"], )'], []),
    (
        "the default target of cc_model is slow",
        "docs/bazel.md",
        ["Set `target` or `cpu_variants` if speed matters", "the oldest x86-64 CPU", 'times as long as with `target = "x86-64-v3"`'],
        [],
    ),
    ("Debian's Bazel prints lines of its sandbox", "docs/bazel.md", ["build --nosandbox_debug"], []),
    ("builds have a cache and a number of jobs", "docs/bazel.md", ["build --disk_cache=", "build --jobs="], []),
    (
        "a CMake project is complete",
        "docs/cpp.md",
        ["cmake_minimum_required(VERSION 3.18) project(service LANGUAGES CXX) find_package(kiln REQUIRED)"],
        [],
    ),
    ("a service keeps versions of its models", "docs/cpp.md", ["**Roll back**", "`lin-42.so`", "let a symbolic link name the current one"], []),
    ("a container needs a C library", "docs/cpp.md", ["glibc 2.34", "RHEL 8 does not"], []),
    (
        "the forms of Run differ in their memory",
        "docs/cpp.md",
        [
            "| `Run(inputs)` | allocated |",
            "| `Run(inputs, outputs)` | the caller's | an idle one",
            "| `Run(inputs, outputs, workspace)` | the caller's | the caller's |",
        ],
        ["does the same with the workspace of the first form"],
    ),
    (
        "a service chooses its number of threads",
        "docs/cpp.md",
        ["as many requests under way as the machine has cores", "`ThreadPool::Global().SetNumThreads(1)`"],
        ["While one run has the pool", "nothing waits"],
    ),
    (
        "a program may have another Abseil, and plugins link the runtime",
        "docs/cpp.md",
        ["`kiln::runtime_shared`", "`libkiln_runtime.so.0`", "another version of Abseil", "position-independent code", "`share/kiln/src`"],
        [],
    ),
    ("an exception is thrown", "docs/cpp.md", ["throws `std::bad_alloc`"], []),
    ("an exception is thrown", "docs/tutorial_cpp.md", ["`std::bad_alloc` is thrown"], ["nothing throws"]),
    (
        "packed and cpacked differ",
        "docs/abi.md",
        ["`packed` differs from `cpacked` only if", "cannot be linked", "`TVMBackendGetFuncFromEnv`"],
        ["not the library's own"],
    ),
    (
        "numbers of versions have a meaning",
        "docs/stability.md",
        ["a new second number means that users may have to change something", "A new third number means that nobody has to change anything"],
        ["in a way that a user must act on"],
    ),
    (
        "a library has the same bytes for a named target only",
        "docs/stability.md",
        ["the same options and a named target", "target `host` is the machine that compiles"],
        ["with the same options, is the same bytes"],
    ),
    (
        "runtimes find tensors by different names",
        "docs/metadata.md",
        ["The C++ runtime, Python and the C runtime's graph executor find tensors by `relay_name_hint`"],
        ["its name in the runtimes"],
    ),
    (
        "a call of a model keeps no state",
        "docs/onnx.md",
        ["In C++ and Python, a call of the model keeps no state", "`Model.stream()`", "`Executor::keep_state`"],
        ["packed functions keep nothing"],
    ),
    (
        "terms are explained",
        "docs/glossary.md",
        [
            "| AOT executor | ",
            "| calling convention | ",
            "| constant pool | ",
            "| C++ runtime | ",
            "| external code generator | ",
            "| graph executor | ",
            "| packed interface | ",
            "| Winograd | ",
        ],
        [],
    ),
    ("a library may be larger than its model", "docs/pytorch.md", ["up to four times their size", "`--no-winograd`"], []),
    (
        "an export may fail",
        "docs/python.md",
        ["`kiln.ModelError` as well | PyTorch cannot export a module", "`__cause__` is PyTorch's exception"],
        [],
    ),
    ("an export may fail", "docs/pytorch.md", ["`torch.onnx.export cannot export the …`"], []),
    ("the program of the tutorial includes what it uses", "docs/tutorial_cortex_m4.md", ['main.c #include <stdint.h> #include "digits.h"'], []),
]


def read(page):
    with open(page, encoding="utf-8") as file:
        return file.read()


def headings(page):
    """Returns the links of a page's headings, as the site makes them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


class SentencesTest(unittest.TestCase):
    def test_facts(self):
        for fact, page, wanted, unwanted in FACTS:
            text = re.sub(r"\s+", " ", read(page))
            for phrase in wanted:
                with self.subTest(fact, page=page, wanted=phrase):
                    self.assertTrue(phrase in text)
            for phrase in unwanted:
                with self.subTest(fact, page=page, unwanted=phrase):
                    self.assertFalse(phrase in text)

    def test_links_of_the_readme_lead_to_headings(self):
        """The site, whose test follows links, does not have this page."""
        links = re.findall(r"\]\((docs/\w+\.md)#([^)\s]+)\)", read("README.md"))
        self.assertGreater(len(links), 5)
        for page, heading in links:
            with self.subTest(heading, page=page):
                self.assertTrue(os.path.exists(page), "name it in tests/docs/BUILD.bazel")
                self.assertIn(heading, headings(page))


if __name__ == "__main__":
    unittest.main()
