# SPDX-License-Identifier: Apache-2.0
"""Example models in the package."""

import pathlib

_FOLDER = pathlib.Path(__file__).parent / "examples"


def example(name: str = "digits") -> pathlib.Path:
    """Returns the path of an example model. The same folder has files of inputs and of the corresponding outputs.

    >>> import kiln, numpy
    >>> digits = kiln.example("digits")
    >>> image = numpy.load(digits.with_name("image.npy"))
    >>> int(kiln.compile(digits).load()(image).argmax())
    4

    Args:
      name: one of
        "digits": recognizes handwritten digits in images of 8 by 8 pixels. Files: image.npy, probabilities.npy;
          test_images.npy with brightness from 0 to 16, test_labels.npy; calibration/image.npy.
        "digits_batch": the same network for any number of images; its first dimension is `batch`.
        "my_mod": the sum of two arrays. Files: a.npy, b.npy, output.npy.
    Raises:
      ValueError: there is no example of this name.
    """
    models = {path.stem: path for path in sorted(_FOLDER.glob("*/*")) if path.suffix in (".onnx", ".relay")}
    if name not in models:
        raise ValueError(f"found the example '{name}', wanted one of {', '.join(models)}")
    return models[name]
