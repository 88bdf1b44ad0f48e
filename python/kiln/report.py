# SPDX-License-Identifier: Apache-2.0
"""What a command has to say, as text."""

import html


class Report(str):
    """Text that shows as it is: at Python's prompt without quotes, in a notebook in a font of equal widths."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "<pre>" + html.escape(self) + "</pre>"
