"""A field may be called as anything that our SQL calls something else."""

import ast
import csv
import re
from pathlib import Path

import pytest

from server.use_cases.linkage.opinions import Opinion
from server.use_cases.linkage.work.declarations import Linkage
from server.use_cases.linkage.work.doubts import DoubtWriter
from server.use_cases.linkage.work.running import Given, Run
from server.use_cases.linkage.work.view import ViewWriter
from server.use_cases.services.text_cipher import TextCipher
from tests.support.linking import PAGE
from upstream.linkage.registers.keyed import write_crosswalk, write_keyed
from upstream.linkage.registers.register import opened
from upstream.linkage.scoring.scoring import RESERVED

ROOT = Path(__file__).parents[3]
SQL = re.compile(r"\b(SELECT|FROM|JOIN|TABLE|WHERE|BY|UPDATE|AS|OVER|USING)\b")
MOST = 24  # fields of a linkage, beside one by which records are told apart
PATIENTS = 12


def words_of_sql():
    """Return every word of our SQL that could be a field's name."""
    found = {"rowid", "c0", "c1", *["surname", "name", "text", "date", "patient_key"]}
    for folder in ("upstream/linkage", "server/use_cases/linkage/work"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                told = node.value if isinstance(node, ast.Constant) else None
                if isinstance(told, str) and SQL.search(told):
                    found |= set(re.findall(r"\b[a-z][a-z0-9_]*", told))
    return sorted(found - RESERVED)


class Rows:
    """Takes what would be written into the catalogue."""

    def __init__(self):
        self.written = []

    def delete(self, table, *which):
        pass

    def insert(self, table, rows):
        self.written += list(rows)


def declared(names):
    kinds = ("name", "date", "phone", "address", "id", *["category"] * len(names))
    fields = {name: {"kind": kind} for name, kind in zip(names, kinds, strict=False)}
    source = {"kind": "table", "id": ["row_id"], "view": {"seen": "sensitive"}}
    told = {"own_name": "n", **{name: f"in_{name}" for name in names}}
    return Linkage.model_validate(
        {
            "population": "people",
            "linkage": "patients",
            "match": {
                "fields": {"own_name": {"kind": "name"}, **fields},
                "blocking": [["own_name"], [names[0]]],
                "thresholds": {"link": 0.99, "review": 0},
            },
            "sources": [
                {**source, "name": name, "files": [f"{name}.csv"], "fields": told}
                for name in ("one", "other")
            ],
        }
    )


def write_exports(folder, names, seen, surname="Mayer"):
    """Write both sources; of each the last record's surname may be another."""
    for source in ("one", "other"):
        with (folder / f"{source}.csv").open("w", newline="") as file:
            sheet = csv.writer(file)
            sheet.writerow(["row_id", "seen", "n", *(f"in_{name}" for name in names)])
            for n in range(PATIENTS):
                values = [f"{n + 1}.0{k % 9 + 1}.19{n + 40}" for k in range(len(names))]
                own = surname if n == PATIENTS - 1 else f"Meier{n // 2}"
                sheet.writerow([f"{source}{n}", seen, own, *values])


def run_of(folder, name, told, earlier, opinions):
    """Return what a run's register says, and the doubts that it writes."""
    path, rows = folder / f"{name}.duckdb", Rows()
    with opened(path) as register:
        run = Run(register, Given(told, folder, [], opinions, earlier), lambda *_: None)
        run.score()
        result = run.settle()
        ViewWriter(register, told).write(result.rows, [], result.known)
        writer = DoubtWriter(register, told.match, run.scoring, TextCipher(None))
        writer.write(rows, "job_1", result.parameters)
        for one in result.rows:
            write_keyed(register, one, "the_key", folder / f"{name}_{one.source}.csv")
        write_crosswalk(register, folder / f"{name}_keys.csv")
        seen = register.connection.execute(
            "SELECT DISTINCT attribute FROM identifier"
        ).fetchall()
        register.copy_to(folder / f"{name}_kept.duckdb")
    return result, {attribute for (attribute,) in seen}, rows.written


WORDS = words_of_sql()


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, len(WORDS), MOST))
def test_every_word_of_our_sql_is_a_fields_name(tmp_path, start):
    names = WORDS[start : start + MOST]
    told = declared(names)
    write_exports(tmp_path, names, "x")
    first, seen, doubts = run_of(tmp_path, "first", told, None, [])
    assert seen == {"own_name", "seen", *names}
    assert first.recorded.new == 2 * PATIENTS
    assert doubts
    left, right = doubts[0]["left"], doubts[0]["right"]
    opinions = [Opinion((left, right), "ada", "match")]
    write_exports(tmp_path, names, "y", surname="Huber")
    kept = tmp_path / "first_kept.duckdb"
    second, _, _ = run_of(tmp_path, "second", told, kept, opinions)
    assert (second.recorded.new, second.recorded.changed) == (0, 2)
    assert second.settled.keys[left] == second.settled.keys[right]


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_field_that_is_called_as_what_every_record_has_is_refused(name):
    with pytest.raises(ValueError, match=f"match.fields: {name} is what every record"):
        declared([name])
    assert (
        f"`{name}`"
        in PAGE.read_text().partition("cannot be names of\nfields: ")[2][:80]
    )
