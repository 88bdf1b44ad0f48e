# SPDX-License-Identifier: Apache-2.0
"""Exceptions that Kiln raises in addition to Python's own."""


class ModelError(ValueError):
    """The model, library or option is wrong, or a model refused its inputs.

    The text names the found and the wanted value.
    """


class CompilerError(RuntimeError):
    """Kiln itself failed: a part of it is missing, it was killed, or it has a bug."""
