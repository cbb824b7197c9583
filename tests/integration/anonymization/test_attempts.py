"""Attempts that lost their lease, killed deletions, and what is told of copies."""

import hashlib
import json
import shutil
import threading
from pathlib import Path

import pytest
from sqlalchemy import update

from server.bootstrap import make_runner
from server.persistence import tables as stored
from server.use_cases.anonymization import grants, hand_outs
from server.use_cases.anonymization.copies import CopyFolders, copy_id, job_of
from server.use_cases.anonymization.grants import HandOut
from server.use_cases.anonymization.hand_outs import HandOutService
from server.use_cases.anonymization.service import (
    CopyService,
    live_copies,
    of_population,
)
from server.use_cases.anonymization.work.tables import jobs as table_jobs
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError
from server.use_cases.services.paging import Page
from tests.support.copies import write_table_copy
from tests.support.installations.harness import DEFAULT_ROWS, ImportingInstallation
from tests.support.installations.texts import OPERATOR, Texts

CAROL = Viewer("carol", frozenset({"people"}))


def run_one(tables):
    make_runner(tables.services, threading.Event(), beat_seconds=5).run_one()


def made(tables, **changes):
    path = write_table_copy(tables.folder, **changes)
    return tables.done("anonymize.tables", file=str(path))["copy"]


def test_an_attempt_that_lost_its_lease_leaves_the_copy_of_the_next(
    tables, monkeypatch
):
    job = tables.submit("anonymize.tables", file=str(write_table_copy(tables.folder)))
    folders = CopyFolders(tables.services.settings.anonymized)
    real, seen = table_jobs.read_columns, []

    def overtaken(*given):
        if not seen:
            seen.append("begun")
            with tables.services.databases.work.begin() as connection:
                gone = update(stored.job).where(stored.job.c.id == job)
                connection.execute(gone.values(lease_until_ms=0))
            other = threading.Thread(target=run_one, args=[tables])
            other.start()
            other.join()
            seen.append(folders.path(copy_id(job)).is_dir())
        return real(*given)

    monkeypatch.setattr(table_jobs, "read_columns", overtaken)
    run_one(tables)
    assert seen == ["begun", True]
    shown = tables.jobs.show(OPERATOR, job)
    assert shown["state"] == "done"
    manifest = (folders.path(copy_id(job)) / "manifest.json").read_bytes()
    assert shown["lineage"]["outputs"] == [
        {
            "copy": copy_id(job),
            "manifest_sha256": hashlib.sha256(manifest).hexdigest(),
        }
    ]
    left = {one.name for one in folders.folder.iterdir()}
    assert left == {copy_id(job), f"{copy_id(job)}.members"}


class _KilledError(BaseException):
    """A kill, as far as a test can be one."""


def test_a_killed_deletion_is_finished_by_the_next_job(tables, monkeypatch):
    copy = made(tables)
    folders = CopyFolders(tables.services.settings.anonymized)

    def killed(*_given, **_how):
        raise _KilledError

    with monkeypatch.context() as broken:
        broken.setattr(shutil, "rmtree", killed)
        with pytest.raises(_KilledError):
            CopyService(tables.services).delete(OPERATOR, copy)
    assert [one.name for one in folders.folder.glob(f"{copy}*.gone")]
    with monkeypatch.context() as broken:
        broken.setattr(CopyFolders, "delete", killed)
        with pytest.raises(_KilledError):
            CopyService(tables.services).delete(OPERATOR, made(tables, name="other"))
    assert CopyService(tables.services).page(OPERATOR, Page(9))["items"] == []
    last = made(tables, name="last")
    left = {one.name for one in folders.folder.iterdir()}
    assert left == {last, f"{last}.members"}


def test_names_of_files_reach_no_recipient(tables):
    header, *lines = (tables.folder / "stays.csv").read_text().splitlines()
    (tables.folder / "each").mkdir()
    for line in lines:
        with (tables.folder / "each" / f"{line.split(',')[0]}.csv").open("a") as file:
            file.write((f"{header}\n" if file.tell() == 0 else "") + f"{line}\n")
    copy = made(tables, table={"files": ["each/*.csv"]})
    folder = CopyFolders(tables.services.settings.anonymized).path(copy)
    assert "p007" not in (folder / "manifest.json").read_text()


def test_no_work_on_patients_is_done_for_a_custodian_who_reads(tables, monkeypatch):
    """PRIVACY 6, "Other routes": what the host found out is read, and nothing more."""
    first = made(tables)
    out = tables.folder / "out"
    HandOutService(tables.services).hand_out(OPERATOR, first, HandOut("Ada", "x"), out)
    second = made(tables, name="other", k=7)
    service = CopyService(tables.services)
    with monkeypatch.context() as counted:
        counted.setattr(CopyFolders, "members", None)
        counted.setattr(grants, "intersection_of", None)
        (told,) = service.show(CAROL, second)["others"]  # the job compared them
    assert (told["patients_in_both"], told["why_unknown"]) == (120, None)
    folders = CopyFolders(tables.services.settings.anonymized)
    (folders.folder / f"{second}.compared").unlink()
    (told,) = service.show(CAROL, second)["others"]
    assert (told["patients_in_both"], told["why_unknown"]) == (None, "not_compared")
    (told,) = service.show(OPERATOR, second)["others"]
    assert told["patients_in_both"] == 120
    assert service.show(CAROL, second)["others"] == [told]


def handed_out(tables, copy, to):
    HandOutService(tables.services).hand_out(
        OPERATOR, copy, HandOut(to, "x"), tables.folder / to
    )


def test_two_commands_hand_out_beside_each_other_one_after_the_other(
    tables, monkeypatch
):
    """Else one deletes what the other is copying, and the ledger says that it left."""
    copy, filled, refused = made(tables), HandOutService._fill, []

    def meanwhile(service, part, of):
        filled(service, part, of)
        with pytest.raises(CommandRefusedError, match="repeat") as error:
            handed_out(tables, copy, "bea")
        refused.append(error.value)

    with monkeypatch.context() as patch:
        patch.setattr(HandOutService, "_fill", meanwhile)
        handed_out(tables, copy, "ada")
    handed_out(tables, copy, "bea")
    assert len(refused) == 1
    assert all(
        (tables.folder / to / "manifest.json").is_file() for to in ("ada", "bea")
    )


def test_files_that_a_kill_kept_from_their_folder_go_with_a_deleted_copy(
    tables, monkeypatch
):
    copy = made(tables)

    def killed(*_):
        raise _KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(_KilledError):
            handed_out(tables, copy, "ada")
    (part,) = tables.folder.glob(".ada.part-*")
    CopyService(tables.services).delete(OPERATOR, copy)
    with pytest.raises(NoSuchThingError):
        handed_out(tables, copy, "ada")
    assert not part.exists()


def grid(tables, name, columns, *, written="{}"):
    """Write 125 patients at the places of a cube of five; return a copy by columns."""
    lines = ["patient_id,x,y,z"]
    lines += [
        f"{written.format(n + 1)},a{n // 25},b{n // 5 % 5},c{n % 5}" for n in range(125)
    ]
    (tables.folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return made(
        tables,
        name=name,
        table={"files": [f"{name}.csv"]},
        quasi_identifiers={one: {"kind": "category"} for one in columns},
        sensitive={},
        keep=[],
        k=25,
    )


def test_what_three_copies_tell_together_is_told(tables):
    """Each class has 25 patients, each two share 5, and all three tell each apart."""
    for name in "xy":
        handed_out(tables, grid(tables, name, [name]), f"ada-{name}")
    last = grid(tables, "z", ["z"])
    shown = CopyService(tables.services).show(OPERATOR, last)
    assert [one["fewest_together"] for one in shown["others"]] == [5, 5]
    assert shown["all_others"]["fewest_together"] == 1
    assert shown["all_others"]["average_risk"] == 1.0
    assert shown["all_others"]["patients_in_both"] == 125


def test_ids_that_files_write_otherwise_are_one_patients(tables):
    handed_out(tables, grid(tables, "x", ["x"], written="{:05d}"), "ada")
    plain = grid(tables, "y", ["y"])
    (told,) = CopyService(tables.services).show(OPERATOR, plain)["others"]
    assert (told["patients_in_both"], told["patients_in_one"]) == (125, 0)
    assert told["fewest_together"] == 5


def population_of(folder, rows):
    """Make a copy beside a load of some rows; return its files and its job's result."""
    folder.mkdir()
    installation = ImportingInstallation(folder).create()
    installation.load(rows)
    with installation.services() as services:
        tables = Texts(installation, services)
        copy = grid(tables, "x", ["x"], written="{:05d}")
        folders = CopyFolders(services.settings.anonymized)
        told = json.loads((folders.path(copy) / "manifest.json").read_text())
        result = tables.jobs.show(OPERATOR, job_of(copy))["result"]
        with services.databases.reader.connect() as connection:
            (held,) = live_copies(connection, folders)
            said = of_population(connection, held)
    for drawn in ("created", "job"):
        del told[drawn]
    return told, result["patients_of_population"], said


def test_how_many_are_of_the_population_is_told_to_custodians_alone(tmp_path):
    """Two copies, a patient came between them: their files tell nothing of him."""
    loaded = {row.split(",")[0] for row in DEFAULT_ROWS}
    known = len(loaded & {str(number) for number in range(1, 126)})
    assert 0 < known < 125
    files, count, said = population_of(tmp_path / "with", DEFAULT_ROWS)
    assert count == known
    assert (
        said == f"{known} of its 125 patients are known to the population by their ids"
    )
    fewer = [row for row in DEFAULT_ROWS if not row.startswith("57,")]
    without, count, _ = population_of(tmp_path / "without", fewer)
    assert count == known - 1
    assert without == files


def test_a_copy_that_is_deleted_while_it_is_handed_out_stays_here(tables, monkeypatch):
    copy = made(tables)
    real = hand_outs._make

    def deleted_meanwhile(part):
        CopyService(tables.services).delete(OPERATOR, copy)
        return real(part)

    monkeypatch.setattr(hand_outs, "_make", deleted_meanwhile)
    with pytest.raises(CommandRefusedError, match="deleted meanwhile: nothing was"):
        handed_out(tables, copy, "ada")
    monkeypatch.undo()
    with tables.services.databases.reader.connect() as connection:
        assert list(grants.read_grants(connection)) == []
