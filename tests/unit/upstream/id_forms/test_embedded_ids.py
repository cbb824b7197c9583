"""Ids are found with something around them, and codes that only look so are not."""

import random
import re
import string
import uuid

import duckdb
import pytest
from duckdb.func import SPECIAL
from duckdb.sqltypes import VARCHAR
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.schema_json import dataset_from_json, dataset_to_json
from tests.effort import gate_first
from tests.unit.upstream.conftest import SECRET
from upstream.errors import IngestionError
from upstream.id_forms.coincidence import Shape, is_beyond_accident
from upstream.id_forms.embedded_ids import embedded_ids, plain_text, words_within
from upstream.id_forms.loose_ids import FUNCTIONS, id_forms
from upstream.ingestion.secrets import derive_keys
from upstream.public_check.public_watch import Surroundings
from upstream.public_check.published_ids import (
    HANDFUL,
    Declared,
    EarlierSnapshot,
    KnownUnits,
)
from upstream.staging.row_hash import population_id

MADE = random.Random(11)
INTEGERS = [str(MADE.randrange(10**6, 10**7)) for _ in range(12)]
CODES = [f"P{MADE.randrange(10**4):07}" for _ in range(12)]
PARTED = [f"AB-{MADE.randrange(10**4):04}-{MADE.randrange(100):02}" for _ in range(12)]
UUIDS = [str(uuid.UUID(int=MADE.getrandbits(128))) for _ in range(12)]
AROUND = {
    "a dash and a part": "{}-01",
    "a stroke and a part": "{}_1",
    "a word and a dash": "patient-{}",
    "a file": "pat_{}.pdf",
    "a path": r"C:\export\pat_{}_v2.pdf",
    "a folder": "scans/2024/{}/ct.dcm",
    "an address": "{}@site.org",
    "a link": "https://h.org/p?pid={}&lang=de",
    "JSON": '{{"mrn":"{}","ward":7}}',
    "bare JSON": '{{"mrn":{}}}',
    "FHIR": "Patient/{}/_history/1",
    "HL7": "{}^^^HOSP^MR",
    "HL7 and a type": "PID|1||{}^4^M11^HOSP^MR~999^^^SS",
    "DICOM": "1.2.840.113619.{}.4",
    "words": "letter about no. {}, closed",
    "a stamp": "{}_20240131",
    "a day": "2024-01-31_{}",
    "letters before": "MRN{}",
    "a mark": "#{}*",
    "full width": "\uff03{}\uff3f1",
}


def stays(hospital, ids, unit_type="text"):
    """Have a stay of each, and room for a public table."""
    hospital.unit_type = unit_type
    hospital.column("pid", type=unit_type)
    hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in ids)


def publish(hospital, tables, **keys):
    """Declare public tables of one column each, by name."""
    hospital.more_tables = [
        {
            "name": name, "files": [f"{name}.csv"], "public": True,
            "columns": [{"name": "code", "type": "text", "source": "test", **keys}],
        } for name in tables
    ]  # fmt: skip
    for name, values in tables.items():
        lines = ['"' + value.replace('"', '""') + '"\n' for value in values]
        (hospital.folder / f"{name}.csv").write_text("code\n" + "".join(lines))


def lists(hospital, values):
    """Declare a list of values for each of some columns: all are compared."""
    for number, told in enumerate(values):
        keys = {"from": "ward", "type": "text", "source": "test"}
        hospital.column(
            f"c{number}", domain={"values": list(dict.fromkeys(told))}, **keys
        )


def refused(hospital):
    """Return the numbers of the lists that a load refuses."""
    with pytest.raises(IngestionError) as error:
        hospital.load()
    told = [problem.sentence.split(" holds ids")[0] for problem in error.value.problems]
    return [int(one.rpartition(".c")[2]) for one in told]


def known(ids):
    """Return what the overlap file of a population of these ids holds."""
    key = derive_keys(SECRET).population
    forms = {form for uid in ids for form in (uid, *id_forms(uid))}
    return KnownUnits(b"".join(sorted(population_id(key, form) for form in forms)))


KINDS = {
    "integer": (INTEGERS, []),
    "text": (CODES, []),
    "parted": (PARTED, ["DICOM", "letters before"]),  # which parts begin there?
    "uuid": (UUIDS, []),
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "when"),
    [(kind, "in this load") for kind in KINDS] + [("text", "in an earlier load")],
)
def test_ids_are_found_with_something_around_them(hospital, kind, when):
    ids, unseen = KINDS[kind]
    if when == "in this load":
        stays(hospital, ids, "integer" if kind == "integer" else "text")
    else:
        hospital.surroundings = Surroundings(own=known(ids))
    around = [how for name, how in AROUND.items() if name not in unseen]
    lists(hospital, [[how.format(uid) for uid in ids] for how in around])
    assert refused(hospital) == list(range(len(around)))


SPELLED = {
    "dots and dashes": lambda uid: f"{uid[:3]}-{uid[3:5]}.{uid[5:]}",
    "dashes and a file": lambda uid: f"{uid[:3]}-{uid[3:5]}-{uid[5:]}.pdf",
    "dashes and a part": lambda uid: f"visit of {uid[:3]}-{uid[3:5]}-{uid[5:]}-01",
    "blanks among words": lambda uid: f"no. {uid[0]} {uid[1:4]} {uid[4:]}; closed",
    "hexadecimal": lambda uid: f"{int(uid):x}",
    "with its mark": lambda uid: f"0x{int(uid):08X}",
    "zeros and letters": lambda uid: f"PAT000{uid}",
    "a check letter": lambda uid: f"{uid}-K",
    "another script": lambda uid: "mrn_" + "".join(chr(0x660 + int(d)) for d in uid),
}


@pytest.mark.parametrize("unit_type", gate_first(1, ["integer", "text"]))
def test_numbers_are_found_in_other_spellings_with_something_around(
    hospital, unit_type
):
    stays(hospital, INTEGERS, unit_type)
    lists(hospital, [map(spell, INTEGERS) for spell in SPELLED.values()])
    assert refused(hospital) == list(range(len(SPELLED)))


SITES = [f"{MADE.randrange(1, 40):03}-{MADE.randrange(10**4):04}" for _ in range(40)]
IN_PARTS = {
    "031-2179": SITES,
    "001-000042": [f"{i:03}-{MADE.randrange(10**6):06}" for i in range(1, 30)],
    "2019/00113": [f"2019/{MADE.randrange(10**5):05}" for _ in range(40)],
    "S07-01234-A": [f"S{i:02}-{MADE.randrange(10**5):05}-A" for i in range(40)],
    "BRCA07-0123-T": [f"BRCA{i:02}-{MADE.randrange(10**4):04}-T" for i in range(40)],
}


def named_by_r(uid):
    """Return what R's make.names makes of an id."""
    return ("X" if uid[0].isdigit() else "") + re.sub(r"\W", ".", uid)


@pytest.mark.parametrize("when", gate_first(1, ["in this load", "in an earlier load"]))
@pytest.mark.parametrize("kind", gate_first(2, IN_PARTS))
def test_ids_are_found_though_their_separators_became_dots(hospital, kind, when):
    ids = IN_PARTS[kind]
    if when == "in this load":
        stays(hospital, ids)
    else:
        hospital.surroundings = Surroundings(own=known(ids))
    dotted = [re.sub(r"\W", ".", uid) for uid in ids]
    lists(hospital, [
        dotted, map(named_by_r, ids), [f"x/{uid}.csv" for uid in dotted],
        [f"{uid}.v2" for uid in dotted], [f"v1.{uid.lower()}" for uid in dotted],
        [uid.replace(".", ",") for uid in dotted],
    ])  # fmt: skip
    assert refused(hospital) == list(range(6))


@pytest.mark.parametrize("kind", ["text", "decimal"])
def test_ids_that_were_read_as_decimals_are_found(hospital, kind):
    stays(hospital, SITES)
    decimals = [uid.replace("-", ".").lstrip("0") for uid in SITES]
    scale = {"scale": 4} if kind == "decimal" else {}
    publish(hospital, {"marks": decimals}, **{"type": kind, **scale})
    with pytest.raises(IngestionError, match=r"marks\.code.* ids of population"):
        hospital.load()
    said = {"type": kind, **scale, "not_unit_ids": True}
    publish(hospital, {"marks": decimals}, **said)
    hospital.load()


@pytest.mark.long
def test_decimals_and_codes_are_public_beside_ids_in_parts(hospital):
    rng = random.Random(5)
    several = [*SITES, *(f"{i:02}-{j:03}" for i in range(1, 30) for j in range(1, 40))]
    more = [f"E{i:02}-{j}" for i in range(1, 30) for j in range(1, 9)]
    stays(hospital, [*several, *more])
    tables = {
        "limits": [f"{rng.uniform(0, 60):.4f}" for _ in range(3_000)],
        "weights": [f"{i / 100:.2f}" for i in range(1, 40_000, 3)],
        "prices": [f"{rng.uniform(0, 9_000):.2f}" for _ in range(3_000)],
        "amounts": [f"{rng.uniform(1, 9_000):.2f} EUR" for _ in range(3_000)],
        "versions": [f"{i}.{j}.{k}" for i in range(9) for j in range(9)
                     for k in range(9)],
        "icd": [f"{c}{i:02}.{j}" for c in "EIJ" for i in range(30) for j in range(10)],
        "addresses": [f"10.{i}.{j}.7" for i in range(40) for j in range(40)],
    }  # fmt: skip
    publish(hospital, tables)
    assert len(hospital.load().report.tables) == 1 + len(tables)
    for scale in (2, 3, 4):
        values = {"marks": [f"{rng.uniform(0, 60):.{scale}f}" for _ in range(3_000)]}
        publish(hospital, values, type="decimal", scale=scale)
        hospital.target = f"{scale}.duckdb"
        hospital.load()


def test_codes_in_parts_are_found_with_a_letter_or_a_part_behind(hospital):
    made = string.ascii_uppercase + string.digits
    codes = ["".join(MADE.choices(made, k=5)) for _ in range(40)]
    ids = [f"TCGA-{code[:2]}-{code[2:]}7" for code in codes]
    stays(hospital, ids)
    lists(hospital, [[f"{uid}_v2" for uid in ids], [f"{uid}a" for uid in ids]])
    assert refused(hospital) == [0, 1]


def test_uuids_are_found_in_every_spelling(hospital):
    stays(hospital, UUIDS)
    made = [uuid.UUID(uid) for uid in UUIDS]
    lists(hospital, [
        [f"x/{one.hex.upper()}.json" for one in made], [f"{{{one}}}" for one in made],
        [one.urn for one in made], [f"patient_{one}_v2" for one in made],
    ])  # fmt: skip
    assert refused(hospital) == [0, 1, 2, 3]


def test_ids_that_are_filled_up_are_found_though_there_are_few_such_numbers(hospital):
    stays(hospital, map(str, range(1, 3_001)), "integer")
    publish(hospital, {"marks": [f"MRN{i:08}" for i in range(100, 1_900, 9)]})
    with pytest.raises(IngestionError, match=r"column marks\.code holds ids"):
        hospital.load()
    publish(hospital, {"marks": [f"MRN{i:08}" for i in range(100, 90_000, 99)]})
    hospital.load()


def test_the_columns_of_a_table_are_counted_together(hospital):
    stays(hospital, INTEGERS, "integer")
    names = ["first", "second"]
    columns = [{"name": name, "type": "text", "source": "test"} for name in names]
    hospital.more_tables = [
        {"name": "pairs", "files": ["pairs.csv"], "public": True, "columns": columns}
    ]
    rows = [
        f"a_{one},{two}.b\n"
        for one, two in zip(INTEGERS[:3], INTEGERS[3:], strict=False)
    ]
    (hospital.folder / "pairs.csv").write_text("first,second\n" + "".join(rows[:3]))
    with pytest.raises(IngestionError, match=r"column pairs\.first and the column pai"):
        hospital.load()
    (hospital.folder / "pairs.csv").write_text("first,second\n" + "".join(rows[:2]))
    hospital.load()


@pytest.mark.parametrize("around", ["pat_{}.pdf", "{}-01"])
def test_a_handful_may_be_public(hospital, around):
    stays(hospital, INTEGERS, "integer")
    publish(hospital, {"marks": map(around.format, INTEGERS[:HANDFUL])})
    assert hospital.publishes()


@pytest.mark.long
def test_numbers_are_public_once_that_is_declared_and_codes_are_not(hospital):
    stays(hospital, INTEGERS, "integer")
    publish(hospital, {"marks": [f"w_{uid}.x" for uid in INTEGERS]})
    with pytest.raises(IngestionError, match="not_unit_ids"):
        hospital.load()
    publish(hospital, {"marks": [f"w_{uid}.x" for uid in INTEGERS]}, not_unit_ids=True)
    hospital.load()
    hospital.target = "other.duckdb"
    stays(hospital, CODES)
    publish(hospital, {"marks": [f"w_{uid}.x" for uid in CODES]}, not_unit_ids=True)
    with pytest.raises(IngestionError, match=r"marks\.code"):
        hospital.load()


def test_patients_of_other_populations_are_noted(hospital):
    publish(hospital, {"marks": [f"{uid}^^^H^MR" for uid in CODES]})
    hospital.surroundings = Surroundings(others={"pupils": known(CODES)})
    assert hospital.load().names_others == ("pupils",)


def test_patients_of_a_later_load_are_found_in_what_is_public_already(hospital):
    publish(hospital, {"marks": [f"pat_{uid}.pdf" for uid in INTEGERS]})
    hospital.load()
    schema = dataset_from_json(dataset_to_json(hospital.manifest().schema()))
    earlier = EarlierSnapshot(
        hospital.folder / hospital.target, Declared(schema, frozenset())
    )
    hospital.surroundings = Surroundings(snapshots={"lists": earlier})
    hospital.target, hospital.more_tables = "later.duckdb", []
    stays(hospital, INTEGERS, "integer")
    with pytest.raises(IngestionError, match="these units in dataset lists"):
        hospital.load()


ALPHABET = "aAbP019 -_./:^#\u00a0\uff11\u0663\u200b\u00df\u2013"
PLAIN_ALPHABET = "aAbPxyz019 -_./:^#@+"


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        for name, function in FUNCTIONS.items():
            connection.create_function(
                name, function, [VARCHAR], VARCHAR, null_handling=SPECIAL
            )
        yield connection


def within(connection, texts):
    """Return what DuckDB finds in texts."""
    listed = ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
    rows = f"SELECT unnest([{listed}]::VARCHAR[]) AS t"
    with embedded_ids(connection, rows) as name:
        return {
            form
            for (form,) in connection.execute(f"SELECT form FROM {name}").fetchall()
        }


@settings(deadline=None, max_examples=15)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "x ", "a-", "b_", "/", "Patient ", "(", "7 ", "#"]),
            st.sampled_from(["", "000"]),
            st.integers(10_000, 10**12),
            st.sampled_from(
                ["", " y", "-1", "_02", ".pdf", "@h.org", "^^^H", ")", ";"]
            ),
        ),
        min_size=10,
        max_size=10,
    )
)
def test_every_number_is_found_whatever_stands_around_it(connection, told):
    told = [one for one in told if one[0] or one[3]]
    found = within(connection, [b + z + str(n) + a for b, z, n, a in told])
    assert {str(n) for _, _, n, _ in told if not _is_day(n)} <= found


def _is_day(number):
    return 19000101 <= number <= 20991231


@settings(deadline=None, max_examples=15)
@given(st.lists(st.text(ALPHABET, max_size=14), min_size=1, max_size=20))
def test_a_text_has_the_ids_of_its_plain_text(connection, texts):
    plain = map(plain_text, texts)
    assert within(connection, texts) == within(connection, plain)


def words(connection, texts):
    """Return the words that DuckDB finds in texts."""
    listed = ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
    rows = f"SELECT unnest([{listed}]::VARCHAR[]) AS t"
    with words_within(connection, rows) as query:
        return {form for (form,) in connection.execute(query).fetchall()}


@pytest.mark.long
@settings(deadline=None, max_examples=15)
@given(st.lists(st.text(PLAIN_ALPHABET, max_size=14), min_size=1, max_size=20))
def test_beside_other_alphabets_plain_texts_hold_what_they_hold_alone(
    connection, texts
):
    for found_in, other in (
        (within, "\u00e9 41\u00e9007"),
        (words, "\u00e9\u00e9\u00e9\u00e9\u00e9-b"),
    ):
        alone = found_in(connection, texts)
        assert found_in(connection, [*texts, other]) == alone | found_in(
            connection, [other]
        )


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=14))
)
def test_of_ascii_sql_makes_the_plain_text_that_python_makes(texts):
    assert [text.lower() for text in texts] == list(map(plain_text, texts))


@pytest.mark.parametrize(
    ("hits", "trials", "probability", "is_beyond"),
    [
        (6, 6, 0.005, True), (6, 6, 0.5, False), (30, 30, 0.5, True),
        (60, 1_000, 0.05, False), (400, 1_000, 0.05, True), (9, 10, 0.5, False),
        (50, 50, 1.0, False), (0, 50, 0.5, False), (90, 100_000, 0.0001, False),
        (1_000, 100_000, 0.0001, True),
    ],
)  # fmt: skip
def test_ids_are_found_where_accident_would_not_hit_so_many(
    hits, trials, probability, is_beyond
):
    assert is_beyond_accident(hits, trials, probability) == is_beyond


def test_a_number_is_hit_the_likelier_the_more_ids_there_are():
    seven, five = (Shape(n, alone=True, filled=False) for n in (7, 5))
    assert seven.probability(90_000) == pytest.approx(0.01)
    assert five.probability(200_000) == 1
    assert Shape(3, alone=True, filled=True).probability(10**6) == 0.5
    assert Shape(4, alone=False, filled=False).probability(10**6) == 0.5


SIX = [str(700_123 + 37 * i) for i in range(400)]


@pytest.mark.long
@pytest.mark.parametrize(
    "form", ["{0}-{1}", "{0}/{1}", "MRN {0}-{1}", "P{0}_{1}", "({0}-{1})"]
)
@pytest.mark.parametrize("at", [2, 3, 4])
def test_ids_of_six_digits_in_two_parts_are_found(hospital, form, at):
    stays(hospital, SIX, "integer")
    lists(hospital, [[form.format(uid[:at], uid[at:]) for uid in SIX]])
    assert refused(hospital) == [0]


@pytest.mark.long
@pytest.mark.parametrize("ids", [SIX, range(100_000, 160_000), range(1, 9_000)])
def test_ranges_months_and_codes_in_parts_are_public_beside_six_digits(hospital, ids):
    rng = random.Random(6)
    stays(hospital, ids, "integer")
    numbers = range(100, 1_000, 50)
    tables = {
        "limits": [f"{low}-{high}" for low in numbers for high in numbers],
        "reference": [f"{low}-{low + 99} mg/dl" for low in range(100, 900, 100)],
        "wide": [f"{low}-{high}" for low in (10, 20, 50) for high in (1_000, 2_000)],
        "months": [f"{year}-{m:02}" for year in range(1990, 2026)
                   for m in range(1, 13)],
        "turned": [f"{m:02}/{year}" for year in range(1990, 2026)
                   for m in range(10, 13)],
        "seasons": [f"{year}/{year % 100 + 1:02}" for year in range(2000, 2026)],
        "loinc": [f"{rng.randrange(10_000, 99_000)}-{i % 10}" for i in range(300)],
        "pressure": [f"{a}/{b}" for a in range(110, 170) for b in range(60, 100, 5)],
        "telephone": [f"089 {rng.randrange(100, 999)}-{rng.randrange(100, 999)}"
                      for _ in range(300)],
        "rooms": [f"{rng.randrange(100, 999)}-{rng.randrange(100, 999)}"
                  for _ in range(300)],
    }  # fmt: skip
    publish(hospital, tables)
    assert len(hospital.load().report.tables) == 1 + len(tables)
