import io

import pytest

from server.cli.progress import counted_of, shown_progress, title_of
from upstream.progress import Step


def step(done, phase="read", unit="rows"):
    return Step(phase, "labs", done, 2_000_000, unit)


def test_a_step_says_what_is_done_and_how_much():
    assert title_of(step(0)) == "reading and hashing labs"
    assert counted_of(step(1_000_000)) == "1,000,000 of 2,000,000 rows"
    assert counted_of(step(1_000_000, "check", "bytes")) == "1 of 2 MB"


@pytest.mark.parametrize(
    ("done", "percent"), [(0, 0), (19_999, 0), (1_999_999, 99), (2_000_001, 100)]
)
def test_a_share_is_rounded_down_and_never_above_the_whole(done, percent):
    assert step(done).percent == percent


def test_without_a_terminal_a_phase_says_its_quarters_in_plain_lines(capsys):
    with shown_progress() as progress:
        for done in range(0, 2_000_001, 10_000):
            progress(step(done))
        progress(step(2_000_000, "check", "bytes"))
    said = capsys.readouterr()
    assert said.out == ""
    assert [line[:4] for line in said.err.splitlines()] == [
        "  0%", " 25%", " 50%", " 75%", "100%", "100%",
    ]  # fmt: skip
    assert "\x1b" not in said.err


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
