# SPDX-License-Identifier: Apache-2.0
"""The version of the command line, the Python package, its wheel, and releases."""

KILN_VERSION = "0.1.0"

# The date of the release, which is the date of every file in an archive. CHANGELOG.md repeats it.
KILN_DATE = "2026-11-25"
