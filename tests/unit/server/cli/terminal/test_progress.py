import io

import pytest

from server.cli.terminal.progress import (
    PlainLines,
    counted_of,
    shown_progress,
    title_of,
)
from upstream.progress import ProgressStep


def step(done, phase="read", unit="rows"):
    return ProgressStep(phase, "labs", done, 2_000_000, unit)


def test_a_step_says_what_is_done_and_how_much():
    assert title_of(step(0)) == "reading and hashing labs"
    assert counted_of(step(1_000_000)) == "1,000,000 of 2,000,000 rows"
    assert counted_of(step(1_000_000, "check", "bytes")) == "1 of 2 MB"
    small = ProgressStep("check", "labs", 250_000, 500_000, "bytes")
    assert counted_of(small) == "250 of 500 kB"


@pytest.mark.parametrize(
    ("done", "percent"), [(0, 0), (19_999, 0), (1_999_999, 99), (2_000_001, 100)]
)
def test_a_share_is_rounded_down_and_never_above_the_whole(done, percent):
    assert step(done).percent == percent


def test_without_a_terminal_a_quick_phase_says_its_start_and_its_end(capsys):
    with shown_progress() as progress:
        for done in range(0, 2_000_001, 10_000):
            progress(step(done))
        progress(step(2_000_000))
        progress(step(2_000_000, "check", "bytes"))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "  0% reading and hashing labs: 0 of 2,000,000 rows",
        "100% reading and hashing labs: 2,000,000 of 2,000,000 rows",
        "100% checking the files of labs: 2 of 2 MB",
    ]


def lines_of(capsys, seconds_a_percent, stages=("read",)):
    """Tell each percent of stages that take so long; return the percents told."""
    now = 0.0
    lines = PlainLines(lambda: now)
    for stage in stages:
        for percent in range(101):
            lines.tell(stage, percent, stage, is_end=percent == 100)
            now += seconds_a_percent
    told = capsys.readouterr().err
    assert "\x1b" not in told
    assert "\r" not in told
    return [int(line[:3]) for line in told.splitlines()]


def test_a_slow_stage_says_its_tenths(capsys):
    assert lines_of(capsys, 1.0) == [*range(0, 101, 10)]


def test_lines_come_seconds_apart_but_each_stage_ends_with_one(capsys):
    assert lines_of(capsys, 0.125) == [0, 24, 48, 72, 96, 100]
    assert lines_of(capsys, 0.001, ("read", "rank", "write")) == [0, 100, 100, 100]


def test_where_nothing_moves_for_long_a_line_says_so(capsys):
    assert lines_of(capsys, 20.0) == sorted({*range(0, 101, 10), *NOTHING_NEW})


NOTHING_NEW = (start + later for start in range(0, 100, 10) for later in (3, 6, 9))


def test_on_a_terminal_each_phase_has_a_bar(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with shown_progress() as progress:
        progress(step(1_000_000))
        progress(step(2_000_000))
        progress(step(500_000, "rank"))
    shown = terminal.getvalue()
    assert "reading and hashing labs" in shown
    assert "ranking and writing labs" in shown
    assert "100% 2,000,000 of 2,000,000 rows" in shown
    assert " 25% 500,000 of 2,000,000 rows" in shown
