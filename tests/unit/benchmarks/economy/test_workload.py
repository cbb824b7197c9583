"""The thousand questions: the same each time, of all kinds, and in words that agree."""

import random
from collections import Counter
from datetime import date

import duckdb
import pytest

from benchmarks.economy.groups import GROUPS
from benchmarks.economy.questions import Kind
from benchmarks.economy.tables import (
    COLUMNS,
    LISTS,
    NUMBERS,
    OF_A_PATIENT,
    OF_A_STAY,
    OTHER,
    UNIT,
    manifest,
)
from benchmarks.economy.wordings import WORDINGS, worded
from benchmarks.economy.workload import SHARES, shares_of, workload
from privacy.contributions import NO_BOUNDS
from privacy.schema import Dataset
from tests.support.compiling import compile_query
from upstream.manifests.manifest import load_manifest
from upstream.manifests.public_schema import table_schema


@pytest.fixture(scope="module")
def questions():
    return workload()


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("economy") / "hospital.yaml"
    path.write_text(manifest({"epsilon_cap": "10"}), "utf-8")
    tables = load_manifest(path).tables
    named = {table.name: table_schema(table) for table in tables}
    return Dataset("diabetes130", "people", "patient", date(2008, 12, 31), named)


@pytest.fixture(scope="module")
def made_up_rows():
    """120 patients with one to four stays each, of which the first is theirs."""
    drawn = random.Random(5)
    listed = {name: [*values] for name, values in LISTS.items()}
    for name in OTHER:
        listed[name].append("other")
    listed["race"].append(None)
    for name, (least, most) in NUMBERS.items():
        listed[name] = list(range(least, most + 1))
    patients, stays = [], []
    for unit in range(120):
        for _ in range(drawn.randint(1, 4)):
            stays.append(
                (len(stays), unit, *(drawn.choice(listed[c]) for c in OF_A_STAY))
            )
        patients.append((unit, *(drawn.choice(listed[c]) for c in OF_A_PATIENT)))
    with duckdb.connect() as connection:
        for name, ids, rows in (
            ("patients", (UNIT,), patients),
            ("stays", ("encounter_id", UNIT), stays),
        ):
            typed = [f"{column} BIGINT" for column in ids] + [
                f"{column} {'BIGINT' if column in NUMBERS else 'VARCHAR'}"
                for column in COLUMNS[name]
            ]
            connection.execute(f"CREATE TABLE {name} ({', '.join(typed)})")
            places = ", ".join("?" * len(typed))
            connection.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
        yield connection


def test_the_questions_are_the_same_each_time(questions):
    assert questions == workload()
    assert questions != workload(seed=2)
    assert [question.number for question in questions] == list(range(1_000))


def test_each_group_asks_a_hundred_of_all_kinds(questions):
    asked = Counter((question.group, question.kind) for question in questions)
    assert sum(SHARES.values()) == 100
    assert asked == {
        (group.name, kind): share for group in GROUPS for kind, share in SHARES.items()
    }


@pytest.mark.parametrize("many", [100, 200, 510])
def test_a_shorter_run_has_the_same_shares(many):
    asked = Counter(question.kind for question in workload(many))
    shares = {kind: 10 * n for kind, n in shares_of(many // 10).items() if n}
    assert sum(asked.values()) == many
    assert asked == shares


def test_repeats_are_in_other_words_than_what_was_asked_before(questions):
    told: dict[object, set[str]] = {}
    fresh = repeated = 0
    for question in questions:
        before = told.setdefault(question.meaning, set())
        if question.kind is Kind.REPEAT:
            assert before
            repeated += 1
            fresh += question.sql not in before
        before.add(question.sql)
    assert fresh > 0.9 * repeated


def test_all_wordings_of_a_meaning_count_the_same(questions, made_up_rows):
    def counted(meaning, wording):
        rows = made_up_rows.execute(worded(meaning, wording)).fetchall()
        order = meaning.keys[::-1] if wording == 4 else meaning.keys
        return {
            (*sorted(zip(order, row[:-1], strict=True)), round(float(row[-1] or 0), 9))
            for row in rows
        }

    for meaning in {question.meaning for question in questions[:150]}:
        first = counted(meaning, 0)
        for wording in range(1, WORDINGS):
            assert counted(meaning, wording) == first, worded(meaning, wording)


def test_the_product_takes_every_question(questions, dataset):
    for sql in {question.sql for question in questions[:200]}:
        assert compile_query(sql, dataset, NO_BOUNDS).measures
