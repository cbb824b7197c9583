import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from curator_client import Answer

mpl.use("Agg")


def column(name, kind="measure", of="integer", unit=None):
    return {"name": name, "kind": kind, "type": of, "unit": unit}


def answer(**changes):
    return Answer(
        {
            "columns": [
                column("ward", "group", "text"),
                column("sex", "group", "text"),
                column("stays", unit="rows"),
                column("mean", of="decimal"),
                column("day", of="date"),
            ],
            "rows": [
                ["north", "F", 120, "3.5", "2024-02-01"],
                ["north", None, -4, None, None],
                ["south", "F", 40, "2.25", "2024-01-15"],
            ],
            "noise": [
                {"column": "stays", "half_width_95": "30"},
                {"column": "mean", "half_width_95": "9", "part": "sum"},
                {"column": "mean", "half_width_95": "3", "part": "count"},
                {"column": "day", "half_width_95": "3", "per": "bin"},
            ],
            "intervals": [
                {
                    "column": "mean",
                    "confidence": "0.95",
                    "rows": [["3", "4"], None, ["2", "2.5"]],
                },
                {
                    "column": "day",
                    "confidence": "0.95",
                    "rows": [["2024-01-01", "2024-03-01"], None, ["2024-01-01"] * 2],
                },
            ],
            **changes,
        },
        hide_below=11,
    )


@pytest.fixture(autouse=True)
def closed():
    """Close what was drawn."""
    yield
    plt.close("all")


def lines_of(axes):
    lines = axes.collections[-1]
    return [[float(y) for _, y in path.vertices] for path in lines.get_paths()]


def test_counts_are_bars_with_their_intervals():
    axes = answer().plot("stays")
    assert [bar.get_height() for bar in axes.patches] == [120, 40, -4]
    assert lines_of(axes) == [[90, 150], [10, 70], [0.0, 30.0]]


def test_groups_are_on_the_axis():
    axes = answer().plot("stays")
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["north", "south"]
    assert axes.get_xlabel() == "ward"
    legend = axes.get_legend()
    assert legend.get_title().get_text() == "sex"
    assert [text.get_text() for text in legend.get_texts()][:2] == ["F", "NULL"]
    assert axes.get_ylabel() == "stays (rows)"


def test_counts_under_the_display_rule_are_marked():
    axes = answer().plot("stays")
    assert [bool(bar.get_hatch()) for bar in axes.patches] == [False, False, True]
    *_, text = axes.get_legend().get_texts()
    assert text.get_text() == "below 11: pass on as such"


def test_averages_are_points_within_the_servers_intervals():
    axes = answer().plot("mean")
    assert len(axes.patches) == 0
    assert list(axes.lines[0].get_ydata()) == [3.5, 2.25]
    assert lines_of(axes) == [[3, 4], [2, 2.5]]


def test_several_measures_have_axes_each():
    axes = answer().plot()
    assert [each.get_ylabel() for each in axes] == ["stays (rows)", "mean", "day"]


def test_one_measure_may_be_drawn_on_axes_of_ones_own():
    _, axes = plt.subplots()
    assert answer().plot("mean", ax=axes) is axes
    with pytest.raises(ValueError, match="stays, mean, day"):
        answer().plot(ax=axes)


def test_a_count_without_groups_is_one_bar():
    alone = answer(columns=[column("n", unit="rows")], rows=[[5]], intervals=[])
    alone.document["noise"] = [{"column": "n", "half_width_95": "2"}]
    assert len(alone.plot().patches) == 1


def test_what_was_not_measured_cannot_be_drawn():
    with pytest.raises(KeyError, match="ward"):
        answer().plot("ward")
