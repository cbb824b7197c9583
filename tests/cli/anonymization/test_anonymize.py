"""curator anonymize: from tagged notes to a copy that two persons hand out."""

import errno
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from server.installing import initialise
from server.use_cases.anonymization import hand_outs
from tests.cli.conftest import Commands
from tests.support.copies import (
    PAGE,
    PATIENTS,
    store_copy,
    write_copy,
    write_notes,
    write_stays,
    write_table_copy,
)
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.two_persons import Two

pytestmark = pytest.mark.thorough

TO = ("--to", "Ada, registry", "--purpose", "protocol 12/2026")


@dataclass
class _Disk:
    free: int


class _KilledError(BaseException):
    """A kill, as far as a test can be one."""


def _killed(*_given):
    raise _KilledError


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Commands where notes were read, and one custodian suffices."""
    monkeypatch.chdir(tmp_path)
    made = ImportingInstallation(tmp_path).create()
    made.load()
    commands = Commands(made)
    write_notes(tmp_path)
    commands.run("text", "read", "notes.yaml")
    write_copy(tmp_path)
    return commands


def test_the_pages_walk_ends_in_a_folder_for_the_recipient(notes, tmp_path):
    planned = notes.json("anonymize", "plan", "registry.yaml")
    assert (planned["copy"], planned["documents"]) == (None, 9)
    assert notes.json("anonymize", "list")["items"] == []
    shown = notes.json(
        "anonymize", "preview", "registry.yaml", "preview.html", "--left"
    )
    assert shown["documents"] == 9
    page = tmp_path / "preview.html"
    assert page.stat().st_mode & 0o777 == 0o600
    assert "Alice Stone" in page.read_text()
    made = notes.json("anonymize", "run", "registry.yaml")
    assert made["replaced"] == planned["replaced"]
    given = notes.json("anonymize", "hand-out", "registry", "out", *TO)
    assert given["files"] == ["documents.jsonl", "manifest.json"]
    assert given["others"] == []
    copied = (tmp_path / "out" / "documents.jsonl").read_text()
    assert not any(name.split()[0] in copied for name, _ in PATIENTS.values())
    told = notes.json("anonymize", "show", "registry")
    (to,) = told["hand_outs"]
    assert (to["recipient"], to["purpose"]) == ("Ada, registry", "protocol 12/2026")
    assert to["approved_by"] is None
    assert told["warning"].startswith("no differential privacy")
    assert notes.json("ledger", "verify")["ok"]


def test_who_gets_another_copy_of_the_same_people_is_told(notes, tmp_path):
    notes.run("anonymize", "run", "registry.yaml")
    notes.run("anonymize", "hand-out", "registry", "out", *TO)
    write_copy(tmp_path, name="mining")
    notes.run("anonymize", "run", "registry.yaml")
    again = notes.json("anonymize", "hand-out", "mining", "more", *TO)
    (other,) = again["others"]
    assert (other["recipient"], other["name"]) == ("Ada, registry", "registry")
    assert (other["patients_in_both"], other["fewest_together"]) == (3, 1)
    assert other["average_risk"] == 1.0
    assert notes.json("anonymize", "show", "mining")["others"] == [other]
    listed = {
        o["name"]: o["handed_out"] for o in notes.json("anonymize", "list")["items"]
    }
    assert listed == {"registry": 1, "mining": 1}


def test_a_folder_that_is_there_or_a_changed_file_is_refused(notes, tmp_path):
    made = notes.json("anonymize", "run", "registry.yaml")
    (tmp_path / "out").mkdir()
    hand_out = ("anonymize", "hand-out", "registry")
    assert "out exists" in notes.said(*hand_out, "out", *TO)
    file = notes.installation.data / "anonymized" / made["copy"] / "documents.jsonl"
    file.write_text("")
    assert "was changed: make the copy again" in notes.said(*hand_out, "new", *TO)
    assert not (tmp_path / "new").exists()
    assert "anonymized.grant" not in json.dumps(notes.json("ledger", "export"))
    assert "copy 'letters'" in notes.said("anonymize", "show", "letters")
    assert "one line" in notes.run(*hand_out, "x", *TO[:3], "a\nb", code=2).stderr


def test_a_copy_is_deleted_and_who_got_it_stays_on_record(notes, tmp_path):
    made = notes.json("anonymize", "run", "registry.yaml")
    notes.run("anonymize", "hand-out", "registry", "out", *TO)
    assert notes.json("anonymize", "delete", "registry")["id"] == made["copy"]
    assert notes.json("anonymize", "list")["items"] == []
    (left,) = (notes.installation.data / "anonymized").iterdir()
    assert left.name == f"{made['copy']}.members"  # later ones are compared with it
    assert (tmp_path / "out" / "documents.jsonl").exists()
    entries = notes.json("ledger", "export")
    actions = [one["action"] for one in entries if one["kind"] == "admin"]
    assert actions[-2:] == ["anonymized.grant", "anonymized.delete"]
    told = notes.run("ledger", "report", "--population", "people").stdout
    assert "| Ada, registry | protocol 12/2026 |" in told


def test_nothing_stays_of_a_deleted_copy_that_nobody_got(notes):
    notes.run("anonymize", "run", "registry.yaml")
    assert notes.json("anonymize", "delete", "registry")["handed_out"] == 0
    assert list((notes.installation.data / "anonymized").iterdir()) == []


def test_where_files_cannot_go_is_said_before_anybody_approves(bare, two, tmp_path):
    hand_out = ("anonymize", "hand-out", "registry")
    inside = bare.installation.data / "anonymized" / "out"
    assert "where what nobody else may read" in bare.said(*hand_out, inside, *TO)
    missing = tmp_path / "no" / "out"
    assert f"no folder {missing.parent}: make it" in bare.said(*hand_out, missing, *TO)
    assert bare.json("proposal", "list", "--waiting")["items"] == []


def test_a_repeated_hand_out_says_when_it_was(notes):
    notes.run("anonymize", "run", "registry.yaml")
    hand_out = ("anonymize", "hand-out", "registry", "out")
    notes.run(*hand_out, *TO)
    assert "out has it already: handed out to Ada, registry on 20" in notes.said(
        *hand_out, *TO
    )
    assert "out exists: nothing was" in notes.said(*hand_out, *TO[:3], "another")


def test_what_others_have_is_told_where_a_copy_is_made(notes, tmp_path):
    first = notes.json("anonymize", "run", "registry.yaml")
    assert (first["same_name"], first["others"]) == ([], [])
    notes.run("anonymize", "hand-out", "registry", "out", *TO)
    again = notes.json("anonymize", "run", "registry.yaml")
    assert again["same_name"] == [first["copy"]]
    (other,) = again["others"]
    assert (other["recipient"], other["patients_in_both"]) == ("Ada, registry", 3)


def test_the_preview_tells_what_is_tagged_from_what_stays(notes, tmp_path):
    for residues in ("tag", "flag"):
        write_copy(tmp_path, replacement="tag", residues=residues)
        notes.run("anonymize", "preview", "registry.yaml", f"{residues}.html")
    tagged, flagged = ((tmp_path / f"{o}.html").read_text() for o in ("tag", "flag"))
    assert tagged.count('<mark class="tagged" title="name">') == 9
    assert tagged.count('<mark class="left" title=') == 0
    assert flagged.count('<mark class="left" title="name">') == 9


def test_a_name_of_several_copies_asks_for_the_id(notes):
    ids = [notes.json("anonymize", "run", "registry.yaml")["copy"] for _ in range(2)]
    said = notes.said("anonymize", "show", "registry")
    assert all(one in said for one in ids)
    assert notes.json("anonymize", "show", ids[0])["id"] == ids[0]


@pytest.fixture
def two(bare):
    """Two custodians, of a population of which there is a copy."""
    initialise(bare.installation.settings, single_custodian=False)
    two = Two.make(bare.installation)
    manifest = bare.installation.write_manifest()
    bare.said("dataset", "load", manifest)
    two.approve_all("carol")
    bare.run("dataset", "load", manifest)
    with bare.installation.services() as services:
        store_copy(services, "people")
    return two


def test_without_a_second_person_nothing_leaves(bare, two, tmp_path):
    hand_out = ("anonymize", "hand-out", "registry", "out", *TO)
    assert "needs two persons" in bare.said(*hand_out)
    assert not (tmp_path / "out").exists()
    (copy,) = (one["id"] for one in bare.json("anonymize", "list")["items"])
    (waiting,) = bare.json("proposal", "list", "--waiting")["items"]
    named = f"anonymized copy registry ({copy})"
    assert waiting["words"][:2] == [
        f"{named}: recipient: Ada, registry",
        f"{named}: purpose: protocol 12/2026",
    ]
    assert any("is no: no differential privacy" in one for one in waiting["words"])
    assert waiting["words"][-1].endswith(f"curator anonymize show {copy} --http")
    two.approve_all("carol")
    other = ("--to", "Eve", *TO[2:])
    beside = bare.said(*hand_out[:4], *other)
    assert "needs two persons" in beside
    assert "beside it 1 proposal of this copy waits" in beside
    assert "recipient: Ada, registry" in beside
    bare.run(*hand_out)
    assert (tmp_path / "out" / "manifest.json").exists()
    (to,) = bare.json("anonymize", "show", "registry")["hand_outs"]
    assert to["approved_by"] == "carol"
    assert "needs two persons" in bare.said(*hand_out[:3], "again", *TO)
    assert bare.json("ledger", "verify")["ok"]


def test_an_approval_is_of_what_others_have_got_by_then(bare, two):
    (first,) = bare.json("anonymize", "list")["items"]
    with bare.installation.services() as services:
        second = store_copy(services, "people")
    hand_over = ("anonymize", "hand-out", second, "more", "--to", "Ben", *TO[2:])
    to_ada = ("anonymize", "hand-out", first["id"], "out", *TO)
    assert "needs two persons" in bare.said(*hand_over)
    assert "needs two persons" in bare.said(*to_ada)
    two.approve_all("carol")
    bare.run(*to_ada)
    states = {one["state"]: one for one in bare.json("proposal", "list")["items"]}
    assert states.keys() == {"stale", "used"}
    (stale,) = states["stale"]["stale"]
    holds = f"the holder of registry ({first['id']}), a copy of the same people, is"
    assert stale == f"{holds} Ada, registry now, not nobody"
    again = bare.said(*hand_over)  # she has hers now
    assert "needs two persons" in again
    assert f"Ada, registry has registry ({first['id']})" in again
    two.approve_all("carol")
    bare.run(*hand_over)
    assert bare.json("ledger", "verify")["ok"]


def test_a_hand_out_that_another_one_overtook_is_refused(bare, two, monkeypatch):
    (first,) = bare.json("anonymize", "list")["items"]
    with bare.installation.services() as services:
        second = store_copy(services, "people")
    to_ben = ("anonymize", "hand-out", second, "more", "--to", "Ben", *TO[2:])
    Path("beside").mkdir()  # one folder holds one hand-out at a time
    to_ada = ("anonymize", "hand-out", first["id"], "beside/out", *TO)
    for one in (to_ben, to_ada):
        bare.said(*one)
    two.approve_all("carol")
    real, begun = hand_outs._make, []

    def overtaken(part):
        if not begun:
            begun.append(1)
            bare.run(*to_ada)  # in a second terminal
        return real(part)

    monkeypatch.setattr(hand_outs, "_make", overtaken)
    assert "somebody got another copy of the same people" in bare.said(*to_ben)
    assert not list(Path().glob("*more*"))
    assert bare.json("anonymize", "show", second)["hand_outs"] == []
    assert "needs two persons" in bare.said(*to_ben)


def test_files_that_were_changed_while_they_were_copied_do_not_leave(
    bare, two, monkeypatch
):
    hand_out = ("anonymize", "hand-out", "registry", "out", *TO)
    bare.said(*hand_out)
    two.approve_all("carol")
    real = hand_outs.copy_private

    def changed(path, target):
        real(path, target)
        target.write_text("another")

    with monkeypatch.context() as patched:
        patched.setattr(hand_outs, "copy_private", changed)
        assert "was changed: make the copy again" in bare.said(*hand_out)
    assert not [*Path().glob("out"), *Path().glob(".out.part-*/*")]
    bare.run(*hand_out)  # the same approval: the entry is written
    assert len(bare.json("anonymize", "show", "registry")["hand_outs"]) == 1


def test_nothing_of_a_copy_lies_outside_before_its_entry(bare, two, monkeypatch):
    hand_out = ("anonymize", "hand-out", "registry", "out", *TO)
    bare.said(*hand_out)
    two.approve_all("carol")
    seen = []

    def killed(*_given):
        seen.extend(Path().glob(".out.part-*"))
        raise _KilledError

    with monkeypatch.context() as broken:
        broken.setattr(hand_outs, "require_second_person", killed)
        with pytest.raises((_KilledError, AssertionError)):
            bare.run(*hand_out)
        broken.setattr(hand_outs.shutil, "rmtree", _killed)
        with pytest.raises((_KilledError, AssertionError)):
            bare.run(*hand_out)
    assert len(seen) == 2
    (left,) = Path().glob(".out.part-*")
    assert not list(left.iterdir())
    assert bare.json("anonymize", "show", "registry")["hand_outs"] == []
    bare.run(*hand_out)
    assert not list(Path().glob(".out.part-*"))


def test_what_stands_in_the_way_of_a_hand_out_is_moved_and_it_goes_on(
    bare, two, monkeypatch
):
    hand_out = ("anonymize", "hand-out", "registry", "out", *TO)
    bare.said(*hand_out)
    two.approve_all("carol")
    real = hand_outs._make

    def overtaken(part):
        Path("out").mkdir()
        Path("out/other").touch()
        return real(part)

    with monkeypatch.context() as patched:
        patched.setattr(hand_outs, "_make", overtaken)
        assert "out is in the way: the ledger has this" in bare.said(*hand_out)
    assert "move that away and repeat the same command" in bare.said(*hand_out)
    shutil.rmtree("out")
    bare.run(*hand_out)
    assert len(bare.json("anonymize", "show", "registry")["hand_outs"]) == 1
    assert "name a new one" in bare.said(*hand_out[:3], ".", *TO)


def test_a_hand_out_to_a_full_disk(bare, two, monkeypatch):
    hand_out = ("anonymize", "hand-out", "registry", "out", *TO)
    bare.said(*hand_out)
    two.approve_all("carol")
    with monkeypatch.context() as full:
        full.setattr(hand_outs.shutil, "disk_usage", lambda _: _Disk(7))
        assert "has room for 7 bytes and the copy has" in bare.said(*hand_out)
    assert bare.json("anonymize", "show", "registry")["hand_outs"] == []

    def no_space(_source, _target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(hand_outs, "copy_private", no_space)
        assert "repeat the same command once" in bare.said(*hand_out)
    assert len(bare.json("anonymize", "show", "registry")["hand_outs"]) == 1
    bare.run(*hand_out)
    assert len(bare.json("anonymize", "show", "registry")["hand_outs"]) == 1
    assert Path("out/manifest.json").is_file()


def test_a_killed_hand_out_is_whole_whatever_came_into_its_folder(
    bare, two, monkeypatch, tmp_path
):
    to_ada = ("anonymize", "hand-out", "registry", "out", *TO)
    to_ben = (*to_ada[:4], "--to", "Ben", *TO[2:])
    bare.said(*to_ada)
    bare.said(*to_ben)
    two.approve_all("carol")
    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", _killed)
        with pytest.raises((_KilledError, AssertionError)):
            bare.run(*to_ada)
    bare.run(*to_ben)  # to a folder of the same name: hers stays
    shutil.rmtree(tmp_path / "out")
    (part,) = tmp_path.glob(".out.part-*")
    (part / "documents.jsonl").write_text("half")
    (part / "manifest.json").unlink()
    assert bare.json(*to_ada)["folder"] == "out"
    (copy,) = bare.json("anonymize", "list")["items"]
    made = bare.installation.data / "anonymized" / copy["id"]
    for name in ("documents.jsonl", "manifest.json"):
        assert (tmp_path / "out" / name).read_bytes() == (made / name).read_bytes()
    assert len(bare.json("anonymize", "show", "registry")["hand_outs"]) == 2


def test_what_was_approved_of_a_deleted_copy_is_stale(bare, two):
    (made,) = bare.json("anonymize", "list")["items"]
    bare.said("anonymize", "hand-out", "registry", "out", *TO)
    two.approve_all("carol")
    bare.run("anonymize", "delete", "registry")
    (gone,) = bare.json("proposal", "list")["items"][:1]
    assert gone["state"] == "stale"
    assert gone["stale"] == [
        f"anonymized copy registry ({made['id']}) is deleted now, not there"
    ]


@pytest.fixture
def stays(tmp_path, monkeypatch):
    """Commands where a table lies, and one custodian suffices."""
    monkeypatch.chdir(tmp_path)
    made = ImportingInstallation(tmp_path).create()
    made.load()
    write_stays(tmp_path)
    write_table_copy(tmp_path)
    return Commands(made)


def test_loss_and_risk_are_seen_before_k_is_chosen(stays, tmp_path):
    told = stays.run("anonymize", "plan", "stays.yaml", "--plot", "stays.html").output
    assert re.search(r"^gcp +[▁▂▃▄▅▆▇█]{7} ", told, re.MULTILINE)
    assert re.search(r"^ 10 +true +\d+ ", told, re.MULTILINE)
    page = tmp_path / "stays.html"
    assert page.stat().st_mode & 0o777 == 0o600
    content = page.read_text()
    assert "<svg" in content
    assert ">declared: k = 5</text>" in content
    assert re.search(r">k</text>.*>share</text>", content)
    assert "no differential privacy" in content
    assert content.count("<tr>") == 8
    assert stays.json("anonymize", "list")["items"] == []
    again = stays.said("anonymize", "plan", "stays.yaml", "--plot", "stays.html")
    assert "stays.html exists" in again


def test_what_two_tables_of_the_same_people_tell_together_is_said(stays, tmp_path):
    stays.run("anonymize", "run", "stays.yaml")
    given = stays.json("anonymize", "hand-out", "stays", "out", *TO)
    assert given["files"] == ["manifest.json", "rows.csv"][::-1]
    write_table_copy(tmp_path, name="other", k=7, keep=["ward"])
    stays.run("anonymize", "run", "stays.yaml")
    again = stays.json("anonymize", "hand-out", "other", "more", *TO)
    (other,) = again["others"]
    assert (other["name"], other["patients_in_both"]) == ("stays", 120)
    assert 1 <= other["fewest_together"] < 5
    stays.run("anonymize", "delete", "stays", "--yes")
    (gone,) = stays.json("anonymize", "show", "other")["others"]
    assert gone == other


def test_a_table_is_planned_and_not_previewed(stays):
    told = stays.said("anonymize", "preview", "stays.yaml", "x.html")
    assert "of tables and codes, see 'curator anonymize plan'" in told


def test_who_makes_copies_alone_begins_with_the_population_of_the_page(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    commands = Commands(ImportingInstallation(tmp_path).create())
    shown = re.search(r"```yaml\n(# people.yaml\n.*?)```", PAGE.read_text(), re.DOTALL)
    file = tmp_path / "people.yaml"
    file.write_text(shown[1])
    assert commands.json("population", "create", "people.yaml")["name"] == "hospital"
    write_stays(tmp_path)
    write_table_copy(tmp_path, population="hospital")
    assert commands.json("anonymize", "run", "stays.yaml")["patients"] == 120
    file.write_text("population: {id: other, unit: patient, epsilon_cap: 1}")
    said = commands.said("population", "create", "people.yaml")
    assert "unit_type is missing: add it" in said
    file.write_text(shown[1].replace("epsilon_cap: 1, ", "").replace("hospital", "x"))
    assert "epsilon_cap" in commands.said("population", "create", "people.yaml")


def test_of_texts_nothing_is_plotted(notes):
    told = notes.said("anonymize", "plan", "registry.yaml", "--plot", "x.html")
    assert "of these texts there is no k to plot" in told


def test_a_killed_hand_out_is_finished_by_the_same_command(
    notes, tmp_path, monkeypatch
):
    notes.run("anonymize", "run", "registry.yaml")
    hand_out = ("anonymize", "hand-out", "registry", "out", *TO)

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", _killed)
        with pytest.raises((_KilledError, AssertionError)):
            notes.run(*hand_out)
    assert not (tmp_path / "out").exists()
    (left,) = tmp_path.glob(".out.part-*")
    (tmp_path / f"{left.name[:-1]}x").mkdir()  # of another, before its entry
    given = notes.json(*hand_out)
    assert sorted(given["files"]) == ["documents.jsonl", "manifest.json"]
    assert (tmp_path / "out" / "documents.jsonl").is_file()
    assert len(notes.json("anonymize", "show", "registry")["hand_outs"]) == 1
    again = notes.json(*("anonymize", "hand-out", "registry", "more", *TO))
    assert again["folder"] == "more"
    assert len(notes.json("anonymize", "show", "registry")["hand_outs"]) == 2
