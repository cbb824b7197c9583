"""One patient added or removed moves nobody else's unit key (PRIVACY 1, 2)."""

import csv
import random
import shutil
from unittest import mock

import pytest

from tests.effort import gate_first
from tests.support.installations.harness import ImportingInstallation
from tests.support.linking import Linking

FIELDS = {
    "surname": {"kind": "name"},
    "given": {"kind": "name"},
    "born": {"kind": "date", "order": "day_first"},
}
SOURCE = {
    "kind": "table",
    "name": "stays",
    "files": ["stays.csv"],
    "id": ["pid"],
    "fields": {name: name for name in FIELDS},
}
_SYLLABLES = "ba ke lo mi nu ra se ti vo zu gra plin dor stef"
DRAWN = "upstream.linkage.registers.patients.token_hex"


def patients(number):
    """Return rows of people who are nothing like each other, two ids each."""
    dice = random.Random(5)
    told = []
    for _ in range(number):
        names = ["".join(dice.sample(_SYLLABLES.split(), 4)) for _ in range(2)]
        day, month, year = (
            dice.randint(1, 28),
            dice.randint(1, 12),
            dice.randint(1930, 2010),
        )
        born = f"{day:02}.{month:02}.{year}"
        ids = [f"P{dice.randrange(10**9):09}" for _ in range(2)]
        told.append([[one, *names, born] for one in ids])
    return told


@pytest.fixture
def bare(tmp_path):
    made = tmp_path / "bare"
    made.mkdir()
    ImportingInstallation(made).create().load()
    return made


def linked(folder, *runs):
    """Return the unit keys by id after linking each of these exports in turn."""
    with ImportingInstallation(folder).services() as services:
        linking = Linking(ImportingInstallation(folder), services)
        told = {"sources": [SOURCE], "match": {"fields": FIELDS}}
        linking.write(**told, load=None, review=None)
        for people in runs:
            with (folder / "stays.csv").open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["pid", *FIELDS])
                writer.writerows(row for rows in people for row in rows)
            linking.link()
        found = linking.crosswalk()
    return {own: key for (_, own), key in found.items()}


@pytest.mark.long
@pytest.mark.parametrize("gone", gate_first(1, [17, 0, 59]))
def test_nobodys_key_moves_when_one_patient_was_never_there(bare, tmp_path, gone):
    everybody = patients(60)
    others = [one for number, one in enumerate(everybody) if number != gone]
    first = everybody[:40]
    remaining = [one for one in first if one in others]
    runs = {
        "with": (first, everybody),
        "without": (remaining, others),
        "at once": (everybody,),
    }
    with mock.patch(DRAWN, lambda number: "5a" * number):
        arms = {
            name: linked(shutil.copytree(bare, tmp_path / name), *told)
            for name, told in runs.items()
        }
    theirs = {row[0] for row in everybody[gone]}
    assert len(set(arms["with"].values())) == 60
    assert {own: key for own, key in arms["with"].items() if own not in theirs} == arms[
        "without"
    ]
    assert arms["with"] == arms["at once"]
    assert all(10**15 <= key < 9 * 10**15 for key in arms["with"].values())


@pytest.mark.long
def test_another_linkage_draws_other_keys(bare, tmp_path):
    people = patients(5)
    one, other = (
        set(linked(shutil.copytree(bare, tmp_path / name), people).values())
        for name in ("one", "other")
    )
    assert len(one) == len(other) == 5
    assert one.isdisjoint(other)
