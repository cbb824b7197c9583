"""De-identified copies: made whole by jobs, seen by their custodians alone."""

import json
import re
import stat
from datetime import date

import pytest

from privacy.errors import InvalidOptionError
from server.use_cases.anonymization.copies import CopyFolders, copy_id
from server.use_cases.anonymization.service import CopyService
from server.use_cases.anonymization.work.texts import jobs
from server.use_cases.anonymization.work.texts.copying import _tagged
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.services.errors import NotFoundError
from server.use_cases.services.paging import Page
from tests.support.copies import (
    PATIENTS,
    VISITS,
    documents_of,
    store_copy,
    write_copy,
    write_notes,
)
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import OPERATOR, Texts
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.lists import LISTS
from upstream.anonymization.texts.residual import Residue
from upstream.anonymization.texts.written_dates import DateReading

CAROL = Viewer("carol", frozenset({"people"}))
EMIL = Viewer("emil", frozenset({"pupils"}))


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Notes that were read, and what jobs about them need."""
    monkeypatch.chdir(tmp_path)
    made = ImportingInstallation(tmp_path).create()
    made.load()
    with made.services() as services:
        told = Texts(made, services)
        told.read(write_notes(tmp_path))
        yield told


def made(texts, **changes):
    path = write_copy(texts.folder, **changes)
    return texts.done("anonymize.texts", file=str(path))


def left_in(folders):
    """Return the names of what lies where copies do."""
    return {one.name for one in folders.folder.iterdir()}


def by_patient(documents):
    found = {}
    for one in documents:
        found.setdefault(one["patient"], []).append(one["text"])
    return found


def test_a_patient_has_one_surrogate_in_all_documents_and_nobody_his_own_name(
    texts, monkeypatch
):
    # By another key a surrogate could be another patient's name: names are common.
    monkeypatch.setattr(jobs, "read_secret", lambda _: bytes(32))
    result = made(texts, profile="full")
    documents = documents_of(texts.services, result["copy"])
    assert (result["documents"], result["patients"]) == (9, 3)
    assert result["tagged_instead"] == {}
    for notes in by_patient(documents).values():
        names = {note.split(",")[0] for note in notes}
        assert len(notes) == len(VISITS)
        assert len(names) == 1
        given, family = names.pop().split()
        assert family in LISTS.surnames
        assert all(f"for {given[0]}. {family.upper()}." in note for note in notes)
    told = json.dumps(documents)
    for name, code in PATIENTS.values():
        given, family = name.split()
        assert not {given, family, family.upper(), code} & set(
            told.replace('"', " ").replace(".", " ").replace(",", " ").split()
        )


def test_dates_of_a_patient_keep_their_intervals(texts):
    documents = documents_of(texts.services, made(texts, profile="full")["copy"])
    reading = DateReading("month_first", 2026)
    seen = [reading.of(day) for day in VISITS]
    for notes in by_patient(documents).values():
        days = sorted(reading.of(n.split("Seen ")[1].split(".")[0]) for n in notes)
        assert [day - days[0] for day in days] == [day - seen[0] for day in seen]
        assert date(2023, 3, 5) <= days[0] <= date(2025, 3, 6)
        assert days != seen


def test_safe_harbor_keeps_years_ages_and_three_digits(texts):
    documents = documents_of(texts.services, made(texts, replacement="tag")["copy"])
    assert min(one["text"] for one in documents) == (
        "[NAME], 51 years, of 000. Seen 2024. MRN [MRN]. [NAME] slept well; fell once. "
        "Signed for [NAME].\n"
    )


def test_what_no_span_marks_is_found_by_what_others_do(texts):
    tagged = made(texts, replacement="tag")
    assert tagged["left"] == {"name": 9}
    assert tagged["documents_with_left"] == 9
    flagged = made(texts, replacement="tag", residues="flag")
    assert flagged["left"] == {"name": 9}
    texts_of = [one["text"] for one in documents_of(texts.services, flagged["copy"])]
    assert sum("Stone slept" in text for text in texts_of) == len(VISITS)
    path = write_copy(texts.folder, residues="refuse")
    refused = texts.run("anonymize.texts", file=str(path))
    assert refused["state"] == "failed"
    assert "9 of 9 documents still hold identifiers" in refused["error"]
    assert "9 of name" in refused["error"]


def test_ids_tell_nothing_and_copies_of_another_name_have_others(texts):
    one = documents_of(texts.services, made(texts)["copy"])
    again = documents_of(texts.services, made(texts)["copy"])
    other = documents_of(texts.services, made(texts, name="mining")["copy"])
    assert one == again
    assert {d["patient"] for d in one}.isdisjoint({d["patient"] for d in other})
    assert [d["id"] for d in one] == sorted(d["id"] for d in one)
    assert not any(patient in json.dumps(one) for patient in PATIENTS)


def test_a_plan_says_what_would_be_and_makes_nothing(texts):
    path = write_copy(texts.folder)
    told = texts.done("anonymize.texts", file=str(path), dry_run=True)
    assert told["copy"] is None
    assert told["documents"] == 9
    assert told["replaced"]["AGE"] == {"top_code": 9}
    assert not texts.services.settings.anonymized.exists()
    assert made(texts)["replaced"] == told["replaced"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"types": {"SMOKING": "none"}}, "say what these types are, one of name, "),
        ({"types": {"FALL": "fall"}}, "types.FALL: write one of name, "),
        ({"collection": "letters"}, "no collection 'letters'"),
        ({"finder": "names"}, "no model 'names'"),
        ({"finder": "rules"}, "has none of rules"),
        ({"profile": "most"}, "profile: "),
        ({"patient": None}, "surrogates are one patient's in all documents"),
        ({"residue": "tag"}, "residue: unknown key: did you mean residues?"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_done(texts, changes, said):
    path = write_copy(texts.folder, **changes)
    with pytest.raises(InvalidOptionError) as refused:
        texts.submit("anonymize.texts", file=str(path))
    assert said in str(refused.value)


def test_what_nobody_looked_for_is_said(texts):
    told = made(texts)["never_marked"]
    assert {"email", "phone", "street"} <= set(told)
    assert {"name", "date", "age", "zip", "record_number"}.isdisjoint(told)
    kept = made(texts, profile="partial")["never_marked"]
    assert {"place", "profession"}.isdisjoint(kept)  # they would stay


def test_a_field_of_patients_that_no_document_has_is_refused(texts):
    refused = texts.run(
        "anonymize.texts", file=str(write_copy(texts.folder, patient="mrn"))
    )
    assert refused["state"] == "failed"
    assert (
        "no document of notes has the field 'mrn': they have patient_id"
        in refused["error"]
    )


def test_the_manifest_has_the_warning_and_files_are_their_owners_alone(texts):
    copy = made(texts)["copy"]
    folder = texts.services.settings.anonymized / copy
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["warning"].startswith("no differential privacy")
    assert len(manifest["broken_by"]) == 4
    assert manifest["files"][0]["name"] == "documents.jsonl"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(path.name for path in folder.iterdir()) == [
        "documents.jsonl",
        "manifest.json",
    ]


def test_what_a_killed_attempt_left_is_gone_and_the_copy_is_whole(texts):
    path = write_copy(texts.folder)
    job = texts.submit("anonymize.texts", file=str(path))
    folders = CopyFolders(texts.services.settings.anonymized)
    (folders.stage(job) / "documents.unordered").write_text("half")
    texts.work()
    assert texts.jobs.show(OPERATOR, job)["state"] == "done"
    assert left_in(folders) == {copy_id(job), f"{copy_id(job)}.members"}
    assert len(documents_of(texts.services, copy_id(job))) == 9


def test_what_a_cancelled_job_left_goes_with_the_next(texts):
    path = write_copy(texts.folder)
    job = texts.submit("anonymize.texts", file=str(path))
    folders = CopyFolders(texts.services.settings.anonymized)
    (folders.stage(job) / "documents.unordered").write_text("half")
    texts.jobs.cancel(OPERATOR, job)
    copy = made(texts)["copy"]
    assert left_in(folders) == {copy, f"{copy}.members"}


def test_custodians_see_the_copies_of_their_own_populations(texts):
    own, other = (store_copy(texts.services, name) for name in ("people", "pupils"))
    service = CopyService(texts.services)
    assert [one["id"] for one in service.page(CAROL, Page(9))["items"]] == [own]
    assert service.show(CAROL, own)["manifest"]["kind"] == "texts"
    with pytest.raises(NotFoundError):
        service.show(CAROL, other)
    with pytest.raises(NotFoundError):
        service.show(EMIL, "registry")  # a name is for the host
    assert len(service.page(OPERATOR, Page(1))["items"]) == 1


def test_pages_go_on_behind_their_cursor(texts):
    ids = {store_copy(texts.services, "people") for _ in range(3)}
    service = CopyService(texts.services)
    first = service.page(CAROL, Page(2))
    second = service.page(CAROL, Page(2, first["next_cursor"]))
    assert second["next_cursor"] is None
    assert {one["id"] for one in first["items"] + second["items"]} == ids


STATISTICAL = {
    "k": 3,
    "quasi_identifiers": {
        "age": {"kind": "number"},
        "zip": {"kind": "prefix", "lengths": [3, 1]},
    },
}


@pytest.mark.parametrize("method", ["mondrian", "dast"])
def test_statistical_copies_say_what_k_patients_share(texts, method):
    told = {"profile": "statistical", "statistical": STATISTICAL | {"method": method}}
    result = made(texts, **told, replacement="tag")
    documents = documents_of(texts.services, result["copy"])
    written = {re.findall(r"\[(?:age|zip) [^\]]*\]+", d["text"])[0] for d in documents}
    assert len(written) == 1  # of all three patients
    assert written == {"[age [51-55]]" if method == "mondrian" else "[age 51 | 55]"}
    assert all("[DATE]" in one["text"] for one in documents)
    assert result["measures"]
    planned = texts.done(
        "anonymize.texts",
        file=str(write_copy(texts.folder, **told, replacement="tag")),
        dry_run=True,
    )
    assert [one["k"] for one in planned["choices"]] == [2, 3]


def test_what_a_register_knows_is_looked_for_in_the_output(texts):
    (texts.folder / "register.csv").write_text(
        "patient_id;physician;town\np1;Dr. Slept;-\np2;;fell once\np9;Nobody;x\n"
    )
    known = {
        "table": {"files": ["register.csv"]},
        "patient": "patient_id",
        "columns": {"physician": "name", "town": "place"},
    }
    plain = made(texts, replacement="tag")
    found = made(texts, replacement="tag", known=known)
    assert found["left_perhaps"]["name"] > plain["left_perhaps"].get("name", 0)
    assert "place" in {**found["left"], **found["left_perhaps"]}
    view = "key,record,attribute,value\np1,1,name,Dr. Slept\np1,2,town,Nowhere\n"
    (texts.folder / "view.csv").write_text(view)
    told = {"table": {"files": ["view.csv"]}, "patient": "key"}
    seen = made(texts, replacement="tag", known=told | {"attributes": {"name": "name"}})
    assert seen["left_perhaps"]["name"] > plain["left_perhaps"].get("name", 0)
    path = write_copy(texts.folder, known=known | {"patient": "who"})
    assert (
        "has no column 'who'" in texts.run("anonymize.texts", file=str(path))["error"]
    )


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"profile": "statistical"}, "write statistical: with k"),
        ({"statistical": STATISTICAL}, "write statistical: with k"),
        (
            {"known": {"table": {"files": ["x"]}, "patient": "p"}},
            "write columns, or attributes",
        ),
        (
            {
                "known": {
                    "table": {"files": ["x"]},
                    "patient": "p",
                    "columns": {"p": "name"},
                }
            },
            "the column 'p' names the patient",
        ),
    ],
)
def test_profiles_and_what_they_need_go_together(texts, changes, said):
    path = write_copy(texts.folder, **changes)
    with pytest.raises(InvalidOptionError, match=re.escape(said)):
        texts.submit("anonymize.texts", file=str(path))


def test_documents_that_a_linkage_joins_are_one_patients(texts):
    rows = [
        f"notes,{patient}_{n},{7 if patient != 'p3' else 9},{n},true\n"
        for patient in PATIENTS
        for n in range(len(VISITS))
    ]
    head = "source,id,key,record,in_latest_export\n"
    told = head + "other,p1_0,1,1,true\n" + "".join(rows)
    (texts.folder / "crosswalk.csv").write_text(told)
    linked = {"files": ["crosswalk.csv"], "source": "notes"}
    result = made(texts, patient=None, linked=linked)
    assert (result["patients"], result["documents_without_patient"]) == (2, 0)
    path = write_copy(texts.folder, patient=None, linked=linked | {"source": "x"})
    error = texts.run("anonymize.texts", file=str(path))["error"]
    assert "no id of the source 'x'; there are notes, other" in error
    path = write_copy(texts.folder, patient=None, linked=linked | {"source": "other"})
    error = texts.run("anonymize.texts", file=str(path))["error"]
    assert "8 of 9 documents have an id that the crosswalk lacks" in error
    rows = [f"visits,{patient},{patient[1]},1,true\n" for patient in PATIENTS]
    (texts.folder / "crosswalk.csv").write_text(head + "".join(rows))
    by_field = linked | {"source": "visits", "id": "patient_id"}
    assert made(texts, patient=None, linked=by_field)["patients"] == 3


def test_what_is_left_of_several_identifiers_that_overlap_is_tagged_whole():
    left = [
        Residue(5, 10, Kind.NAME, is_exact=True),
        Residue(5, 28, Kind.ORGANIZATION, is_exact=True),
        Residue(31, 36, Kind.PHONE, is_exact=True),
        Residue(31, 36, Kind.OTHER_NUMBER, is_exact=False),
    ]
    text = "near Stone Mountain Dialysis, (12345)"
    assert _tagged(text, left) == "near [ORGANIZATION], ([PHONE])"
