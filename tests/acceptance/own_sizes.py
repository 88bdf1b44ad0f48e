# SPDX-License-Identifier: Apache-2.0
"""Sizes of open dimensions that code names, and how near those are with which a model was compiled.

A size is a number, or the least and the largest that the code feeds; the largest is None where the
code sets no limit. Shapes name dimensions:

  judge({"x": ("batch", 3, "height")}, {"batch": 1, "height": (736, None)}, {"x": (1, 3, 224)})
"""

import dataclasses

FACTOR = 2
ANY = (1, None)  # what the data has, such as the length of a text


def is_near(size, own):
    """True if the size is within the factor of the own size, or of the ends of its range."""
    least, largest = own if isinstance(own, tuple) else (own, own)
    return least <= FACTOR * size and (largest is None or size <= FACTOR * largest)


def text(own):
    """Sizes for readers: height 736 or more, sequence 1 to 512, width any."""
    parts = []
    for dimension, size in own.items():
        if size == ANY:
            size = "any"
        elif isinstance(size, tuple):
            size = "%d or more" % size[0] if size[1] is None else "%d to %d" % size
        parts.append("%s %s" % (dimension, size))
    return ", ".join(parts)


def sizes(shapes, compiled):
    """The size of each dimension of the shapes in the compiled model, which lacks unused inputs."""
    found = {}
    for name, shape in shapes.items():
        for dimension, size in zip(shape, compiled.get(name, ())):
            if isinstance(dimension, str):
                found.setdefault(dimension, size)
    return found


@dataclasses.dataclass(frozen=True)
class Judgement:
    """How many sizes the code names, how many of them are near, and the others as compiled."""
    named: int
    near: int
    far: dict


def judge(shapes, own, compiled):
    """A dimension of any size has no named one. No size is near before a model is compiled."""
    found = sizes(shapes, compiled)
    named = {dimension: size for dimension, size in own.items() if size != ANY}
    far = {dimension: found[dimension] for dimension, size in named.items()
           if dimension in found and not is_near(found[dimension], size)}
    near = [dimension for dimension in named if dimension in found and dimension not in far]
    return Judgement(len(named), len(near), far)
