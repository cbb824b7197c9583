"""Which backups a rule keeps, and which files it may delete."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from server.use_cases.operations.backup_retention import (
    NOTE,
    Kept,
    Retention,
    backups_in,
    delete_superfluous,
    note_backup,
    superfluous,
    target_in,
)

LEDGER = "0123456789abcdef"
NOW = datetime(2027, 5, 3, 2, 30, tzinfo=UTC)  # a Monday


def nightly(days):
    """Return a backup a night, the newest first."""
    return [Kept(Path(str(n)), NOW - timedelta(days=n)) for n in range(days)]


def kept(backups, retention):
    gone = {one.path for one in superfluous(backups, retention)}
    return [int(one.path.name) for one in backups if one.path not in gone]


def test_no_rule_deletes_nothing():
    assert kept(nightly(400), Retention()) == list(range(400))


def test_the_newest_of_each_of_the_last_days_weeks_and_months_is_kept():
    backups = nightly(400)
    assert kept(backups, Retention(daily=7)) == list(range(7))
    sundays = [0, 1, 8, 15]  # this week's newest is today's, a Monday
    assert kept(backups, Retention(weekly=4)) == sundays
    ends_of_months = [0, 3, 33]  # 3 May, 30 April, 31 March
    assert kept(backups, Retention(monthly=3)) == ends_of_months
    together = sorted({*range(7), *sundays, *ends_of_months})
    assert kept(backups, Retention(7, 4, 3)) == together


def test_of_several_a_day_the_newest_stands_for_it():
    backups = [Kept(Path(str(n)), NOW - timedelta(hours=n)) for n in range(30)]
    assert kept(backups, Retention(daily=2)) == [0, 3]


def test_a_week_at_the_turn_of_the_year_is_one_week():
    days = [datetime(2027, 1, 1, tzinfo=UTC), datetime(2026, 12, 31, tzinfo=UTC)]
    backups = [Kept(Path(str(n)), at) for n, at in enumerate(days)]
    assert kept(backups, Retention(weekly=2)) == [0]
    assert kept(backups, Retention(monthly=2)) == [0, 1]


@pytest.mark.parametrize(
    "retention", [Retention(1), Retention(0, 1), Retention(0, 0, 1)]
)
def test_a_gap_of_years_leaves_the_newest(retention):
    old = [Kept(Path("0"), NOW - timedelta(days=1_000))]
    assert kept(old, retention) == [0]


def made(folder, days_ago, ledger=LEDGER):
    """Write a backup with its note as if it had been made so many days ago."""
    at = NOW - timedelta(days=days_ago)
    path = target_in(folder, ledger, at, encrypted=True)
    path.write_bytes(b"x" * (days_ago + 1))
    note_backup(path, ledger, at)
    return path


def test_only_backups_with_a_note_of_this_ledger_are_deleted(tmp_path):
    ours = [made(tmp_path, days) for days in range(5)]
    others = made(tmp_path, 30, "f" * 16)
    without_note = made(tmp_path, 31)
    Path(f"{without_note}{NOTE}").unlink()
    changed = made(tmp_path, 32)
    changed.write_bytes(b"something else lies here")
    link = made(tmp_path, 33)
    link.unlink()
    link.symlink_to(others)
    forged = tmp_path / f"curator-{LEDGER}-other.tar{NOTE}"
    forged.write_text('{"format": 1}')
    stranger = tmp_path / "curator-notes.tar"
    stranger.touch()
    gone = delete_superfluous(tmp_path, LEDGER, Retention(daily=2))
    assert gone == [path.name for path in ours[2:]]
    left = {path for path in tmp_path.iterdir() if not path.name.endswith(NOTE)}
    assert left == {ours[0], ours[1], others, without_note, changed, link, stranger}
    assert [one.path for one in backups_in(tmp_path, LEDGER)] == ours[:2]


def test_what_a_killed_backup_began_goes_and_notes_without_their_file_too(tmp_path):
    whole, gone = made(tmp_path, 0), made(tmp_path, 1)
    gone.unlink()
    begun = tmp_path / f"{whole.name}.packing"
    begun.touch()
    others = tmp_path / "curator-ffffffffffffffff-x.tar.age.packing"
    others.touch()
    assert delete_superfluous(tmp_path, LEDGER, Retention(daily=9)) == []
    assert sorted(tmp_path.iterdir()) == sorted([whole, Path(f"{whole}{NOTE}"), others])


def test_a_note_is_for_its_owner_alone(tmp_path):
    note = Path(f"{made(tmp_path, 0)}{NOTE}")
    assert note.stat().st_mode & 0o077 == 0
