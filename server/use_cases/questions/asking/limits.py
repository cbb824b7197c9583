"""The limits that a charge debits, and what an asker may see left of them."""

from collections.abc import Mapping, Sequence

from budget.ledger import Scope
from privacy.losses import Loss
from server.use_cases.identity.access import Caller, Grant
from server.use_cases.losses.caps import cap_scopes
from server.use_cases.questions.replies import Remaining


def scopes_of(grant: Grant, caller: Caller, blocks: Sequence[str]) -> tuple[Scope, ...]:
    """Return every limit that a charge under this grant debits.

    Args:
        grant: Of the asker.
        caller: Who asks.
        blocks: Whose units the question can touch; empty where there are none.
    """
    return (
        *cap_scopes(grant.population, blocks),
        Scope.project(grant.project.name),
        Scope.principal(grant.project.name, caller.name),
    )


def visible_remaining(
    left: Mapping[Scope, Loss | None], grant: Grant, caller: Caller
) -> Remaining:
    """Return what remains of the limits that an analyst may see."""
    project = left.get(Scope.project(grant.project.name))
    principal = left.get(Scope.principal(grant.project.name, caller.name))
    return {
        "project": None if project is None else str(project),
        "principal": None if principal is None else str(principal),
    }


def passed_limit(loss: Loss, shown: Remaining) -> str:
    """Name the limit that is passed: one that is shown, or the one that is not."""
    texts = (shown["project"], shown["principal"])
    left = [Loss.parse(text) for text in texts if text is not None]
    if any(loss > one for one in left):
        return "what remains"
    return "what remains of a limit that is not shown to you"
