# SPDX-License-Identifier: Apache-2.0
"""Virtual environments of Python in the user's cache, with PyPI packages.

  activate("benchmark", ["numpy==2.4.6"])
  import numpy

Only programs that are started by hand use them: no test installs anything.
"""

import hashlib
import os
import pathlib
import subprocess
import sys


def cache():
    """Returns the folder of the user's cached files, below $XDG_CACHE_HOME or ~/.cache."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "kiln")


def folder(name, requirements):
    """Returns the path of the environment, which need not exist yet."""
    versions = hashlib.sha256(" ".join(requirements).encode()).hexdigest()[:12]
    return cache() / ("%s-%s-python%d.%d" % (name, versions, *sys.version_info[:2]))


def _install(environment, requirements):
    """Creates the virtual environment. A failure leaves nothing under the final name."""
    print("installing %s into a virtual environment (once)" % ", ".join(requirements),
          file=sys.stderr)
    made = environment.with_name(environment.name + ".partial")
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(made)], check=True)
    subprocess.run([str(made / "bin" / "python"), "-m", "pip", "install", "--quiet",
                    "--disable-pip-version-check", *requirements], check=True)
    made.rename(environment)


def python(name, requirements):
    """Returns the interpreter of the environment. The first call creates the environment. Raises
    SystemExit with a text if that fails."""
    environment = folder(name, requirements)
    try:
        if not environment.exists():
            environment.parent.mkdir(parents=True, exist_ok=True)
            _install(environment, requirements)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit("%s cannot be installed (%s); it takes the network, and on Debian the package "
                 "python3-venv" % (", ".join(requirements), error))
    return str(environment / "bin" / "python")


def activate(name, requirements):
    """Puts the environment's packages before this process's own in the search path."""
    python(name, requirements)
    (packages,) = folder(name, requirements).glob("lib/python*/site-packages")
    sys.path.insert(0, str(packages))
