# SPDX-License-Identifier: Apache-2.0
"""Compares the resources of models on a board with figures.txt, or updates the file. tools/firmware/measure.py has the
details."""

import sys

from tools.firmware import measure

if __name__ == "__main__":
    sys.exit(measure.main(sys.argv[1:]))
