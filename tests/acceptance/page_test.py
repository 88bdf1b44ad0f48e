# SPDX-License-Identifier: Apache-2.0
"""Checks that the page contains the results, and that they can be read back unchanged."""

import unittest

from tests.acceptance.page import Page

_WORKS = {"name": "timm/dla34", "exporter": "torch.onnx", "difference": 2e-7, "kiln_ms": 3.0,
          "peer_ms": 4.0}
_NOT_MEASURED = {"name": "scikit-learn/svm.SVC, 2 classes", "exporter": "skl2onnx", "difference": 0.0}
_REFUSED = {"name": "timm/odd", "stage": "compile", "reason": "operator X | Y is not supported"}
_WRONG = {"name": "timm/wrong", "exporter": "torch.onnx", "difference": 0.5, "kiln_ms": 1.0,
          "peer_ms": 1.0, "peer_difference": 0.25}
_SUGGESTED = {"name": "timm/resnet10t", "line": "`--dim batch=1 --dim height=224 --dim width=224`",
              "own": "height 176, width 512", "where": "timm/models/resnet.py:883", "named": 2,
              "near": 1, "far": "width 224", "difference": 2e-7}
_NONE_NEEDED = {"name": "packages/magika/model.onnx", "line": "none needed: batch 1", "own": "-",
                "where": "-", "named": 0, "near": 0, "far": "", "difference": 0.5}
_NOT_RUN = {**{key: _SUGGESTED[key] for key in ("line", "own", "where", "named", "near", "far")},
            "name": "timm/not_run", "stage": "run", "reason": "an input | is missing"}
_NOT_COMPILED = {"name": "packages/silero-vad/silero_vad.onnx", "line": "-", "own": "batch 1",
                 "where": "silero_vad/utils_vad.py:112", "named": 1, "near": 0, "far": "",
                 "stage": "compile", "reason": "input 'input': dimension 0 is dynamic"}


def _page(*results):
    page = Page()
    page.environment = "Made on a machine."
    for result in results:
        page.add(result)
    return page


class PageTest(unittest.TestCase):

    def test_says_what_works_and_how_fast(self):
        text = _page(_WORKS, _NOT_MEASURED).text()
        self.assertIn("| `timm/dla34` | torch.onnx | 2.0e-07 | 3 | 4 | 0.75 |", text)
        self.assertIn("| `scikit-learn/svm.SVC, 2 classes` | skl2onnx | 0.0e+00 | - | - | - |", text)
        self.assertIn("| timm | 1 | 1 | 0.75 |", text)
        self.assertIn("| all | 2 | 2 | 0.75 |", text)
        self.assertIn("Made on a machine.", text)
        self.assertNotIn("What does not work", text)

    def test_names_failures_with_their_reasons(self):
        text = _page(_WORKS, _REFUSED, _WRONG).text()
        self.assertIn("| timm | 3 | 1 | 0.75 |", text)
        self.assertIn("| `timm/odd` | compile | operator X \\| Y is not supported |", text)
        self.assertIn("| `timm/wrong` | compare | outputs are 5.0e-01 apart; those of ONNX Runtime 2.5e-01 |", text)

    def test_is_read_back(self):
        page = _page(_WORKS, _NOT_MEASURED, _REFUSED)
        again = Page.read(page.text())
        self.assertEqual(again.environment, page.environment)
        self.assertEqual(again.results, page.results)
        self.assertEqual(again.text(), page.text())

    def test_ratios_stay_when_it_is_read_back(self):
        page = _page(dict(_WORKS, kiln_ms=0.0740502, peer_ms=0.0215349))
        self.assertEqual(Page.read(page.text()).text(), page.text())

    def test_other_text_has_no_results(self):
        self.assertEqual(Page.read("# A page\n\n| model | time |\n").results, {})


class OpenDimensionsTest(unittest.TestCase):

    def _page(self, *results):
        page = _page(_WORKS, _REFUSED)
        page.open_dimensions.environment = "Made on another machine."
        for result in results:
            page.open_dimensions.add(result)
        return page

    def test_says_what_is_suggested_and_named(self):
        text = self._page(_SUGGESTED, _NONE_NEEDED).text()
        self.assertIn("| `timm/resnet10t` | `--dim batch=1 --dim height=224 --dim width=224` | "
                      "height 176, width 512 | timm/models/resnet.py:883 | 1 of 2: width 224 | "
                      "2.0e-07 |", text)
        self.assertIn("| `packages/magika/model.onnx` | none needed: batch 1 | - | - | - | "
                      "5.0e-01, not right |", text)
        self.assertIn("There are 1 files of 1 Python packages", text)

    def test_counts(self):
        layer = dict(_SUGGESTED, name="torch/nn.LSTM")
        text = self._page(_SUGGESTED, _NONE_NEEDED, _NOT_RUN, _NOT_COMPILED, layer).text()
        self.assertIn("| packages | 2 | 1 | 0 | 1 | 0 | 1 | 0 |", text)
        self.assertIn("| exports of models | 2 | 2 | 1 | 2 | 0 | 4 | 2 |", text)
        self.assertIn("| both | 4 | 3 | 1 | 3 | 0 | 5 | 2 |", text)
        self.assertIn("| exports of layers | 1 | 1 | 1 | 1 | 0 | 2 | 1 |", text)
        self.assertIn("| compile: input 'input': dimension 0 is dynamic |", text)
        self.assertIn("Not right, by the difference or the stage that failed: `magika/model.onnx` "
                      "(5.0e-01), `silero-vad/silero_vad.onnx` (compile), `timm/not_run` (run).",
                      text)

    def test_the_last_digits(self):
        near, far = dict(_SUGGESTED, difference=0.01, peer_difference=0.02), dict(_NONE_NEEDED, peer_difference=0.1)
        text = self._page(near, far).text()
        self.assertIn("| 1.0e-02, ONNX Runtime itself 2.0e-02 |", text)
        self.assertIn("| 5.0e-01, not right, ONNX Runtime itself 1.0e-01 |", text)

    def test_is_read_back(self):
        page = self._page(_SUGGESTED, dict(_NONE_NEEDED, peer_difference=0.1), _NOT_RUN, _NOT_COMPILED)
        again = Page.read(page.text())
        self.assertEqual(again.open_dimensions.results, page.open_dimensions.results)
        self.assertEqual(again.results, page.results)
        self.assertEqual(again.text(), page.text())


if __name__ == "__main__":
    unittest.main()
