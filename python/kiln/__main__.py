# SPDX-License-Identifier: Apache-2.0
"""The command line:   python -m kiln compile model.onnx -o out"""

import os
import sys

from kiln.command_line import PROGRAM


def main() -> None:
    os.execv(PROGRAM, ["kiln", *sys.argv[1:]])


if __name__ == "__main__":
    main()
