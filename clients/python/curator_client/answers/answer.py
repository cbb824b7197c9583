"""Answers and plans: noisy numbers with the noise that they carry."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Decimal,
    InvalidOperation,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_client.answers import estimates
from curator_client.answers.arrow import arrow_table
from curator_client.answers.estimates import Estimate
from curator_client.answers.losses import loss_in_words, loss_of, word_of
from curator_client.tables import exports
from curator_client.tables.display import (
    Side,
    each_once,
    html_table,
    paragraph,
    parted,
    preformatted,
    text_table,
    wrapped,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes

Ends = tuple[str | None, str | None]
"""An interval, as texts; an end that is None is open."""

_ALIGN: dict[str, Side] = {"group": "left", "measure": "right"}
USUAL_CONFIDENCE = "0.95"
_KINDS: dict[str, exports.Kind] = {
    "decimal": "float",
    "date": "date",
    "timestamp": "timestamp",
}


@dataclass(frozen=True, repr=False)
class Answer:
    """Noisy rows, one a declared cell, as the server sent them.

    Counts are signed integers as drawn: a small or negative one is noise around a
    small truth. Decimals are strings, every digit as the server wrote it; days and
    times are ISO strings; NULL is None.

    Attributes:
        document: The whole reply.
        hide_below: The dataset's display rule, or None; it adds a note to what is shown
            and changes nothing in ``rows``.
        is_clamped: Whether negative counts were made 0, by ``clamped()``.
    """

    document: dict[str, Any]
    hide_below: int | None = None
    is_clamped: bool = False

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

        An average has two entries, ``part`` "sum" and "count"; arithmetic has one for
        each count and sum that it reads. A quantile's has ``per`` "bin": it is of the
        counts of its bins, in rows.
        """
        return list(self.document["noise"])

    @property
    def intervals(self) -> dict[str, list[Ends | None]]:
        """The 95 % intervals of averages, quantiles and arithmetic, by column and row.

        Each holds the exact value with at least that confidence. None where the value
        itself is NULL; an end that is None is open: the exact value may be as far as
        that.
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

    @property
    def half_widths(self) -> dict[str, float]:
        """The 95 % half-width of each cell, by measure, of counts and sums.

        Averages and quantiles have ``intervals`` instead.
        """
        return {name: float(width) for name, width in self._half_widths().items()}

    def half_width(self, column: str, part: str | None = None) -> float:
        """Return the 95 % half-width of each cell of a measured column.

        Args:
            column: Its name. Of a quantile it is that of each bin's count, in rows.
            part: ``"sum"`` or ``"count"`` of an average, which has two; else None.

        Raises:
            KeyError: It is no measured column, or has no such part.
            ValueError: Rows differ, of releases and totals: see ``row_half_widths``.
        """
        if part is None and column in self._told():
            return self._common_half_width(column)
        entries = [noise for noise in self.noise if noise["column"] == column]
        for noise in entries:
            if noise.get("part") == part:
                return float(noise["half_width_95"])
        if not entries:
            return self._common_half_width(column)
        raise KeyError(_no_part(column, [n.get("part") for n in entries]))

    @property
    def row_half_widths(self) -> dict[str, list[float]]:
        """The half-width of each row, by measure, at the answer's ``confidence``.

        What a query drew is the same in all rows but totals; what a release knows is
        not.
        Averages and quantiles have ``intervals`` instead.
        """
        widths = {name: [w] * len(self.rows) for name, w in self.half_widths.items()}
        return widths | self._told()

    def _told(self) -> dict[str, list[float]]:
        """Return the half-widths that are told row by row."""
        told = self.document.get("half_widths", [])
        return {str(e["column"]): [float(w) for w in e["rows"]] for e in told}

    @property
    def confidence(self) -> str:
        """That of half-widths and intervals: 0.95, or what a release was asked for."""
        every = (self.document.get(name, []) for name in ("intervals", "half_widths"))
        told = next(filter(None, every), None)
        return str(told[0]["confidence"]) if told else USUAL_CONFIDENCE

    def _common_half_width(self, column: str) -> float:
        """Return the half-width that all rows of a measure have."""
        widths = self.row_half_widths
        if column not in widths:
            raise KeyError(_no_measure(column, self.measures))
        if len(set(widths[column])) != 1:
            message = (
                f"each row of {column} has a half-width of its own: "
                f"row_half_widths[{column!r}] or interval({column!r})"
            )
            raise ValueError(message)
        return widths[column][0]

    def interval(self, column: str) -> list[Ends | None]:
        """Return the 95 % interval of each row of a measure, of noise alone.

        Of sums it is the value and the half-width on either side; of counts, which
        are never negative, the same from 0 up, and from a negative value as from 0; of
        averages and quantiles it is the server's own. None where the value is NULL.

        Raises:
            KeyError: It is no measured column.
        """
        if column in self.intervals:
            return self.intervals[column]
        if column not in self._half_widths():
            raise KeyError(_no_measure(column, self.measures))
        width = Decimal(self._half_widths()[column])
        around = _around
        if self._titles().index(column) in self._count_places():
            around = _possible
        values = self._by_column()[column]
        return [None if v is None else around(Decimal(str(v)), width) for v in values]

    def ratio(self, over: str, under: str) -> list[Estimate]:
        """Return one count over another, of each row, with a 95 % interval.

        Free: it follows from what was paid. In SQL, ``a / b``, it is narrower.

        Raises:
            KeyError: There is no such column.
            ValueError: One is no count that was drawn for this answer.
        """
        return estimates.ratios(self, over, under, 1)

    def rate(self, events: str, exposure: str, per: float = 1_000) -> list[Estimate]:
        """Return events per 1,000 of an exposure, of each row, with a 95 % interval.

        Raises:
            KeyError: There is no such column.
            ValueError: One is no count that was drawn for this answer.
        """
        return estimates.ratios(self, events, exposure, per)

    def odds_ratio(self, a: str, b: str, c: str, d: str) -> list[Estimate]:
        """Return ``a d / (b c)`` of each row, with a 95 % interval.

        Args:
            a: The count of the exposed with the event.
            b: Of the exposed without.
            c: Of the others with the event.
            d: Of the others without.

        Raises:
            KeyError: There is no such column.
            ValueError: One is no count that was drawn for this answer.
        """
        return estimates.odds_ratios(self, (a, b, c, d))

    def kaplan_meier(self, events: str, censored: str) -> list[Estimate]:
        """Return survival after each row's time, with a band that holds with 95 %.

        Args:
            events: The count of events at each time.
            censored: The count of those who were last observed then, without one.

        Raises:
            KeyError: There is no such column.
            ValueError: There is not one group column, a time; or one is no count that
                was drawn for this answer.
        """
        return estimates.survival(self, events, censored)

    def clamped(self) -> Answer:
        """Return the answer with its negative counts made 0.

        It reads better, and its counts no longer add up without bias; half-widths stay
        those of the noise.
        """
        places = self._count_places()
        rows = [
            [_not_negative(v) if i in places else v for i, v in enumerate(row)]
            for row in self.rows
        ]
        return replace(self, document={**self.document, "rows": rows}, is_clamped=True)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a dictionary a row, with the values as the server wrote them."""
        return exports.dicts(self._by_column())

    def to_pandas(self, *, narrow: bool = False) -> pd.DataFrame:
        """Return the rows as a DataFrame, with half-widths beside the measures.

        Decimals, also averages and quantiles, become the nearest float64; where each
        digit counts, read ``rows`` or take ``to_arrow()``. Days and times are
        datetime64.

        A measure has ``<measure>_half_width_95``; an average has
        ``<measure>_sum_half_width_95`` and ``<measure>_count_half_width_95``, a
        quantile ``<measure>_bin_half_width_95``, in rows; both have
        ``<measure>_low_95`` and ``<measure>_high_95``, of the measure's own type. A
        release that was asked for a confidence of 0.99 has ``_99`` in their place.

        ``frame.attrs`` says what the rows are of: query_id, snapshot, the noise's
        scales, the warnings, and what was paid: epsilon, where this question was
        charged; where it was not, reused is True, and release or paid tell what was
        paid before, as far as the reply names it.

        Args:
            narrow: Only groups, measures and how sure each measure is: its interval
                where it has one, else its half-width.

        Raises:
            ImportError: pandas is not installed.
        """
        columns, kinds = self._frame()
        if narrow:
            columns = {name: columns[name] for name in self._narrow(columns)}
        frame = exports.pandas_frame(columns, kinds)
        frame.attrs.update(self._about())
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a polars DataFrame, with the columns of ``to_pandas``.

        Raises:
            ImportError: polars is not installed.
        """
        return exports.polars_frame(*self._frame())

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, decimals with each digit, days as days.

        After each measure stand ``<measure>_low`` and ``<measure>_high``. The schema's
        metadata say what the rows are of, under ``curator.``. It is the table that the
        server sends where ``Accept`` asks for Arrow.

        Raises:
            ImportError: pyarrow is not installed.
        """
        return arrow_table(self.document, self.confidence)

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Return the columns of ``to_pandas`` as CSV, or write them to a file.

        Every digit is as the server wrote it; NULL is empty.
        """
        return exports.csv_text({**self._by_column(), **self._widths()}, path)

    def plot(
        self, measure: str | None = None, *, ax: Axes | None = None
    ) -> Axes | list[Axes]:
        """Draw the groups with 95 % intervals: bars, lines along times, or panels.

        A key of days, times or numbers is drawn as a line in its order; a second key
        has bars side by side, or a line a value; a third, or one of many values, has
        a panel a value. A sentence says what was left out where there is too much.
        Counts under the custodian's display rule are hatched, or hollow on a line.
        Averages and quantiles are points, since nothing is counted up to them.

        Args:
            measure: One measure; all of them, one below another, where left out.
            ax: Axes to draw one measure on; else new ones are made.

        Returns:
            The axes, or a list of them where there are several measures or panels.

        Raises:
            ImportError: matplotlib is not installed.
            KeyError: It is no measured column.
            ValueError: ``ax`` was given for several measures.
        """
        from curator_client.plots.drawing import draw  # noqa: PLC0415 - optional

        return draw(self, measure, ax)

    @property
    def measures(self) -> list[str]:
        """The names of the measured columns."""
        return [str(c["name"]) for c in self.columns if c["kind"] == "measure"]

    @property
    def groups(self) -> list[str]:
        """The names of the group columns."""
        return [str(c["name"]) for c in self.columns if c["kind"] == "group"]

    def is_small(self, value: object) -> bool:
        """Whether a count lies under the custodian's display rule."""
        threshold = self.hide_below
        return threshold is not None and isinstance(value, int) and value < threshold

    def _by_column(self) -> dict[str, list[Any]]:
        return {
            name: [row[place] for row in self.rows]
            for place, name in enumerate(self._titles())
        }

    def _widths(self) -> dict[str, list[Any]]:
        """Return the half-widths and the ends of intervals, a column each."""
        found: dict[str, list[Any]] = {}
        for noise in self.noise:
            kind = noise.get("part") or noise.get("per")
            name = f"{noise['column']}_{kind}" if kind else str(noise["column"])
            width = _number(noise["half_width_95"])
            found[exports.new_name(f"{name}_half_width_95", found)] = [width] * len(
                self.rows
            )
        held = self._held
        for entry in self.document.get("half_widths", []):
            name = f"{entry['column']}_half_width_{held}"
            found[name] = [_number(width) for width in entry["rows"]]
        for name, ends in self.intervals.items():
            found[f"{name}_low_{held}"] = [None if e is None else e[0] for e in ends]
            found[f"{name}_high_{held}"] = [None if e is None else e[1] for e in ends]
        return found

    @property
    def _held(self) -> str:
        """What names of columns end in: 95, or 99_9 where that was asked for."""
        return percent(self.confidence).replace(".", "_")

    def _frame(self) -> tuple[dict[str, list[Any]], dict[str, exports.Kind]]:
        """Return the columns of a data frame, and those that are no plain values."""
        columns = {**self._by_column(), **self._widths()}
        kinds: dict[str, exports.Kind] = {}
        for column in self.columns:
            name, kind = str(column["name"]), _KINDS.get(column["type"])
            if kind is not None:
                kinds[name] = kind
            is_whole = column["type"] == "integer"
            of_ends: exports.Kind | None = "float" if is_whole else kind
            if of_ends is not None:
                kinds |= {f"{name}_{e}_{self._held}": of_ends for e in ("low", "high")}
        kinds = {name: kind for name, kind in kinds.items() if name in columns}
        for name, kind in kinds.items():
            if kind == "float":
                columns[name] = [None if v is None else float(v) for v in columns[name]]
        return columns, kinds

    def _narrow(self, columns: Mapping[str, list[Any]]) -> list[str]:
        """Return the names of the columns of a narrow frame, in order."""
        kept = list(self.groups)
        for name in self.measures:
            ends = [f"{name}_{end}_{self._held}" for end in ("low", "high")]
            widths = [f"{name}_half_width_95", f"{name}_half_width_{self._held}"]
            sure = [each for each in ends if each in columns]
            kept += [name, *(sure or [each for each in widths if each in columns][:1])]
        return kept

    def _about(self) -> dict[str, Any]:
        """Return what the rows are of, for a data frame's attributes."""
        scales = {
            ":".join(filter(None, (each["column"], each.get("part")))): each["scale"]
            for each in self.noise
        }
        return {
            **self._source(),
            "snapshot": self.document.get("snapshot"),
            **self._priced(),
            "scales": scales,
            "warnings": [str(each["detail"]) for each in self.warnings],
        }

    def _source(self) -> dict[str, Any]:
        """Return the ids under which the server keeps the answer."""
        return {"query_id": self.query_id}

    def _priced(self) -> dict[str, Any]:
        """Return what the numbers cost, whoever paid: a reused answer's charge is 0.

        Of what was paid before, the reply names the queries or the release; where it
        names none, the price is left out: it is not 0.
        """
        reused = bool(self.charge["reused"])
        charged = {} if reused else {word_of(self.charge): loss_of(self.charge)}
        before = {
            name: {key: value for key, value in told.items() if key != "kind"}
            for name in ("release", "paid")
            for told in [self.document.get(name)]
            if isinstance(told, dict)
        }
        return {"reused": reused, **charged, **before}

    def __str__(self) -> str:
        """Return a table for terminals, in blocks of columns where it is too wide."""
        keys = [n for n, one in enumerate(self.columns) if one["kind"] == "group"]
        rows = [self._titles(), *self._table()]
        table = text_table(rows, self._sides(), keys)
        notes = [f"  {note}" for note in self._parts()]
        notes.append(f"  {self._footer()}")
        notes += [f"  note: {warning['detail']}" for warning in self.warnings]
        notes += [f"  note: {rule}" for rule in self._display_rule()]
        return "\n".join([table, *map(wrapped, notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        said = [*self._parts(), *(str(w["detail"]) for w in self.warnings)]
        said += self._display_rule()
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in said)
        return (
            html_table([self._titles(), *self._table()], self._sides())
            + paragraph(self._footer())
            + (f"<ul>{notes}</ul>" if notes else "")
            + "<details><summary>Why this much noise</summary>"
            + f"{preformatted(each_once(self.derivation))}</details>"
        )

    def _titles(self) -> list[str]:
        return [str(column["name"]) for column in self.columns]

    def _sides(self) -> list[Side]:
        return [_ALIGN[column["kind"]] for column in self.columns]

    def _half_widths(self) -> dict[str, str]:
        """Return those that stand beside the values themselves, alike in all rows."""
        told = self._told()
        return {
            str(noise["column"]): str(noise["half_width_95"])
            for noise in self.noise
            if "part" not in noise and "per" not in noise
            if noise["column"] not in told
        }

    def _parts(self) -> list[str]:
        """Say how noisy the parts of averages and quantiles are."""
        said = []
        for noise in self.noise:
            column, width = noise["column"], parted(noise["half_width_95"])
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

    def _cells(self, row: list[Any], intervals: dict[str, Ends | None]) -> list[str]:
        widths = self._half_widths()
        return [
            _cell(value, widths.get(name), intervals.get(name))
            for name, value in zip(self._titles(), row, strict=True)
        ]

    def _footer(self) -> str:
        release, taken = self.document.get("release"), self.document.get("paid")
        paid = f"paid {loss_in_words(self.charge)}"
        if isinstance(release, dict):
            paid = f"free: from the release {release['name']}"
        elif isinstance(taken, dict):
            of = f"of {', '.join(taken['queries'])}, paid before"
            more = Decimal(loss_of(self.charge)) > 0
            paid = f"{paid}, going on from what was paid" if more else f"free: {of}"
        elif self.charge["reused"]:
            paid = "free: answered before"
        left = [
            f"{name} {value}"
            for name, value in self.remaining.items()
            if value is not None
        ]
        clamped = "; negative counts made 0" if self.is_clamped else ""
        holds = "± holds 95 % of the noise"
        if isinstance(release, dict) or (isinstance(taken, dict) and not self.noise):
            holds = "each interval holds 95 % of the noise"
        return f"({paid}; remaining: {', '.join(left)}; {holds}{clamped})"

    def _display_rule(self) -> list[str]:
        """Return the custodian's wish, where a count here lies under it."""
        places = self._count_places()
        counts = (row[place] for row in self.rows for place in places)
        if not any(self.is_small(count) for count in counts):
            return []
        below = f"below {self.hide_below}"
        wish = f'The custodian asks that counts {below} be passed on as "{below}"'
        return [f"{wish}; they are shown here as drawn."]

    def _count_places(self) -> list[int]:
        """Return which columns are counts: they alone have a unit."""
        return [
            place
            for place, column in enumerate(self.columns)
            if column["kind"] == "measure" and column["unit"]
        ]


def percent(confidence: str) -> str:
    """Return a confidence in percent, without trailing zeros.

    >>> percent("0.95"), percent("0.999")
    ('95', '99.9')
    """
    return format((Decimal(confidence) * 100).normalize(), "f")


def _no_measure(column: str, known: list[str]) -> str:
    """Say that a column is no measure, and which are."""
    return f"{column!r} is no measured column; there are: {', '.join(known) or 'none'}"


def _no_part(column: str, parts: list[str | None]) -> str:
    """Say which parts a column's noise has, and how to name one."""
    if parts == [None]:
        return f"{column!r} has one half-width and no parts: half_width({column!r})"
    ways = " or ".join(f"half_width({column!r}, {p!r})" for p in parts)
    return f"{column!r} is noisy in its {' and its '.join(map(str, parts))}: {ways}"


def _cell(value: object, half_width: str | None, interval: Ends | None) -> str:
    if value is None:
        return "NULL"
    if interval is not None:
        return _with_interval(str(value), *interval)
    if half_width is None:
        return str(value)
    return f"{parted(str(value))} ± {parted(half_width)}"


def _with_interval(value: str, low: str | None, high: str | None) -> str:
    """Write a value and its interval; an open end is left out."""
    if low is not None and high is not None:
        shown, least, most = map(parted, _in_digits(value, low, high))
        return f"{shown} ({least} to {most})"
    ends = [f"from {parted(low)}"] if low is not None else []
    ends += [f"to {parted(high)}"] if high is not None else []
    return f"{parted(value)} ({' '.join(ends) or 'any value'})"


def _in_digits(value: str, low: str, high: str) -> tuple[str, str, str]:
    """Shorten an estimate to what its interval leaves of it: two digits of its width.

    The ends are rounded outwards, so that the interval holds no less. Digits that the
    release does not give are not made up: whole numbers stay whole.
    """
    try:
        width = Decimal(high) - Decimal(low)
    except InvalidOperation:  # days, or times
        return value, low, high
    if not width:
        return value, low, high
    given = min(_digits(text) for text in (value, low, high))
    step = Decimal(1).scaleb(min(0, max(width.adjusted() - 1, given)))
    return (
        str(Decimal(value).quantize(step, ROUND_HALF_EVEN)),
        str(Decimal(low).quantize(step, ROUND_FLOOR)),
        str(Decimal(high).quantize(step, ROUND_CEILING)),
    )


def _digits(text: str) -> int:
    """Return the power of ten of a number's last digit."""
    exponent = Decimal(text).as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _not_negative(value: object) -> object:
    """Return a count made 0 where it is negative; estimates may be decimal texts."""
    if isinstance(value, int):
        return max(value, 0)
    return "0" if isinstance(value, str) and value.startswith("-") else value


def _around(value: Decimal, width: Decimal) -> tuple[str, str]:
    return format(value - width, "f"), format(value + width, "f")


def _possible(value: Decimal, width: Decimal) -> tuple[str, str]:
    """Return between which counts the exact one lies: none of them negative."""
    low, high = max(value - width, Decimal()), max(value, Decimal()) + width
    return format(low, "f"), format(high, "f")


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)
