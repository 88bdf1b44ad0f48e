# SPDX-License-Identifier: Apache-2.0
"""Runs the notebook of the documentation from top to bottom with Jupyter's own client."""

import os
import unittest

import nbclient
import nbformat
from python.tests.case import Case

_NOTEBOOK = "docs/first_model.ipynb"
_SECONDS = 240  # per cell
# Environment variables of the folders to which Jupyter may write.
_FOLDERS = ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR")


class NotebookTest(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.notebook = nbformat.read(_NOTEBOOK, as_version=4)

    def execute(self, notebook):
        """Returns the cells' outputs, keyed by cell name, as {type: text}. The type "text" is printed output."""
        os.symlink(os.path.abspath("models"), self.path("models"))
        os.mkdir(self.path("docs"))
        for variable in _FOLDERS:
            os.environ[variable] = self.path(variable)
        nbclient.NotebookClient(notebook, timeout=_SECONDS, resources={"metadata": {"path": self.path("docs")}}).execute()
        found = {}
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                shown = {"text": output["text"]} if output["output_type"] == "stream" else output["data"]
                found.setdefault(cell["id"], {}).update(shown)
        return found

    def test_is_kept_without_outputs(self):
        nbformat.validate(self.notebook)
        for cell in self.notebook.cells:
            self.assertEqual((cell.get("outputs", []), cell.get("execution_count")), ([], None), cell["id"])

    def test_runs(self):
        found = self.execute(self.notebook)
        self.assertIn("<kiln.Model digits: image float32[1, 1, 8, 8]", found["compile"]["text/plain"])
        self.assertIn("<pre>Model digits", found["compile"]["text/html"])
        self.assertEqual(found["run"]["text/plain"], "'356 of 359 are right'")
        self.assertIn("found float64, wanted float32", found["refused"]["text"])
        self.assertIn("<iframe srcdoc=", found["report"]["text/html"])
        self.assertIn("module digits for host", found["report"]["text/plain"])
        self.assertIn("conv1", found["quantize"]["text/html"])
        right, _, total, *_ = found["run-int8"]["text/plain"].strip("'").split()
        self.assertEqual(total, "359")
        self.assertGreaterEqual(int(right), 350)
        self.assertIn("conv1.relu_quantized", found["compare"]["text/plain"])
        self.assertIn("<iframe srcdoc=", found["compare"]["text/html"])
        self.assertRegex(found["worst"]["text"], r"differs most: its cosine is 0\.\d+")
        self.assertEqual(sorted(set(os.listdir(self.folder)) - set(_FOLDERS)), ["docs", "models"])
        self.assertEqual(os.listdir(self.path("docs")), [])

    def test_a_cell_that_fails_would_be_found(self):
        broken = nbformat.from_dict(self.notebook)
        broken.cells = [cell for cell in broken.cells if cell["id"] == "compile"]
        broken.cells[0]["source"] = 'import kiln\nkiln.compile("models/none.onnx")'
        with self.assertRaisesRegex(nbclient.exceptions.CellExecutionError, "models/none.onnx: no such file"):
            self.execute(broken)


if __name__ == "__main__":
    unittest.main()
