# SPDX-License-Identifier: Apache-2.0
"""Compares what models take of a board with figures.txt, or renews it: tools/firmware/measure.py says how."""

import sys

from tools.firmware import measure

if __name__ == "__main__":
    sys.exit(measure.main(sys.argv[1:]))
