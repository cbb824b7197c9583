import html
import json
import re
import subprocess
import sys

import pytest

from curator_client import Answer, Plan


def document(**changes):
    return {
        "query_id": "q_1",
        "snapshot": "s_1",
        "columns": [
            {"name": "ward", "kind": "group", "type": "text", "unit": None},
            {"name": "stays", "kind": "measure", "type": "integer", "unit": "rows"},
        ],
        "rows": [["north", 12345], ["<script>", -3], [None, 40]],
        "noise": [
            {
                "column": "stays",
                "mechanism": "discrete_laplace",
                "scale": "10.000000000000002",
                "l1_sensitivity": "1",
                "half_width_95": "30",
            }
        ],
        "charge": {"epsilon": "0.1", "delta": "0", "reused": False},
        "remaining": {"project": "0.9", "principal": None},
        "derivation": "one patient has at most 1 row & no more",
        "warnings": [{"code": "outside_domain", "detail": "'x' equals <nothing>"}],
        **changes,
    }


def answer(hide_below=None, **changes):
    return Answer(document(**changes), hide_below=hide_below)


def test_an_answer_reads_as_the_server_wrote_it():
    read = answer()
    assert read.rows[1] == ["<script>", -3]
    assert read.columns[1]["unit"] == "rows"
    assert (read.query_id, read.snapshot) == ("q_1", "s_1")
    assert read.charge["epsilon"] == "0.1"
    assert read.remaining == {"project": "0.9", "principal": None}
    assert read.warnings[0]["code"] == "outside_domain"
    assert read.derivation.startswith("one patient")
    assert read.noise[0]["scale"] == "10.000000000000002"


def test_the_half_width_belongs_to_a_measure():
    assert answer().half_width("stays") == 30
    with pytest.raises(KeyError, match="ward"):
        answer().half_width("ward")


def test_a_terminal_shows_counts_with_their_half_widths():
    assert str(answer()).split("\n") == [
        "  ward            stays",
        "  north     12,345 ± 30",
        "  <script>      -3 ± 30",
        "  NULL          40 ± 30",
        "  (paid epsilon 0.1; remaining: project 0.9; ± holds 95 % of the noise)",
        "  note: 'x' equals <nothing>",
    ]
    assert repr(answer()) == str(answer())


def test_a_table_wider_than_the_terminal_is_shown_in_blocks_of_columns(monkeypatch):
    names = [f"stays_of_year_{n}" for n in range(8)]
    columns = [answer().columns[0], *(measure(name, unit="rows") for name in names)]
    rows = [[ward, *range(8)] for ward in ("north", "south")]
    wide = answer(columns=columns, rows=rows, noise=[noise(n, "30") for n in names])
    monkeypatch.setenv("COLUMNS", "80")
    shown = str(wide)
    assert max(map(len, shown.splitlines())) <= 80
    blocks = [block.splitlines() for block in shown.split("\n\n")]
    assert [block[0].split()[0] for block in blocks] == ["ward"] * len(blocks)
    assert [t for block in blocks for t in block[0].split()[1:]] == names
    assert all(block[1].split()[0] == "north" for block in blocks)
    monkeypatch.setenv("COLUMNS", "0")
    assert "\n\n" not in str(wide)


def test_lines_under_a_table_are_broken_where_the_terminal_ends(monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    warned = answer(warnings=[{"code": "w", "detail": "one word after another " * 9}])
    assert max(map(len, str(warned).splitlines())) <= 50


def test_advice_that_all_measures_share_stands_once(monkeypatch):
    advice = "To make it smaller: set bounds.max_rows_per_unit"
    derived = "\n".join(f"m{n} = COUNT(*)\n{advice}" for n in range(8))
    plan = Plan({**document(derivation=derived), "epsilon": "1", "affordable": True,
                 "free": []})  # fmt: skip
    assert str(plan).count(advice) == answer(derivation=derived)._repr_html_().count(
        advice
    )
    assert str(plan).count(advice) == 1
    assert str(plan).index("m7 =") < str(plan).index(advice)


def test_a_cheaper_way_is_told_in_lines_of_the_terminal(monkeypatch):
    way = {
        "kind": "period",
        "epsilon": "0.1",
        "detail": "by month instead of by day, " * 20,
        "half_widths": [{"column": "n", "half_width_95": "30"}],
    }
    plan = Plan({**document(), "epsilon": "1", "affordable": True, "free": [],
                 "ways": [way]})  # fmt: skip
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, str(plan).splitlines())) <= 80
    assert max(map(len, plan._repr_html_().splitlines())) > 400  # it breaks by itself


def test_a_way_says_what_it_saves_and_is_silent_of_widths_that_nobody_knows():
    def told(loss, widths):
        way = {
            "kind": "rows",
            "epsilon": loss,
            "detail": "fewer",
            "half_widths": widths,
        }
        later = {**way, "kind": "announced"}
        plan = Plan({**document(), "epsilon": "1", "affordable": True, "free": [],
                     "ways": [way, later]})  # fmt: skip
        return str(plan).splitlines()[-2:]

    width = [{"column": "n", "half_width_95": "1438"}]
    assert told("0.1", width) == [
        "cheaper: epsilon 0.1, n ± 1,438: fewer",
        "later: for nothing, n ± 1,438: fewer",
    ]
    # an average's width is known with its answer alone
    assert told("1", []) == [
        "less noise: epsilon 1: fewer",
        "later: for nothing: fewer",
    ]


def test_what_paid_answers_give_has_separators():
    widths = [{"column": "n", "least": "1500", "greatest": "2500"}]
    free = {"kind": "paid", "queries": ["q_1"], "half_widths": widths}
    plan = Plan({**document(), "epsilon": "1", "affordable": True, "free": [free]})
    assert "(n ± 1,500 to 2,500)" in str(plan)


def test_an_answer_that_was_free_says_so():
    free = answer(charge={"epsilon": "0", "delta": "0", "reused": True})
    assert "free: answered before" in str(free)


def test_a_measure_may_be_a_string_or_null():
    shown = str(answer(rows=[["north", "12.50"], ["south", None]]))
    assert "12.50 ± 30" in shown
    assert "NULL" in shown


def test_a_notebook_shows_everything_escaped():
    shown = answer()._repr_html_()
    assert "<script>" not in shown
    assert html.escape("<script>") in shown
    assert html.escape("'x' equals <nothing>") in shown
    assert "row &amp; no more" in shown
    assert "12,345 ± 30" in shown
    assert "paid epsilon 0.1; remaining: project 0.9" in shown


def test_no_column_name_breaks_out_of_the_table():
    columns = [{"name": "<img>", "kind": "measure", "type": "integer", "unit": None}]
    shown = answer(columns=columns, rows=[[1]], noise=[], warnings=[])._repr_html_()
    assert "<img>" not in shown
    assert "<ul>" not in shown


def test_tags_are_closed():
    shown = answer()._repr_html_()
    for tag in ("table", "thead", "tbody", "tr", "th", "td", "p", "ul", "li", "pre"):
        opened = len(re.findall(rf"<{tag}[ >]", shown))
        assert opened == shown.count(f"</{tag}>") > 0


def test_small_counts_are_shown_as_drawn_with_the_custodians_wish():
    shown = answer(hide_below=11)._repr_html_()
    assert "-3 ± 30" in shown
    assert "counts below 11" in shown


def test_without_small_counts_there_is_no_such_note():
    shown = answer(hide_below=11, rows=[["north", 11]])._repr_html_()
    assert "counts below" not in shown


def test_a_frame_has_the_half_widths_beside_the_counts():
    pytest.importorskip("pandas")
    frame = answer().to_pandas()
    assert list(frame.columns) == ["ward", "stays", "stays_half_width_95"]
    assert frame["stays"].tolist() == [12345, -3, 40]
    assert frame["stays_half_width_95"].tolist() == [30, 30, 30]


def test_a_frame_says_what_its_rows_are_of():
    pytest.importorskip("pandas")
    about = answer().to_pandas().attrs
    assert about["query_id"] == answer().query_id
    assert about["epsilon"] == answer().charge["epsilon"]
    assert about["scales"] == {"stays": "10.000000000000002"}
    assert about["warnings"] == [each["detail"] for each in answer().warnings]


@pytest.mark.parametrize(
    ("member", "told"),
    [
        ("paid", {"kind": "paid", "queries": ["q_0"], "epsilon": "0.5"}),
        ("release", {"kind": "release", "id": "rel_1", "name": "w", "epsilon": "2"}),
    ],
)
def test_a_frame_of_a_free_answer_says_what_was_paid_before(member, told):
    pytest.importorskip("pandas")
    free = {"epsilon": "0", "delta": "0", "reused": True}
    about = answer(charge=free, **{member: told}).to_pandas().attrs
    assert about["reused"] is True
    assert "epsilon" not in about
    assert about[member] == {key: told[key] for key in told if key != "kind"}


def test_a_frame_of_an_answer_that_is_given_again_never_says_that_it_cost_nothing():
    pytest.importorskip("pandas")
    again = answer(charge={"epsilon": "0", "delta": "0", "reused": True})
    about = again.to_pandas().attrs
    assert (about["reused"], "epsilon" in about) == (True, False)
    assert answer().to_pandas().attrs["reused"] is False
    metadata = again.to_arrow().schema.metadata
    assert metadata[b"curator.reused"] == b"true"


def test_a_narrow_frame_has_groups_measures_and_how_sure_they_are():
    pytest.importorskip("pandas")
    counts = every_kind().to_pandas(narrow=True)
    assert list(counts.columns) == [
        *("day", "grams", "grams_half_width_95", "mean", "median", "first"),
    ]
    ends = [["3.1", "3.6"], None]
    means = {"column": "mean", "confidence": "0.95", "rows": ends}
    held = every_kind(intervals=[means]).to_pandas(narrow=True)
    assert list(held.columns)[3:6] == ["mean", "mean_low_95", "mean_high_95"]


def noise(column, half_width, **more):
    return {
        "column": column,
        "mechanism": "discrete_laplace",
        "scale": "1.0",
        "l1_sensitivity": "1",
        "half_width_95": half_width,
        **more,
    }


def measure(name, kind="decimal", unit=None):
    return {"name": name, "kind": "measure", "type": kind, "unit": unit}


def every_kind(**changes):
    columns = [
        {"name": "day", "kind": "group", "type": "date", "unit": None},
        measure("grams"),
        measure("mean"),
        measure("median"),
        measure("first", "date"),
    ]
    rows = [
        ["2024-01-31", "-12.50", "3.333333", "41.500000", "2023-12-01"],
        [None, "0.10", None, None, None],
    ]
    noises = [
        noise("grams", "7.25"),
        noise("mean", "1749.5", part="sum"),
        noise("mean", "30", part="count"),
        noise("median", "12", per="bin"),
        noise("first", "12", per="bin"),
    ]
    return answer(columns=columns, rows=rows, noise=noises, warnings=[], **changes)


def test_an_average_has_a_half_width_a_part():
    assert every_kind().half_width("mean", part="sum") == 1749.5
    assert every_kind().half_width("mean", "count") == 30
    assert every_kind().half_width("grams") == 7.25
    with pytest.raises(KeyError, match="'mean' is noisy in its sum and its count"):
        every_kind().half_width("mean")
    with pytest.raises(KeyError, match="'grams' has one half-width and no parts"):
        every_kind().half_width("grams", "sum")


def test_decimals_stay_strings_in_rows_and_are_floats_in_a_frame():
    pytest.importorskip("pandas")
    assert every_kind().rows[0][1] == "-12.50"
    frame = every_kind().to_pandas()
    assert frame["grams"].tolist() == [-12.5, 0.1]
    assert frame["mean"].tolist()[0] == 3.333333
    assert frame["mean"].isna().tolist() == [False, True]
    assert {frame[name].dtype.name for name in ("grams", "mean", "median")} == {
        "float64"
    }
    assert str(frame["first"][0].date()) == "2023-12-01"


def test_a_column_of_nulls_alone_is_still_one_of_numbers():
    pytest.importorskip("pandas")
    nothing = answer(columns=[measure("mean")], rows=[[None]], noise=[])
    assert nothing.to_pandas()["mean"].dtype.name == "float64"


def test_a_frame_without_rows_has_all_its_columns():
    pytest.importorskip("pandas")
    frame = answer(rows=[]).to_pandas()
    assert list(frame.columns) == ["ward", "stays", "stays_half_width_95"]
    assert len(frame) == 0


def test_a_frame_names_the_half_widths_of_parts_and_bins():
    pytest.importorskip("pandas")
    frame = every_kind().to_pandas()
    assert list(frame.columns)[5:] == [
        "grams_half_width_95",
        "mean_sum_half_width_95",
        "mean_count_half_width_95",
        "median_bin_half_width_95",
        "first_bin_half_width_95",
    ]
    assert frame["mean_sum_half_width_95"].tolist() == [1749.5, 1749.5]


def test_parts_are_told_below_the_table_and_not_beside_the_value():
    for shown in (str(every_kind()), every_kind()._repr_html_()):
        assert "-12.50 ± 7.25" in shown
        assert "3.333333 ±" not in shown
        assert "41.500000 ±" not in shown
        assert "mean: its sum ± 1,749.5" in shown
        assert "mean: its count ± 30" in shown
        assert "median: the count of each bin ± 12" in shown


def test_a_small_sum_is_no_small_count():
    columns = [measure("total", "integer")]
    shown = answer(hide_below=11, columns=columns, rows=[[3]], noise=[])._repr_html_()
    assert "counts below" not in shown


def test_a_plan_names_parts_and_bins():
    document = {**every_kind().document, "epsilon": "1", "affordable": True, "free": []}
    lines = str(Plan(document)).splitlines()
    assert lines[1:6] == [
        "  grams: ± 7.25 (95 %)",
        "  mean, its sum: ± 1,749.5 (95 %)",
        "  mean, its count: ± 30 (95 %)",
        "  median, each bin: ± 12 (95 %)",
        "  first, each bin: ± 12 (95 %)",
    ]


def test_a_plan_says_of_which_snapshot_and_how_many_rows_the_answer_is():
    plan = Plan({**every_kind().document, "cells": 12})
    assert plan.snapshot == every_kind().snapshot
    assert plan.cells == 12
    assert plan.columns == every_kind().columns


def test_half_widths_stand_by_measure():
    assert answer().half_widths == {"stays": 30.0}
    assert every_kind().half_widths == {"grams": 7.25}


def test_an_interval_is_the_value_and_its_half_width_on_either_side():
    assert answer().interval("stays")[1] == ("0", "30")
    assert every_kind().interval("grams") == [("-19.75", "-5.25"), ("-7.15", "7.35")]
    with pytest.raises(KeyError, match="ward"):
        answer().interval("ward")


def test_negative_counts_are_clamped_where_the_reader_says_so():
    assert answer().rows[1][1] == -3
    clamped = answer().clamped()
    assert [row[1] for row in clamped.rows] == [12345, 0, 40]
    assert "negative counts made 0" in str(clamped)
    assert every_kind().clamped().rows == every_kind().rows
    assert answer().rows[1][1] == -3


def test_rows_become_dictionaries():
    assert answer().to_dicts()[0] == {"ward": "north", "stays": 12345}


def test_a_file_of_values_keeps_every_digit(tmp_path):
    text = every_kind().to_csv()
    titles, first, second = text.splitlines()
    assert titles.startswith("day,grams,mean,median,first,grams_half_width_95,")
    assert first == (
        "2024-01-31,-12.50,3.333333,41.500000,2023-12-01,7.25,1749.5,30,12,12"
    )
    assert second.startswith(",0.10,,,,")
    assert answer().to_csv(tmp_path / "answer.csv") is None
    assert (tmp_path / "answer.csv").read_text() == answer().to_csv()


def test_a_polars_frame_has_the_columns_of_the_pandas_one():
    """In a process of its own: polars starts threads, and other tests fork."""
    asking = (
        "import json, sys; from curator_client import Answer;"
        "frame = Answer(json.load(sys.stdin)).to_polars();"
        "print(json.dumps([frame.columns, [str(t) for t in frame.dtypes],"
        " frame.rows()], default=str))"
    )
    done = subprocess.run(
        [sys.executable, "-c", asking],
        input=json.dumps(every_kind().document),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    columns, types, rows = json.loads(done.stdout)
    assert columns == list(every_kind().to_pandas().columns)
    assert types[:5] == ["Date", "Float64", "Float64", "Float64", "Date"]
    assert rows[1][:3] == [None, 0.1, None]
    assert rows[0][4] == "2023-12-01"


@pytest.mark.parametrize(
    ("library", "extra", "use"),
    [
        ("pandas", "pandas", lambda: answer().to_pandas()),
        ("polars", "polars", lambda: answer().to_polars()),
        ("matplotlib", "plot", lambda: answer().plot()),
    ],
)
def test_a_missing_library_is_told_with_the_path_to_install(
    monkeypatch, library, extra, use
):
    for name in [n for n in sys.modules if n.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match="pip install") as told:
        use()
    assert library in str(told.value)
    assert "install it as you install other packages, or" in str(told.value)
    assert f"'./clients/python[{extra}]'" in str(told.value)


def computed_answer(rows, ends):
    column = {"name": "share", "kind": "measure", "type": "decimal", "unit": None}
    width = {"mechanism": "discrete_laplace", "scale": "1", "l1_sensitivity": "1"}
    noise = [
        {"column": "share", "part": "count", **width, "half_width_95": each}
        for each in ("3", "5")
    ]
    intervals = [{"column": "share", "confidence": "0.95", "rows": ends}]
    return answer(
        columns=[column], rows=[[r] for r in rows], noise=noise, intervals=intervals
    )


def test_an_open_end_is_left_out_and_is_missing_in_a_data_frame():
    pytest.importorskip("pandas")
    found = computed_answer(["0.500000", "2.0"], [["0.25", None], [None, None]])
    assert "0.500000 (from 0.25)" in str(found)
    assert "2.0 (any value)" in str(found)
    frame = found.to_pandas()
    assert frame["share_low_95"].tolist()[0] == 0.25
    assert frame["share_high_95"].isna().all()
    assert frame["share_count_half_width_95"].tolist() == [3, 3]
    assert frame["share_count_half_width_95_2"].tolist() == [5, 5]
