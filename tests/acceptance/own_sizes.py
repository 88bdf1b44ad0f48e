# SPDX-License-Identifier: Apache-2.0
"""Compares the sizes with which a model was compiled with the sizes of open dimensions in its code.

A size is a number, or a pair of the least and the largest size that the code feeds. The largest is
None if the code sets no limit. Shapes name dimensions:

  judge({"x": ("batch", 3, "height")}, {"batch": 1, "height": (736, None)}, {"x": (1, 3, 224)})
"""

import dataclasses

FACTOR = 2
ANY = (1, None)  # decided by the data, such as the length of a text


def is_near(size, own):
    """True if the size is within the factor of the own size, or of its range."""
    least, largest = own if isinstance(own, tuple) else (own, own)
    return least <= FACTOR * size and (largest is None or size <= FACTOR * largest)


def text(own):
    """Formats sizes for readers, such as: height 736 or more, sequence 1 to 512, width any."""
    parts = []
    for dimension, size in own.items():
        if size == ANY:
            size = "any"
        elif isinstance(size, tuple):
            size = "%d or more" % size[0] if size[1] is None else "%d to %d" % size
        parts.append("%s %s" % (dimension, size))
    return ", ".join(parts)


def sizes(shapes, compiled):
    """Returns the size of each named dimension in the compiled model, which has no unused inputs."""
    found = {}
    for name, shape in shapes.items():
        for dimension, size in zip(shape, compiled.get(name, ())):
            if isinstance(dimension, str):
                found.setdefault(dimension, size)
    return found


@dataclasses.dataclass(frozen=True)
class Judgement:
    """Number of sizes that the code names, number of near ones, and the compiled sizes of the
    others."""
    named: int
    near: int
    far: dict


def judge(shapes, own, compiled):
    """Judges the compiled sizes. A dimension with any size (ANY) counts as not named by the code.
    No size is near if the model was not compiled."""
    found = sizes(shapes, compiled)
    named = {dimension: size for dimension, size in own.items() if size != ANY}
    far = {dimension: found[dimension] for dimension, size in named.items()
           if dimension in found and not is_near(found[dimension], size)}
    near = [dimension for dimension in named if dimension in found and dimension not in far]
    return Judgement(len(named), len(near), far)
