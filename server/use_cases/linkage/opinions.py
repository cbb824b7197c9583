"""What clerks' opinions of a pair come to, and how clerks agree."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
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
Dependent = frozenset[frozenset[str]]
"""Pairs of clerks who may be one person, as two persons are told apart (PRIVACY 5)."""
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


def state_of(
    verdicts: Mapping[str, Verdict], needed: int, dependent: Dependent = frozenset()
) -> State:
    """Return what opinions come to: the majority of those who are sure.

    Args:
        verdicts: What each clerk says.
        needed: How many have to agree.
        dependent: Who may be one person: these agree as one. They contradict as two.

    >>> state_of({"ann": "match"}, 1), state_of({"ann": "match"}, 2)
    ('match', 'waiting')
    >>> state_of({"ann": "match", "ben": "no_match"}, 1)
    'contested'
    """
    match, no_match = (
        [clerk for clerk, said in verdicts.items() if said == one] for one in _SURE
    )
    if not match and not no_match:
        return "waiting" if verdicts else "open"
    for_it, against = _persons(match, dependent), _persons(no_match, dependent)
    if for_it > len(no_match):
        return "match" if for_it >= needed else "waiting"
    if against > len(match):
        return "no_match" if against >= needed else "waiting"
    return "contested"


def _persons(clerks: Collection[str], dependent: Dependent) -> int:
    """Return how many of some clerks are persons of their own, beyond doubt."""

    def others(clerk: str, among: Iterable[str]) -> int:
        return sum(frozenset((clerk, one)) in dependent for one in among)

    found: list[str] = []
    for clerk in sorted(clerks, key=lambda one: (others(one, clerks), one)):
        if not others(clerk, found):
            found.append(clerk)
    return len(found)


@dataclass(frozen=True, slots=True)
class Standing:
    """What clerks say of pairs now.

    Attributes:
        told: What each clerk said last, by pair.
        needed: How many have to agree.
        fresh: Pairs of which something was said since the latest run.
        dependent: Clerks who may be one person.
    """

    told: Mapping[Pair, Mapping[str, Verdict]]
    needed: int
    fresh: frozenset[Pair]
    dependent: Dependent = frozenset()

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
        return state_of(self.verdicts(pair), self.needed, self.dependent)

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
