"""Answers and plans: noisy counts with the noise that they carry."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_STYLE = "text-align:right;padding:0.1em 0.8em"


@dataclass(frozen=True)
class Answer:
    """Noisy rows, one a declared cell, as the server sent them.

    Counts are signed integers as drawn: a small or negative one is noise around a
    small truth. ``document`` is the whole reply.
    """

    document: dict[str, Any]

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
        """Return the 95 % half-width of each cell of a measured column."""
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

        frame = pd.DataFrame(self.rows, columns=[c["name"] for c in self.columns])
        for noise in self.noise:
            width = pd.to_numeric(noise["half_width_95"])
            frame[f"{noise['column']}_half_width_95"] = width
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

    def _titles(self) -> list[str]:
        return [str(column["name"]) for column in self.columns]

    def _cells(self, row: list[Any]) -> list[str]:
        widths = {noise["column"]: noise["half_width_95"] for noise in self.noise}
        return [
            f"{value:,} ± {widths[column['name']]}"
            if column["name"] in widths
            else ("NULL" if value is None else str(value))
            for column, value in zip(self.columns, row, strict=True)
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

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th style="{_STYLE}">{html.escape(t)}</th>' for t in self._titles()
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="{_STYLE}">{html.escape(cell)}</td>'
                for cell in self._cells(row)
            )
            + "</tr>"
            for row in self.rows
        )
        notes = "".join(f"<li>{html.escape(w['detail'])}</li>" for w in self.warnings)
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{html.escape(self._footer())}</p>"
            + (f"<ul>{notes}</ul>" if notes else "")
        )


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
