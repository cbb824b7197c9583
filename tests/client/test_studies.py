"""Several questions for one charge, in the client and in a notebook's cells."""

import asyncio
from pathlib import Path

import pytest

from curator_client import (
    Answer,
    AsyncCurator,
    Curator,
    CuratorRefusalError,
    Study,
    StudyPlan,
)
from tests.client.test_magic import shell  # noqa: F401 - a fixture
from tests.client.test_manual import BLOCK, run
from tests.client.test_manual import shell as hospital_shell  # noqa: F401 - a fixture

PAGE = Path(__file__).parents[2] / "docs/study-plans.md"
BY_SEX = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
BY_BOTH = "SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY sex, ward"
MEAN = "SELECT AVG(age) AS years FROM visits"
QUESTIONS = [BY_SEX, BY_BOTH, {"sql": MEAN, "epsilon": "0.5"}]


def test_a_study_is_planned_then_asked_for_one_charge(url, key):
    with Curator(url, key, project="study") as curator:
        plan = curator.plan_study(QUESTIONS, accuracy=40)
        asked = plan.ask()
        again = plan.ask()
        past = curator.past_study(asked.query_id)
        spent = curator.history(1)
        (listed,) = list(spent)
    assert isinstance(plan, StudyPlan)
    assert isinstance(asked, Study)
    assert float(plan.price) <= float(plan.one_by_one)
    assert str(plan).startswith(f"price: epsilon {plan.price} (")
    assert "[2] SELECT AVG(age) AS years FROM visits: as it is drawn" in str(plan)
    assert len(asked) == 3
    assert all(isinstance(each, Answer) for each in asked)
    assert [row[1] for row in asked[0].rows] == [
        sum(row[2] for row in asked[1].rows if row[0] == sex) for sex in "FM"
    ]
    assert max(asked[0].row_half_widths["n"]) <= 40
    assert again.document == past.document == asked.document
    assert listed.query_id == asked.query_id
    assert f"(paid for all: epsilon {plan.price})" in str(asked)


def test_a_study_can_be_awaited(url, key):
    async def asking():
        async with AsyncCurator(url, key, project="study") as curator:
            plan = await curator.plan_study(QUESTIONS, epsilon="0.9", accuracy=30)
            return plan, await plan.ask()

    plan, asked = asyncio.run(asking())
    assert plan.price == asked.charge["epsilon"] == "0.9"


def test_a_refusal_names_the_question(url, key):
    with (
        Curator(url, key) as curator,
        pytest.raises(CuratorRefusalError, match=r"questions\[1\]"),
    ):
        curator.study([BY_SEX, "SELECT MAX(age) FROM visits"], accuracy=9)


def test_cells_collect_a_study(shell):  # noqa: F811 - the fixture
    said = [
        shell.run_cell_magic("curator", "--study trial --within 40", sql)
        for sql in (BY_SEX, BY_BOTH, BY_SEX)
    ]
    plan = shell.run_line_magic("curator", "--study trial --plan")
    asked = shell.run_line_magic("curator", "--study trial")
    assert said[2].startswith("trial has 2: ")
    assert plan.price == asked.charge["epsilon"]
    assert len(asked) == 2


def test_the_pages_python_runs(hospital_shell):  # noqa: F811 - the fixture
    text = PAGE.read_text("utf-8")
    for language, block in BLOCK.findall(text):
        if language in {"python", "ipython"}:
            run(hospital_shell, block)
