"""Who is one patient: the best links first, under what clerks and sources say.

Links are taken by falling weight, which a probability near 1 does not tell apart.
Records are joined best first, as in single linkage, but a link does not join two groups
where a clerk said that they are two patients; where both have a record of a source in
which nobody stands twice; where the whole would be larger than is believed; or where
most pairs across the two do not agree, as when one record without a birth date holds a
father and a son together. Such links are doubts, for a clerk to decide.

A record's home is the unit key that it was first given. Records of one home stay
together unless a clerk parts them, and two homes become one patient by a clerk's
decision alone; when the decision is undone, each record is at its home again. No key
that somebody has changes but by what a clerk said or took back.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, count, groupby
from typing import Literal

from upstream.linkage.patients.groups import Groups
from upstream.linkage.patients.settled import (
    Act,
    Doubt,
    Known,
    Reason,
    Rules,
    Settled,
)
from upstream.linkage.records import Decision, ScoredPair

_COMPARED = 1_000  # records of what is linked together, of which all pairs are scored
_SCORED = 500_000  # such pairs in all; of larger groups unknown pairs disagree
_STANDING: frozenset[Reason] = frozenset({"changed", "contradiction"})
_PAIR = 2
_AGREES = 1 / 3  # of the way from doubt to link, where a pair speaks for a chain
Score = Callable[[Sequence[tuple[int, int]]], Sequence[ScoredPair]]


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
    settling.doubt_changed()
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
        self._whole = Groups(len(known.sources) - 1)  # and what clerks joined
        self._homes = list(known.homes)
        self._had = {*known.homes, *known.keys}
        self._scored = {(one.left, one.right): one for one in ranked}
        self._doubts: list[Doubt] = []
        self._home_of: dict[int, int] = {}  # by the leader of a group
        self._matched = {(d.left, d.right) for d in decisions if d.is_match}

    def bring_home(self) -> None:
        """Join the records of each home, but for those that a clerk parted."""
        parted = [(one.left, one.right) for one in self._decisions if not one.is_match]
        for left, right in parted:
            self._groups.part(left, right)
            self._whole.part(left, right)
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
        self._join_whole()

    def _join_whole(self) -> None:
        """Join what clerks decided beside the homes, for links have to keep to that."""
        for group in self._groups.of_several():
            self._whole.join_all(group)
        for one in self._decisions:
            if one.is_match and not self._whole.are_parted(one.left, one.right):
                self._whole.join(one.left, one.right)

    def _join_parted(self, numbers: Sequence[int]) -> None:
        """Join records as far as nothing keeps them apart, the best pairs first.

        Those of one key come first, so that nobody moves whom no clerk spoke of.
        """
        keys = self._known.keys
        pairs = list(combinations(sorted(numbers), 2))
        self._learn(pairs)
        pairs.sort(
            key=lambda one: (
                keys[one[0]] != keys[one[1]],
                one not in self._matched,
                -self._of(*one),
                one,
            )
        )
        for left, right in pairs:
            if not self._groups.are_parted(left, right):
                self._groups.join(left, right)

    def doubt_changed(self) -> None:
        """Note records that agree with no other one of their patient any more."""
        agreeing = {
            number
            for one in self._ranked
            if self._groups.are_together(one.left, one.right)
            for number in (one.left, one.right)
        }
        agreeing |= {number for pair in self._matched for number in pair}
        strange = [
            [(min(number, other), max(number, other)) for other in group]
            for group in self._groups.of_several()
            for number in group
            if number not in agreeing
        ]
        self._learn(pair for pairs in strange for pair in pairs if pair[0] != pair[1])
        best = {
            max((self._pair(*p) for p in pairs if p[0] != p[1]), key=_by_score)
            for pairs in strange
        }
        for pair in sorted(best, key=lambda one: (one.left, one.right)):
            if pair.score < self._rules.review:
                self._doubts.append(Doubt(pair, "changed"))

    def _of(self, left: int, right: int) -> float:
        """Return the score of a pair, 0 where it is not known."""
        return self._pair(left, right).score

    def _pair(self, left: int, right: int) -> ScoredPair:
        left, right = min(left, right), max(left, right)
        return self._scored.get((left, right)) or ScoredPair(left, right, 0.0, 0.0)

    def _learn(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Score the pairs whose scores are not known."""
        unknown = sorted({pair for pair in pairs if pair not in self._scored})
        if self._score is not None and unknown:
            for one in self._score(unknown):
                self._scored[one.left, one.right] = one

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
                    self._whole.join(pair.left, pair.right)
                else:
                    self._doubts.append(Doubt(pair, reason))
        unsure = [one for one in self._ranked if one.score < self._rules.link]
        self._doubts += [Doubt(pair, "score") for pair in unsure]

    def _is_decided(self, pair: ScoredPair) -> bool:
        """Whether the groups of a pair's records are one, or are kept apart."""
        left, right = pair.left, pair.right
        return self._whole.are_together(left, right) or self._whole.are_parted(
            left, right
        )

    def _across(self, sure: Sequence[ScoredPair]) -> Iterator[tuple[int, int]]:
        """Yield all pairs of records that links hold together by way of others.

        Of the smallest groups first, until there are ``_SCORED``.
        """
        together = Groups(len(self._homes) - 1)
        for group in self._whole.of_several():
            together.join_all(group)
        linked = set()
        for pair in sure:
            together.join(pair.left, pair.right)
            linked |= {pair.left, pair.right}
        groups = [
            sorted(members)
            for members in together.of_several()
            if _PAIR < len(members) <= _COMPARED and not linked.isdisjoint(members)
        ]
        count = 0
        for members in sorted(groups, key=lambda one: (len(one), one)):
            count += len(members) * (len(members) - 1) // 2
            if count > _SCORED:
                break
            yield from combinations(members, 2)

    def _tied(self, same: Sequence[ScoredPair]) -> Iterator[ScoredPair]:
        """Yield pairs of one score of which only one can be right."""
        partners: dict[tuple[int, str], list[ScoredPair]] = defaultdict(list)
        for pair in same:
            if self._is_decided(pair):
                continue
            for one, other in (pair.left, pair.right), (pair.right, pair.left):
                source = self._known.sources[other]
                if source in self._rules.once:
                    partners[self._whole.leader(one), source].append(pair)
        for pairs in partners.values():
            leaders = {
                self._whole.leader(number)
                for pair in pairs
                for number in (pair.left, pair.right)
            }
            if len(leaders) > _PAIR:  # a record, and two that agree with it
                yield from pairs

    def _hindrance(self, pair: ScoredPair) -> Reason | None:
        """Return why a link does not join the groups of its records."""
        ours = self._whole.members(pair.left)
        theirs = self._whole.members(pair.right)
        hindrances: tuple[tuple[Reason, bool], ...] = (
            ("once", self._stands_twice(ours, theirs)),
            ("patients", bool(self._home(ours) and self._home(theirs))),
            ("size", len(ours) + len(theirs) > self._rules.largest),
            ("differs", self._differ(ours, theirs)),
        )
        for reason, hinders in hindrances:
            if hinders:
                return reason
        return "chain" if self._is_chain(ours, theirs) else None

    def _differ(self, ours: Sequence[int], theirs: Sequence[int]) -> bool:
        """Whether any two across two groups differ in what is a person's own."""
        return any(self._pair(one, other).differs for one in ours for other in theirs)

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
                home = self._fresh(number)
            for member in members:
                self._homes[member] = self._homes[member] or home

    def _fresh(self, number: int) -> int:
        """Return a key that nobody has or had, for the group of its first record."""
        turns = (self._known.new_key(number, turn) for turn in count())
        key = next(one for one in turns if one not in self._had)
        self._had.add(key)
        return key

    def join_decided(self) -> None:
        """Join what clerks decided, as far as their decisions do not contradict."""
        for one in self._decisions:
            if not one.is_match:
                continue
            if self._groups.are_parted(one.left, one.right):
                self._learn([(one.left, one.right)])
                pair = self._pair(one.left, one.right)
                self._doubts.append(Doubt(pair, "contradiction"))
            else:
                self._groups.join(one.left, one.right)

    def settled(self) -> Settled:
        """Return all of it."""
        keys = self._keys()
        return Settled(
            self._homes,
            keys,
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
            theirs = held or before
            key = min(theirs) if theirs else self._fresh(number)
            taken.add(key)
            for member in members:
                keys[member] = key
        return keys

    def _open_doubts(self) -> list[Doubt]:
        """Return what is not decided.

        The best doubt between any two groups, every record that agrees with its
        patient no more, and every decision that others contradict.
        """
        best: dict[tuple[int, int], Doubt] = {}
        standing = [one for one in self._doubts if one.reason in _STANDING]
        for doubt in self._doubts:
            left, right = doubt.pair.left, doubt.pair.right
            together = self._groups.are_together(left, right)
            if together or self._groups.are_parted(left, right):
                continue
            leaders = self._groups.leader(left), self._groups.leader(right)
            best.setdefault((min(leaders), max(leaders)), doubt)
        return sorted(
            [*best.values(), *standing],
            key=lambda one: (-one.pair.weight, one.pair.left, one.pair.right),
        )


def _by_score(pair: ScoredPair) -> tuple[float, int, int]:
    return pair.score, -pair.left, -pair.right


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
