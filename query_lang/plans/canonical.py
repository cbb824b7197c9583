"""The identity of a question: JSON text that is equal for equal bound plans."""

import json
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction

from privacy.schema import Table
from query_lang.plans.column_numbers import with_ranked_slots
from query_lang.plans.compiled import Presentation
from query_lang.plans.expressions import Facts
from query_lang.plans.nodes import Aggregate, Key


def canonical_text(plan: Aggregate, weights: Sequence[Fraction]) -> str:
    """Return compact JSON of a plan and its weights, shares of 1, in stable order.

    Slots stand for columns, so that names of tables and spacing do not matter (those of
    output columns do: they are part of the answer), nor how often a subquery was
    written; a value carries its type, so that no two plans share a text.
    """
    plan = with_ranked_slots(plan)
    document = {"plan": plan_to_json(plan), "weights": _shares(weights)}
    return _compact(document)


def canonical_json(plan: object) -> str:
    """Return compact JSON of a plan that has no weights, in stable order."""
    return _compact({"plan": plan_to_json(plan)})


def _compact(document: object) -> str:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True)


def _shares(weights: Sequence[Fraction]) -> list[str]:
    total = sum(weights, start=Fraction(0))
    return [str(weight / total) for weight in weights]


def plan_to_json(value: object) -> object:  # noqa: PLR0911 - an arm a form
    """Write a node as a list: its class's name, then its fields in order.

    Facts are left out (they follow from the rest and the schema), and a table is its
    name.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple):
        return [plan_to_json(item) for item in value]
    if isinstance(value, date | Decimal | Fraction):
        return [type(value).__name__, str(value)]
    if isinstance(value, Table):
        return value.name
    return [type(value).__name__, *_fields(value)]


def _fields(value: object) -> list[object]:
    shown: list[object] = []
    for each in _names(value):
        part: object = getattr(value, each)
        if not isinstance(part, Facts):
            shown.append(plan_to_json(part))
    return shown


def _names(value: object) -> tuple[str, ...]:
    """Return a node's fields.

    A key's cells, and those that WHERE leaves, follow from the rest and the schema.
    What keeps all rows, or adds up none, is not named, so that texts of before it was
    there are equal.
    """
    names: tuple[str, ...] = type(value).__dict__["__match_args__"]
    if isinstance(value, Key):
        return names[:-2]
    if isinstance(value, Presentation) and not value.sets:
        return names[: -1 if value.kept is not None else -2]
    return names
