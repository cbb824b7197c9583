"""What killed commands and jobs leave beside registers does not stay."""

import os
import signal
import subprocess
import sys
from threading import Thread

import pytest

from server.bootstrap import delete_unnamed_files
from server.persistence.linkage_tables import linkage_act, linkage_doubt
from server.use_cases.linkage.work.leftovers import delete_leftovers, shown_folder
from server.use_cases.loading.lock import lock_beside_loads
from server.use_cases.operations import backup
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import OPERATOR
from tests.support.linking import Linking, copied

KILLED = """
import os
from server.main import cli
from server.use_cases.linkage.work import service

service.opened = lambda *_, **__: os.kill(os.getpid(), 9)
cli(["linkage", "crosswalk", "patients", "keys.csv"])
"""


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """The folder of an installation whose exports were linked once."""
    folder = tmp_path_factory.mktemp("linked")
    made = ImportingInstallation(folder).create()
    made.load()
    with made.services() as services:
        found = Linking(made, services)
        found.write(load=None)
        found.link()
    return folder


@pytest.fixture
def linking(linked, tmp_path):
    with copied(linked, tmp_path) as found:
        yield found


@pytest.fixture
def folder(linking):
    return linking.installation.data / "linkages"


def names(folder, pattern="*"):
    return sorted(path.name for path in folder.glob(pattern))


@pytest.mark.long
def test_a_register_that_a_killed_command_opened_goes_when_a_worker_starts(
    linking, folder
):
    done = subprocess.run(
        [sys.executable, "-c", KILLED],
        env={**os.environ, **linking.installation.environment},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    (left,) = folder.glob("shown_*/register.duckdb")
    assert left.stat().st_size
    delete_unnamed_files(linking.services)
    assert names(folder, "shown_*") == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("act", ["job", "view"])
def test_it_goes_with_the_next_job_or_view_too(linking, folder, act):
    left = folder / "shown_dead"
    left.mkdir()
    (left / "register.duckdb").write_bytes(b"Rossison")
    if act == "view":
        assert linking.crosswalk()
    else:
        linking.done("linkage.review_export", population="people", linkage="patients")
    assert names(folder, "shown_*") == []


def test_a_register_that_is_shown_now_stays(linking, folder):
    with shown_folder(folder) as shown:
        delete_leftovers(linking.services)
        with shown_folder(folder) as second:
            assert shown.exists()
            assert second.exists()
    assert names(folder, "shown_*") == []


def jobs_of(linking, table):
    with linking.services.databases.reader.connect() as connection:
        return {row.job for row in connection.execute(table.select())}


def test_a_dry_run_leaves_no_register_doubt_or_act(linking, folder):
    before = names(folder)
    doubts = jobs_of(linking, linkage_doubt), jobs_of(linking, linkage_act)
    linking.link(dry_run=True)
    assert names(folder) == before
    assert names(folder / "work") == []
    assert (jobs_of(linking, linkage_doubt), jobs_of(linking, linkage_act)) == doubts
    assert linking.crosswalk()


@pytest.mark.long
def test_a_dry_run_that_would_load_leaves_no_register(linking, folder):
    linking.write()
    before = names(folder)
    linking.link(dry_run=True, accept_changes=True, reason="to see what it would load")
    assert names(folder) == before


def test_a_backup_holds_no_register_that_no_linkage_names(linking, folder, tmp_path):
    left = folder / f"job_{'0' * 24}.register"
    left.write_bytes(b"Rossison")  # of a linkage whose deletion was killed
    target = tmp_path / "backup"
    backup.create_backup(linking.services.settings, target, snapshots=False)
    assert len(names(target / "linkages")) == 1
    assert left.name not in names(target / "linkages")


@pytest.mark.long
def test_a_register_that_a_killed_job_wrote_goes_though_it_was_cancelled(
    linking, folder
):
    job = linking.submit("linkage.link", linkage="patients.yaml")
    (folder / f"{job}.part").write_bytes(b"Rossison")
    linking.jobs.cancel(OPERATOR, job)
    linking.work()
    linking.link()
    assert names(folder, "*.part") == []


def test_the_sheet_of_a_linkage_that_was_deleted_half_goes(linking, folder):
    told = {"population": "people", "linkage": "patients"}
    (folder / "lnk_0123.csv").write_text("Rossison")
    kept = linking.done("linkage.review_export", **told)["sheet"]
    assert [str(path) for path in folder.glob("*.csv")] == [kept]
    (folder / "lnk_0123.csv").write_text("Rossison")
    delete_unnamed_files(linking.services)
    assert [str(path) for path in folder.glob("*.csv")] == [kept]


class KilledError(BaseException):
    """Stands for the end of a process."""


@pytest.mark.parametrize("rows_are_gone", [False, True])
def test_what_is_left_of_a_deletion_that_was_cut_off_goes_at_a_start(
    linking, folder, monkeypatch, rows_are_gone
):
    def killed(*_, **__):
        raise KilledError

    name = "RegisterFiles.delete" if rows_are_gone else "delete_rows_of_run"
    with monkeypatch.context() as patched:
        patched.setattr(f"server.use_cases.linkage.work.service.{name}", killed)
        with pytest.raises(KilledError):
            linking.service.delete("patients")
    assert names(folder, "*.register")
    assert rows_are_gone or jobs_of(linking, linkage_doubt)
    with lock_beside_loads(linking.services.settings):
        delete_unnamed_files(linking.services)  # a load is under way
        assert names(folder, "*.register")
    delete_unnamed_files(linking.services)
    assert names(folder, "*.register") == []
    assert jobs_of(linking, linkage_doubt) == jobs_of(linking, linkage_act) == set()


def test_a_start_deletes_nothing_of_what_counts_or_is_worked_on(linking, folder):
    job = linking.submit("linkage.link", linkage="patients.yaml")
    (folder / f"{job}.register").write_bytes(b"a register that is not recorded yet")
    before = names(folder, "*.register")
    doubts = jobs_of(linking, linkage_doubt)
    delete_unnamed_files(linking.services)
    assert names(folder, "*.register") == before
    assert jobs_of(linking, linkage_doubt) == doubts != set()


@pytest.mark.long
@pytest.mark.parametrize("act", ["link", "delete"])
def test_a_backup_holds_the_register_that_its_ledger_names(
    linking, folder, monkeypatch, tmp_path, act
):
    """Meanwhile another run counts, and a later job deletes the one that counted."""
    (named,) = names(folder, "*.register")
    copy_sqlite = backup._copy_sqlite

    def copied(source, target):
        ledger = copy_sqlite(source, target)
        if act == "link":
            linking.link()
        working.start()
        working.join(timeout=3)
        return ledger

    def later():
        linking.link() if act == "link" else linking.service.delete("patients")

    working = Thread(target=later)
    monkeypatch.setattr(backup, "_copy_sqlite", copied)
    target = tmp_path / "backup"
    backup.create_backup(linking.services.settings, target, snapshots=False)
    working.join()
    assert named in names(target / "linkages")
    assert named not in names(folder)
