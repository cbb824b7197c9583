"""Pages of a real server: what can be learnt without paying, and how it reads."""

import pytest

from curator_client import Curator, NotFoundError

BY_WARD = (
    "SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward"
)


@pytest.fixture
def curator(url, key):
    with Curator(url, key) as connection:
        yield connection


@pytest.fixture
def researcher(hospital):
    with Curator(*hospital) as connection:
        yield connection


def test_a_dataset_reads_as_a_page(researcher):
    shown = repr(researcher.dataset())
    assert shown.startswith("hospital: of population hospital, as of 2025-12-31")
    assert "encounters: at most 20 rows for each patient_id" in shown
    assert 'display rule: pass counts below 11 on as "below 11"' in shown
    assert "1900 to 2025" in shown
    assert "none: filter only" in shown
    assert "decimal(1)" in shown
    assert researcher.dataset()._repr_html_().count("<table>") == 5


def test_a_schema_lists_columns_with_their_domains(researcher):
    columns = researcher.schema("prescriptions")
    assert [column["column"] for column in columns] == [
        "patient_id",
        "started",
        "drug",
        "days_supply",
    ]
    assert columns[1]["domain"] == "2020-01-01 to 2025-12-31"
    assert columns[2]["domain"].endswith("and 5 more")
    assert len(researcher.schema()) > len(columns)


def test_a_mistyped_table_or_column_is_told_with_what_is_near(researcher):
    with pytest.raises(LookupError, match="did you mean encounters"):
        researcher.schema("encounter")
    with pytest.raises(LookupError, match="did you mean department"):
        researcher.domains("departement")


def test_domains_are_the_values_that_an_answer_may_speak_of(researcher):
    (sex,) = researcher.domains("sex")
    assert sex.values == ["F", "M", "other"]
    assert repr(sex) == "patients.sex (text): F, M, other"
    (admitted,) = researcher.domains("encounters.admitted")
    assert admitted.bounds == ("2020-01-01", "2025-12-31")
    assert admitted.values is None
    assert len(researcher.domains("patient_id")) == 5
    assert researcher.domains("code")[0].document is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CARDIO", ["value", "encounters.department", "cardiology"]),
        ("supply", ["column", "prescriptions.days_supply", "days_supply"]),
        ("labs", ["table", "hospital", "labs"]),
    ],
)
def test_a_word_is_found_wherever_the_page_shows_it(researcher, text, found):
    assert found in researcher.search(text).rows


def test_a_word_that_is_nowhere_is_not_found(researcher):
    assert len(researcher.search("unicorn")) == 0
    assert "(none)" in repr(researcher.search("unicorn"))


def test_the_budget_says_how_many_more_such_questions_fit(curator):
    assert "more at" not in repr(curator.budget())
    curator.plan(BY_WARD, epsilon="0.3")
    budget = curator.budget()
    assert budget.price == "0.3"
    left = float(budget.remaining())
    assert budget.questions_left() == int(left / 0.3 + 1e-9)
    assert f"{budget.questions_left():,} more questions at epsilon 0.3 fit" in repr(
        budget
    )
    assert "cap is not shown" in budget._repr_html_()
    assert curator.budget("50").price == "50"


def test_a_plan_asks_exactly_itself_and_is_paid_once(curator):
    plan = curator.plan(
        BY_WARD,
        accuracy={"within": 9, "confidence": 0.95},
        options={"reuse": "never", "bounds": {"max_rows_per_unit": 1}},
    )
    before = float(curator.budget().remaining())
    answer = plan.ask()
    assert answer.charge["epsilon"] == plan.epsilon
    assert answer.noise == plan.noise
    assert answer.half_widths == plan.half_widths == {"patients": 9.0}
    assert plan.ask().query_id == answer.query_id
    spent = before - float(curator.budget().remaining())
    assert spent == pytest.approx(float(plan.epsilon))


def test_the_history_is_read_page_by_page(curator, monkeypatch):
    monkeypatch.setattr("curator_client.questions._PAGE", 2)
    asked = [
        curator.query(BY_WARD, epsilon=1, options={"reuse": "never"}).query_id
        for _ in range(5)
    ][::-1]
    assert [past.query_id for past in curator.history(limit=5)] == asked
    walk = curator.history()
    assert BY_WARD in repr(walk)
    assert "epsilon" in walk._repr_html_()
    assert list(curator.history(limit=2).to_pandas()["query_id"]) == asked[:2]
    assert [next(walk).query_id for _ in range(3)] == asked[:3]
    assert BY_WARD in repr(next(curator.history(limit=1)))
    everything = [past.query_id for past in curator.history()]
    assert len(everything) == len(set(everything)) >= 5


def test_made_up_rows_look_like_the_table(curator):
    try:
        sample = curator.sample("visits", 5)
    except NotFoundError:
        pytest.skip("this server makes up no rows")
    assert len(sample) == 5
    assert sample.columns[:2] == ["patient_id", "sex"]
    assert "nobody's" in repr(sample)
