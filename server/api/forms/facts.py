"""What an answer says of itself beside its rows, by names that other forms use."""

from collections.abc import Mapping
from typing import Final, cast

Facts = dict[str, object]
"""By name; texts as they are, all else as JSON."""

USUAL_CONFIDENCE: Final = "0.95"
_MEMBERS: Final = (
    *("query_id", "snapshot", "release", "paid", "columns", "noise", "derivation"),
    "warnings",
)


def facts_of(answer: Mapping[str, object]) -> Facts:
    """Return what an answer tells, without its rows and what stands beside them.

    ``epsilon`` is what it was charged (``rho`` too, where its population counts that);
    where ``reused`` that is 0, and its numbers were paid for before. ``confidence`` is
    that of its intervals. What is left of a budget is no property of an answer, and is
    not among them.
    """
    told = {name: answer[name] for name in _MEMBERS if name in answer}
    charge = cast("Mapping[str, str | bool]", answer.get("charge", {}))
    return {
        **told,
        "epsilon": charge.get("epsilon", "0"),
        **{name: charge[name] for name in ("rho",) if name in charge},
        "reused": charge.get("reused", True),
        "confidence": _confidence(answer),
    }


def _confidence(answer: Mapping[str, object]) -> str:
    for member in ("intervals", "half_widths"):
        entries = cast("list[Mapping[str, str]]", answer.get(member, []))
        if entries:
            return entries[0]["confidence"]
    return USUAL_CONFIDENCE
