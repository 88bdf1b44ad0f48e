# SPDX-License-Identifier: Apache-2.0
"""The version of Kiln, of which the command line, the Python package and its wheel tell."""

KILN_VERSION = "0.1.0"
