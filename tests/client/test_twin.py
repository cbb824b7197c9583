"""The client that awaits is the client that waits: same names, same words, same use."""

import asyncio
import inspect

import pytest

from curator_client import AsyncCurator, Curator, SqlRefusedError

BY_WARD = (
    "SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward"
)
LIFE = {"__enter__": "__aenter__", "__exit__": "__aexit__"}


def public(client):
    return {name for name in vars(client) if not name.startswith("_")}


def methods():
    return sorted(public(Curator) - {"close"})


def test_both_have_the_same_public_names():
    assert public(AsyncCurator) == public(Curator)
    for name, twin in LIFE.items():
        assert hasattr(Curator, name)
        assert hasattr(AsyncCurator, twin)


@pytest.mark.parametrize("name", methods())
def test_both_say_the_same_and_take_the_same(name):
    waits, awaits = getattr(Curator, name), getattr(AsyncCurator, name)
    assert inspect.getdoc(waits)
    assert inspect.getdoc(waits) == inspect.getdoc(awaits)
    assert inspect.signature(waits) == inspect.signature(awaits)
    assert "Steps" not in str(inspect.signature(waits))


def test_both_are_made_alike():
    def arguments(client):
        parameters = inspect.signature(client).parameters
        return [(p.name, p.kind, p.default) for p in parameters.values()]

    assert arguments(AsyncCurator) == arguments(Curator)


async def asked(url, key):
    async with AsyncCurator(url, key, "clinic") as curator:
        plan = await curator.plan(BY_WARD, epsilon="0.5", options={"reuse": "never"})
        answer = await plan.ask()
        again = await plan.ask()
        budget = await curator.budget()
        past = [query async for query in curator.history(limit=3)]
        described = await curator.dataset()
        with pytest.raises(SqlRefusedError):
            await curator.query("SELECT MIN(age) FROM visits", epsilon="1")
        stored = await curator.answer(answer.query_id)
    return answer, again, budget, past, described, stored


def test_a_conversation_can_be_awaited(url, key):
    answer, again, budget, past, described, stored = asyncio.run(asked(url, key))
    assert answer.rows == again.rows == stored.rows
    assert answer.query_id == again.query_id == past[0].query_id
    assert budget.price == "0.5"
    assert described.name == "clinic"


def test_questions_can_be_asked_at_once(url, key):
    async def several():
        async with AsyncCurator(url, key, "clinic") as curator:
            return await asyncio.gather(
                *(
                    curator.query(
                        f"SELECT COUNT(*) FROM visits WHERE age > {age}", epsilon=1
                    )
                    for age in range(20, 30)
                )
            )

    answers = asyncio.run(several())
    assert len({answer.query_id for answer in answers}) == 10
