# SPDX-License-Identifier: Apache-2.0
"""The table of measured models, and its summary by class of models."""

import dataclasses
import math
import statistics

from tests.benchmark.model_cases import (DECODER, ENCODER, FLOAT32, HYBRID, ONNX_INT8, SELECTION,
                                          TFLITE_INT8, TREES)

LARGE_MULTIPLY_ADDS = 100e6


@dataclasses.dataclass
class Row:
    case: str
    kind: str
    threads: int
    multiply_adds: int
    measurement: object  # of rounds.py
    apart: str

    @property
    def has_peak(self):
        """True if the model uses floats and is large enough to be compared with the machine's peak."""
        return self.kind == ENCODER or (
            self.kind == FLOAT32 and self.multiply_adds > LARGE_MULTIPLY_ADDS)

    @property
    def best_peer(self):
        ratios = self.measurement.ratios
        return max(ratios, key=ratios.get) if ratios else None

    @property
    def ratio(self):
        return self.measurement.ratios[self.best_peer]


def print_head(peers):
    columns = ["model", "threads", "10^6 multiply-adds", "Kiln ms",
               *("%s ms" % peer for peer in peers), "Kiln / better", "GFLOP/s", "% of peak",
               "apart"]
    print("| %s |\n%s" % (" | ".join(columns), "|---" * len(columns) + "|"), flush=True)


def print_row(row, peers):
    seconds = row.measurement.seconds
    cells = [row.case, str(row.threads), "%.3g" % (row.multiply_adds / 1e6)]
    for name in ("Kiln", *peers):
        cells.append("%.4g" % (seconds[name] * 1e3) if name in seconds else "-")
    cells.append("%.3f" % row.ratio if row.best_peer else "-")
    if row.has_peak:
        cells.append("%.1f" % (2e-9 * row.multiply_adds / seconds["Kiln"]))
        cells.append("%.0f" % (100 * row.measurement.part_of_peak))
    else:
        cells += ["", ""]
    print("| %s | %s |" % (" | ".join(cells), row.apart), flush=True)


def _print_class(title, rows, ratio):
    values = [(ratio(row), row.case) for row in rows if ratio(row) is not None]
    if not values:
        return
    mean = math.exp(statistics.fmean(math.log(value) for value, _ in values))
    worst, name = max(values)
    print("| %s | %d | %.3f | %.3f | %s |" % (title, len(values), mean, worst, name))


def print_summary(rows, threads):
    """Prints the geometric mean and the worst of Kiln's time relative to the fastest peer's, by
    class."""
    rows = [row for row in rows if row.threads == threads and row.best_peer]
    print("\n| %d thread%s | models | geometric mean | worst | which |\n|---|---|---|---|---|" % (
        threads, "" if threads == 1 else "s"))
    better = lambda row: row.ratio
    of = lambda kind: [row for row in rows if row.kind == kind]
    _print_class("int8 TFLite, beside LiteRT", of(TFLITE_INT8),
                 lambda row: row.measurement.ratios.get("LiteRT"))
    for kind in (TFLITE_INT8, ONNX_INT8, HYBRID):
        _print_class(kind, of(kind), better)
    _print_class("float32 above 10^8 multiply-adds",
                 [row for row in of(FLOAT32) if row.has_peak], better)
    _print_class(FLOAT32, of(FLOAT32), better)
    _print_class(ENCODER, of(ENCODER), better)
    for kind in (SELECTION, DECODER, TREES):
        _print_class(kind, of(kind), better)
    parts = [row.measurement.part_of_peak for row in of(ENCODER)]
    if parts:
        print("\nencoders: %.0f to %.0f %% of the peak of multiply-adds" % (
            100 * min(parts), 100 * max(parts)))
