# SPDX-License-Identifier: Apache-2.0
"""The version of the command line, the Python package and its wheel, and of a release."""

KILN_VERSION = "0.1.0"

# When it is released: the date of every file in an archive. CHANGELOG.md has the same.
KILN_DATE = "2026-11-25"
