"""Loss and risk against k: as a table with sparklines, and as a page of curves."""

from collections.abc import Mapping, Sequence
from html import escape
from string import Template
from typing import Final, cast

from server.cli.terminal.output import show_list, write
from server.use_cases.services.documents import Document

_BARS: Final = "▁▂▃▄▅▆▇█"
_OWN: Final = frozenset({"k", "is_possible"})
_COLOURS: Final = ("#0b62a4", "#b35c00", "#2e7d32", "#8e24aa", "#c62828", "#00838f")
_WIDTH, _HEIGHT, _LEFT, _FOOT = 640, 276, 64, 44  # of a chart, in pixels
_PAGE: Final = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; max-width: 60rem; }
table { border-collapse: collapse; margin: 1rem 0; }
td, th { border: 1px solid #bbb; padding: .2rem .6rem; text-align: right; }
p.warning { border-left: 4px solid #b35c00; padding-left: .8rem; }
svg text { font: 12px system-ui, sans-serif; }
</style></head><body>
<h1>$title</h1>
<p class="warning">$warning. This page counts raw rows: it is for custodians alone.</p>
$charts
$table
</body></html>
""")
Choices = Sequence[Mapping[str, object]]


def choices_of(told: Document) -> list[dict[str, object]]:
    """Return what each k would give, one number a name."""
    found = cast("list[Document]", told.get("choices") or [])
    return [dict(_flat(one)) for one in found]


def _flat(one: Mapping[str, object]) -> list[tuple[str, object]]:
    parts: list[tuple[str, object]] = []
    for name, held in one.items():
        if isinstance(held, Mapping):
            parts += [(f"{name} {of}", value) for of, value in held.items()]
        elif held is not None:
            parts.append((name, held))
    return parts


def series_of(choices: Choices) -> dict[str, list[tuple[int, float]]]:
    """Return by name the numbers that change with k: k, and the number."""
    names = dict.fromkeys(name for one in choices for name in one if name not in _OWN)
    found = {}
    for name in names:
        points = [
            (cast("int", one["k"]), float(value))
            for one in choices
            if isinstance(value := one.get(name), int | float)
        ]
        if len(points) > 1 and len({value for _, value in points}) > 1:
            found[name] = points
    return found


def print_choices(choices: Choices) -> None:
    """Print a table, and how each number runs from the least k to the largest."""
    names = dict.fromkeys(name for one in choices for name in one)
    show_list(
        [{name: one.get(name, "-") for name in names} for one in choices],
        as_json=False,
    )
    series = series_of(choices)
    width = max(map(len, series), default=0)
    for name, points in series.items():
        first, last = points[0], points[-1]
        write(
            f"{name.ljust(width)}  {_sparkline([value for _, value in points])}  "
            f"{first[1]:g} at k={first[0]}, {last[1]:g} at k={last[0]}"
        )


def _sparkline(values: Sequence[float]) -> str:
    """Return bars from 0 to the largest.

    >>> _sparkline([0, 1, 2])
    '▁▅█'
    """
    most = max(values) or 1.0
    return "".join(_BARS[round(value / most * (len(_BARS) - 1))] for value in values)


def page_of(told: Document) -> str:
    """Return curves of what each k would give, as a page of HTML."""
    choices = choices_of(told)
    declared = told.get("k")
    own = declared if isinstance(declared, int) else None
    return _PAGE.substitute(
        title=escape(f"{told['name']}: loss and risk against k"),
        warning=escape(str(told["warning"])),
        charts="\n".join(_charts(series_of(choices), own)),
        table=_table(choices),
    )


def _charts(
    series: Mapping[str, list[tuple[int, float]]], declared: int | None
) -> list[str]:
    """Return one chart of all shares from 0 to 1, and one of each other number."""
    shares = {
        name: points
        for name, points in series.items()
        if all(0 <= value <= 1 for _, value in points)
    }
    others = {name: {name: points} for name, points in series.items()}
    charts = [_chart("share", shares, declared)] if shares else []
    return charts + [
        _chart(name, alone, declared)
        for name, alone in others.items()
        if name not in shares
    ]


def _chart(
    axis: str, series: Mapping[str, list[tuple[int, float]]], declared: int | None
) -> str:
    every = sorted({k for points in series.values() for k, _ in points})
    most = max(value for points in series.values() for _, value in points) or 1.0
    places = {
        k: _LEFT + at * (_WIDTH - 2 * _LEFT) / max(1, len(every) - 1)
        for at, k in enumerate(every)
    }
    bottom = _HEIGHT - _FOOT
    parts = [
        f'<text x="{place:.0f}" y="{bottom + 18}" text-anchor="middle">{k}</text>'
        for k, place in places.items()
    ]
    middle = _WIDTH / 2, bottom / 2
    parts += [
        f'<text x="{middle[0]:.0f}" y="{_HEIGHT - 6}" text-anchor="middle">k</text>',
        (
            f'<text x="14" y="{middle[1]:.0f}" text-anchor="middle" '
            f'transform="rotate(-90 14 {middle[1]:.0f})">{escape(axis)}</text>'
        ),
    ]
    if declared in places:
        x = f"{places[declared]:.1f}"
        parts.append(
            f'<line x1="{x}" x2="{x}" y1="10" y2="{bottom}" stroke="#555" '
            f'stroke-dasharray="2 3"/><text x="{x}" y="9" text-anchor="middle">'
            f"declared: k = {declared}</text>"
        )
    for share in (0, 0.5, 1):
        y = bottom - share * (bottom - 16)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _LEFT}" y1="{y:.0f}" y2="{y:.0f}" '
            'stroke="#ddd"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">'
            f"{share * most:g}</text>"
        )
    legend = []
    for number, (name, points) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        dash = ' stroke-dasharray="5 3"' if number >= len(_COLOURS) else ""
        line = " ".join(
            f"{places[k]:.1f},{bottom - value / most * (bottom - 16):.1f}"
            for k, value in points
        )
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" '
            f'stroke-width="2"{dash}/>'
        )
        legend.append(f'<span style="color:{colour}">{escape(name)}</span>')
    return (
        f"<p>{', '.join(legend)}, by k</p>"
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(", ".join(series))} by k">{"".join(parts)}</svg>'
    )


def _table(choices: Choices) -> str:
    names = list(dict.fromkeys(name for one in choices for name in one))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(str(one.get(name, '-')))}</td>" for name in names)
        + "</tr>\n"
        for one in choices
    )
    return f"<table><tr>{head}</tr>\n{rows}</table>"
