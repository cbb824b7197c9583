"""Linkages as jobs: keys that stay, doubts, decisions, loads, and what is refused."""

import csv
import shutil
import threading
from pathlib import Path

import pytest
import yaml
from sqlalchemy import update
from sqlalchemy.exc import OperationalError

from privacy.errors import InvalidOptionError
from server.bootstrap import make_runner
from server.persistence import tables
from server.persistence.linkage_tables import linkage_doubt
from server.use_cases.custody.people import PeopleService
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.linkage.work import running
from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError
from server.use_cases.services.paging import Page
from server.use_cases.services.text_cipher import TextKeyError
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import OPERATOR
from tests.support.linking import PATIENTS, Linking

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """The folder of an installation whose exports were linked once."""
    folder = tmp_path_factory.mktemp("linked")
    made = ImportingInstallation(folder).create()
    made.load()
    with made.services() as services:
        found = Linking(made, services)
        found.write(load=None)
        found.first = found.link()
    return folder, found.first


@pytest.fixture
def linking(linked, tmp_path):
    """A copy of it; ``first`` is what its run returned."""
    folder, first = linked
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    made = ImportingInstallation(tmp_path)
    with made.services() as services:
        found = Linking(made, services)
        found.first = first
        yield found


def add_row(folder, **values):
    """Append a row to the laboratory's export."""
    path = folder / "laboratory.csv"
    with path.open(newline="") as file:
        names = next(csv.reader(file))
    with path.open("a", newline="") as file:
        csv.DictWriter(file, names).writerow({**dict.fromkeys(names, ""), **values})


def test_a_run_gives_each_id_a_key_and_says_what_it_read(linking):
    told = linking.first
    keys = linking.crosswalk()
    assert told["records"]["in_all"] == len(keys)
    assert told["patients"] == len(set(keys.values()))
    ids = {}
    for (_, id_), key in keys.items():
        ids.setdefault(key, set()).add(id_)
    assert told["duplicates"]["factor"] == max(map(len, ids.values())) >= 2
    assert told["duplicates"]["several"] == sum(len(one) > 1 for one in ids.values())
    assert told["blocking"]["pairs"] == sum(
        one["new"] for one in told["blocking"]["passes"]
    )
    assert 0.8 < told["blocking"]["completeness"] <= 1
    assert "rounds" not in told  # none was asked for
    assert {one["name"] for one in told["files"]["admissions"]} == {"admissions.csv"}
    shown = linking.review.show(OPERATOR, "patients")
    assert shown["runs"] == 1
    assert shown["report"]["patients"] == told["patients"]


@pytest.mark.long
def test_the_same_exports_bring_the_same_keys(linking):
    before = linking.crosswalk()
    told = linking.link()
    assert linking.crosswalk() == before
    assert (told["records"]["new"], told["records"]["changed"]) == (0, 0)


@pytest.mark.long
def test_a_new_record_joins_a_patient_and_nobody_is_renumbered(linking):
    before = linking.crosswalk()
    with (linking.folder / "laboratory.csv").open(newline="") as file:
        row = next(one for one in csv.DictReader(file) if one["phone_number"])
    add_row(linking.folder, **{**row, "lab_id": "L1"})
    add_row(linking.folder, lab_id="L2", family_name="Quxley", first_names="Zebulon")
    told = linking.link()
    after = linking.crosswalk()
    assert told["records"]["new"] == 2
    assert {one: after[one] for one in before} == before
    assert after["laboratory", "L1"] == before["laboratory", row["lab_id"]]
    assert after["laboratory", "L2"] not in before.values()


@pytest.mark.long
def test_an_id_that_is_gone_keeps_its_key(linking):
    before = linking.crosswalk()
    lines = (linking.folder / "laboratory.csv").read_text().splitlines()
    (linking.folder / "laboratory.csv").write_text("\n".join(lines[:-1]) + "\n")
    told = linking.link()
    assert told["records"]["gone"] == 1
    assert linking.crosswalk() == before


def test_a_decision_merges_two_patients_and_its_undoing_parts_them(linking):
    before = linking.crosswalk()
    doubt = linking.doubts()[0]
    pair = doubt["left"], doubt["right"]
    made = linking.review.decide(OPERATOR, "patients", pair, "match")
    assert made["state"] == "match"
    linking.apply()
    merged = linking.crosswalk()
    assert len(set(merged.values())) == len(set(before.values())) - 1
    acts = linking.review.acts(OPERATOR, "patients", after="1", upto=None)
    assert [one["kind"] for one in acts] == ["merge"]
    linking.review.undo(OPERATOR, "patients", made["decision"])
    linking.apply()
    assert linking.crosswalk() == before
    with pytest.raises(CommandRefusedError, match="taken back already"):
        linking.review.undo(OPERATOR, "patients", made["decision"])


def test_a_doubt_shows_both_records_and_weights_that_add_up(linking):
    one = linking.doubts()[0]
    shown = linking.review.doubt(OPERATOR, "patients", one["left"], one["right"])
    left, right = shown["records"]
    assert (left["record"], right["record"]) == (one["left"], one["right"])
    assert left["values"]["surname"]
    told = sum(step["weight"] for step in shown["steps"]) + shown["prior"]
    assert told == pytest.approx(shown["weight"], abs=1e-6)
    for step in shown["steps"]:
        for side, record in (("left", left), ("right", right)):
            said = record["values"].get(step["field"], "")
            assert "".join(text for text, _ in step[side]) == said


def test_a_second_opinion_is_needed_where_two_are_asked_for(linking):
    linking.write(load=None, opinions=2)
    linking.link()
    one = linking.doubts()[0]
    pair = one["left"], one["right"]
    first = linking.review.decide(OPERATOR, "patients", pair, "no_match")
    assert first["state"] == "waiting"
    people = PeopleService(linking.services, "local:test")
    for name in ("ada", "ben"):
        people.create_principal(name, "custodian")
    for clerk, state in (
        ("local:other", "waiting"),  # on the host, too
        ("ada", "waiting"),  # with a key that the host could issue, or issued
        ("ben", "no_match"),  # of ada's making he is not
    ):
        viewer = Viewer(clerk, None)
        said = linking.review.decide(viewer, "patients", pair, "no_match")
        assert said["state"] == state
        linking.apply()
        asked = {(one["left"], one["right"]) for one in linking.doubts()}
        assert (pair in asked) is (state == "waiting")
    told = linking.review.agreement(OPERATOR, "patients")
    assert {one["agreed"] for one in told["agreements"]} == {1}


@pytest.mark.long
def test_decisions_that_contradict_are_asked_about_until_somebody_says_more(linking):
    one = linking.doubts()[0]
    pair = one["left"], one["right"]
    other = next(n for n in range(1, 400) if n not in pair)
    said = [
        (pair, "match"),
        ((pair[0], other), "no_match"),
        ((other, pair[1]), "match"),
    ]
    for each, verdict in said:
        linking.review.decide(OPERATOR, "patients", each, verdict)
    linking.apply()
    (found,) = (d for d in linking.doubts() if d["reason"] == "contradiction")
    assert (found["left"], found["right"]) == tuple(sorted((other, pair[1])))
    assert found["state"] == "contested"
    told = linking.done(
        "linkage.review_export", population="people", linkage="patients"
    )
    assert f"{found['left']}-{found['right']}" in Path(told["sheet"]).read_text()
    shown = {(d["left"], d["right"]) for d in asked_about(linking)}
    assert (found["left"], found["right"]) in shown
    again = linking.review.decide(
        OPERATOR, "patients", (found["left"], found["right"]), "no_match"
    )
    assert again["state"] == "no_match"


def asked_about(linking):
    """Yield what the review asks, each pair being called unsure."""
    while (found := linking.review.next_open(OPERATOR, "patients")) is not None:
        yield found
        pair = found["left"], found["right"]
        linking.review.decide(OPERATOR, "patients", pair, "unsure")


@pytest.mark.long
def test_what_is_taken_back_waits_for_the_next_run(linking):
    one = linking.doubts()[0]
    made = linking.review.decide(
        OPERATOR, "patients", (one["left"], one["right"]), "no_match"
    )
    assert linking.review.show(OPERATOR, "patients")["waiting"]
    assert linking.apply()["decisions"] == 1
    assert not linking.review.show(OPERATOR, "patients")["waiting"]
    linking.review.undo(OPERATOR, "patients", made["decision"])
    assert linking.review.show(OPERATOR, "patients")["waiting"]


@pytest.mark.long
def test_what_clerks_decided_is_neither_missed_nor_wrong(linking):
    assert linking.first["duplicates"]["missed"] > 0
    for one in linking.doubts():
        pair = one["left"], one["right"]
        linking.review.decide(OPERATOR, "patients", pair, "no_match")
    told = linking.apply()
    assert told["doubts"] == 0
    assert told["duplicates"]["missed"] == 0
    one = linking.review.decisions(OPERATOR, "patients", Page(1))["items"][0]
    wrong = told["duplicates"]["wrong"]
    linking.review.undo(OPERATOR, "patients", one["decision"])
    pair = one["left"], one["right"]
    linking.review.decide(OPERATOR, "patients", pair, "match")
    assert linking.apply()["duplicates"]["wrong"] <= wrong


@pytest.mark.long
def test_a_number_given_to_somebody_else_is_asked_about(linking):
    keys = linking.crosswalk()
    with (linking.folder / "laboratory.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    row = next(
        one
        for one in rows
        if sum(key == keys["laboratory", one["lab_id"]] for key in keys.values()) == 2
    )
    row.update(
        family_name="Quxley",
        first_names="Zebulon",
        birth_date="1999-09-09",
        phone_number="",
        address="99 Nowhere Lane",
    )
    with (linking.folder / "laboratory.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerows(rows)
    told = linking.link()
    assert linking.crosswalk() == keys
    (found,) = (d for d in linking.doubts() if d["reason"] == "changed")
    assert found["state"] == "open"
    shown = linking.review.doubt(OPERATOR, "patients", found["left"], found["right"])
    assert "Quxley" in {one["values"].get("surname") for one in shown["records"]}
    assert told["duplicates"]["wrong"] >= linking.first["duplicates"]["wrong"] + 0.9


@pytest.mark.long
def test_what_is_decided_is_no_doubt_any_more(linking):
    one = linking.doubts()[0]
    pair = one["left"], one["right"]
    linking.review.decide(OPERATOR, "patients", pair, "no_match")
    assert linking.review.show(OPERATOR, "patients")["waiting"]
    linking.apply()
    assert pair not in {(d["left"], d["right"]) for d in linking.doubts()}
    assert not linking.review.show(OPERATOR, "patients")["waiting"]


@pytest.mark.long
def test_two_under_one_key_whom_nobody_doubted_are_parted(linking):
    before = linking.crosswalk()
    numbers = {one: n for n, one in enumerate(before, 1)}
    shared = [one for one in before if list(before.values()).count(before[one]) == 2]
    one, other = (o for o in shared if before[o] == before[shared[0]])
    pair = numbers[other], numbers[one]  # in either order
    made = linking.review.decide(OPERATOR, "patients", pair, "no_match")
    assert (made["left"], made["right"]) == (numbers[one], numbers[other])
    linking.apply()
    after = linking.crosswalk()
    assert after[one] == before[one] != after[other]
    assert {o: key for o, key in after.items() if o != other} == {
        o: key for o, key in before.items() if o != other
    }
    acts = linking.review.acts(OPERATOR, "patients", after="1", upto=None)
    assert [act["kind"] for act in acts] == ["split"]
    linking.review.undo(OPERATOR, "patients", made["decision"])
    linking.apply()
    assert linking.crosswalk() == before


def test_decisions_are_listed_by_pages_the_newest_first(linking):
    pairs = [(d["left"], d["right"]) for d in linking.doubts()[:3]]
    for pair in pairs:
        linking.review.decide(OPERATOR, "patients", pair, "unsure")
    first = linking.review.decisions(OPERATOR, "patients", Page(2))
    rest = linking.review.decisions(OPERATOR, "patients", Page(2, first["next_cursor"]))
    listed = [*first["items"], *rest["items"]]
    assert [(one["left"], one["right"]) for one in listed] == pairs[::-1]
    assert rest["next_cursor"] is None


def test_a_sheet_in_another_encoding_says_how_to_save_it(linking):
    sheet = linking.folder / "sheet.csv"
    sheet.write_bytes("pair;verdict;name\n1-2;match;M\xfcller\n".encode("cp1252"))
    with pytest.raises(CommandRefusedError, match="save it as CSV UTF-8"):
        linking.service.import_sheet("patients", sheet)
    with pytest.raises(CommandRefusedError, match="cannot be read: No such file"):
        linking.service.import_sheet("patients", linking.folder / "none.csv")


def test_a_table_of_a_load_that_is_no_source_is_told_the_nearest_one(linking):
    path = linking.write()
    told = yaml.safe_load(path.read_text())
    told["load"]["tables"][1]["name"] = "labratory"
    path.write_text(yaml.safe_dump(told))
    with pytest.raises(InvalidOptionError, match="did you mean laboratory") as refused:
        linking.submit("linkage.link", linkage="patients.yaml")
    assert "files" not in str(refused.value)


def test_a_sheet_goes_out_and_comes_back(linking):
    told = linking.done(
        "linkage.review_export", population="people", linkage="patients"
    )
    sheet = linking.folder / "sheet.csv"
    with Path(told["sheet"]).open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == told["pairs"] == len(linking.doubts())
    rows[0]["verdict"], rows[1]["verdict"] = "match", "No"
    with sheet.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert linking.service.import_sheet("patients", sheet) == {"read": 2, "decided": 2}
    assert linking.service.import_sheet("patients", sheet) == {"read": 2, "decided": 0}
    states = {d["number"]: d["state"] for d in linking.doubts()}
    assert (states[1], states[2]) == ("match", "no_match")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("12-99999,match", "no doubts of the latest run"),
        ("1-2,perhaps", "write match, no_match"),
        ("twelve,match", "is no pair"),
    ],
)
def test_a_wrong_sheet_decides_nothing(linking, line, said):
    sheet = linking.folder / "sheet.csv"
    sheet.write_text(f"pair,verdict\n{line}\n")
    with pytest.raises(CommandRefusedError, match=said):
        linking.service.import_sheet("patients", sheet)
    assert all(one["state"] == "open" for one in linking.doubts())


def test_the_view_names_the_origin_of_each_value(linking):
    key = linking.crosswalk()["admissions", first_id(linking)]
    told = linking.service.view("patients", key)
    assert {one["class"] for one in told} >= {"identifier", "quasi_identifier"}
    sensitive = [one for one in told if one["class"] == "sensitive"]
    assert {one["attribute"] for one in sensitive} == {"diagnosis"}
    assert all(one["file"] and one["place"] for one in told)
    with pytest.raises(NoSuchThingError):
        linking.service.view("patients", 12)


def first_id(linking):
    path = linking.folder / "admissions.csv"
    with path.open(newline="", encoding="cp1252") as file:
        return next(csv.DictReader(file, delimiter=";"))["patient_no"]


@pytest.mark.parametrize("act", ["crosswalk", "export_view"])
def test_what_is_shown_goes_into_a_new_file_and_through_no_link(linking, act, tmp_path):
    write = getattr(linking.service, act)
    elsewhere, link = tmp_path / "elsewhere.csv", tmp_path / "link.csv"
    link.symlink_to(elsewhere)
    with pytest.raises(CommandRefusedError, match="exists: nothing was written"):
        write("patients", link)
    assert not elsewhere.exists()
    with pytest.raises(CommandRefusedError, match="cannot be written: No such file"):
        write("patients", tmp_path / "no folder" / "keys.csv")
    told = write("patients", elsewhere)
    assert len(elsewhere.read_text().splitlines()) > told["rows"] > PATIENTS
    assert elsewhere.stat().st_mode & 0o777 == 0o600
    folder = linking.installation.data / "linkages"
    assert list(folder.glob("shown_*")) == []


def test_registers_and_doubts_are_closed_where_a_key_is_set(tmp_path):
    key = tmp_path / "text.key"
    key.touch(mode=0o600)
    key.write_text("ab" * 32)
    made = ImportingInstallation(tmp_path).create()
    made.load()
    with made.services() as services:
        settings = services.settings.model_copy(update={"text_key": key})
        object.__setattr__(services, "settings", settings)
        linking = Linking(made, services)
        linking.write(load=None)
        linking.link()
        surname = linking.review.doubt(
            OPERATOR, "patients", *(linking.doubts()[0][s] for s in ("left", "right"))
        )["records"][0]["values"]["surname"].encode()
        (register,) = (made.data / "linkages").glob("*.register")
        assert surname not in register.read_bytes()
        with services.databases.reader.connect() as connection:
            bodies = [row.body for row in connection.execute(linkage_doubt.select())]
        assert bodies
        assert not any(surname in body for body in bodies)
        assert linking.crosswalk()
        blind = services.settings.model_copy(update={"text_key": None})
        object.__setattr__(services, "settings", blind)
        with pytest.raises(TextKeyError, match="set CURATOR_TEXT_KEY"):
            linking.crosswalk()


def test_a_changed_register_is_refused(linking):
    (register,) = (linking.installation.data / "linkages").glob("*.register")
    content = bytearray(register.read_bytes())
    content[len(content) // 2] ^= 1
    register.write_bytes(content)
    with pytest.raises(CommandRefusedError, match="was changed"):
        linking.crosswalk()
    assert linking.run("linkage.link", linkage="patients.yaml")["state"] == "failed"


def test_a_deleted_linkage_leaves_nothing(linking):
    told = {"population": "people", "linkage": "patients"}
    linking.done("linkage.review_export", **told)
    linking.service.delete("patients")
    folder = linking.installation.data / "linkages"
    assert [path.name for path in folder.iterdir()] == ["work"]
    with linking.services.databases.reader.connect() as connection:
        assert connection.execute(linkage_doubt.select()).all() == []
    with pytest.raises(NoSuchThingError):
        linking.crosswalk()


def test_one_register_is_kept_and_no_folder_of_a_job(linking):
    for _ in range(3):
        linking.link()
    folder = linking.installation.data / "linkages"
    assert list((folder / "work").iterdir()) == []
    linking.done("linkage.review_export", population="people", linkage="patients")
    assert len(list(folder.glob("*.register"))) == 1
    assert list((folder / "work").iterdir()) == []


@pytest.mark.long
def test_a_run_that_begins_with_one_that_counts_no_more_counts_for_nothing(
    linking, monkeypatch
):
    """Two runs of one beginning would give new records the same keys."""
    settle = running.Run.settle

    def overtaken(self):
        if len(seen) == 1:
            seen.append("inside")
            linking.link()
        return settle(self)

    seen = ["outside"]
    monkeypatch.setattr(running.Run, "settle", overtaken)
    job = linking.submit("linkage.link", linkage="patients.yaml")
    runner = make_runner(linking.services, threading.Event(), beat_seconds=0.05)
    runner.run_one(job)
    ended = linking.jobs.show(OPERATOR, job)
    assert ended["state"] == "failed"
    assert "another run of the linkage patients counted meanwhile" in ended["error"]
    assert linking.review.show(OPERATOR, "patients")["runs"] == 2


@pytest.mark.long
def test_an_attempt_cut_off_behind_another_run_begins_anew(linking, monkeypatch):
    """Its numbers of records follow from the run that counted when it was begun."""
    settle = running.Run.settle

    def cut_off(self):
        if not cut:
            cut.append(True)
            raise OperationalError(None, None, OSError())
        return settle(self)

    cut = []
    monkeypatch.setattr(running.Run, "settle", cut_off)
    add_row(linking.folder, lab_id="L1", family_name="Quxley", first_names="Zebulon")
    job = linking.submit("linkage.link", linkage="patients.yaml")
    runner = make_runner(linking.services, threading.Event(), beat_seconds=0.05)
    runner.run_one(job)
    assert linking.jobs.show(OPERATOR, job)["state"] == "running"  # let go of
    lines = (linking.folder / "laboratory.csv").read_text().splitlines()
    (linking.folder / "laboratory.csv").write_text("\n".join(lines[:-1]) + "\n")
    add_row(linking.folder, lab_id="L2", family_name="Vandermeer", first_names="Ida")
    with (linking.folder / "laboratory.csv").open("a") as file:
        file.write(lines[-1] + "\n")
    linking.link()
    before = linking.crosswalk()
    with linking.services.databases.writer.begin() as connection:
        connection.execute(update(tables.job).values(lease_until_ms=0))
    runner.run_one(job)
    assert linking.jobs.show(OPERATOR, job)["state"] == "done"
    assert linking.crosswalk() == before


@pytest.mark.long
def test_a_column_that_is_called_as_the_keys_is_refused(linking):
    path = linking.write(key="patient_no")
    told = yaml.safe_load(path.read_text())
    for table in told["load"]["tables"]:
        table["unit_column"] = "patient_no"
        table["columns"][0]["name"] = "patient_no"
    path.write_text(yaml.safe_dump(told))
    seen = linking.run("linkage.link", linkage="patients.yaml", accept_changes=True)
    assert "admissions has a column patient_no" in seen["error"]


@pytest.mark.long
def test_a_dry_run_keeps_nothing(linking):
    add_row(linking.folder, lab_id="L2", family_name="Quxley", first_names="Zebulon")
    told = linking.link(dry_run=True)
    assert told["records"]["new"] == 1
    (item,) = linking.review.page(OPERATOR, Page(50))["items"]
    assert item["runs"] == 1
    assert ("laboratory", "L2") not in linking.crosswalk()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda told: told["sources"][0]["fields"].update(surnam="surname"),
            "did you mean surname",
        ),
        (lambda told: told["match"].update(once=["pharmacy"]), "no source 'pharmacy'"),
        (lambda told: told["match"].update(fields={}), "match.fields"),
        (
            lambda told: told["match"].update(
                method={"kind": "weighted_sum", "weights": {"surnam": 2}}
            ),
            "match.method.weights: no field 'surnam': did you mean surname",
        ),
        (lambda told: told.update(sources=[]), "sources"),
        (
            lambda told: told["match"].update(blocking=[["surname:colour"]]),
            "match.blocking: ",
        ),
        (
            lambda told: told["match"]["fields"].update(id={"kind": "id"}),
            "id is what every record has",
        ),
        (lambda told: told.update(opinions=0), "opinions"),
        (lambda told: told["sources"][0].update(files=["../x.csv"]), "without .."),
    ],
)
def test_a_wrong_file_is_refused_where_it_is_wrong(linking, change, said):
    path = linking.write(load=None)
    told = yaml.safe_load(path.read_text())
    change(told)
    path.write_text(yaml.safe_dump(told))
    with pytest.raises(InvalidOptionError, match=said):
        linking.submit("linkage.link", linkage="patients.yaml")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"patient_no;surname\n1;x\n", "has no column"),
        (b"", "is empty"),
        ("patient_no;Stra\xdfe\n".encode("cp1252") * 2, "declare the encoding"),
        (b'patient_no;"surname\n1;x\n', "broken quoting|has no column"),
        (b"PK\x03\x04...", "zip archive"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused_by_its_name(linking, content, said):
    path = linking.write(load=None)
    told = yaml.safe_load(path.read_text())
    told["sources"][0].pop("encoding")
    path.write_text(yaml.safe_dump(told))
    (linking.folder / "admissions.csv").write_bytes(content)
    seen = linking.run("linkage.link", linkage="patients.yaml")
    assert seen["state"] == "failed"
    assert "admissions.csv" in seen["error"]
    assert any(one in seen["error"] for one in said.split("|")), seen["error"]


@pytest.mark.long
def test_rows_that_cannot_be_read_are_counted_and_nothing_else_is_lost(linking):
    whole = linking.first
    with (linking.folder / "admissions.csv").open("ab") as file:
        file.write(b"too;few\n;Nobody;At;M;;;;;;;;\n")
    told = linking.link(dry_run=True)
    assert told["set_aside"]["admissions"]["rows"] == 1
    assert "admissions.csv:" in told["set_aside"]["admissions"]["first"][0]
    assert told["rows_without_id"]["admissions"] == 1
    assert told["records"]["in_all"] == whole["records"]["in_all"]
