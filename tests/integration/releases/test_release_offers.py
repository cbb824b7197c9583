"""Plans offer a release only where it counts exactly what is asked (PRIVACY 7)."""

from threading import Timer

import pytest

from server.use_cases.questions.free_answer_limit import FreeAnswerLimit
from server.use_cases.releases import asked as asked_releases
from server.use_cases.releases import offers as release_offers
from server.use_cases.releases.offers import ReleaseOffers
from server.use_cases.services.errors import NotFoundError, RateLimitedError
from tests.support.data.wards import publish
from tests.support.installations.clocks import pass_hours
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    client,
    serve_in_thread,
)
from tests.support.noise.samplers import ZeroVectorSampler

pytestmark = pytest.mark.long

ROWS = [row.split(",") for row in DEFAULT_ROWS]
DIMENSIONS = [
    {"column": "sex"},
    {"column": "age", "bands": 10},
    {"column": "ward"},
    {"column": "day", "name": "month", "level": "month"},
]

PAIRS = "visits AS a JOIN visits AS b ON a.patient_id = b.patient_id"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """Serve a clinic with releases of rows, of units, of a part, and of others."""
    made = Installation(tmp_path_factory.mktemp("offers")).create()
    made.load()
    keys = {"ada": made.analyst(), "bob": made.analyst("bob", "other")}
    specs = {
        "rows": {"name": "all_rows"},
        "units": {"name": "all_units", "count": "units"},
        "by_sex": {"name": "by_sex", "count": "units", "dimensions": DIMENSIONS[:1]},
        "women": {"name": "women", "where": "sex = 'F'"},
        "bounded": {"name": "bounded", "bounds": {"tables": {"visits": 1}}},
        "capped": {"name": "capped", "bounds": {"max_rows_per_unit": 1}},
        "grouped": {
            "name": "grouped",
            "dimensions": [{"column": "ward"}, {"column": "age", "bands": 10}],
            "bounds": {"max_groups_per_unit": 1},
        },
        "pairs": {
            "name": "pairs",
            "from": PAIRS,
            "dimensions": [{"column": "a.sex", "name": "sex"}],
            "bounds": {"tables": {"visits": 2}},
        },
    }
    ids = {
        name: publish(made, ZeroVectorSampler, **spec)["release"]
        for name, spec in specs.items()
    }
    with serve_in_thread(made) as url:
        yield made, url, keys, ids


def planned(clinic, sql, who="ada", **options):
    _, url, keys, _ = clinic
    body = {"sql": sql, "epsilon": "1", "options": options}
    with client(url, keys[who]) as http:
        reply = http.post("/v1/datasets/clinic/plan", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def names(clinic, found):
    ids = {release: name for name, release in clinic[3].items()}
    return {ids[one["id"]] for one in found if one["kind"] == "release"}


def offered(clinic, sql, who="ada", **options):
    return names(clinic, planned(clinic, sql, who, **options)["free"])


OFFERED = [
    ("SELECT COUNT(*) FROM visits", {"rows"}),
    ("SELECT v.sex, COUNT(*) FROM visits AS v GROUP BY v.sex", {"rows"}),
    ("SELECT sex, COUNT(*) FROM visits WHERE ward = 'north' GROUP BY sex", {"rows"}),
    (
        "SELECT sex, COUNT(*) FROM visits WHERE sex = 'F' GROUP BY sex",
        {"rows", "women"},
    ),
    ("SELECT COUNT(*) FROM visits WHERE ward IS NULL AND sex = 'F'", {"rows", "women"}),
    ("SELECT age_band(age, 10) AS b, COUNT(*) FROM visits GROUP BY b", {"rows"}),
    ("SELECT age_band(age, 20) AS b, COUNT(*) FROM visits GROUP BY b", {"rows"}),
    (
        "SELECT EXTRACT(QUARTER FROM day) AS q, COUNT(*) FROM visits GROUP BY q",
        {"rows"},
    ),
    ("SELECT COUNT(ward) FROM visits", {"rows"}),
    (
        "SELECT AVG(CASE WHEN ward = 'north' THEN 1 ELSE 0 END) AS p FROM visits",
        {"rows"},
    ),
    ("SELECT sex, COUNT(DISTINCT patient_id) FROM visits GROUP BY sex", {"by_sex"}),
    ("SELECT COUNT(DISTINCT patient_id) FROM visits", {"by_sex"}),
    ("SELECT COUNT(DISTINCT patient_id) FROM visits WHERE sex = 'M'", {"by_sex"}),
    (
        (
            "SELECT sex, ward, age_band(age, 10) AS b, DATE_DIFF('month', "
            "DATE '2024-01-01', day) AS m, COUNT(DISTINCT patient_id) FROM visits "
            "WHERE day IS NOT NULL AND ward = 'north' GROUP BY sex, ward, b, m"
        ),
        {"units"},
    ),
]
NEAR_MISSES = [
    ("SELECT age, COUNT(*) FROM visits GROUP BY age", "dimension"),
    ("SELECT age_band(age, 5) AS b, COUNT(*) FROM visits GROUP BY b", "dimension"),
    ("SELECT age_band(age, 15) AS b, COUNT(*) FROM visits GROUP BY b", "dimension"),
    ("SELECT EXTRACT(DAY FROM day) AS d, COUNT(*) FROM visits GROUP BY d", "dimension"),
    ("SELECT COUNT(*) FROM visits WHERE age > 35", "filter"),
    ("SELECT COUNT(*) FROM visits WHERE note LIKE 'n%'", "filter"),
    ("SELECT COUNT(*) FROM visits WHERE sex = 'F' OR age > 35", "filter"),
    ("SELECT COUNT(*) FROM visits WHERE day >= DATE '2024-03-01'", "filter"),
    ("SELECT ward, COUNT(DISTINCT patient_id) FROM visits GROUP BY ward", "counting"),
    ("SELECT COUNT(DISTINCT ward) FROM visits", "counting"),
    ("SELECT MEDIAN(age) FROM visits", "counting"),
    ("SELECT SUM(age) FROM visits", "dimension"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), OFFERED)
def test_exact_matches_are_offered(clinic, sql, expected):
    assert offered(clinic, sql) == expected


@pytest.mark.parametrize(("sql", "what"), NEAR_MISSES)
def test_near_misses_are_related_with_their_differences(clinic, sql, what):
    plan = planned(clinic, sql)

    rows = next(one for one in plan["related"] if one["name"] == "all_rows")
    assert names(clinic, plan["free"]) == set()
    assert what in {difference["what"] for difference in rows["differences"]}
    assert all(difference["detail"] for difference in rows["differences"])


@pytest.mark.parametrize(
    "bounds",
    [{"tables": {"visits": 2}}, {"max_rows_per_unit": 2}, {"max_groups_per_unit": 1}],
)
def test_other_bounds_are_no_match(clinic, bounds):
    sql = "SELECT sex, COUNT(*) FROM visits GROUP BY sex"

    plan = planned(clinic, sql, bounds=bounds)

    assert names(clinic, plan["free"]) == set()
    assert "all_rows" in {one["name"] for one in plan["related"]}


def test_the_same_bound_of_a_table_is_a_match(clinic):
    sql = "SELECT sex, COUNT(*) FROM visits GROUP BY sex"

    assert offered(clinic, sql, bounds={"tables": {"visits": 1}}) == {"bounded"}


CAPPED = [
    ("SELECT sex, COUNT(*) FROM visits GROUP BY sex", {"max_rows_per_unit": 1},
     {"capped"}),
    ("SELECT ward, sex, COUNT(*) FROM visits GROUP BY 1, 2", {"max_rows_per_unit": 1},
     {"capped"}),
    ("SELECT COUNT(*) FROM visits WHERE sex = 'F'", {"max_rows_per_unit": 1}, set()),
    ("SELECT sex, COUNT(*) FROM visits GROUP BY sex", {"max_rows_per_unit": 2}, set()),
    ("SELECT sex, COUNT(*) FROM visits GROUP BY sex",
     {"max_rows_per_unit": 1, "tables": {"visits": 1}}, {"bounded"}),
    ("SELECT age_band(age, 10) AS b, ward, COUNT(*) FROM visits GROUP BY b, ward",
     {"max_groups_per_unit": 1}, {"grouped"}),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward", {"max_groups_per_unit": 1},
     set()),
    ("SELECT sex, COUNT(*) FROM visits GROUP BY sex", {"max_groups_per_unit": 1},
     set()),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "bounds", "expected"), CAPPED)
def test_the_same_bounds_of_the_same_rows_are_a_match(clinic, sql, bounds, expected):
    assert offered(clinic, sql, bounds=bounds) == expected


def test_a_release_that_leaves_rows_out_is_no_match_for_all_rows(clinic):
    plan = planned(clinic, "SELECT COUNT(*) FROM visits")

    by_name = {one["name"]: one["differences"] for one in plan["related"]}
    assert [d["what"] for d in by_name["women"]] == ["filter"]
    assert [d["what"] for d in by_name["capped"]] == ["bounds"]
    assert [d["what"] for d in by_name["all_units"]] == ["counting"]


def test_a_join_of_bounded_tables_is_near_to_the_same_join_of_whole_ones(clinic):
    sql = f"SELECT a.sex, COUNT(*) FROM {PAIRS} GROUP BY a.sex"

    assert offered(clinic, sql, bounds={"tables": {"visits": 2}}) == {"pairs"}
    (near,) = planned(clinic, sql)["related"]
    assert near["name"] == "pairs"
    assert [each["what"] for each in near["differences"]] == ["bounds"]


def test_other_sources_are_not_even_related(clinic):
    sql = (
        "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS k FROM visits "
        "GROUP BY patient_id) AS t WHERE k > 1"
    )
    plan = planned(clinic, sql)

    assert (plan["free"], plan["related"]) == ([], [])


def test_a_question_that_is_too_long_to_compare_is_planned_and_paid(clinic):
    """Columns computed of columns, 4^6 terms once written out."""
    source = "SELECT patient_id, age AS x FROM visits"
    choice = "CASE WHEN x > 3 THEN x WHEN x > 7 THEN x WHEN x > 9 THEN x ELSE x END"
    for level in range(6):
        source = f"SELECT patient_id, {choice} AS x FROM ({source}) AS d{level}"
    plan = planned(clinic, f"SELECT COUNT(*) FROM ({source}) AS z")

    assert (plan["free"], plan["related"]) == ([], [])


def test_nothing_of_a_release_shows_to_those_who_may_not_read_it(clinic):
    plan = planned(clinic, "SELECT COUNT(*) FROM visits", who="bob")

    assert (plan["free"], plan["related"]) == ([], [])


def test_prefer_takes_a_release_and_charges_nothing(clinic):
    _, url, keys, ids = clinic
    sql = "SELECT sex, COUNT(*) AS n FROM visits WHERE ward = 'north' GROUP BY sex"
    body = {"sql": sql, "epsilon": "1", "options": {"prefer": "release"}}
    with client(url, keys["ada"]) as http:
        spent = http.get("/v1/budget").json()
        reply = http.post("/v1/datasets/clinic/queries", json=body)
        kept = http.get(f"/v1/queries/{reply.json()['query_id']}").json()
        same = http.get("/v1/budget").json()

    answer = reply.json()
    expected = [
        [sex, sum(row[1] == sex and row[3] == "north" for row in ROWS)] for sex in "FM"
    ]
    assert answer["rows"] == expected
    assert answer["release"]["id"] == ids["rows"]
    assert answer["charge"] == {"epsilon": "0", "delta": "0", "reused": True}
    assert kept["answer"] == answer
    assert same == spent


def test_an_answer_from_a_release_takes_its_whole_size_of_the_askers_room(
    clinic, monkeypatch
):
    taken = []
    monkeypatch.setattr(
        FreeAnswerLimit, "take", lambda _, who, size: taken.append((who, size))
    )
    _, url, keys, _ = clinic
    body = {
        "sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "epsilon": "1",
        "options": {"prefer": "release"},
    }
    with client(url, keys["ada"]) as http:
        reply = http.post("/v1/datasets/clinic/queries", json=body)
    ((who, size),) = taken
    assert "release" in reply.json()
    assert who == "ada"
    assert size >= len(reply.content)


def test_who_is_out_of_room_may_pay_for_what_no_release_can_answer(clinic, monkeypatch):
    def full(_, principal):
        raise RateLimitedError(principal, 1)

    def gone(_, offer, *more):
        raise NotFoundError(offer.known.cube.id)

    _, url, keys, _ = clinic
    sql = "SELECT ward, COUNT(*) AS others FROM visits GROUP BY ward"
    body = {"sql": sql, "epsilon": "0.7", "options": {"prefer": "release"}}
    monkeypatch.setattr(FreeAnswerLimit, "check", full)
    with client(url, keys["ada"]) as http:
        refused = http.post("/v1/datasets/clinic/queries", json=body)
        monkeypatch.setattr(ReleaseOffers, "answer", gone)
        paid = http.post("/v1/datasets/clinic/queries", json=body)
    assert refused.status_code == 429
    assert paid.status_code == 200
    assert paid.json()["charge"]["epsilon"] == "0.7"


def test_an_answer_from_a_release_is_kept_under_its_idempotency_key(clinic):
    _, url, keys, _ = clinic
    sql = "SELECT COUNT(*) AS n FROM visits"
    body = {"sql": sql, "epsilon": "1", "options": {"prefer": "release"}}
    with client(url, keys["ada"], follow_redirects=False) as http:
        headers = {"Idempotency-Key": "k1"}
        first, second = (
            http.post("/v1/datasets/clinic/queries", json=body, headers=headers)
            for _ in range(2)
        )

    assert first.content == second.content
    assert second.headers["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize(
    ("sql", "options", "who"),
    [
        ("SELECT COUNT(*) FROM visits WHERE age > 35", {"prefer": "release"}, "ada"),
        ("SELECT COUNT(*) FROM visits", {"prefer": "release"}, "bob"),
        (
            "SELECT COUNT(*) FROM visits",
            {"prefer": "release", "reuse": "never"},
            "ada",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE ward = 'south' AND sex = 'M'",
            {},
            "ada",
        ),
    ],
)
def test_without_a_match_or_a_wish_the_question_is_paid(clinic, sql, options, who):
    _, url, keys, _ = clinic
    body = {"sql": sql, "epsilon": "1", "options": options}
    with client(url, keys[who]) as http:
        answer = http.post("/v1/datasets/clinic/queries", json=body).json()

    assert answer["charge"]["epsilon"] == "1"
    assert "release" not in answer


def test_the_ledger_verifies_with_free_answers_of_releases_in_it(clinic):
    made, *_ = clinic

    assert made.curator("ledger", "verify").returncode == 0


def test_a_release_of_another_snapshot_is_related_alone(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    key = made.analyst()
    release = publish(made, ZeroVectorSampler)["release"]
    made.load()
    with serve_in_thread(made) as url:
        found = planned(
            (made, url, {"ada": key}, {"old": release}), "SELECT COUNT(*) FROM visits"
        )

    (near,) = found["related"]
    assert found["free"] == []
    assert near["id"] == release
    assert [difference["what"] for difference in near["differences"]] == ["snapshot"]


def of_releases(offers):
    """Leave out what the project's own paid numbers give."""
    return [one for one in offers if one["kind"] != "paid"]


def test_comparing_is_bounded_in_values(clinic, monkeypatch):
    sql = "SELECT COUNT(*) AS bounded FROM visits WHERE ward = 'north'"

    monkeypatch.setattr(release_offers, "COMPARED_VALUES", 1)
    few = planned(clinic, sql)

    assert of_releases(few["free"]) == []
    assert "rows" in names(clinic, few["related"])


def test_comparing_is_bounded_in_steps_the_newest_first(clinic, monkeypatch):
    sql = "SELECT COUNT(*) AS stepped FROM visits WHERE ward = 'north'"
    counted = []
    for steps in (0, 10_000_000, 30_000_000, 10**9):
        monkeypatch.setattr(release_offers, "COMPARED_STEPS", steps)
        plan = planned(clinic, sql)
        counted.append(len(of_releases(plan["free"])) + len(plan["related"]))

    assert counted[0] == 0
    assert counted == sorted(counted)
    assert counted[1] < counted[-1]
    assert names(clinic, of_releases(plan["free"])) == {"rows"}


def test_no_clock_decides_whether_there_is_an_offer(clinic, monkeypatch):
    sql = "SELECT COUNT(*) AS slowly FROM visits WHERE ward = 'north' OR sex = 'F'"
    known = release_offers.ReleaseOffers.find

    def an_hour_later(self, *asked):
        with monkeypatch.context() as patched:
            pass_hours(patched, ["monotonic"])
            patched.setattr(
                "release.cubes.questions.evaluating.engine.SAFETY_SECONDS", float("inf")
            )
            return known(self, *asked)

    monkeypatch.setattr(release_offers.ReleaseOffers, "find", an_hour_later)

    assert offered(clinic, sql) == {"rows"}


def test_others_who_compare_delay_an_offer_and_never_refuse_it(clinic, monkeypatch):
    sql = "SELECT COUNT(*) AS crowded FROM visits WHERE ward = 'north'"
    known, waits = release_offers.ReleaseOffers.find, []

    def others_first(self, *asked):
        for _ in range(release_offers.COMPARED_AT_ONCE):
            self._comparing.acquire()
            waits.append(Timer(0.3, self._comparing.release))
            waits[-1].start()
        return known(self, *asked)

    monkeypatch.setattr(release_offers.ReleaseOffers, "find", others_first)

    assert offered(clinic, sql) == {"rows"}
    assert len(waits) == release_offers.COMPARED_AT_ONCE


OVER = "(SELECT patient_id, sex, {value} AS a FROM visits) AS d"


@pytest.mark.parametrize(
    ("counted", "other"),
    [
        ("age + 1", "age - 40"),
        (
            "CASE WHEN age >= 50 THEN 40 ELSE 0 END",
            "CASE WHEN age >= 90 THEN 40 ELSE 0 END",
        ),
    ],
)
def test_columns_that_are_made_otherwise_are_no_match(tmp_path, counted, other):
    made = Installation(tmp_path).create()
    made.load()
    key = made.analyst()
    source = OVER.format(value=counted)
    dimensions = [{"column": "sex"}]
    spec = {"from": source, "dimensions": dimensions, "where": "a > 30"}
    release = publish(made, ZeroVectorSampler, **spec)["release"]
    with serve_in_thread(made) as url:
        served = (made, url, {"ada": key}, {"made": release})
        sql = "SELECT sex, COUNT(*) FROM {} WHERE a > 30 GROUP BY sex"
        assert offered(served, sql.format(source)) == {"made"}
        assert offered(served, sql.format(OVER.format(value=other))) == set()


@pytest.mark.parametrize("first", ["2023-11-15", "2024-03-15"])
def test_months_since_another_day_are_no_calendar_months(tmp_path, first):
    """Their numbers begin elsewhere: 0 is not the first month that there may be."""
    made = Installation(tmp_path).create()
    made.load()
    key = made.analyst()
    months = f"DATE_DIFF('month', DATE '{first}', day)"
    spec = {
        "from": f"(SELECT patient_id, {months} AS m FROM visits) AS t",
        "dimensions": [{"column": "m"}],
    }
    publish(made, ZeroVectorSampler, **spec)
    with serve_in_thread(made) as url:
        served = (made, url, {"ada": key}, {})
        sql = "SELECT EXTRACT(MONTH FROM day) AS m, COUNT(*) FROM visits GROUP BY m"
        assert planned(served, sql)["free"] == []


def test_a_release_whose_files_are_gone_leaves_the_question_to_be_paid(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    key = made.analyst()
    publish(made, ZeroVectorSampler)
    (folder,) = made.settings.releases.iterdir()
    folder.rename(tmp_path / "gone")
    body = {
        "sql": "SELECT COUNT(*) FROM visits",
        "epsilon": "1",
        "options": {"prefer": "release"},
    }

    with serve_in_thread(made) as url, client(url, key) as http:
        reply = http.post("/v1/datasets/clinic/queries", json=body)

    assert reply.status_code == 200, reply.text
    assert reply.json()["charge"]["epsilon"] == "1"


def test_questions_to_releases_hold_a_few_threads_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(asked_releases, "WAITING", 0)
    made = Installation(tmp_path).create()
    made.load()
    key = made.analyst()
    release = publish(made, ZeroVectorSampler)["release"]

    with serve_in_thread(made) as url, client(url, key) as http:
        body = {"sql": "SELECT COUNT(*) FROM all_rows"}
        reply = http.post(f"/v1/releases/{release}/queries", json=body)

    assert (reply.status_code, reply.json()["type"]) == (503, "busy")
