# SPDX-License-Identifier: Apache-2.0
"""Models that come with the package, to try things with."""

import pathlib

_FOLDER = pathlib.Path(__file__).parent / "examples"


def example(name: str = "digits") -> pathlib.Path:
    """The file of an example's model. Beside it are files of inputs and of the outputs that they give.

    >>> import kiln, numpy
    >>> digits = kiln.example("digits")
    >>> image = numpy.load(digits.with_name("image.npy"))
    >>> int(kiln.compile(digits).load()(image).argmax())
    4

    Args:
      name: "digits", which tells handwritten digits in images of 8 by 8 pixels (image.npy, probabilities.npy), or "my_mod", the sum of
        two arrays (a.npy, b.npy, output.npy).
    Raises:
      ValueError: there is no example of this name.
    """
    names = sorted(path.name for path in _FOLDER.iterdir())
    if name not in names:
        raise ValueError(f"found the example '{name}', wanted one of {', '.join(names)}")
    return next(path for path in (_FOLDER / name).iterdir() if path.stem == name)
