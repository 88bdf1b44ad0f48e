# SPDX-License-Identifier: Apache-2.0
"""What Kiln raises besides Python's own exceptions."""


class ModelError(ValueError):
    """A model, library or option is wrong, or a model refused its inputs. The text says what was found and what was wanted."""


class CompilerError(RuntimeError):
    """Kiln itself failed: it is incomplete, was killed, or has a defect."""
