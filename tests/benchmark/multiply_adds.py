# SPDX-License-Identifier: Apache-2.0
"""Counts the multiply-adds of a model in the graph that Kiln prints.

The work of a model is that of its products: convolutions, dense layers and matrix products. They are
counted as the graph states them, independent of the schedule.
"""

import math
import re

_TYPE = r"Tensor\[\(([\d, ]*)\), \w+\]"
_PARAMETER = re.compile(r"(%[\w.]+): " + _TYPE)
_LINE = re.compile(r"(?:(%\d+) = )?(?:qnn|nn)\.([\w.]+)\((.*)\) /\* ty=" + _TYPE + r" \*/")
_RESULT = re.compile(r"(%\d+) = .*/\* ty=" + _TYPE + r" \*/;$")
_OPERAND = re.compile(r"(%[\w.]+|meta\[relay\.Constant\]\[\d+\])(?: /\* ty=" + _TYPE + r" \*/)?")


def _shape(text):
    return tuple(int(word) for word in text.split(",") if word.strip())


def _operands(text, shapes):
    """Returns the shapes of the first two operands."""
    found = []
    for name, own in _OPERAND.findall(text)[:2]:
        found.append(_shape(own) if own else shapes.get(name))
    return found


def _weights_per(letter, weight, arguments, default):
    """Returns the number of weights that contribute to one output ('O') or use one channel of the
    data ('I')."""
    match = re.search(r'kernel_layout="(\w+)"', arguments)
    layout = match.group(1) if match else default
    return math.prod(weight) // weight[layout.index(letter)]


def _of_line(op, arguments, result, shapes):
    operands = _operands(arguments, shapes)
    if len(operands) < 2 or None in operands:
        return 0
    data, weight = operands
    rank = len(weight)
    if re.fullmatch(r"conv\dd_transpose", op):
        default = "IO" + "DHW"[5 - rank:]
        if 'kernel_layout="OI' in arguments:
            arguments = ""
        return math.prod(data) * _weights_per("I", weight, arguments, default)
    if re.fullmatch(r"conv\dd|deformable_conv2d", op):
        return math.prod(result) * _weights_per("O", weight, arguments, "OI" + "DHW"[5 - rank:])
    if op in ("dense", "matmul", "batch_matmul"):
        return math.prod(result) * data[-2 if "transpose_a=True" in arguments else -1]
    return 0


def count(lines):
    """Returns the number of multiply-adds of the typed graph in Relay text."""
    shapes = {}
    total = 0
    for line in lines:
        if line.startswith("def @main"):
            shapes.update((name, _shape(text)) for name, text in _PARAMETER.findall(line))
            continue
        match = _LINE.search(line)
        if match:
            total += _of_line(match.group(2), match.group(3), _shape(match.group(4)), shapes)
        match = _RESULT.search(line)
        if match:
            shapes[match.group(1)] = _shape(match.group(2))
    return total
