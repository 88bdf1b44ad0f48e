# SPDX-License-Identifier: Apache-2.0
"""The page of results says what was found, and is read back as it was written."""

import unittest

from tests.acceptance.page import Page

_WORKS = {"name": "timm/dla34", "exporter": "torch.onnx", "difference": 2e-7, "kiln_ms": 3.0,
          "peer_ms": 4.0}
_NOT_MEASURED = {"name": "scikit-learn/svm.SVC, 2 classes", "exporter": "skl2onnx", "difference": 0.0}
_REFUSED = {"name": "timm/odd", "stage": "compile", "reason": "operator X | Y is not supported"}
_WRONG = {"name": "timm/wrong", "exporter": "torch.onnx", "difference": 0.5, "kiln_ms": 1.0,
          "peer_ms": 1.0, "peer_difference": 0.25}


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
        again.environment = page.environment
        self.assertEqual(again.results, page.results)
        self.assertEqual(again.text(), page.text())

    def test_ratios_stay_when_it_is_read_back(self):
        page = _page(dict(_WORKS, kiln_ms=0.0740502, peer_ms=0.0215349))
        again = Page.read(page.text())
        again.environment = page.environment
        self.assertEqual(again.text(), page.text())

    def test_other_text_has_no_results(self):
        self.assertEqual(Page.read("# A page\n\n| model | time |\n").results, {})


if __name__ == "__main__":
    unittest.main()
