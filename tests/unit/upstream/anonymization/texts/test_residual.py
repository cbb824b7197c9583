"""What is left of a patient's identifiers."""

import random
import time

import pytest

from upstream.anonymization.texts.again.slips import within_one_slip
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.residual import ResidualCheck

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
        ("Griffin", "Mr Gri\ufb03n slept", "Gri\ufb03n"),
        (
            "Stone",
            "\uff33\uff54\uff4f\uff4e\uff45 slept",
            "\uff33\uff54\uff4f\uff4e\uff45",
        ),
        ("Oneil", "Mr O'Neil slept", "O'Neil"),
        ("Smithjones", "Ms Smith-Jones slept", "Smith-Jones"),
        ("McDonald", "Mr Mc Donald slept", "Mc Donald"),
        ("Schwarzenegger", "Mr Schwarzen-\negger slept", "Schwarzen-\negger"),
        ("Schwarzenegger", "Mr Schwarzen-\r\n  egger", "Schwarzen-\r\n  egger"),
        ("Schwarzenegger", "Mr Schwarzen\u00adegger", "Schwarzen\u00adegger"),
        ("Stone", "Mr St\u200bone\u2122 slept", "St\u200bone"),
        ("Li", "Mr. Li slept", "Li"),
        ("Dr. Li", "seen by LI, who", "LI"),
        ("Mr. An", "gave it to An at six", "An"),
        ("Mr. An", "Mr. An slept", "An"),
        ("Ann Stone-Wu", "Ms Stone\u2010\nWu", "Stone\u2010\nWu"),
    ],
)
def test_names_are_found_however_they_are_written(name, text, found):
    left = ResidualCheck([(Kind.NAME, name)]).find(text)
    assert (found, True) in [(text[o.start : o.end], o.is_exact) for o in left]
    assert all(only.end <= text.index(found) + len(found) for only in left)


def test_all_of_a_name_of_short_words_is_found_and_each_of_them():
    text = "then WU LI came, and Li left; lithium: li 0.8"
    left = ResidualCheck([(Kind.NAME, "Wu Li")]).find(text)
    assert [text[o.start : o.end] for o in left] == ["WU", "WU LI", "LI", "Li"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Dr. An", "He slept. An MRI was done. SEEN AN HOUR AGO."),
        ("Mrs. No", "No fever.\nNo cough"),
        ("Ulman", "of Ulm an der Donau; ulm an"),
        ("Mrs. Stone", "Mrs. Bell, Dr. Ames"),
        ("Hasten", "has ten of them"),
        *(("Hasten", f"Has{sign}Ten") for sign in "~:;,.|/*\u00b0\u2030"),
        ("Li", "Li-ion, T-Li, li 0.8, Lithium"),
    ],
)
def test_ordinary_words_are_at_most_doubtful(name, text):
    left = ResidualCheck([(Kind.NAME, name)]).find(text)
    assert not any(one.is_exact for one in left)


@pytest.mark.parametrize(
    ("kind", "value", "found"),
    [
        *((Kind.PHONE, "555-0100", f"555{sign}0100") for sign in "-\u2013\u2011_. /"),
        (Kind.PHONE, "555-0100", "555 - 0100"),
        (Kind.PHONE, "555-0100", "555, 0100"),
        (Kind.PHONE, "555-0100", "555\u2212\n0100"),
        (Kind.PHONE, "555-0100", "\uff15\uff15\uff15-0100"),
        (Kind.RECORD_NUMBER, "AB12", "AB-12"),
        (Kind.RECORD_NUMBER, "AB-12", "ab12"),
        (Kind.RECORD_NUMBER, "A1B2C3D4", "A1B2 / C3D4"),
        (Kind.PLACE, "Ulm", "Ulm"),
        (Kind.PLACE, "Kirchheim", "Kirch-\nheim"),
        (Kind.STREET, "12 Main St", "12 Main\n  St"),
        (Kind.DATE, "March 5, 2024", "March  5,\u00a02024"),
    ],
)
def test_numbers_and_lines_are_found_however_they_are_parted(kind, value, found):
    text = f"\u00e9: {found}."
    check = ResidualCheck([(kind, value)])
    left = {(o.start, o.end, o.kind, o.is_exact) for o in check.find(text)}
    assert (3, 3 + len(found), kind, True) in left


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Kind.RECORD_NUMBER, "12072", "pulse 120, 72 and 98"),  # two values, perhaps
        (Kind.RECORD_NUMBER, "12072", "120    72"),
        (Kind.RECORD_NUMBER, "A1B2", "vitamin A 1, B 2"),
    ],
)
def test_what_may_be_several_values_is_doubtful(kind, value, text):
    assert [o.is_exact for o in ResidualCheck([(kind, value)]).find(text)] == [False]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Kind.RECORD_NUMBER, "AB12", "lab 12, AB 123, AB (see) 12"),
        (Kind.PHONE, "555-0100", "555 ---- 0100, 555: 0100"),
        (Kind.PLACE, "Ulm", "ulm, Ulmer, Neu-Ulm"),
        (Kind.SEX, "m", "M. came"),
        (Kind.AGE, "56", "56 mg"),
    ],
)
def test_what_only_looks_like_it_is_none(kind, value, text):
    assert ResidualCheck([(kind, value)]).find(text) == []


@pytest.mark.sampled
@pytest.mark.parametrize(
    "text",
    [
        "Seen Anna Stone, 404-555-0133, at 12 Main St; no fever. " * 18_000,
        "a" * 1_000_000,
        "A-" * 500_000,
        "1" * 1_000_000,
        "1 - " * 250_000,
        "\u00ad \n" * 330_000,
        "12 " * 330_000,
    ],
    ids=["note", "word", "hyphens", "digits", "dashes", "marks", "columns"],
)
def test_a_long_text_is_read_in_seconds(text):
    known = [
        (Kind.NAME, f"Nam{chr(97 + n % 26)}{chr(97 + n // 26)}ton") for n in range(20)
    ]
    known += [(Kind.PHONE, f"404-555-{n:04d}") for n in range(20)]
    known += [(Kind.STREET, f"12 Main Road {n}") for n in range(8)]
    known += [(Kind.RECORD_NUMBER, "AB12"), (Kind.PLACE, "Ulm")]
    started = time.process_time()
    ResidualCheck(known).find(text)
    assert time.process_time() - started < 20  # some two seconds, on a slow machine


@pytest.mark.parametrize(
    ("kind", "value", "text", "is_exact"),
    [
        (Kind.ORGANIZATION, "St. Mary's", "of St. Mary\u2019s.", True),
        (Kind.PLACE, "Aix\u2013Les", "of Aix-Les.", True),
        (Kind.RECORD_NUMBER, "A12", "MRN A12.", True),
        (Kind.RECORD_NUMBER, "123", "MRN 123.", False),
    ],
)
def test_signs_and_short_codes_are_found(kind, value, text, is_exact):
    (found,) = ResidualCheck([(kind, value)]).find(text)
    assert (found.kind, found.is_exact) == (kind, is_exact)
    assert text[found.start : found.end] == text.split(" ", 1)[1][:-1]


def test_ages_are_not_looked_for():
    assert ResidualCheck([(Kind.AGE, "93")]).find("93 mg, aged 93") == []
