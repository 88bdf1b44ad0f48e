# SPDX-License-Identifier: Apache-2.0
"""The version of the command line, the Python package and its wheel."""

KILN_VERSION = "0.1.0"
