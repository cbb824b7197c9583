"""Built-in and own hierarchies: their lists, and the SQL against its reference."""

from types import MappingProxyType

import duckdb
import pytest

from privacy.schema import Hierarchy, HierarchyDomain
from query_lang.hierarchies import (
    BUILT_IN,
    LEVELS,
    level_of,
    level_values,
    levels_of,
    listed_as,
    listed_codes,
)
from query_lang.rendering.duckdb.levels import is_code_sql, level_sql

COLUMN = '"the ""code"""'
TOWNS = Hierarchy(
    name="towns",
    levels=("region", "country"),
    codes=MappingProxyType(
        {
            "u'tr": ("mid", "nl"),
            "{operand}": ("o'k", None),
            "": ("north", "nl"),
            "ß": (None, "nl"),
            "a, b": ("mid", "be"),
        }
    ),
)
OWN = {"towns": TOWNS}
PLACES = (
    ("icd10", "E11.9", ("IV", "E10-E14", "E11")),
    ("icd10", "c509", ("II", "C50-C50", "C50")),
    ("icd10", "C97", ("II", "C97-C97", "C97")),
    ("icd10", "M15.0", ("XIII", "M15-M19", "M15")),
    ("icd10", "W19", ("XX", "W00-W19", "W19")),
    ("icd10", "X99", ("XX", "X85-Y09", "X99")),
    ("icd10", "y09", ("XX", "X85-Y09", "Y09")),
    ("icd10", "U07.1", ("XXII", "U00-U49", "U07")),
    ("icd10", "U84", ("XXII", "U82-U85", "U84")),
    ("icd10", "C7A", None),
    ("icd10", "A10", None),
    ("icd10", "E11.99999", None),
    ("icd10cm", "c4a.10", ("II", "C43-C44", "C4A")),
    ("icd10cm", "C7A", ("II", "C7A", "C7A")),
    ("icd10cm", "C7B.8", ("II", "C7B", "C7B")),
    ("icd10cm", "D3A", ("II", "D3A", "D3A")),
    ("icd10cm", "I1A0", ("IX", "I10-I1A", "I1A")),
    ("icd10cm", "m1a", ("XIII", "M05-M14", "M1A")),
    ("icd10cm", "O9A.2", ("XV", "O94-O9A", "O9A")),
    ("icd10cm", "Z3A.40", ("XXI", "Z30-Z39", "Z3A")),
    ("icd10cm", "S72.001A", ("XIX", "S70-S79", "S72")),
    ("icd10cm", "E14", None),
    ("icd10cm", "F00", None),
    ("icd9cm", "250.83", ("III", "249-259", "250")),
    ("icd9cm", "25083", ("III", "249-259", "250")),
    ("icd9cm", "042", ("I", "042", "042")),
    ("icd9cm", "285.9", ("IV", "280-289", "285")),
    ("icd9cm", "e812.0", ("E000-E999", "E810-E819", "E812")),
    ("icd9cm", "E003", ("E000-E999", "E001-E030", "E003")),
    ("icd9cm", "003", ("I", "001-009", "003")),
    ("icd9cm", "E0009", ("E000-E999", "E000", "E000")),
    ("icd9cm", "V10.11", ("V01-V91", "V10-V19", "V10")),
    ("icd9cm", "v91", ("V01-V91", "V91", "V91")),
    ("icd9cm", "8", None),
    ("icd9cm", "000", None),
    ("icd9cm", "029", None),
    ("icd9cm", "E11", None),
    ("icd9cm", "V38", None),
    ("icd9cm", "E020", None),
)
HOSTILE = (
    *("", " ", ".", "'", '"', "E", "E1", "E11.", "E11..9", "E.11", "E1.1", ".E11"),
    *(
        "E11.9.",
        "E11.9 ",
        " E11",
        "E11\n",
        "E11\0",
        "E\0001",
        "E11.é",
        "e11.9",
        "E11-9",
    ),
    *(
        "\u017f11",
        "\u0131 10",
        "\u013110",
        "\u212a00",
        "\u0665\u0661\u0661",
        "E\u0661\u0661",
    ),
    *("é11", "E1é", "\U0001f600", "E11\U0001f600", "😀11", "25O.0", "250,0", "2 50"),
    *("E11" * 5_000, "E11.99999", "E11999", "?", "NULL", "%", "_", "E__", "001,002"),
    *(
        "9,",
        ",00",
        "002,",
        "e",
        "v",
        "V1",
        "V1.1",
        "E81.2",
        "e81",
        "Z3a",
        "z3A",
        "0010",
    ),
)


def _domain(name: str) -> HierarchyDomain:
    return HierarchyDomain(name)


def _neighbours(code: str) -> list[str]:
    ends = "0123456789ABCZ"
    near = [code[:-1] + end for end in ends] + [code[:-2] + e + code[-1] for e in ends]
    return [code, code.lower(), f"{code}.", f"{code}.1a", f"{code}1234", *near]


def _codes(name: str) -> list[str]:
    categories = level_values(_domain(name), "category", OWN)
    near = [text for code in categories for text in _neighbours(code)]
    return [*dict.fromkeys((*near, *HOSTILE))]


def _evaluate(expressions: list[str], codes: list[str]) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (i INTEGER, {COLUMN} VARCHAR)")
        connection.execute(
            "INSERT INTO t SELECT unnest(range(len($1))), unnest($1)", [codes]
        )
        connection.execute("INSERT INTO t VALUES (-1, NULL)")
        columns = ", ".join(expressions)
        return connection.execute(f"SELECT {columns} FROM t ORDER BY i").fetchall()


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*BUILT_IN, "towns"])
def test_the_sql_of_every_level_equals_the_reference_on_codes_and_hostile_texts(
    name: str,
) -> None:
    domain = _domain(name)
    levels = levels_of(domain, OWN)
    codes = [*HOSTILE, *TOWNS.codes] if name == "towns" else _codes(name)
    texts = [level_sql(domain, level, COLUMN, OWN) for level in levels]
    rows = _evaluate([*texts, is_code_sql(domain, COLUMN, OWN)], codes)
    assert rows[0] == (*(None for _ in levels), False)
    for code, row in zip(codes, rows[1:], strict=True):
        expected = tuple(level_of(domain, level, code, OWN) for level in levels)
        assert row[:-1] == expected, code
        assert row[-1] is any(value is not None for value in expected), code


@pytest.mark.parametrize("code", ["A1", "\u00e4b"])
def test_a_text_of_more_than_twice_the_longest_codes_bytes_is_no_own_code(
    code: str,
) -> None:
    own = {"o": Hierarchy("o", ("part",), {code: ("p",)})}
    most = 2 * len(code.encode())
    dotted = [code[0] + "." * (n - most // 2) + code[1:] for n in (most, most + 1)]
    texts = [*dotted, "." * 60_000 + code]
    sql = [level_sql(_domain("o"), "part", COLUMN, own)]
    sql.append(is_code_sql(_domain("o"), COLUMN, own))
    assert [level_of(_domain("o"), "part", each, own) for each in texts] == [
        "p",
        None,
        None,
    ]
    rows = [("p", True), (None, False), (None, False)]
    assert _evaluate(sql, texts)[1:] == rows


@pytest.mark.parametrize(("name", "code", "expected"), PLACES)
def test_a_code_lies_in_its_published_chapter_block_and_category(
    name: str, code: str, expected: tuple[str, ...] | None
) -> None:
    found = tuple(level_of(_domain(name), level, code, OWN) for level in LEVELS)
    assert found == (expected or (None, None, None))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("icd10", (22, 263, 2_054)),
        ("icd10cm", (22, 285, 1_918)),
        ("icd9cm", (19, 156, 1_234)),
    ],
)
def test_the_published_lists_have_their_published_lengths(
    name: str, sizes: tuple[int, ...]
) -> None:
    values = [level_values(_domain(name), level, OWN) for level in LEVELS]
    assert tuple(len(v) for v in values) == sizes
    assert all(len(set(v)) == len(v) for v in values)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_published_category_is_a_code_of_itself(name: str) -> None:
    for category in level_values(_domain(name), "category", OWN):
        assert level_of(_domain(name), "category", category, OWN) == category


def test_published_order_puts_new_categories_where_the_list_has_them() -> None:
    categories = level_values(_domain("icd10cm"), "category", OWN)
    place = categories.index("C4A")
    assert categories[place - 1 : place + 2] == ("C43", "C4A", "C44")
    assert level_values(_domain("icd9cm"), "chapter", OWN)[-2:] == (
        "V01-V91",
        "E000-E999",
    )


def test_values_of_an_own_level_stand_in_order_of_first_appearance() -> None:
    assert levels_of(_domain("towns"), OWN) == ("region", "country")
    assert level_values(_domain("towns"), "region", OWN) == ("mid", "o'k", "north")
    assert level_values(_domain("towns"), "country", OWN) == ("nl", "be")


@pytest.mark.parametrize("name", [*BUILT_IN, "towns"])
def test_an_unknown_level_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        level_sql(_domain(name), "colour", COLUMN, OWN)
    with pytest.raises(KeyError):
        level_values(_domain("planets"), "chapter", OWN)


@pytest.mark.parametrize("name", [*BUILT_IN, "towns"])
@pytest.mark.parametrize(
    "text", ["E11.9", "e11", "250.0", "E123", "U'TR", "A,. b", "", "ß", "XYZ", "." * 40]
)
def test_a_text_is_read_as_a_listed_code_where_it_has_levels(name, text):
    domain = HierarchyDomain(name)
    listed, rows = listed_as(domain, OWN)(text), dict(listed_codes(domain, OWN))
    levels = levels_of(domain, OWN)
    found = tuple(level_of(domain, level, text, OWN) for level in levels)
    assert found == (rows[listed] if listed is not None else (None,) * len(levels))
