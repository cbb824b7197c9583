"""Which axes an answer is drawn on, and that nothing on them hides anything else."""

from datetime import date
from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from curator_client.plots.keys import keys_of
from tests.effort import gate_sample
from tests.support.data.drawable import WIDTH, drawable

mpl.use("Agg")

GROUPS = ["circulatory", "respiratory", "endocrine and metabolic", "digestive",
          "injury", "neoplasm", "genitourinary", "mental", "other", None]  # fmt: skip
SEXES = ["F", "M", None]
MONTHS = [f"{y}-{m:02}-01" for y in range(2020, 2026) for m in range(1, 13)]
DAYS = [f"2025-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)]
HOURS = [f"2025-03-01T{hour:02}:00:00" for hour in range(24)]
YEARS = list(range(2016, 2026))
DEPARTMENTS = [f"department of number {n}" for n in range(30)]
TIMES = {"month": "date", "day": "date", "hour": "timestamp", "year": "integer"}
CASES = {
    "no key": {},
    "few groups": {"sex": SEXES},
    "ten groups": {"group": GROUPS},
    "codes": {"code": [f"{n:03} a long description of a code" for n in range(200)]},
    "two keys of few": {"ward": ["north", "south", "west"], "sex": SEXES},
    "many of a few": {"group": GROUPS, "sex": SEXES},
    "few of many": {"sex": SEXES, "group": GROUPS},
    "many of many": {"group": GROUPS, "department": DEPARTMENTS},
    "months": {"month": MONTHS},
    "months and none": {"month": [*MONTHS, None]},
    "days": {"day": DAYS},
    "hours by sex": {"hour": HOURS, "sex": SEXES},
    "sex by months": {"sex": SEXES, "month": [*MONTHS, None]},
    "years by groups": {"year": YEARS, "group": GROUPS},
    "three with years": {"year": YEARS, "sex": SEXES, "group": GROUPS[:4]},
    "three of few": {"ward": ["north", "south"], "sex": SEXES, "group": GROUPS},
    "three of many": {"ward": ["n", "s"], "sex": SEXES, "department": DEPARTMENTS},
    "four": {"ward": ["n", "s"], "sex": SEXES, "a": ["x", "y"], "b": ["x", None]},
}


@pytest.fixture(autouse=True)
def closed():
    """Close what was drawn."""
    yield
    plt.close("all")


def drawn(keys, **more):
    """Return the axes of an answer with these keys, as a list."""
    axes = drawable(keys, types=TIMES, **more).plot()
    return axes if isinstance(axes, list) else [axes]


def texts_of(axes):
    """Return whatever is written on or around axes of one figure."""
    found = [axes[0].figure._suptitle]
    for ax in axes:
        found += [ax.title, ax.xaxis.label, ax.yaxis.label]
        found += [*labels_of(ax.xaxis), *labels_of(ax.yaxis)]
        if ax.get_legend() is not None:
            found += [ax.get_legend().get_title(), *ax.get_legend().get_texts()]
    return [each for each in found if each and each.get_text() and each.get_visible()]


def labels_of(axis):
    """Return the labels of ticks that are on the axis: others are not drawn."""
    low, high = sorted(axis.get_view_interval())
    ticks = axis.get_major_ticks()
    return [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]


def said_above(axes):
    return " ".join(axes[0].figure._suptitle.get_text().split())


def assert_is_legible(axes):
    axes[0].figure.draw_without_rendering()
    extents = [(text.get_text(), text.get_window_extent()) for text in texts_of(axes)]
    page = axes[0].figure.bbox
    for (one, first), (other, second) in combinations(extents, 2):
        overlap = first.intersection(first, second)
        hidden = overlap is not None and min(overlap.width, overlap.height) > 1
        assert not hidden, (one, other)
    for text, box in extents:
        assert page.x0 - 1 <= box.x0 <= box.x1 <= page.x1 + 1, text
        assert page.y0 - 1 <= box.y0 <= box.y1 <= page.y1 + 1, text


@pytest.mark.parametrize("case", gate_sample(10, CASES))
def test_no_label_lies_over_another_or_leaves_the_page(case):
    assert_is_legible(drawn(CASES[case], hide_below=30))


@pytest.mark.parametrize("case", ["ten groups", "months", "three of few", "codes"])
def test_labels_on_axes_of_ones_own_do_not_hide_one_another(case):
    _, ax = plt.subplots(figsize=(4, 3), layout="constrained")
    drawable(CASES[case], types=TIMES).plot("stays", ax=ax)
    ax.set_title("")  # whose sentence may be wider than so small a figure
    ax.figure.suptitle("mine")
    assert_is_legible([ax])


def test_many_groups_lie_in_declared_order_and_a_sentence_counts_the_rest():
    (ax,) = axes = drawn(CASES["codes"])
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [label[:3] for label in labels] == [f"{n:03}" for n in range(40)]
    heights = [label.get_window_extent().y0 for label in ax.get_yticklabels()]
    assert heights == sorted(heights, reverse=True)
    assert "code: the first 40 of 200 are drawn, 160 are left out" in said_above(axes)


def test_groups_and_their_numbers_stay_together():
    keys = {"group": GROUPS, "sex": SEXES}
    (ax,) = drawn(keys)
    rows = {(group, sex): n for group, sex, n in drawable(keys).rows}
    for container, sex in zip(ax.containers, SEXES, strict=True):
        widths = [bar.get_width() for bar in container]
        assert widths == [rows[group, sex] for group in GROUPS]


def test_times_stand_in_their_order_whatever_that_of_the_rows():
    (ax,) = drawn({"month": MONTHS[::-1]}, counts=range(len(MONTHS)))
    (line,) = (each for each in ax.lines if len(each.get_xdata()) > 1)
    assert list(line.get_ydata()) == list(range(len(MONTHS)))[::-1]
    first = (date.fromisoformat(MONTHS[0]) - date(1970, 1, 1)).days
    assert line.get_xdata()[0] == first
    (band,) = ax.collections
    low, high = band.get_datalim(ax.transData).intervaly
    assert (low, high) == (0, len(MONTHS) - 1 + WIDTH)  # counts are not negative


def test_days_that_begin_months_are_called_by_their_months():
    labels = [
        label.get_text() for label in drawn({"month": MONTHS})[0].get_xticklabels()
    ]
    assert labels[0] == "2020-01"
    years = drawable({"day": [f"{y}-01-01" for y in YEARS]}, types=TIMES)
    assert keys_of(years)[0].labels[-1] == "2025"
    assert keys_of(drawable({"hour": HOURS}, types=TIMES))[0].labels[1] == (
        "2025-03-01T01:00:00"
    )


def test_a_second_key_has_a_line_a_value_whichever_comes_first():
    for keys in ({"sex": SEXES, "year": YEARS}, {"year": YEARS, "sex": SEXES}):
        (ax,) = drawn(keys)
        assert ax.get_xlabel() == "year"
        lines = [each for each in ax.lines if len(each.get_xdata()) == len(YEARS)]
        assert len(lines) == len(ax.collections) == len(SEXES)
        legend = [text.get_text() for text in ax.get_legend().get_texts()]
        assert legend == ["F", "M", "NULL"]


def test_a_time_that_is_null_stands_beyond_the_line_and_is_named():
    (ax,) = drawn({"year": [*YEARS, None]})
    line = max(ax.lines, key=lambda each: len(each.get_xdata()))
    assert list(line.get_xdata()) == YEARS
    assert ax.get_xticklabels()[-1].get_text() == "NULL"
    assert ax.get_xticks()[-1] > YEARS[-1]


def test_a_line_ends_where_a_number_is_null():
    told = drawable({"year": YEARS}, types=TIMES, counts=[*range(4), None, *range(5)])
    lines = [each for each in told.plot().lines if len(each.get_xdata()) > 1]
    assert [len(line.get_xdata()) for line in lines] == [4, 5]


def test_a_third_key_has_a_panel_a_value_with_one_scale():
    axes = drawn(CASES["three with years"])
    assert [ax.get_title() for ax in axes][:2] == [
        "group: circulatory",
        "group: respiratory",
    ]
    assert len(axes) == 4
    assert len({ax.get_ylim() for ax in axes}) == 1
    many = drawn(CASES["three of many"])
    assert len(many) == 12
    assert "department: the first 12 of 30 are drawn, 18 are left out" in said_above(
        many
    )


def test_two_keys_of_many_values_have_a_panel_a_value():
    axes = drawn(CASES["many of many"])
    assert len(axes) == 12
    assert axes[0].get_title().startswith("department: dep")


def test_negative_numbers_go_below_zero():
    (ax,) = drawn({"sex": SEXES}, counts=[5, -40, 0])
    assert [bar.get_height() for bar in ax.patches] == [5, -40, 0]
    assert ax.get_ylim()[0] < -40


def test_totals_beside_groups_have_a_bar_each():
    total = drawable({"ward": ["n", "s", None], "sex": [None]}, types=TIMES)
    total.document["rows"].append([None, None, 900])
    ax = total.plot()
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["n, NULL", "s, NULL", "NULL, NULL", "NULL, NULL"]
    assert len(ax.patches) == 4


def test_an_answer_without_rows_has_empty_axes():
    (ax,) = drawn({"sex": []})
    assert len(ax.patches) == 0
