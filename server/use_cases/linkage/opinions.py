"""What clerks' opinions of a pair come to, and how clerks agree."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from server.use_cases.linkage.replies import (
    AgreementShape,
    AgreementsShape,
    ClerkShape,
    Verdict,
)

State = Literal["open", "waiting", "contested", "match", "no_match"]
Pair = tuple[int, int]
UNDECIDED: frozenset[State] = frozenset({"open", "waiting", "contested"})
"""Of a pair that clerks are still asked about."""
_SURE: tuple[Verdict, Verdict] = ("match", "no_match")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a clerk says of a pair; of several of one clerk the last counts.

    Attributes:
        pair: The records' numbers, the smaller first.
        clerk: Who.
        verdict: What.
    """

    pair: Pair
    clerk: str
    verdict: Verdict


def last_verdicts(opinions: Iterable[Opinion]) -> dict[Pair, dict[str, Verdict]]:
    """Return what each clerk says last of each pair, pairs in order of decision."""
    told: dict[Pair, dict[str, Verdict]] = defaultdict(dict)
    for one in opinions:
        told[one.pair][one.clerk] = one.verdict
    return told


def state_of(verdicts: Iterable[Verdict], needed: int) -> State:
    """Return what opinions come to: the majority of those who are sure.

    Args:
        verdicts: One of each clerk.
        needed: How many have to agree.

    >>> state_of(["match"], 1), state_of(["match"], 2), state_of(["match", "no_match"], 1)
    ('match', 'waiting', 'contested')
    """  # noqa: E501 - one example
    count = Counter(verdicts)
    match, no_match = (count[one] for one in _SURE)
    if match and match == no_match:
        return "contested"
    if max(match, no_match) < needed:
        return "waiting" if count.total() else "open"
    return "match" if match > no_match else "no_match"


@dataclass(frozen=True, slots=True)
class Standing:
    """What clerks say of pairs now.

    Attributes:
        told: What each clerk said last, by pair.
        needed: How many have to agree.
        fresh: Pairs of which something was said since the latest run.
    """

    told: Mapping[Pair, Mapping[str, Verdict]]
    needed: int
    fresh: frozenset[Pair]

    def verdicts(self, pair: Pair) -> Mapping[str, Verdict]:
        """Return what each clerk says of a pair."""
        return self.told.get(pair, {})

    def state(self, pair: Pair, reason: str | None = None) -> State:
        """Return what opinions of a pair come to.

        Args:
            pair: The records' numbers.
            reason: Why the pair is doubtful; None: it need not be. A decision that
                others contradict is contested, until somebody says something anew.
        """
        if self.is_contradicted(pair, reason):
            return "contested"
        return state_of(self.verdicts(pair).values(), self.needed)

    def is_contradicted(self, pair: Pair, reason: str | None) -> bool:
        """Whether a pair's decision was found to contradict others."""
        return reason == "contradiction" and pair not in self.fresh

    def is_open_to(self, clerk: str, pair: Pair, reason: str) -> bool:
        """Whether a clerk is asked about a doubtful pair."""
        if self.is_contradicted(pair, reason):
            return True
        is_undecided = self.state(pair, reason) in UNDECIDED
        return is_undecided and clerk not in self.verdicts(pair)


def agreements(opinions: Sequence[Opinion]) -> AgreementsShape:
    """Return what each clerk decided, and how any two agree where both were sure."""
    verdicts = last_verdicts(opinions)
    clerks = sorted({one.clerk for one in opinions})
    told = [_clerk(clerk, verdicts) for clerk in clerks]
    between = [_between(pair, verdicts) for pair in combinations(clerks, 2)]
    return {"clerks": told, "agreements": [one for one in between if one["pairs"]]}


def _clerk(clerk: str, verdicts: Mapping[Pair, Mapping[str, Verdict]]) -> ClerkShape:
    count = Counter(told[clerk] for told in verdicts.values() if clerk in told)
    return {
        "clerk": clerk,
        "pairs": count.total(),
        "matches": count["match"],
        "no_matches": count["no_match"],
        "unsure": count["unsure"],
    }


def _between(
    clerks: tuple[str, str], verdicts: Mapping[Pair, Mapping[str, Verdict]]
) -> AgreementShape:
    one, other = clerks
    both = [
        (told[one], told[other])
        for told in verdicts.values()
        if told.get(one) in _SURE and told.get(other) in _SURE
    ]
    agreed = sum(ours == theirs for ours, theirs in both)
    return {
        "clerks": [one, other],
        "pairs": len(both),
        "agreed": agreed,
        "kappa": _kappa(both, agreed),
    }


def _kappa(both: Sequence[tuple[Verdict, Verdict]], agreed: int) -> float | None:
    """Return Cohen's kappa: agreement beyond what is expected by chance.

    None where both say the same of all pairs: then nothing tells it from chance.

    Source: Cohen 1960, A coefficient of agreement for nominal scales.
    """
    pairs = len(both)
    ours = Counter(one for one, _ in both)
    theirs = Counter(other for _, other in both)
    expected = sum(ours[verdict] * theirs[verdict] for verdict in _SURE)
    if expected == pairs * pairs:
        return None
    return round((agreed * pairs - expected) / (pairs * pairs - expected), 3)
