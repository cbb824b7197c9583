"""A release, from a spec to signed files: charged once, whole, and verifiable."""

import csv
import json
import shutil
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import select, update

import server.use_cases.publishing.job as at_work
from budget.ledger import Scope
from budget.storage.tables import chain, charge
from curator_client.releases.signatures import is_signed
from privacy.errors import ExecutionError, InvalidOptionError
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB
from release.cubes.strategies.registry import STRATEGIES
from release.store.opening import open_release, problems_in
from server.bootstrap import make_jobs, make_runner
from server.installing import initialise
from server.persistence import tables
from server.use_cases.operations.backup import create_backup, restore_backup
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.publishing.job import public_change
from server.use_cases.publishing.planner import ReleasePlanner
from server.use_cases.publishing.releases import ReleaseService
from server.use_cases.publishing.specs import plan_release, read_spec
from server.use_cases.services.errors import CommandRefusedError, NotFoundError
from server.use_cases.services.paging import Page
from tests.effort import gate_first
from tests.support.installations.harness import DEFAULT_ROWS, Installation
from tests.support.installations.publishing import OPERATOR, SEX_BY_AGE, Press, spec
from tests.support.installations.two_persons import Two
from tests.support.noise.samplers import ZeroVectorSampler


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def installation(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    made = Installation(tmp_path, url=url).create()
    made.load()
    return made


@pytest.fixture
def quick(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    return made


@pytest.fixture
def press(quick):
    return Press(quick)


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """Where nothing is ever published: what is refused leaves no trace."""
    made = Installation(tmp_path_factory.mktemp("refusing")).create()
    made.load()
    return Press(made)


def spent(press, population="people"):
    with press.services() as services:
        return str(services.ledger.spent(Scope.population(population)))


def charges(press):
    with press.services() as services, services.databases.reader.connect() as found:
        rows = found.execute(select(charge.c.query_id, charge.c.state)).all()
        return {row.query_id: row.state for row in rows}


def actions(press):
    with press.services() as services, services.databases.reader.connect() as found:
        bodies = found.execute(select(chain.c.body).order_by(chain.c.seq)).scalars()
        told = [json.loads(body).get("action") for body in bodies]
    return [action for action in told if action and action.startswith("release.")]


def verified(press):
    with press.services() as services:
        return AuditService(services, "local:test").verify()["problems"]


def listed_cells(folder):
    with (folder / "cube.csv").open() as file:
        return {
            (row["sex"], row["age"]): float(row["estimate"])
            for row in csv.DictReader(file)
        }


def test_a_published_release_is_charged_once_and_whole(installation):
    press = Press(installation)
    done = press.publish()
    assert (done["state"], done["error"]) == ("done", None)
    assert charges(press) == {done["id"]: "answered"}
    assert spent(press) == "0.5"
    assert actions(press) == ["release.begin", "release.publish"]
    (folder,) = press.folders()
    assert problems_in(folder) == []
    assert verified(press) == []
    with press.service() as service:
        shown = service.show(OPERATOR, "visitors")
        assert shown["state"] == "published"
        assert shown["manifest"]["loss"] == {"epsilon": "0.5", "delta": "0"}
        assert service.verify(OPERATOR, shown["id"])["ok"]


def test_without_noise_the_files_hold_the_exact_counts_of_units(quick):
    press = Press(quick, ZeroVectorSampler)
    press.publish()
    (folder,) = press.folders()
    found = listed_cells(folder)
    units = {tuple(row.split(",")[:3]) for row in DEFAULT_ROWS}
    exact = Counter(
        (sex, f"{int(age) // 10 * 10}-{int(age) // 10 * 10 + 9}")
        for _, sex, age in units
    )
    assert len(found) == 2 * 13
    assert {cell: n for cell, n in found.items() if n} == exact


def test_rows_are_counted_where_rows_are_asked_for(quick):
    press = Press(quick, ZeroVectorSampler)
    press.publish(spec(count="rows", where="ward = 'north'"))
    (folder,) = press.folders()
    north = [row for row in DEFAULT_ROWS if ",north," in row]
    assert sum(listed_cells(folder).values()) == len(north)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["l1_sensitivity"] == 10
    assert manifest["question"]["where"] == "ward = 'north'"


def test_a_release_opens_to_the_model_that_was_written(press):
    press.publish()
    (folder,) = press.folders()
    opened = open_release(folder)
    assert opened.manifest["dimensions"][0]["values"] == ["F", "M"]
    estimates = list(listed_cells(folder).values())
    assert opened.model.estimates().tolist() == estimates


def test_every_edit_of_a_folder_is_found(press, tmp_path):
    press.publish()
    (folder,) = press.folders()
    for name in sorted(path.name for path in folder.iterdir()):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        content = bytearray((copy / name).read_bytes())
        content[len(content) // 2] ^= 1
        (copy / name).write_bytes(content)
        assert problems_in(copy), name
        (copy / name).unlink()
        assert problems_in(copy), name
        shutil.rmtree(copy)
    shutil.copytree(folder, copy)
    (copy / "more.csv").write_text("a\n1\n")
    assert problems_in(copy) == ["more.csv does not belong here"]
    assert problems_in(folder, public_key="0" * 64) != []


def test_a_manifest_that_tells_a_key_twice_is_found(press):
    press.publish()
    (folder,) = press.folders()
    path = folder / "manifest.json"
    genuine = path.read_bytes()
    assert is_signed(genuine, json.loads(genuine)["public_key"])
    path.write_bytes(genuine.replace(b"{", b'{ "cells": 1,', 1))
    assert json.loads(path.read_bytes()) == json.loads(genuine)
    assert problems_in(folder) != []
    assert not is_signed(path.read_bytes(), json.loads(genuine)["public_key"])
    path.write_bytes(genuine.replace(b"{", b'{ "cells": "\\ud800",', 1))
    assert problems_in(folder) != []


def test_a_manifest_that_another_installation_signed_is_found(press, tmp_path):
    press.publish()
    other = Installation(tmp_path / "other")
    other.folder.mkdir()
    other.initialise()
    other.load()
    copier = Press(other)
    copier.publish()
    (own,), (theirs,) = press.folders(), copier.folders()
    shutil.rmtree(own)
    shutil.copytree(theirs, own)
    assert problems_in(own) == []
    assert "signature" in verified(press)[0]


def test_what_the_cap_does_not_allow_charges_nothing(press):
    refused = press.publish(spec(epsilon="100001"))
    assert refused["state"] == "failed"
    assert "nothing was charged" in refused["error"]
    assert (spent(press), press.folders(), actions(press)) == ("0", [], [])
    assert press.publish()["state"] == "done"  # and its name is free


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"dataset": "nowhere"}, "no dataset"),
        ({"strategy": "magic"}, "strategy: one of"),
        ({"dimensions": [{"column": "note"}]}, "no declared list"),
        ({"dimensions": [{"column": "nothing"}]}, "no column nothing"),
        ({"dimensions": [{"column": "sex", "name": "patient_id"}]}, "another name"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "0"}, "epsilon"),
        ({"count": "people"}, "count"),
        ({"from": "visits GROUP BY sex"}, "nothing after them"),
        ({"parameters": {"x": 1}}, "no such parameter"),
        ({"from": "visit"}, "from: no table is called visit (line 1, column 1 of it)"),
        ({"where": "aeg > 3"}, "where: visits has no column aeg (line 1, column 1 "),
        ({"from": "visits\n", "where": "age >\n\n)"}, "where: the text cannot be read"),
        ({"from": "visits\n", "where": "age >\n\n)"}, "(line 3, column 1 of it)"),
        ({"where": "age >"}, "a condition, such as"),
        ({"dimensions": []}, "release.dimensions: it is empty"),
        ({"colour": "red"}, "there is no such key"),
        ({"readers": ["ada"]}, "readers"),
        ({"parameters": {"share": "1e-10000000"}}, "exponents"),
        ({"parameters": {"share": Decimal("1e-10000000")}}, "exponents"),
        ({"parameters": {"x": ["9e99999999999999999999"]}}, "exponents"),
        ({"parameters": {"x": "1" * 129}}, "characters"),
        ({"dimensions": [{"column": "age", "bins": ["1e999990"]}]}, "exponents"),
        ({"dimensions": [{"column": "age", "bins": list(range(201))}]}, "200"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_queued(refusing, changed, said):
    with pytest.raises((InvalidOptionError, NotFoundError)) as caught:
        refusing.submit(spec(**changed))
    assert said in str(caught.value)
    assert charges(refusing) == {}


def test_a_name_is_used_once(press):
    press.publish()
    with pytest.raises(InvalidOptionError, match="another name"):
        press.submit()
    waiting = [press.submit(spec("second")), press.submit(spec("second"))]
    ended = [press.run(job)["state"] for job in waiting]
    assert ended == ["done", "failed"]
    assert spent(press) == "1"


def test_a_failure_after_the_charge_keeps_it_and_frees_the_name(press, monkeypatch):
    def fail(*_):
        raise ExecutionError

    job = press.submit()
    with press.services() as services:
        monkeypatch.setattr(services.engine, "count_cube", fail)
        make_runner(services, OFF).run_one(job)
    assert charges(press) == {job: "failed"}
    assert (spent(press), press.folders()) == ("0.5", [])
    assert actions(press) == ["release.begin", "release.fail"]
    assert press.publish()["state"] == "done"
    assert spent(press) == "1"
    assert verified(press) == []


class _Never:
    """An event that is never set."""

    def is_set(self):
        return False


OFF = _Never()
PAGE = Page(50)


def test_a_queued_job_that_is_cancelled_charges_nothing(press):
    job = press.submit()
    with press.services() as services:
        make_jobs(services).cancel(OPERATOR, job)
    assert press.run(job)["state"] == "cancelled"
    assert charges(press) == {}


def test_a_job_that_is_cancelled_after_its_charge_keeps_the_charge(press, monkeypatch):
    job = press.submit()
    with press.services() as services:
        count = services.engine.count_cube

        def cancelled(*arguments):
            make_jobs(services).cancel(OPERATOR, job)
            return count(*arguments)

        monkeypatch.setattr(services.engine, "count_cube", cancelled)
        make_runner(services, OFF, beat_seconds=0.05).run_one(job)
    assert press.run(job)["state"] == "cancelled"
    assert charges(press) == {job: "failed"}
    assert (press.folders(), verified(press)) == ([], [])


def test_a_withdrawn_release_is_gone_from_readers_and_stays_paid(press):
    press.publish()
    with press.service() as service:
        with pytest.raises(CommandRefusedError, match="say why"):
            service.withdraw(OPERATOR, "visitors", " ")
        withdrawn = service.withdraw(OPERATOR, "visitors", "the cohort was wrong")
        assert withdrawn["state"] == "withdrawn"
        with pytest.raises(CommandRefusedError):
            service.withdraw(OPERATOR, "visitors", "again")
    assert spent(press) == "0.5"
    assert actions(press)[-1] == "release.withdraw"
    assert verified(press) == []


def test_a_plan_prices_and_predicts_without_writing(press):
    with press.planner() as planner:
        plan = planner.plan(OPERATOR, {"release": spec()})
    assert plan["cells"] == 26
    assert plan["affordable"]
    assert plan["parts"] == [{"name": "cells", "epsilon": "0.5"}]
    assert plan["l1_sensitivity"] == 10
    (cells,) = [e for e in plan["expected_errors"] if e["strategy"] == "cells"]
    assert cells["cell_rmse"] == pytest.approx((2 * 20**2) ** 0.5, rel=0.01)
    assert charges(press) == {}


def test_a_public_release_needs_two_persons(tmp_path):
    made = Installation(tmp_path)
    initialise(made.settings, single_custodian=False)
    two = Two.make(made, ("carol", "dora"))
    manifest = made.write_manifest()
    with pytest.raises(Exception, match="two persons"):
        made.load_manifest(manifest)
    two.approve_all("carol")
    made.load_manifest(manifest)
    press = Press(made)
    told = spec(readers="public")
    refused = press.publish(told)
    assert refused["state"] == "failed"
    assert "needs two persons" in refused["error"]
    assert charges(press) == {}
    two.approve_all("carol")
    assert press.publish(spec(readers="public", epsilon="0.6"))["state"] == "failed"
    done = press.publish(told)
    assert done["state"] == "done"
    assert charges(press) == {done["id"]: "answered"}
    granted = press.publish(spec("granted", readers=[{"principal": "carol"}]))
    assert granted["state"] == "done"


def test_two_persons_agree_on_a_snapshot_and_a_plan_beside_the_spec(press):
    with press.services() as services, services.databases.reader.connect() as found:
        planned = plan_release(
            found, read_spec({"release": spec(readers="public")}), Target(DUCKDB)
        )
    coarser = replace(planned.plan, l1_sensitivity=planned.plan.l1_sensitivity + 1)
    other_plan = replace(planned.plan, canonical=planned.plan.canonical + " ")
    texts = {
        public_change(one).text()
        for one in (
            planned,
            replace(planned, snapshot="s_" + "0" * 24),
            replace(planned, work=replace(planned.work, plan=coarser)),
            replace(planned, work=replace(planned.work, plan=other_plan)),
        )
    }
    assert len(texts) == 4


@pytest.mark.parametrize("reader", [{"principal": "zoe"}, {"project": "elsewhere"}])
def test_a_reader_who_does_not_exist_is_refused_like_a_stranger(press, quick, reader):
    told = spec(readers=[reader])
    with pytest.raises(InvalidOptionError, match="people knows no"):
        press.submit(told)
    with (
        press.planner() as planner,
        pytest.raises(InvalidOptionError, match="knows no"),
    ):
        planner.plan(OPERATOR, {"release": told})
    assert charges(press) == {}


def test_a_reader_who_is_gone_before_the_charge_is_refused(press, quick, monkeypatch):
    quick.analyst("ada", "study")
    job = press.submit(spec(readers=[{"project": "study"}]))
    with press.services() as services, services.databases.reader.connect() as found:
        planned = plan_release(found, read_spec({"release": spec()}), Target(DUCKDB))
    monkeypatch.setattr(at_work, "plan_release", lambda *_: with_readers(planned))
    refused = press.run(job)
    assert (refused["state"], charges(press)) == ("failed", {})
    assert "knows no principal zoe" in refused["error"]


def with_readers(planned):
    readers = [{"principal": "zoe"}]
    return replace(planned, spec=read_spec({"release": spec(readers=readers)}))


def test_names_of_other_populations_are_not_told(press):
    press.publish()
    with press.services() as services, services.databases.reader.connect() as found:
        planned = plan_release(found, read_spec({"release": spec()}), Target(DUCKDB))
        with pytest.raises(CommandRefusedError, match="another name"):
            at_work.require_free_name(found, planned)
        theirs = replace(planned, dataset=replace(planned.dataset, population="pupils"))
        at_work.require_free_name(found, theirs)


def test_a_backup_brings_releases_back(press, quick, tmp_path):
    press.publish()
    (folder,) = press.folders()
    backup = tmp_path / "backup.tar"
    create_backup(quick.settings, backup, snapshots=False)
    shutil.rmtree(quick.data)
    assert not folder.exists()
    restore_backup(quick.settings, backup)
    assert verified(press) == []
    assert problems_in(folder) == []


def test_a_backup_holds_the_releases_that_its_ledger_names(press, quick, tmp_path):
    press.publish()
    (folder,) = press.folders()
    for name in ("rel_" + "0" * 24 + "." + "0" * 16, "rel_" + "1" * 24 + ".part-1"):
        (folder.parent / name).mkdir()
        (folder.parent / name / "cube.csv").write_text("a\n1\n")
    create_backup(quick.settings, tmp_path / "backup", snapshots=False)
    copied = [path.name for path in (tmp_path / "backup" / "releases").iterdir()]
    assert copied == [folder.name]


def test_a_worker_that_comes_late_leaves_what_is_published_alone(press):
    done = press.publish()
    (folder,) = press.folders()
    with press.services() as services:
        folders = at_work.ReleaseFolders(services.settings.releases)
        part = folders.stage(done["result"]["release"], 2)
        assert problems_in(folder) == []
        folders.keep_only(done["result"]["release"], done["result"]["manifest_sha256"])
    assert not part.exists()
    assert press.folders() == [folder]


def test_a_worker_without_its_lease_writes_no_file(press, monkeypatch):
    job = press.submit()
    with press.services() as services:
        count = services.engine.count_cube

        def overtaken(*arguments):
            with services.databases.writer.begin() as connection:
                connection.execute(update(tables.job).values(lease_boot="another"))
            return count(*arguments)

        written = []
        monkeypatch.setattr(services.engine, "count_cube", overtaken)
        monkeypatch.setattr(at_work, "write_release", written.append)
        make_runner(services, OFF, beat_seconds=60).run_one(job)
    assert written == []


def test_a_release_that_is_begun_while_folders_are_cleaned_stays(press, monkeypatch):
    with press.services() as services:
        job = at_work.ReleaseJob(services)
        root = services.settings.releases
        check = services.ledger.check
        connect = services.databases.reader.connect

        def begun_meanwhile():
            (root / ("rel_" + "0" * 24 + ".part-1")).mkdir(parents=True, exist_ok=True)
            return connect()

        monkeypatch.setattr(services.ledger, "check", check)
        monkeypatch.setattr(services.databases.reader, "connect", begun_meanwhile)
        job.delete_unnamed()
    assert len(press.folders()) == 1


def test_a_missing_or_edited_release_makes_verify_red(press):
    press.publish()
    (folder,) = press.folders()
    content = (folder / "cube.csv").read_text()
    (folder / "cube.csv").write_text(content + " ")
    assert verified(press) == ["release visitors: cube.csv was changed"]
    shutil.rmtree(folder)
    assert "its folder is missing" in verified(press)[0]


def test_what_attempts_left_behind_is_deleted_and_what_is_named_stays(press):
    press.publish()
    (folder,) = press.folders()
    for name in ("rel_" + "0" * 24 + ".part-1", "rel_" + "0" * 24 + "." + "0" * 16):
        (folder.parent / name).mkdir()
    with press.services() as services:
        make_runner(services, OFF)
    assert press.folders() == [folder]


def test_the_same_noisy_values_give_the_same_bytes(quick, tmp_path):
    first = Press(quick, ZeroVectorSampler)
    first.publish()
    again = Installation(tmp_path / "again")
    again.folder.mkdir()
    again.create()
    again.load()
    second = Press(again, ZeroVectorSampler)
    second.publish()
    (one,), (other,) = first.folders(), second.folders()
    for name in ("cells.parquet", "cells.csv", "cube.parquet", "cube.csv"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_custodians_see_their_own_populations_releases_alone(press):
    press.publish()
    with press.services() as services:
        stranger = OPERATOR.__class__("emil", frozenset({"pupils"}))
        service = ReleaseService(services)
        assert service.page(stranger, PAGE)["items"] == []
        for look in (service.show, service.verify):
            with pytest.raises(NotFoundError):
                look(stranger, "visitors")
        with pytest.raises(NotFoundError):
            ReleasePlanner(services).plan(stranger, {"release": spec()})
        with pytest.raises(NotFoundError):
            make_jobs(services).submit(stranger, "release.publish", {"release": spec()})


@pytest.mark.sampled
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_strategy_publishes_files_that_open_and_verify(press, strategy):
    dimensions = SEX_BY_AGE[1:] if strategy == "pthb" else SEX_BY_AGE
    told = spec(strategy=strategy, epsilon="2", dimensions=dimensions)
    done = press.publish(told)
    assert done["state"] == "done", done["error"]
    (folder,) = press.folders()
    assert problems_in(folder) == []
    opened = open_release(folder)
    assert opened.manifest["strategy"] == strategy
    assert opened.model.estimates().shape == (opened.manifest["cells"],)
