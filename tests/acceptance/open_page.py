# SPDX-License-Identifier: Apache-2.0
"""The section of docs/models.md on models with open dimensions. The section also stores its results.

  section = OpenDimensions()
  section.add({"name": "timm/resnet10t", "line": "`--dim batch=1 --dim height=224`",
               "own": "height 176", "where": "timm/models/resnet.py:883", "named": 1, "near": 1,
               "far": "", "difference": 2e-7})
  lines = section.lines()
"""

import math
import re

HEADING = "## Open dimensions"
TOLERANCE = 1e-4  # largest difference, relative to the largest output
_PACKAGES = "packages/"
_LAYERS = "torch/nn."

_HEAD = """This section lists models whose files leave dimensions open, and the sizes that `kiln compile` suggests for them ([Set a shape](shapes.md#set-a-shape)). Each
file is compiled by the plain command. If the command asks for sizes, the options in its error are pasted as they are. Then the model runs on random inputs
beside ONNX Runtime. There are %d files of %d Python packages, and %d exports by `torch.onnx.export` with `dynamic_shapes`, with random
weights.

- *Suggested*: the options in the error; "none needed" if the plain command compiles the file, with the sizes that it takes for the open dimensions.
- *Own sizes*: the sizes in the code of the package or of the model, in the file and line of the next column. A range is what the code feeds. "any" is a size of
  the data, such as the length of a text, and is not counted. The code of torchvision, timm and transformers names no size of the batch, so that nothing can be
  compared if only the batch is open. Detectors and segmentation name the shorter edge of an image. Models of sound name the samples of a second. The code of
  the layers of `torch.nn` names no size. Their sizes are those of the examples in their documentation, which are small, and they are counted apart.
- *Within 2*: the number of named sizes that are at most twice and at least half as large, or within a factor of 2 of their range. The others follow.
- *Difference*: the largest difference from ONNX Runtime's outputs over their largest value; 1e-4 or less counts as right. ONNX Runtime reads no TFLite: that
  file's outputs are compared with those of the same model in ONNX.
- *ONNX Runtime itself*: how far ONNX Runtime's outputs are from its own if its optimizations of graphs are off, or if each float of the inputs is the next
  larger one. Some models enlarge the last digits, for example where they turn floats into steps as they run (`DynamicQuantizeLinear`), or where their outputs
  for random inputs are tiny. A difference that is at most 1e-4 larger counts as right.
- Four files quantize as they run and are not right: a float near the middle between two steps becomes one or the other by its last digit, and the next layers
  make more of it. With one input `common_old.onnx` had the same steps as in ONNX Runtime in seven layers, and 4 other steps of 172,032 in the eighth.
- Three files that find text take means over whole images. Kiln adds the 16,384 numbers of such a mean one after the other if channels are innermost: the error
  is 5e-5 of the largest mean, and 5e-6 in ONNX Runtime.

Command: `bazel run -c opt //tests/acceptance:open_sizes`, with `-- --only PATTERN` for a part; the rest of the section stays. %s
"""
_COMMAND = re.compile(r"^Command: .*the rest of the section stays\. ?(.*)$")
_COLUMNS = ["| model | suggested | own sizes | where they stand | within 2 | difference |",
            "|---|---|---|---|---|---|"]


def is_right(result):
    return result.get("difference", math.inf) <= TOLERANCE + result.get("peer_difference", 0)


def _is_compiled(result):
    return result.get("stage", "run") in ("run", "compare")


def _within(result):
    if not result.get("named"):
        return "-"
    counts = "%d of %d" % (result["near"], result["named"])
    return ": ".join(filter(None, (counts, result["far"])))


def _outcome(result):
    if "stage" in result:
        return "%s: %s" % (result["stage"], result["reason"])
    text = "%.1e%s" % (result["difference"], "" if is_right(result) else ", not right")
    return text + (", ONNX Runtime itself %.1e" % result["peer_difference"] if "peer_difference" in result else "")


def _counts(results):
    """Returns the numbers of models: all, compiled, right, with named sizes, and with only near sizes. Then the number
    of named sizes and of near ones."""
    named = [result for result in results if result.get("named")]
    near = [result for result in named if result["near"] == result["named"]]
    return (len(results), sum(map(_is_compiled, results)), sum(map(is_right, results)), len(named),
            len(near), sum(result["named"] for result in named),
            sum(result["near"] for result in named))


class OpenDimensions:
    """Results by the model's name. `environment` states where and with which versions they were made."""

    def __init__(self):
        self.results = {}
        self.environment = ""

    def add(self, result):
        self.results[result["name"]] = result

    def read(self, line, cells):
        """Reads a line of the section. `cells` are the cells of the line if it is a row of a table."""
        command = _COMMAND.match(line)
        if command:
            self.environment = command.group(1)
        if not line.startswith("| `"):
            return
        name, suggested, own, where, within, outcome = cells
        result = {"name": name.strip("`"), "line": suggested, "own": own, "where": where}
        near, named, far = re.match(r"(?:(\d+) of (\d+)(?:: )?)?(.*)$", within).groups()
        result.update(near=int(near or 0), named=int(named or 0), far=far.strip("-"))
        number = re.match(r"[\d.]+e[-+]\d+", outcome)
        if number:
            result["difference"] = float(number.group())
            own = re.search(r"ONNX Runtime itself (\S+)", outcome)
            if own:
                result["peer_difference"] = float(own.group(1))
        else:
            result["stage"], _, result["reason"] = outcome.partition(": ")
        self.add(result)

    def _table(self, results):
        lines = list(_COLUMNS)
        for result in results:
            cells = [result.get("line", "-"), result.get("own", "-"), result.get("where", "-"),
                     _within(result), _outcome(result)]
            lines.append("| `%s` | %s |" % (
                result["name"], " | ".join(cell.replace("|", "\\|") for cell in cells)))
        return lines + [""]

    def lines(self):
        """Returns the lines of the section, or none if there are no results."""
        if not self.results:
            return []
        results = [result for _, result in sorted(self.results.items())]
        packaged = [result for result in results if result["name"].startswith(_PACKAGES)]
        exported = [result for result in results if result not in packaged]
        packages = {result["name"].split("/")[1] for result in packaged}
        head = _HEAD % (len(packaged), len(packages), len(exported), self.environment)
        summary = ["| from | models | compile | right | with named sizes | all of them within 2 | "
                   "named sizes | within 2 |", "|---|---|---|---|---|---|---|---|"]
        layers = [result for result in exported if result["name"].startswith(_LAYERS)]
        models = [result for result in results if result not in layers]
        exported_models = [result for result in exported if result not in layers]
        parts = [("packages", packaged), ("exports of models", exported_models), ("both", models), ("exports of layers", layers)]
        for source, part in parts:
            summary.append("| %s | %s |" % (source, " | ".join(map(str, _counts(part)))))
        lines = [HEADING, "", *head.splitlines(), "", *summary, ""]
        wrong = ["`%s` (%s)" % (result["name"].removeprefix(_PACKAGES),
                                result.get("stage") or "%.1e" % result["difference"])
                 for result in results if not is_right(result)]
        if wrong:
            lines += ["Not right, by the difference or the stage that failed: %s." %
                      ", ".join(wrong), ""]
        for title, part in (("Files of packages", packaged), ("Exports", exported)):
            if part:
                lines += ["### " + title, "", *self._table(part)]
        return [line.rstrip() for line in lines]
