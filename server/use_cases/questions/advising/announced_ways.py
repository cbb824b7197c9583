"""Ways that are not there yet: releases that are announced, and will be free.

Told where waiting would bring what is wished for: numbers as exact as the accuracy, or
as the question itself would be.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final

from privacy.losses import Loss
from query_lang.plans.compiled import NumberShown
from server.use_cases.identity.access import Caller, Grant
from server.use_cases.losses.amounts import priced
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.noise import noise_of
from server.use_cases.questions.plan_replies import AnnouncedWay
from server.use_cases.questions.questions import Question, schema_of
from server.use_cases.questions.released_numbers import confidence_text
from server.use_cases.questions.requests import Accuracy
from server.use_cases.releases.foreseen import Foreseen, ForeseenReleases, Wanted

MOST_TOLD: Final = 3
"""Announced releases that one plan lists, those with the nearest day first."""
_SHOWN: Final = "0.95"


class AnnouncedWays:
    """Finds announced releases that are worth waiting for.

    Args:
        foreseen: Says which of them will answer a question, and how exactly.
    """

    def __init__(self, foreseen: ForeseenReleases) -> None:
        self._foreseen = foreseen

    def find(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        wish: Accuracy | None,
        looked_at: LookedAt,
    ) -> list[AnnouncedWay]:
        """Return the announced releases that will do, by their day.

        Args:
            caller: Who asks.
            grant: Of the asker.
            question: As it was priced; where no loss brings the wish, at any.
            wish: What is wished for, if an accuracy is.
            looked_at: Counts what it takes.
        """
        if not all(
            isinstance(column.shown, NumberShown)
            for column in question.compiled.columns
            if column.kind == "measure"
        ):
            return []  # what an average is off by depends on the numbers
        at = None if wish is None else confidence_text(1 - wish.confidence)
        wanted = Wanted(
            question.bound,
            grant.dataset,
            grant.snapshot,
            schema_of(grant.snapshot, grant.schema).dataset,
            list(dict.fromkeys([_SHOWN, at or _SHOWN])),
        )
        found, steps = self._foreseen.find(caller, wanted)
        looked_at.add_foreseen(steps)
        fits = [each for each in found if _is_enough(each, question, wish, at)]
        return [_way(grant, each) for each in fits[:MOST_TOLD]]


def _is_enough(
    foreseen: Foreseen, question: Question, wish: Accuracy | None, at: str | None
) -> bool:
    """Whether a release keeps to a wish for each cell, or is as good as the question.

    A question that was priced for a wish keeps to it, whatever the wish is of.
    """
    if wish is not None and wish.cells is None and wish.rows is None and at is not None:
        widths = foreseen.half_widths[at].values()
        if all(Fraction(width) <= wish.within for width in widths):
            return True
    keeps_wish = wish is None or question.wish is not None
    return keeps_wish and _is_as_good(foreseen.half_widths[_SHOWN], question)


def _is_as_good(widths: Mapping[str, Decimal], question: Question) -> bool:
    own = {
        each["column"]: Fraction(each["half_width_95"])
        for each in noise_of(question.compiled, question.event)
    }
    return all(
        column in own and Fraction(width) <= own[column]
        for column, width in widths.items()
    )


def _way(grant: Grant, foreseen: Foreseen) -> AnnouncedWay:
    widths = foreseen.half_widths[_SHOWN].items()
    return {
        "kind": "announced",
        "detail": f"the release {foreseen.name}, announced for {foreseen.due}, will "
        "count what you ask: once it is there, plan again",
        **priced(grant.measure, Loss(0)),
        "half_widths": [
            {"column": column, "half_width_95": format(width, "f")}
            for column, width in widths
        ],
        "release": foreseen.name,
        "by": foreseen.due,
    }
