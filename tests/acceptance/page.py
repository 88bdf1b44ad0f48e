# SPDX-License-Identifier: Apache-2.0
"""docs/models.md: the page with the results. The page also stores them.

  page = Page.read(text)
  page.add({"name": "timm/dla34", "exporter": "torch.onnx", "difference": 2e-7, "kiln_ms": 3.1,
            "peer_ms": 4.0})
  text = page.text()
"""

import math
import re
import statistics

from tests.acceptance import open_page

_HEAD = """# Models that work

This page lists models of PyTorch, scikit-learn, XGBoost and LightGBM that compile. It says how exact they are, and how long they take beside ONNX Runtime.
Each model is made by its constructor, with random weights, or trained on generated data. It is exported to ONNX, compiled with `kiln.compile` for the
machine, and run beside the framework. Image models get random biases, scales and statistics of batch normalization. With the values of their constructors
much of a model has no effect, so that errors would not show.

- *Difference*: the largest difference from the framework's outputs over their largest value; 1e-4 or less counts as right. Labels must all be equal.
- *Kiln*, *ONNX Runtime*: milliseconds of processor time of a call from Python with one thread, the least of five short rounds in turns. Models and inputs are
  small, so that the list takes hours and not days; [Performance](performance.md) has careful figures of large models.
- A detector selects among its boxes, and the number of boxes that are left depends on the image. Kiln's fixed shapes do not allow that. `…, network` is a
  detector up to its boxes and scores.
- Models of `torch` are exported by `torch.onnx.export`, with `dynamo=False` if the default exporter fails. The others are exported by skl2onnx and onnxmltools.

Command: `bazel run -c opt //tests/acceptance:models`, with `-- --only PATTERN` for a part; the rest of the page stays. %s

"""


_COMMAND = re.compile(r"^Command: .*the rest of the page stays\. ?(.*)$")


def _ratio(result):
    return result["kiln_ms"] / result["peer_ms"]


def _milliseconds(result, key):
    return "%.3g" % result[key] if key in result else "-"


def _failure(result):
    """Returns the stage at which a model failed, and the reason."""
    if "stage" in result:
        return result["stage"], result["reason"]
    reason = "outputs are %.1e apart" % result["difference"]
    if "peer_difference" in result:
        reason += "; those of ONNX Runtime %.1e" % result["peer_difference"]
    return "compare", reason


def _cells(line):
    return [cell.strip().replace("\\|", "|") for cell in line.strip().strip("|").split(" | ")]


class Page:
    """Results by the model's name. `environment` states where and with which versions they were made. Models with open
    dimensions have their own section."""

    def __init__(self):
        self.results = {}
        self.environment = ""
        self.open_dimensions = open_page.OpenDimensions()

    @classmethod
    def read(cls, text):
        """Returns the results on a page that text() made, or none for any other text."""
        page = cls()
        section = ""
        for line in text.splitlines():
            if line.startswith("## "):
                section = line
            if section == open_page.HEADING:
                page.open_dimensions.read(line, _cells(line))
                continue
            command = _COMMAND.match(line)
            if command:
                page.environment = command.group(1)
            if not line.startswith("| `"):
                continue
            cells = _cells(line)
            name = cells[0].strip("`")
            if section == "## What does not work":
                page.add({"name": name, "stage": cells[1], "reason": cells[2]})
                continue
            result = {"name": name, "exporter": cells[1], "difference": float(cells[2])}
            for key, cell in zip(("kiln_ms", "peer_ms"), cells[3:5]):
                if cell != "-":
                    result[key] = float(cell)
            page.add(result)
        return page

    def add(self, result):
        """Adds a result. Times are rounded as they are printed, so reading the page gives the same result."""
        times = {key: float("%.3g" % result[key]) for key in ("kiln_ms", "peer_ms") if key in result}
        self.results[result["name"]] = {**result, **times}

    def _section(self, source):
        lines = ["## " + source, "",
                 "| model | exporter | difference | Kiln ms | ONNX Runtime ms | Kiln / ONNX Runtime |",
                 "|---|---|---|---|---|---|"]
        for name, result in sorted(self.results.items()):
            if not open_page.is_right(result) or not name.startswith(source + "/"):
                continue
            ratio = "%.2f" % _ratio(result) if "peer_ms" in result else "-"
            lines.append("| `%s` | %s | %.1e | %s | %s | %s |" % (
                name, result["exporter"], result["difference"], _milliseconds(result, "kiln_ms"),
                _milliseconds(result, "peer_ms"), ratio))
        return lines + [""]

    def _summary(self, sources):
        lines = ["| from | models | work | Kiln / ONNX Runtime, geometric mean |", "|---|---|---|---|"]
        for source, prefix in [(source, source + "/") for source in sources] + [("all", "")]:
            all_of = [result for name, result in self.results.items() if name.startswith(prefix)]
            right = [result for result in all_of if open_page.is_right(result)]
            logs = [math.log(_ratio(result)) for result in right if "peer_ms" in result]
            mean = "%.2f" % math.exp(statistics.fmean(logs)) if logs else "-"
            lines.append("| %s | %d | %d | %s |" % (source, len(all_of), len(right), mean))
        return lines + [""]

    def text(self):
        sources = sorted({name.partition("/")[0] for name in self.results})
        lines = self._summary(sources)
        for source in sources:
            lines += self._section(source)
        failed = [result for _, result in sorted(self.results.items()) if not open_page.is_right(result)]
        if failed:
            lines += ["## What does not work", "", "| model | where | reason |", "|---|---|---|"]
        for result in failed:
            stage, reason = _failure(result)
            lines.append("| `%s` | %s | %s |" % (result["name"], stage, reason.replace("|", "\\|")))
        lines = "\n".join(lines).rstrip().splitlines() + ["", *self.open_dimensions.lines()]
        return (_HEAD % self.environment).replace(" \n\n", "\n\n") + "\n".join(lines).rstrip() + "\n"
