"""Answers and plans: noisy counts with the noise that they carry."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_ALIGN = {"group": "left", "measure": "right"}


@dataclass(frozen=True)
class Answer:
    """Noisy rows, one a declared cell, as the server sent them.

    Counts are signed integers as drawn: a small or negative one is noise around a
    small truth.

    Attributes:
        document: The whole reply.
        hide_below: The dataset's display rule, or None; it adds a note to the table in
            a notebook and changes nothing in ``rows``.
    """

    document: dict[str, Any]
    hide_below: int | None = None

    @property
    def query_id(self) -> str:
        """The id under which the server keeps this answer."""
        return str(self.document["query_id"])

    @property
    def snapshot(self) -> str:
        """The snapshot of the data that was asked."""
        return str(self.document["snapshot"])

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The columns: name, kind (group or measure), type, unit."""
        return list(self.document["columns"])

    @property
    def rows(self) -> list[list[Any]]:
        """The rows, in column order."""
        return list(self.document["rows"])

    @property
    def noise(self) -> list[dict[str, Any]]:
        """Mechanism, scale and half-width of each measured column."""
        return list(self.document["noise"])

    @property
    def charge(self) -> dict[str, Any]:
        """What was paid; ``reused`` answers cost nothing."""
        return dict(self.document["charge"])

    @property
    def remaining(self) -> dict[str, str | None]:
        """What is left of the project's and of your own allotment."""
        return dict(self.document["remaining"])

    @property
    def derivation(self) -> str:
        """Why the noise has this size, in words."""
        return str(self.document["derivation"])

    @property
    def warnings(self) -> list[dict[str, str]]:
        """What to know before relying on the answer."""
        return list(self.document["warnings"])

    def half_width(self, column: str) -> float:
        """Return the 95 % half-width of each cell of a measured column.

        Raises:
            KeyError: It is no measured column.
        """
        for noise in self.noise:
            if noise["column"] == column:
                return float(noise["half_width_95"])
        message = f"{column!r} is not a measured column"
        raise KeyError(message)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a DataFrame, with a ``<measure>_half_width_95`` each.

        Raises:
            ImportError: pandas is not installed.
        """
        import pandas as pd  # noqa: PLC0415 - optional

        frame = pd.DataFrame(self.rows, columns=self._titles())
        for name, width in self._half_widths().items():
            frame[f"{name}_half_width_95"] = pd.to_numeric(width)
        return frame

    def __str__(self) -> str:
        """Return a table for terminals."""
        table = [self._titles(), *(self._cells(row) for row in self.rows)]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines = [
            "  " + "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True))
            for row in table
        ]
        return "\n".join([*lines, "  " + self._footer()])

    def _repr_html_(self) -> str:
        aligned = [_ALIGN[column["kind"]] for column in self.columns]
        head = _html_row("th", self._titles(), aligned)
        body = "".join(_html_row("td", self._cells(row), aligned) for row in self.rows)
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self._notes())
        return (
            f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
            f"<p>{html.escape(self._footer())}</p>"
            + (f"<ul>{notes}</ul>" if notes else "")
            + "<details><summary>Why this much noise</summary>"
            f"<pre>{html.escape(self.derivation)}</pre></details>"
        )

    def _titles(self) -> list[str]:
        return [str(column["name"]) for column in self.columns]

    def _half_widths(self) -> dict[str, str]:
        return {str(n["column"]): str(n["half_width_95"]) for n in self.noise}

    def _cells(self, row: list[Any]) -> list[str]:
        widths = self._half_widths()
        return [
            _cell(value, widths.get(name))
            for name, value in zip(self._titles(), row, strict=True)
        ]

    def _footer(self) -> str:
        paid = (
            "free: answered before"
            if self.charge["reused"]
            else f"paid epsilon {self.charge['epsilon']}"
        )
        left = [
            f"{name} {value}"
            for name, value in self.remaining.items()
            if value is not None
        ]
        return f"({paid}; remaining: {', '.join(left)}; ± holds 95 % of the noise)"

    def _notes(self) -> list[str]:
        notes = [str(warning["detail"]) for warning in self.warnings]
        if self.hide_below is not None and self._has_count_below(self.hide_below):
            notes.append(
                f"The custodian asks that counts below {self.hide_below} be passed on "
                f'as "below {self.hide_below}"; they are shown here as drawn.'
            )
        return notes

    def _has_count_below(self, threshold: int) -> bool:
        measures = [i for i, c in enumerate(self.columns) if c["kind"] == "measure"]
        counts = (row[i] for row in self.rows for i in measures)
        return any(isinstance(n, int) and n < threshold for n in counts)


def _cell(value: object, half_width: str | None) -> str:
    if value is None:
        return "NULL"
    if half_width is None:
        return str(value)
    shown = f"{value:,}" if isinstance(value, int) else str(value)
    return f"{shown} ± {half_width}"


def _html_row(tag: str, cells: list[str], aligned: list[str]) -> str:
    inner = "".join(
        f'<{tag} style="text-align:{side};padding:0.1em 0.8em">{html.escape(cell)}'
        f"</{tag}>"
        for cell, side in zip(cells, aligned, strict=True)
    )
    return f"<tr>{inner}</tr>"


@dataclass(frozen=True)
class Plan:
    """What a question would cost and how noisy its answer would be."""

    document: dict[str, Any]

    @property
    def epsilon(self) -> str:
        """The price."""
        return str(self.document["epsilon"])

    @property
    def affordable(self) -> bool:
        """Whether every limit has room for it."""
        return bool(self.document["affordable"])

    @property
    def noise(self) -> list[dict[str, Any]]:
        """Scale and half-width of each measured column."""
        return list(self.document["noise"])

    @property
    def derivation(self) -> str:
        """Why the noise has this size, in words."""
        return str(self.document["derivation"])

    @property
    def free(self) -> list[dict[str, Any]]:
        """Answers that are on offer for nothing."""
        return list(self.document["free"])

    def __str__(self) -> str:
        """Return a summary for terminals."""
        noise = "\n".join(
            f"  {n['column']}: ± {n['half_width_95']} (95 %)" for n in self.noise
        )
        price = "free" if self.free else f"epsilon {self.epsilon}"
        room = "affordable" if self.affordable else "over budget"
        return f"price: {price} ({room})\n{noise}\n{self.derivation}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
