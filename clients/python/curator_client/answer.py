"""Answers and plans: noisy numbers with the noise that they carry."""

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
    small truth. Decimals are strings, every digit as the server wrote it; days and
    times are ISO strings; NULL is None.

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
        """Mechanism, scale and half-width of each measured column.

        An average has two entries, ``part`` "sum" and "count". A quantile's has
        ``per`` "bin": it is of the counts of its bins, in rows.
        """
        return list(self.document["noise"])

    @property
    def intervals(self) -> dict[str, list[tuple[str, str] | None]]:
        """The 95 % intervals of averages and quantiles, by column and row.

        Each holds the exact value with at least that confidence; a union bound over
        the noisy parts. None where the value itself is NULL.
        """
        return {
            str(entry["column"]): [None if e is None else (e[0], e[1]) for e in rows]
            for entry in self.document.get("intervals", [])
            for rows in [entry["rows"]]
        }

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

    def half_width(self, column: str, part: str | None = None) -> float:
        """Return the 95 % half-width of each cell of a measured column.

        Args:
            column: Its name. Of a quantile it is that of each bin's count, in rows.
            part: ``"sum"`` or ``"count"`` of an average, which has two; else None.

        Raises:
            KeyError: It is no measured column, or has no such part.
        """
        entries = [noise for noise in self.noise if noise["column"] == column]
        for noise in entries:
            if noise.get("part") == part:
                return float(noise["half_width_95"])
        message = f"{column!r} is not a measured column"
        if entries:
            parts = [noise.get("part") for noise in entries]
            message = f"{column!r} has the parts {parts}, not {part!r}"
        raise KeyError(message)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a DataFrame, with half-widths beside the measures.

        Decimals, also averages and quantiles, become the nearest float64; where each
        digit counts, read ``rows``. Days and times stay ISO strings.

        A measure has ``<measure>_half_width_95``; an average has
        ``<measure>_sum_half_width_95`` and ``<measure>_count_half_width_95``, a
        quantile ``<measure>_bin_half_width_95``, in rows; both have
        ``<measure>_low_95`` and ``<measure>_high_95``, as text.

        Raises:
            ImportError: pandas is not installed.
        """
        import pandas as pd  # noqa: PLC0415 - optional

        frame = pd.DataFrame(self.rows, columns=self._titles())
        for place, column in enumerate(self.columns):
            if column["type"] == "decimal":
                numbers = [_float(row[place]) for row in self.rows]
                frame.isetitem(place, pd.Series(numbers, dtype="float64"))
        for noise in self.noise:
            kind = noise.get("part") or noise.get("per")
            name = f"{noise['column']}_{kind}" if kind else str(noise["column"])
            frame[f"{name}_half_width_95"] = pd.to_numeric(noise["half_width_95"])
        for name, ends in self.intervals.items():
            frame[f"{name}_low_95"] = [None if e is None else e[0] for e in ends]
            frame[f"{name}_high_95"] = [None if e is None else e[1] for e in ends]
        return frame

    def __str__(self) -> str:
        """Return a table for terminals."""
        table = [self._titles(), *self._table()]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines = [
            "  " + "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True))
            for row in table
        ]
        parts = ["  " + part for part in self._parts()]
        return "\n".join([*lines, *parts, "  " + self._footer()])

    def _repr_html_(self) -> str:
        aligned = [_ALIGN[column["kind"]] for column in self.columns]
        head = _html_row("th", self._titles(), aligned)
        body = "".join(_html_row("td", cells, aligned) for cells in self._table())
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
        """Return those that stand beside the values themselves."""
        return {
            str(noise["column"]): str(noise["half_width_95"])
            for noise in self.noise
            if "part" not in noise and "per" not in noise
        }

    def _parts(self) -> list[str]:
        """Say how noisy the parts of averages and quantiles are."""
        said = []
        for noise in self.noise:
            column, width = noise["column"], noise["half_width_95"]
            if "part" in noise:
                said.append(f"{column}: its {noise['part']} ± {width}")
            elif "per" in noise:
                said.append(f"{column}: the count of each {noise['per']} ± {width}")
        return said

    def _table(self) -> list[list[str]]:
        intervals = self.intervals
        return [
            self._cells(row, {name: ends[place] for name, ends in intervals.items()})
            for place, row in enumerate(self.rows)
        ]

    def _cells(
        self, row: list[Any], intervals: dict[str, tuple[str, str] | None]
    ) -> list[str]:
        widths = self._half_widths()
        return [
            _cell(value, widths.get(name), intervals.get(name))
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
        notes = [*self._parts(), *(str(w["detail"]) for w in self.warnings)]
        if self.hide_below is not None and self._has_count_below(self.hide_below):
            notes.append(
                f"The custodian asks that counts below {self.hide_below} be passed on "
                f'as "below {self.hide_below}"; they are shown here as drawn.'
            )
        return notes

    def _has_count_below(self, threshold: int) -> bool:
        """Whether a count, which alone has a unit, lies below it."""
        columns = enumerate(self.columns)
        places = [i for i, c in columns if c["kind"] == "measure" and c["unit"]]
        counts = (row[i] for row in self.rows for i in places)
        return any(isinstance(n, int) and n < threshold for n in counts)


def _cell(
    value: object, half_width: str | None, interval: tuple[str, str] | None
) -> str:
    if value is None:
        return "NULL"
    if interval is not None:
        return f"{value} ({interval[0]} to {interval[1]})"
    if half_width is None:
        return str(value)
    shown = f"{value:,}" if isinstance(value, int) else str(value)
    return f"{shown} ± {half_width}"


def _float(value: object) -> float | None:
    return None if value is None else float(str(value))


def _html_row(tag: str, cells: list[str], aligned: list[str]) -> str:
    inner = "".join(
        f'<{tag} style="text-align:{side};padding:0.1em 0.8em">{html.escape(cell)}'
        f"</{tag}>"
        for cell, side in zip(cells, aligned, strict=True)
    )
    return f"<tr>{inner}</tr>"


def _noisy_name(noise: dict[str, Any]) -> str:
    if "part" in noise:
        return f"{noise['column']}, its {noise['part']}"
    per = f", each {noise['per']}" if "per" in noise else ""
    return f"{noise['column']}{per}"


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
            f"  {_noisy_name(n)}: ± {n['half_width_95']} (95 %)" for n in self.noise
        )
        price = "free" if self.free else f"epsilon {self.epsilon}"
        room = "affordable" if self.affordable else "over budget"
        return f"price: {price} ({room})\n{noise}\n{self.derivation}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
