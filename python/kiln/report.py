# SPDX-License-Identifier: Apache-2.0
"""Reports of commands as text and as HTML pages."""

import contextlib
import html
from typing import Any, Callable, List, Optional, Sequence, Tuple

from kiln.errors import ModelError


class Report(str):
    """A string that Python's prompt shows without quotes. A notebook shows it as a page or in a monospaced font."""

    _make_page: Optional[Callable[[], str]]

    def __new__(cls, text: str, make_page: Optional[Callable[[], str]] = None) -> "Report":
        """`make_page` returns an HTML page that includes the contents of `text`. Only a notebook calls it."""
        self = super().__new__(cls, text)
        self._make_page = make_page
        return self

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Report, (str(self),)

    def _repr_html_(self) -> str:
        if self._make_page is not None:
            with contextlib.suppress(ModelError):  # The model's file may be gone.
                return page_in_a_notebook(self._make_page())
        return "<pre>" + html.escape(self) + "</pre>"


def number(value: Optional[float]) -> float:
    """Returns a number of a command's JSON, in which null represents numbers that are not finite."""
    return float("nan") if value is None else value


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> List[str]:
    """Returns the lines of a table. A column whose title begins with ">" is aligned to the right.

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
    """Returns HTML that shows a page below a cell, separated from the notebook's own styles."""
    return f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: 30em; border: 0"></iframe>'
