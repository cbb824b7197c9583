"""What is left of a patient's identifiers."""

import random

import pytest

from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.residual import (
    ResidualCheck,
    within_one_slip,
)

KNOWN = [
    (Kind.NAME, "María García-Stone"),
    (Kind.RECORD_NUMBER, "60-71-75"),
    (Kind.PHONE, "404 555 0133"),
    (Kind.EMAIL, "maria@example.net"),
    (Kind.ORGANIZATION, "Emory Hospital"),
    (Kind.DATE, "March 5, 2024"),
]

MAIL = ("maria@example.net", Kind.EMAIL, True)


def left(text):
    return [
        (text[o.start : o.end], o.kind, o.is_exact)
        for o in ResidualCheck(KNOWN).find(text)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MARIA was seen", [("MARIA", Kind.NAME, True)]),
        ("Ms Gracia came", [("Gracia", Kind.NAME, False)]),
        ("a stone in the gall", [("stone", Kind.NAME, False)]),
        ("MRN 607175.", [("607175", Kind.RECORD_NUMBER, True)]),
        ("MRN 60 71 75.", [("60 71 75", Kind.RECORD_NUMBER, True)]),
        ("call (404)555-0133 now", [("404)555-0133", Kind.PHONE, True)]),
        ("on march 5, 2024", [("march 5, 2024", Kind.DATE, True)]),
        ("EMORY hospital", [("EMORY hospital", Kind.ORGANIZATION, True)]),
        ("m: maria@example.net", [("maria", Kind.NAME, False), MAIL]),
    ],
)  # fmt: skip
def test_identifiers_are_found_however_they_are_written(text, found):
    assert left(text) == found


@pytest.mark.parametrize(
    "text",
    ["no fever, 120/80, 3 days", "Garland and Marta", "grace", "607 patients", ""],
)
def test_other_words_and_numbers_are_not(text):
    assert left(text) == []


def test_places_are_those_of_the_text_whatever_characters_it_has():
    text = "İß\U0001f600 é MARÍA"
    (found,) = ResidualCheck(KNOWN).find(text)
    assert text[found.start : found.end] == "MARÍA"


def test_one_slip_is_one_edit_or_one_swap_as_the_textbook_distance_has_it():
    rng = random.Random(5)
    for _ in range(3_000):
        one = "".join(rng.choice("abc") for _ in range(rng.randrange(7)))
        other = "".join(rng.choice("abc") for _ in range(rng.randrange(7)))
        assert within_one_slip(one, other) == (distance(one, other) <= 1)


def distance(one, other):
    """Return the optimal string alignment distance, by its recurrence."""
    rows = [
        [i + j if 0 in (i, j) else 0 for j in range(len(other) + 1)]
        for i in range(len(one) + 1)
    ]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            rows[i][j] = min(
                rows[i - 1][j] + 1,
                rows[i][j - 1] + 1,
                rows[i - 1][j - 1] + (one[i - 1] != other[j - 1]),
            )
            if i > 1 and j > 1 and one[i - 2 : i] == other[j - 2 : j][::-1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Jürgen Müller", "Ju\u0308rgen came", "Ju\u0308rgen"),
        ("Rene\u0301 Ost", "Dr. Ren\u00e9 came", "Ren\u00e9"),
        ("Anna Weiß", "Frau WEISS came", "WEISS"),
        ("Ana Łuk", "Luk came", "Luk"),
        ("Ann Smith-Jones", "Ms SmithJones came", "SmithJones"),
        ("Sean O'Neil", "Mr ONeil came", "ONeil"),
        ("Wu Li", "then WU LI came", "WU LI"),
    ],
)
def test_names_are_found_however_they_are_written(name, text, found):
    (only,) = ResidualCheck([(Kind.NAME, name)]).find(text)
    assert (text[only.start : only.end], only.is_exact) == (found, True)
