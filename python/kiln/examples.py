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
      name: "digits", which tells handwritten digits in images of 8 by 8 pixels (image.npy, probabilities.npy; test_images.npy with
        brightness from 0 to 16, test_labels.npy; calibration/image.npy); "digits_batch", the same network for any number of images,
        whose first dimension is `batch`; or "my_mod", the sum of two arrays (a.npy, b.npy, output.npy).
    Raises:
      ValueError: there is no example of this name.
    """
    models = {path.stem: path for path in sorted(_FOLDER.glob("*/*")) if path.suffix in (".onnx", ".relay")}
    if name not in models:
        raise ValueError(f"found the example '{name}', wanted one of {', '.join(models)}")
    return models[name]
