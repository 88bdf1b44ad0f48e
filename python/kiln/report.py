# SPDX-License-Identifier: Apache-2.0
"""What a command has to say, as text."""

import html
from typing import List, Optional, Sequence


class Report(str):
    """Text that shows as it is: at Python's prompt without quotes, in a notebook in a font of equal widths."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "<pre>" + html.escape(self) + "</pre>"


def number(value: Optional[float]) -> float:
    """A number of a command's JSON, which has null for what is not finite."""
    return float("nan") if value is None else value


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> List[str]:
    """Lines of columns; one whose title begins with ">" is aligned to the right.

    >>> print(*table((">mean", "tensor"), [(0.5, "a"), (12, "b")]), sep="\\n")
    mean  tensor
     0.5  a
      12  b
    """
    texts = [[title.lstrip(">") for title in header], *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts)]
    sides = [">" if title.startswith(">") else "<" for title in header]
    return ["  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths)).rstrip() for row in texts]


def page_in_a_notebook(page: str) -> str:
    """HTML that shows a page of HTML below a cell, apart from the notebook's own styles."""
    return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: 30em; border: 0"></iframe>'
