"""Decimals that one patient alone has are not public; price lists and limits are."""

import random

import pytest

from privacy.schema_json import dataset_from_json, dataset_to_json
from upstream.errors import IngestionError
from upstream.public_check.public_watch import Surroundings
from upstream.public_check.published_ids import HANDFUL, Declared, EarlierSnapshot
from upstream.public_check.row_evidence import Shared, Spread

ROWS = 400


def column(name, scale, **keys):
    return {"name": name, "type": "decimal", "scale": scale, **keys}


def publish(hospital, name, values, kind=None, **keys):
    """Declare one more public table of one column, ``x``: decimals, or texts."""
    declared = {"name": "x", "source": "a standard", **(kind or {"type": "text"})}
    hospital.more_tables.append(
        {"name": name, "files": [f"{name}.csv"], "public": True,
         "columns": [declared | keys]}
    )  # fmt: skip
    lines = "".join(f'"{value}"\n' for value in values)
    (hospital.folder / f"{name}.csv").write_text(f"x\n{lines}")


@pytest.fixture
def laboratory(hospital):
    """Have two results of each patient, with four decimals, and return those."""
    rng = random.Random(4)
    hospital.results = [f"{rng.lognormvariate(3, 1):.4f}" for _ in range(ROWS)]
    hospital.columns = [{"name": "pid", "type": "integer"}, column("result", 4)]
    lines = "".join(f"{i // 2 + 1},{one}\n" for i, one in enumerate(hospital.results))
    hospital.csv = f"pid,result\n{lines}"
    return hospital


def refused(hospital):
    with pytest.raises(IngestionError) as error:
        hospital.load()
    return "\n".join(problem.sentence for problem in error.value.problems)


@pytest.mark.long
def test_results_of_single_patients_are_not_public(laboratory):
    results = laboratory.results
    rng = random.Random(5)
    others = [f"{rng.lognormvariate(3, 1):.4f}" for _ in results]
    publish(laboratory, "typed", results, column("x", 4))
    publish(laboratory, "longer", results[:200], column("x", 6))
    publish(laboratory, "texts", [f" {one}0 " for one in results[:90]])
    publish(laboratory, "commas", [one.replace(".", ",") for one in results[:90]])
    publish(laboratory, "signed", [f"-{one}" for one in results[:90]])
    publish(laboratory, "mixed", results[:200] + others, column("x", 4))
    told = refused(laboratory)
    for name in ("typed", "longer", "texts", "commas", "signed", "mixed"):
        assert f"the column {name}.x holds values of stays.result" in told
    assert not any(one in told for one in results)


@pytest.mark.parametrize("domain", [{"min": 0, "max": 1}, {"min": 0, "max": 10**6}])
def test_results_that_no_domain_keeps_are_compared_as_the_files_have_them(
    laboratory, domain
):
    laboratory.column("result", domain=domain, source="x")
    publish(laboratory, "open", laboratory.results)
    assert "the column open.x holds values of stays.result" in refused(laboratory)


def test_columns_that_are_left_out_of_the_manifest_are_compared(laboratory):
    publish(laboratory, "open", ["a"])
    lines = "".join(f"a,{one}\n" for one in laboratory.results)
    (laboratory.folder / "open.csv").write_text(f"x,value\n{lines}")
    assert "the column 'value' in the files of open holds" in refused(laboratory)


def test_a_handful_is_public_and_two_persons_may_say_that_it_is_chance(laboratory):
    publish(laboratory, "few", laboratory.results[:HANDFUL])
    publish(laboratory, "said", laboratory.results, not_unit_ids=True)
    publish(laboratory, "typed", laboratory.results, column("x", 4), not_unit_ids=True)
    assert laboratory.publishes()


@pytest.mark.long
def test_a_handful_in_each_of_many_tables_is_counted_together(laboratory):
    for i in range(20):
        part = laboratory.results[5 * i : 5 * i + 5]
        publish(laboratory, f"ward_{i}", part)
    assert refused(laboratory).count("holds values of stays.result") == 20


@pytest.mark.long
def test_results_of_a_later_load_are_found_in_what_is_public_already(laboratory):
    publish(laboratory, "open", laboratory.results, column("x", 4))
    private, laboratory.csv = laboratory.csv, "pid,result\n9,1.5\n"
    laboratory.load()
    schema = dataset_from_json(dataset_to_json(laboratory.manifest().schema()))
    earlier = EarlierSnapshot(
        laboratory.folder / laboratory.target, Declared(schema, frozenset())
    )
    laboratory.surroundings = Surroundings(snapshots={"lists": earlier})
    laboratory.csv, laboratory.target = private, "later.duckdb"
    laboratory.more_tables = []
    assert "the column open.x of dataset lists holds" in refused(laboratory)


@pytest.mark.long
def test_ordinary_decimals_are_public_beside_private_ones(hospital):
    rng, uses = random.Random(6), 3 * ROWS
    prices = list({f"{rng.lognormvariate(4, 1):.2f}" for _ in range(700)})
    private = {
        "charge": (2, [rng.choice(prices) for _ in range(uses)]),
        "bill": (2, [f"{rng.lognormvariate(4, 1):.2f}" for _ in range(uses)]),
        "dose": (2, [f"{rng.randrange(1, 80) / 4:.2f}" for _ in range(uses)]),
        "weight": (1, [f"{rng.gauss(75, 14):.1f}" for _ in range(uses)]),
        "share": (4, [f"{rng.betavariate(2, 5):.4f}" for _ in range(uses)]),
        "second": (1, [f"{i / 10:.1f}" for i in range(1, uses + 1)]),
        "latitude": (5, [rng.choice(CLINICS) for _ in range(uses)]),
        "creatinine": (2, [f"{rng.lognormvariate(0, 0.3):.2f}" for _ in range(uses)]),
    }  # fmt: skip
    hospital.unit_type = "text"
    hospital.columns = [
        {"name": "pid", "type": "text"},
        *(column(name, scale) for name, (scale, _) in private.items()),
    ]
    rows = zip(*(values for _, values in private.values()), strict=True)
    lines = "".join(f"P{i // 2:05}X,{','.join(row)}\n" for i, row in enumerate(rows))
    hospital.csv = f"pid,{','.join(private)}\n{lines}"
    public = {
        "prices": (2, prices),
        "other_prices": (2, [f"{rng.lognormvariate(4, 1):.2f}" for _ in range(500)]),
        "doses": (2, [f"{i / 4:.2f}" for i in range(1, 200)]),
        "limits": (2, [f"{rng.lognormvariate(0, 0.5):.2f}" for _ in range(120)]),
        "weights": (1, [f"{i / 10:.1f}" for i in range(1, 3_000)]),
        "shares": (4, [f"{rng.betavariate(2, 5):.4f}" for _ in range(600)]),
        "all_shares": (3, [f"{i / 1000:.3f}" for i in range(1_001)]),
        "clinics": (5, CLINICS),
        "rates": (4, [f"{rng.uniform(0.1, 2):.4f}" for _ in range(365)]),
    }
    for name, (scale, values) in public.items():
        publish(hospital, name, values, column("x", scale))
        publish(hospital, f"{name}_as_texts", values)
    assert len(hospital.load().report.tables) == 1 + 2 * len(public)


CLINICS = [f"{47 + i / 7:.5f}" for i in range(30)]


@pytest.mark.long
def test_strangers_share_as_many_values_as_are_found_by_accident():
    rng = random.Random(8)
    for _ in range(300):
        size, uses = rng.randrange(10, 3_000), rng.randrange(6, 3_000)
        weights = [rng.lognormvariate(0, 2) for _ in range(size)]
        counts = [0] * size
        for value in rng.choices(range(size), weights, k=uses):
            counts[value] += 1
        public = [counts[i] for i in rng.sample(range(size), rng.randrange(1, size))]
        found = [n for n in public if n]
        shared = sum(n for n in found if n > 1)
        assert Shared(len(public), len(found), sum(found), shared).is_catalogue


def test_decimals_that_fill_their_range_are_anybodys():
    copied = Shared(600, 600, 600, 0)
    assert copied.is_of_units(Spread(600, 100_000))
    assert not copied.is_of_units(Spread(600, 1_000))
    assert not copied.is_of_units(Spread(1, 0))


def grouped(number, between, point):
    whole, places = f"{float(number):,.4f}".split(".")
    return f"{whole.replace(',', between)}{point}{places}"


AMOUNTS = {
    "commas": lambda one: grouped(one, ",", "."),
    "points": lambda one: grouped(one, ".", ","),
    "quotes": lambda one: grouped(one, "'", "."),
    "blanks": lambda one: grouped(one, " ", ","),
    "narrow blanks": lambda one: grouped(one, "\u202f", ",") + " €",
    "dollars": lambda one: f"${one}",
    "euros": lambda one: f"{one} EUR",
    "currency first": lambda one: f"CHF {grouped(one, '’', '.')}",  # noqa: RUF001
    "losses": lambda one: f"({one})",
    "powers": lambda one: f"{float(one):.10E}",
    "a unit": lambda one: f"{one} mg/dl",
    "less than": lambda one: f"<{one}",
}


@pytest.mark.sampled
@pytest.mark.parametrize("form", AMOUNTS)
def test_results_are_found_however_amounts_are_written(laboratory, form):
    results = [f"{float(one) * 900:.4f}" for one in laboratory.results]
    lines = "".join(f"{i // 2 + 1},{one}\n" for i, one in enumerate(results))
    laboratory.csv = f"pid,result\n{lines}"
    publish(laboratory, "open", [AMOUNTS[form](one) for one in results])
    told = refused(laboratory)
    assert "the column open.x holds values of stays.result" in told


@pytest.mark.long
def test_price_lists_are_public_however_amounts_are_written(hospital):
    rng = random.Random(6)
    prices = [f"{rng.lognormvariate(7, 1):.2f}" for _ in range(700)]
    hospital.columns = [{"name": "pid", "type": "integer"}, column("bill", 2)]
    bills = [rng.choice(prices) for _ in range(800)]
    bills += [f"{rng.lognormvariate(7, 1):.2f}" for _ in range(800)]
    lines = "".join(f"{70_000 + i},{one}\n" for i, one in enumerate(bills))
    hospital.csv = f"pid,bill\n{lines}"
    for name, form in AMOUNTS.items():
        publish(hospital, name.replace(" ", "_"), [form(one) for one in prices])
    publish(hospital, "codes", [f"E{i / 10:.1f}" for i in range(10, 900)])
    publish(hospital, "versions", [f"v{i}.{j}" for i in range(9) for j in range(9)])
    assert hospital.publishes()
