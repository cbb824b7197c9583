"""A public table is no copy of a private one without its ids; calendars are none."""

import random

import pytest

from privacy.schema_json import dataset_from_json, dataset_to_json
from upstream.errors import IngestionError
from upstream.public_check.public_watch import Surroundings
from upstream.public_check.published_ids import HANDFUL, Declared, EarlierSnapshot

NAMES = "birth,sex,zip,weight"
TYPES = {
    "birth": {"type": "date"},
    "sex": {"type": "text"},
    "zip": {"type": "integer"},
    "weight": {"type": "decimal", "scale": 1},
}
DAYS = [f"2024-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)]
WARDS = [f"ward {c}" for c in "abcdefgh"]


@pytest.fixture
def people(hospital):
    """Have 300 patients of a row each, and return their rows without the id."""
    rng = random.Random(3)
    hospital.people = [
        f"{rng.randrange(1930, 2015)}-{rng.randrange(1, 13):02}-"
        f"{rng.randrange(1, 29):02},{rng.choice('MF')},{rng.randrange(1000, 1900)},"
        f"{rng.gauss(75, 14):.1f}"
        for _ in range(300)
    ]
    declare(hospital, TYPES)
    hospital.csv = as_csv(f"pid,{NAMES}", enumerate_rows(hospital.people))
    return hospital


def enumerate_rows(rows):
    return [f"{i + 70_000},{row}" for i, row in enumerate(rows)]


def as_csv(header, rows):
    return "\n".join([header, *rows, ""])


def declare(hospital, types):
    hospital.columns = [
        {"name": "pid", "type": "integer"},
        *({"name": name, **keys} for name, keys in types.items()),
    ]


def publish(hospital, name, types, rows):
    """Declare one more public table."""
    columns = [{"name": n, "source": "x", **keys} for n, keys in types.items()]
    hospital.more_tables.append(
        {"name": name, "files": [f"{name}.csv"], "public": True, "columns": columns}
    )
    text = as_csv(",".join(types), rows)
    (hospital.folder / f"{name}.csv").write_text(text)


def some(*names):
    return {name: TYPES[name] for name in names}


def parts(rows, *places):
    return [",".join(row.split(",")[i] for i in places) for row in rows]


def told_of(hospital):
    with pytest.raises(IngestionError) as error:
        hospital.load()
    return "\n".join(problem.sentence for problem in error.value.problems)


def test_a_copy_without_the_ids_is_not_public(people):
    rng = random.Random(9)
    rows = people.people
    strangers = [
        f"1999-01-{d:02},M,{rng.randrange(2000, 2900)},1.5" for d in range(1, 29)
    ]
    publish(people, "whole", TYPES, reversed(rows))
    publish(people, "three", some("birth", "sex", "zip"), parts(rows, 0, 1, 2))
    publish(people, "two", some("sex", "birth"), parts(rows, 1, 0))
    publish(people, "last_two", some("zip", "birth"), parts(rows, 2, 0))
    publish(people, "more", TYPES | {"ward": {"type": "text"}},
            [f"{row},{i % 7}" for i, row in enumerate(rows)])  # fmt: skip
    publish(people, "mixed", TYPES, [*rows[:60], *strangers])
    told = told_of(people)
    for name in ("whole", "three", "two", "last_two", "more", "mixed"):
        assert f"most rows of {name} are, by " in told
    assert "rows of stays that one patient alone has" in told
    assert "unit_column: pid" in told
    assert not any(row.split(",")[0] in told for row in rows)


@pytest.mark.parametrize("bound", [{"max": 20}, {"max": 300}])
def test_rows_are_compared_as_the_files_have_them(people, bound):
    people.column("weight", domain={"min": 0, **bound}, source="x")
    people.column("sex", domain={"values": ["M"], "other": True}, source="x")
    publish(people, "open", some("sex", "weight", "zip"), parts(people.people, 1, 3, 2))
    assert "most rows of open are" in told_of(people)


def test_rows_beyond_the_bound_are_compared(hospital):
    rng = random.Random(2)
    rows = [f"{rng.choice(DAYS)},{rng.randrange(10**3)}" for _ in range(600)]
    hospital.table = {"max_rows_per_unit": 1}
    declare(hospital, {"day": {"type": "date"}, "minute": {"type": "integer"}})
    lines = [f"{70_000 + i % 90},{row}" for i, row in enumerate(rows)]
    hospital.csv = as_csv("pid,day,minute", lines)
    types = {"day": {"type": "date"}, "minute": {"type": "integer"}}
    publish(hospital, "open", types, rows[300:])
    assert "most rows of open are" in told_of(hospital)


@pytest.mark.long
def test_a_handful_is_public_and_two_persons_may_say_that_it_is_chance(people):
    publish(people, "few", TYPES, people.people[:HANDFUL])
    said = some("birth", "zip") | {"birth": TYPES["birth"] | {"not_unit_ids": True}}
    publish(people, "said", said, parts(people.people, 0, 2))
    assert people.publishes()


@pytest.mark.long
def test_rows_of_a_later_load_are_found_in_what_is_public_already(people):
    publish(people, "open", TYPES, people.people)
    private, people.csv = people.csv, as_csv(f"pid,{NAMES}", ["1,1950-01-01,M,1,70"])
    people.load()
    schema = dataset_from_json(dataset_to_json(people.manifest().schema()))
    earlier = EarlierSnapshot(
        people.folder / people.target, Declared(schema, frozenset())
    )
    people.surroundings = Surroundings(snapshots={"lists": earlier})
    people.csv, people.target, people.more_tables = private, "later.duckdb", []
    assert "most rows of open of dataset lists are" in told_of(people)


@pytest.mark.long
@pytest.mark.parametrize("stays", [40, 400, 2_000])
def test_calendars_and_catalogues_are_public_beside_stays(hospital, stays):
    rng = random.Random(stays)
    drugs = [(f"drug {c}{i}", rng.choice(["10 mg", "20 mg"])) for c in "ab"
             for i in range(60)]  # fmt: skip
    texts = {n: {"type": "text"} for n in ("ward", "drug", "strength")}
    types = {"day": {"type": "date"}, **texts, "bed": {"type": "integer"}}
    declare(hospital, types)
    taken = rng.sample([(w, b, d) for w in WARDS for b in range(1, 20) for d in DAYS],
                       stays)  # fmt: skip
    rows = []
    for ward, bed, day in taken:
        drug, strength = rng.choice(drugs)
        rows.append(
            f"{rng.randrange(70_000, 99_000)},{day},{ward},{drug},{strength},{bed}"
        )
    hospital.csv = as_csv("pid,day,ward,drug,strength,bed", rows)
    dates = [(ward, day) for ward in WARDS for day in DAYS]
    public = {
        "calendar": ("ward,day", dates),
        "open_days": ("ward,day", rng.sample(dates, 900)),
        "staff": ("ward,day,bed", [(*one, rng.randrange(1, 20)) for one in dates]),
        "formulary": ("drug,strength", drugs),
        "beds": ("ward,bed", [(ward, bed) for ward in WARDS for bed in range(1, 20)]),
    }
    for name, (columns, lines) in public.items():
        declared = {one: types[one] for one in columns.split(",")}
        publish(hospital, name, declared, [",".join(map(str, line)) for line in lines])
    assert len(hospital.load().report.tables) == 6


def test_a_full_calendar_of_beds_is_public_though_each_is_of_one_patient(hospital):
    types = {"day": {"type": "date"}, "bed": {"type": "integer"}}
    declare(hospital, types)
    rng = random.Random(1)
    full = [f"{day},{bed}" for day in DAYS for bed in range(1, 13)]
    taken = rng.sample(full, len(full) * 9 // 10)
    hospital.csv = as_csv("pid,day,bed", enumerate_rows(taken))
    publish(hospital, "plan", types, full)
    assert hospital.publishes()


WRITTEN = {
    "day first": lambda d: f"{d[8:]}.{d[5:7]}.{d[:4]}",
    "month first": lambda d: f"{int(d[5:7])}/{int(d[8:])}/{d[:4]}",
    "midnight": lambda d: f"{d}T00:00:00Z",
    "as it is": str,
}


@pytest.mark.sampled
@pytest.mark.parametrize("written", WRITTEN)
def test_a_copy_is_found_whose_columns_are_texts(people, written):
    texts = {name: {"type": "text"} for name in ("birth", "zip", "weight")}
    rows = [row.split(",") for row in people.people]
    lines = [
        f"{WRITTEN[written](birth)},0{zip_},{weight}0"
        for birth, _, zip_, weight in rows
    ]
    publish(people, "open", texts, lines)
    assert "most rows of open are, by birth, zip, weight" in told_of(people)


@pytest.mark.long
def test_a_copy_is_found_whose_private_columns_are_texts_or_times(people):
    declare(people, TYPES | {"birth": {"type": "text"}, "zip": {"type": "text"}})
    publish(people, "open", some("birth", "zip"), parts(people.people, 0, 2))
    assert "most rows of open are, by birth, zip" in told_of(people)
    declare(people, TYPES | {"birth": {"type": "timestamp"}})
    assert "most rows of open are, by birth, zip" in told_of(people)


def test_a_text_that_says_a_day_in_words_hides_no_copy_by_the_other_columns(people):
    types = some("zip", "weight", "sex") | {"birth": {"type": "text"}}
    lines = [f"{line},year {i}" for i, line in
             enumerate(parts(people.people, 2, 3, 1))]  # fmt: skip
    publish(people, "open", types, lines)
    assert told_of(people).count("most rows of open are, by zip, weight, sex") == 1


def test_numbers_beyond_all_scales_are_compared(people):
    publish(people, "open", TYPES, people.people)
    people.column("weight", domain={"min": 0, "max": 900}, source="x")
    people.csv += f"1,1950-01-01,M,1,{'9' * 36}.5\n"
    assert "most rows of open are" in told_of(people)


@pytest.mark.long
def test_calendars_of_texts_are_public_beside_days_of_stays(hospital):
    rng = random.Random(4)
    declare(hospital, {"day": {"type": "date"}, "bed": {"type": "integer"}})
    taken = [f"{rng.choice(DAYS)},{rng.randrange(1, 40)}" for _ in range(300)]
    hospital.csv = as_csv("pid,day,bed", enumerate_rows(taken))
    types = {"day": {"type": "text"}, "bed": {"type": "text"}}
    open_days = [f"{day},{bed:02}" for day in DAYS for bed in rng.sample(range(40), 9)]
    publish(hospital, "plan", types, open_days)
    publish(hospital, "whole", types | {"day": {"type": "timestamp"}},
            [f"{day} 00:00:00,{bed}" for day in DAYS
             for bed in range(1, 40)])  # fmt: skip
    assert hospital.publishes()


def test_rows_are_compared_by_derived_columns_too(people):
    area = {"name": "area", "expression": "zip * 7", "type": "integer"}
    area |= {"domain": {"min": 0, "max": 20_000}, "source": "test"}
    people.table = {"derived": [area]}
    types = some("birth") | {"area": {"type": "integer"}}
    rows = [row.split(",") for row in people.people]
    publish(people, "copied", types, [f"{r[0]},{int(r[2]) * 7}" for r in rows])
    assert "most rows of copied are, by birth, area, rows of stays" in told_of(people)
    people.more_tables = []
    publish(people, "others", types, [f"1880-01-01,{n}" for n in range(400)])
    assert people.publishes()
