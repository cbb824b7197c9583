"""Who is one patient: the best links first, under what clerks and sources say.

Links are taken by falling weight, which a probability near 1 does not tell apart.
Records are joined best first, as in single linkage, but a link does not join two groups
where a clerk said that they are two patients; where both have a record of a source in
which nobody stands twice; where the whole would be larger than is believed; or where
most pairs across the two do not agree, as when one record without a birth date holds a
father and a son together. Such links are doubts, for a clerk to decide.

A record's home is the unit key that it was first given. Records of one home stay
together unless a clerk parts them, and two homes become one patient by a clerk's
decision alone; when the decision is undone, each record is at its home again.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from typing import Literal

from upstream.linkage.patients.groups import Groups
from upstream.linkage.records import Decision, ScoredPair

Reason = Literal["score", "tie", "once", "chain", "size", "patients", "contradiction"]
"""Why a pair is a doubt.

``score``: it is below the threshold of links; ``tie``: two records of a source in which
nobody stands twice agree as well with one; ``once``: the patient has a record of the
source already; ``chain``: most pairs of the two groups disagree; ``size``: the patient
would be too large; ``patients``: both were patients before; ``contradiction``: other
decisions say otherwise.
"""
_COMPARED = 1_000  # records of what is linked together, of which all pairs are scored
_PAIR = 2
_AGREES = 1 / 3  # of the way from doubt to link, where a pair speaks for a chain
Score = Callable[[Sequence[tuple[int, int]]], Sequence[ScoredPair]]


@dataclass(frozen=True, slots=True)
class Rules:
    """What links have to keep to.

    Attributes:
        link: From this score on a pair is linked.
        review: From this score on a pair agrees well enough to be asked about.
        once: Sources in which no patient stands twice.
        largest: How many records a patient has at most, unless a clerk says so.
    """

    link: float
    review: float
    once: frozenset[str] = frozenset()
    largest: int = 50


@dataclass(frozen=True, slots=True)
class Known:
    """The records, and what they were before.

    Attributes:
        sources: By number, from 1: place 0 is unused.
        homes: Unit key that each was first given; 0: none yet.
        keys: Unit key that each has now; 0: none yet.
        next_key: The first unit key that nobody ever had.
    """

    sources: Sequence[str]
    homes: Sequence[int]
    keys: Sequence[int]
    next_key: int = 1


@dataclass(frozen=True, slots=True)
class Doubt:
    """A pair that a clerk has to decide, the best of all between two patients."""

    pair: ScoredPair
    reason: Reason


@dataclass(frozen=True, slots=True)
class Act:
    """That records of one patient are another's now.

    Attributes:
        kind: ``merge``: all of them; ``split``: some.
        old: Their unit key before.
        new: Their unit key now.
        records: How many.
    """

    kind: Literal["merge", "split"]
    old: int
    new: int
    records: int


@dataclass(frozen=True, slots=True)
class Settled:
    """Whose each record is.

    Attributes:
        homes: By number: place 0 is unused.
        keys: Unit keys, likewise.
        next_key: The first that nobody has.
        acts: What changed for records that had a unit key.
        doubts: By falling weight.
    """

    homes: list[int]
    keys: list[int]
    next_key: int
    acts: list[Act] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def settle(
    known: Known,
    links: Iterable[ScoredPair],
    rules: Rules,
    decisions: Sequence[Decision] = (),
    score: Score | None = None,
) -> Settled:
    """Return whose each record is.

    The same input brings the same patients, in whatever order the links come.

    Args:
        known: The records.
        links: Every pair that scores as high as ``review``, of earlier runs too.
        rules: What links have to keep to.
        decisions: Of clerks, in the order in which they were made.
        score: Scores pairs that no blocking rule brought together; None: such pairs
            count as pairs that disagree.
    """
    ranked = sorted(links, key=lambda one: (-one.weight, one.left, one.right))
    settling = _Settling(known, ranked, rules, decisions, score)
    settling.bring_home()
    settling.join_links()
    settling.give_homes()
    settling.join_decided()
    return settling.settled()


class _Settling:
    """The state of one ``settle``."""

    def __init__(
        self,
        known: Known,
        ranked: Sequence[ScoredPair],
        rules: Rules,
        decisions: Sequence[Decision],
        score: Score | None,
    ) -> None:
        self._known = known
        self._ranked = ranked
        self._rules = rules
        self._decisions = decisions
        self._score = score
        self._groups = Groups(len(known.sources) - 1)
        self._homes = list(known.homes)
        self._next = known.next_key
        self._scores = {(one.left, one.right): one.score for one in ranked}
        self._doubts: list[Doubt] = []
        self._home_of: dict[int, int] = {}  # by the leader of a group
        self._matched = {(d.left, d.right) for d in decisions if d.is_match}

    def bring_home(self) -> None:
        """Join the records of each home, but for those that a clerk parted."""
        parted = [(one.left, one.right) for one in self._decisions if not one.is_match]
        for left, right in parted:
            self._groups.part(left, right)
        split = {
            self._homes[left]
            for left, right in parted
            if self._homes[left] and self._homes[left] == self._homes[right]
        }
        members = defaultdict(list)
        for number, home in enumerate(self._homes):
            if home:
                members[home].append(number)
        for home, numbers in members.items():
            if home in split:
                self._join_parted(numbers)
            else:
                self._groups.join_all(numbers)

    def _join_parted(self, numbers: Sequence[int]) -> None:
        """Join records as far as nothing keeps them apart, the best pairs first."""
        pairs = list(combinations(sorted(numbers), 2))
        self._learn(pairs)
        pairs.sort(key=lambda one: (one not in self._matched, -self._of(*one), one))
        for left, right in pairs:
            if not self._groups.are_parted(left, right):
                self._groups.join(left, right)

    def _of(self, left: int, right: int) -> float:
        """Return the score of a pair, 0 where it is not known."""
        return self._scores.get((min(left, right), max(left, right)), 0.0)

    def _learn(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Score the pairs whose scores are not known."""
        unknown = sorted({pair for pair in pairs if pair not in self._scores})
        if self._score is not None and unknown:
            for one in self._score(unknown):
                self._scores[one.left, one.right] = one.score

    def join_links(self) -> None:
        """Join along links, the best first; note what is not joined, and why."""
        sure = [one for one in self._ranked if one.score >= self._rules.link]
        self._learn(self._across(sure))
        for _, group in groupby(sure, key=lambda one: one.weight):
            same = list(group)
            tied = set(self._tied(same))
            for pair in same:
                if self._is_decided(pair):
                    continue
                reason = "tie" if pair in tied else self._hindrance(pair)
                if reason is None:
                    self._groups.join(pair.left, pair.right)
                else:
                    self._doubts.append(Doubt(pair, reason))
        unsure = [one for one in self._ranked if one.score < self._rules.link]
        self._doubts += [Doubt(pair, "score") for pair in unsure]

    def _is_decided(self, pair: ScoredPair) -> bool:
        """Whether the groups of a pair's records are one, or are kept apart."""
        left, right = pair.left, pair.right
        return self._groups.are_together(left, right) or self._groups.are_parted(
            left, right
        )

    def _across(self, sure: Sequence[ScoredPair]) -> Iterator[tuple[int, int]]:
        """Yield all pairs of records that links hold together by way of others."""
        together = Groups(len(self._homes) - 1)
        for group in self._groups.of_several():
            together.join_all(group)
        linked = set()
        for pair in sure:
            together.join(pair.left, pair.right)
            linked |= {pair.left, pair.right}
        for members in together.of_several():
            if _PAIR < len(members) <= _COMPARED and not linked.isdisjoint(members):
                yield from combinations(sorted(members), 2)

    def _tied(self, same: Sequence[ScoredPair]) -> Iterator[ScoredPair]:
        """Yield pairs of one score of which only one can be right."""
        partners: dict[tuple[int, str], list[ScoredPair]] = defaultdict(list)
        for pair in same:
            if self._is_decided(pair):
                continue
            for one, other in (pair.left, pair.right), (pair.right, pair.left):
                source = self._known.sources[other]
                if source in self._rules.once:
                    partners[self._groups.leader(one), source].append(pair)
        for pairs in partners.values():
            leaders = {
                self._groups.leader(number)
                for pair in pairs
                for number in (pair.left, pair.right)
            }
            if len(leaders) > _PAIR:  # a record, and two that agree with it
                yield from pairs

    def _hindrance(self, pair: ScoredPair) -> Reason | None:
        """Return why a link does not join the groups of its records."""
        ours = self._groups.members(pair.left)
        theirs = self._groups.members(pair.right)
        hindrances: tuple[tuple[Reason, bool], ...] = (
            ("once", self._stands_twice(ours, theirs)),
            ("patients", bool(self._home(ours) and self._home(theirs))),
            ("size", len(ours) + len(theirs) > self._rules.largest),
        )
        for reason, hinders in hindrances:
            if hinders:
                return reason
        return "chain" if self._is_chain(ours, theirs) else None

    def _is_chain(self, ours: Sequence[int], theirs: Sequence[int]) -> bool:
        """Whether most pairs across two groups do not agree, if not as well as links.

        Pairs that are barely asked about do not count as agreeing.
        """
        least = self._rules.review + (self._rules.link - self._rules.review) * _AGREES
        agreeing = sum(
            self._of(one, other) >= least for one in ours for other in theirs
        )
        return 2 * agreeing < len(ours) * len(theirs)

    def _stands_twice(self, ours: Sequence[int], theirs: Sequence[int]) -> bool:
        once, sources = self._rules.once, self._known.sources
        if not once:
            return False
        stand = {sources[number] for number in ours} & once
        return any(sources[number] in stand for number in theirs)

    def _home(self, members: Iterable[int]) -> int:
        """Return the home of a group, 0 where it has none."""
        return next((self._homes[one] for one in members if self._homes[one]), 0)

    def give_homes(self) -> None:
        """Give each group without a home a new unit key, by its first record."""
        for number in range(1, len(self._homes)):
            if self._homes[number]:
                continue
            members = self._groups.members(number)
            home = self._home(members)
            if not home:
                home, self._next = self._next, self._next + 1
            for member in members:
                self._homes[member] = self._homes[member] or home

    def join_decided(self) -> None:
        """Join what clerks decided, as far as their decisions do not contradict."""
        for one in self._decisions:
            if not one.is_match:
                continue
            if self._groups.are_parted(one.left, one.right):
                score = self._of(one.left, one.right)
                pair = ScoredPair(one.left, one.right, score, 0.0)
                self._doubts.append(Doubt(pair, "contradiction"))
            else:
                self._groups.join(one.left, one.right)

    def settled(self) -> Settled:
        """Return all of it."""
        keys = self._keys()
        return Settled(
            self._homes,
            keys,
            self._next,
            list(_acts(self._known.keys, keys)),
            self._open_doubts(),
        )

    def _keys(self) -> list[int]:
        """Return the unit key of each record, by its group.

        A home's key goes to the group of its first record. A group that was parted from
        all its homes keeps the key that it was given then, or gets a new one.
        """
        main: dict[int, int] = {}  # home: the leader whose group has its key
        for number in range(1, len(self._homes)):
            main.setdefault(self._homes[number], self._groups.leader(number))
        taken = set(main)
        keys = [0] * len(self._homes)
        for number in range(1, len(self._homes)):
            if keys[number]:
                continue
            members = self._groups.members(number)
            leader = self._groups.leader(number)
            own = {self._homes[one] for one in members}
            held = {one for one in own if main[one] == leader}
            before = {self._known.keys[one] for one in members} - taken - {0}
            if held or before:
                key = min(held or before)
            else:
                key, self._next = self._next, self._next + 1
            taken.add(key)
            for member in members:
                keys[member] = key
        return keys

    def _open_doubts(self) -> list[Doubt]:
        """Return what is not decided.

        The best doubt between any two groups, and every decision that others
        contradict.
        """
        best: dict[tuple[int, int], Doubt] = {}
        contradicted = [one for one in self._doubts if one.reason == "contradiction"]
        for doubt in self._doubts:
            if self._is_decided(doubt.pair):
                continue
            left, right = doubt.pair.left, doubt.pair.right
            leaders = self._groups.leader(left), self._groups.leader(right)
            best.setdefault((min(leaders), max(leaders)), doubt)
        return sorted(
            [*best.values(), *contradicted],
            key=lambda one: (-one.pair.weight, one.pair.left, one.pair.right),
        )


def _acts(before: Sequence[int], now: Sequence[int]) -> Iterator[Act]:
    """Yield what changed for records that had a unit key."""
    moved: Mapping[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for old, new in zip(before[1:], now[1:], strict=True):
        if old:
            moved[old][new] += 1
    for old in sorted(moved):
        news = moved[old]
        kind: Literal["merge", "split"] = "merge" if len(news) == 1 else "split"
        for new in sorted(news):
            if new != old:
                yield Act(kind, old, new, news[new])
