"""Conditions in three-valued logic, brought to one form.

Every function here but ``holding`` keeps all three values, NULL too: a condition may
stand in a CASE or be selected. Proof: docs/proofs/normal_form.md.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from privacy.schema import ColumnType
from query_lang.normalising.steps import take_steps
from query_lang.normalising.terms import (
    Term,
    condition_facts,
    is_truth,
    term,
    truth,
)
from query_lang.normalising.value_sets import NumberSet, TextSet, ValueSet
from query_lang.plans.expressions import Facts

DUAL: Final[Mapping[str, str]] = {"and": "or", "or": "and"}
_NULL_WITH_OPERANDS: Final = frozenset(
    {
        "within", "lt", "le", "eq", "not",
        "linear", "add", "subtract", "multiply", "negate",
        "months_between", "years_between", "extract", "date_of", "age_band",
        "prefix", "suffix", "infix",
    }
)  # fmt: skip
"""Heads of what is NULL exactly where one of its parts is."""
_STRICT: Final = _NULL_WITH_OPERANDS | {
    "divide", "add_days", "subtract_days", "age_years", "level",
}  # fmt: skip
"""Heads of what is NULL wherever one of its parts is, and perhaps elsewhere."""


def within(operand: Term, values: ValueSet) -> Term:
    """Return ``operand IN values``: NULL where the operand is."""
    if not operand.facts.nullable and (values.is_empty or values.is_all):
        return truth(holds=values.is_all)
    made = term("within", (operand,), condition_facts(operand), values.parameter())
    return replace(made, value=values)


def chain(head: str, operands: Iterable[Term]) -> Term:
    """Return AND or OR of conditions: in one order, each once, none that is idle.

    Sets of one operand become one set; what every operand has in common stands once; an
    operand that another one decides is left out.
    """
    parts: dict[str, Term] = {}
    for operand in operands:
        inner = operand.parts if operand.head == head else (operand,)
        take_steps(1 + len(inner))
        parts.update((part.key, part) for part in inner)
    kept = [
        part
        for part in _merged(head, parts.values())
        if not is_truth(part, holds=head == "and")
    ]
    if any(is_truth(part, holds=head == "or") for part in kept) or _opposites(kept):
        return truth(holds=head == "or")
    if len(kept) < 2:  # noqa: PLR2004 - nothing to join
        return kept[0] if kept else truth(holds=head == "and")
    shared = _shared(head, kept)
    return _made(head, kept) if shared is None else shared


def _opposites(parts: Sequence[Term], *, nullable: bool = False) -> list[Term]:
    """Return the parts whose negation stands beside them, of those never NULL."""
    keys = {part.key for part in parts}
    inner = (part.parts[0] for part in parts if part.head == "not")
    return [one for one in inner if one.key in keys and one.facts.nullable == nullable]


def _made(head: str, parts: Iterable[Term]) -> Term:
    ordered = sorted(parts, key=lambda part: part.key)
    return term(head, ordered, condition_facts(*ordered))


def _merged(head: str, parts: Iterable[Term]) -> list[Term]:
    """Return the parts with one set for each operand."""
    found: list[Term] = []
    sets: dict[str, tuple[Term, ValueSet]] = {}
    for part in parts:
        if part.head != "within" or not isinstance(part.value, NumberSet | TextSet):
            found.append(part)
            continue
        operand = part.parts[0]
        known = sets.get(operand.key)
        values = part.value if known is None else _met(head, known[1], part.value)
        sets[operand.key] = operand, values
    return found + [within(operand, values) for operand, values in sets.values()]


def _met(head: str, one: ValueSet, other: ValueSet) -> ValueSet:
    if isinstance(one, NumberSet) and isinstance(other, NumberSet):
        return one.met(other) if head == "and" else one.joined(other)
    if isinstance(one, TextSet) and isinstance(other, TextSet):
        return one.met(other) if head == "and" else one.joined(other)
    message = "sets of one operand are of one kind"
    raise AssertionError(message)


def _shared(head: str, parts: Sequence[Term]) -> Term | None:
    """Return ``a AND (b OR c)`` for ``a AND b OR a AND c``, if the parts share any."""
    dual = DUAL[head]
    split = [
        {p.key: p for p in (part.parts if part.head == dual else (part,))}
        for part in parts
    ]
    take_steps(sum(map(len, split)))
    counts = Counter(key for own in split for key in own)
    common = [key for key, count in counts.items() if count == len(split)]
    if not common:
        return _absorbed(head, parts, split)
    outside = [split[0][key] for key in common]
    rests = [[p for key, p in own.items() if key not in common] for own in split]
    if not all(rests):  # a OR (a AND b) is a
        return chain(dual, outside)
    inner = chain(head, [chain(dual, rest) for rest in rests])
    return chain(dual, [*outside, inner])


def _absorbed(
    head: str, parts: Sequence[Term], split: Sequence[Mapping[str, Term]]
) -> Term | None:
    """Return the chain without parts that another one decides, if there are any."""
    single = {part.key for part, own in zip(parts, split, strict=True) if len(own) == 1}
    kept = [
        part
        for part, own in zip(parts, split, strict=True)
        if len(own) == 1 or not single & own.keys()
    ]
    return None if len(kept) == len(parts) else chain(head, kept)


class Conditions:
    """Negations and truths of conditions, each found once.

    They are kept by the term itself, not by its key: what is known of a column may
    differ from one place of a plan to another.
    """

    def __init__(self) -> None:
        self._negated: dict[int, tuple[Term, Term]] = {}
        self._holding: dict[int, tuple[Term, Term]] = {}
        self._needed: dict[int, tuple[Term, frozenset[str]]] = {}
        self._strict: dict[int, tuple[Term, frozenset[str]]] = {}

    def negated(self, one: Term) -> Term:
        """Return NOT of a condition, brought inwards; NULL stays NULL."""
        found = self._negated.get(id(one))
        if found is None:
            found = self._negated[id(one)] = one, self._negation(one)
        return found[1]

    def _negation(self, one: Term) -> Term:  # noqa: PLR0911 - an arm a form
        for holds in (True, False):
            if is_truth(one, holds=holds):
                return truth(holds=not holds)
        match one.head:
            case "and" | "or":
                return chain(DUAL[one.head], map(self.negated, one.parts))
            case "not":
                return one.parts[0]
            case "within" if isinstance(one.value, NumberSet | TextSet):
                return within(one.parts[0], one.value.rest())
            case "lt" | "le":
                left, right = one.parts
                return term(
                    "le" if one.head == "lt" else "lt", (right, left), one.facts
                )
            case "average":
                return _average(one)
            case _:
                return term("not", (one,), condition_facts(one))

    def holding(self, one: Term) -> Term:
        """Return a condition that is TRUE for the same rows: it may differ in NULL.

        It is never used where FALSE and NULL differ.
        """
        found = self._holding.get(id(one))
        if found is None:
            found = self._holding[id(one)] = one, self._truth(one)
        return found[1]

    def _truth(self, one: Term) -> Term:  # noqa: PLR0911 - an arm a form
        match one.head:
            case "and":
                return self._all_hold(chain("and", map(self.holding, one.parts)))
            case "or":
                return self._any_holds(chain("or", map(self.holding, one.parts)))
            case "is_true":
                return one.parts[0]
            case "not" if one.parts[0].head == "is_true":  # FALSE or NULL
                (inner,) = one.parts[0].parts
                opposite = self.holding(self.negated(inner))
                return chain("or", (opposite, self.is_null(inner)))
            case "within" if isinstance(one.value, NumberSet | TextSet):
                if one.value.is_all:
                    return self.negated(self.is_null(one.parts[0]))
                return truth(holds=False) if one.value.is_empty else one
            case _:
                return one

    def _any_holds(self, one: Term) -> Term:
        """Return a disjunction in which a condition or its negation is IS NOT NULL."""
        if one.head != "or":
            return one
        pairs = _both_ways(one)
        if not pairs:
            return one
        gone = {each for x in pairs for each in (x.key, self.negated(x).key)}
        kept = [part for part in one.parts if part.key not in gone]
        return chain("or", [*kept, *(self.negated(self.is_null(x)) for x in pairs)])

    def _all_hold(self, one: Term) -> Term:
        """Return a conjunction without IS NOT NULL of what its other parts need."""
        one = _narrowed(one)
        if one.head != "and":
            return one
        if _both_ways(one):
            return truth(holds=False)
        kept = list(one.parts)
        for part in one.parts:
            tested = _tested_for_null(part)
            others = [other for other in kept if other is not part]
            if tested and any(tested.key in self.needed(other) for other in others):
                kept = others
        return chain("and", kept)

    def needed(self, one: Term) -> frozenset[str]:
        """Return the keys of values that are not NULL wherever a condition is TRUE."""
        known = self._needed.get(id(one))
        if known is None:
            known = self._needed[id(one)] = one, self._needed_by(one)
        return known[1]

    def _needed_by(self, one: Term) -> frozenset[str]:
        tested = _tested_for_null(one)
        if tested is not None:
            return self._operands(tested)
        if one.head == "and":
            return frozenset[str]().union(*self._of_each(self.needed, one.parts))
        if one.head == "or":
            first, *others = self._of_each(self.needed, one.parts)
            return first.intersection(*others)
        return self._operands(one)

    def _operands(self, one: Term) -> frozenset[str]:
        """Return the keys of a value and of all whose NULL makes it NULL."""
        known = self._strict.get(id(one))
        if known is None:
            parts = one.parts if one.head in _STRICT else ()
            found = frozenset((one.key,)).union(*self._of_each(self._operands, parts))
            known = self._strict[id(one)] = one, found
        return known[1]

    def _of_each(
        self, keys: Callable[[Term], frozenset[str]], parts: Sequence[Term]
    ) -> list[frozenset[str]]:
        found = [keys(part) for part in parts]
        take_steps(sum(map(len, found)))
        return found

    def is_true(self, one: Term) -> Term:
        """Return whether a condition is TRUE: never NULL."""
        held = self.holding(one)
        if held.head in DUAL:
            return chain(held.head, map(self.is_true, held.parts))
        if not held.facts.nullable:
            return held
        facts = Facts(ColumnType.BOOLEAN, nullable=False)
        return term("is_true", (held,), facts)

    def is_null(self, one: Term) -> Term:  # noqa: PLR0911 - an arm a form
        """Return ``one IS NULL``."""
        if not one.facts.nullable:
            return truth(holds=False)
        if one.head == "constant":
            return truth(holds=one.value is None)
        if one.head in _NULL_WITH_OPERANDS:
            return chain("or", map(self.is_null, one.parts))
        if one.head == "coalesce":
            return chain("and", map(self.is_null, one.parts))
        if one.head == "case":
            return self._is_null_case(one)
        return term("is_null", (one,), Facts(ColumnType.BOOLEAN, nullable=False))

    def _is_null_case(self, one: Term) -> Term:
        *pairs, otherwise = one.parts
        conditions, results = pairs[::2], pairs[1::2]
        if is_null_constant(otherwise) and not any(r.facts.nullable for r in results):
            return self.negated(self.is_true(chain("or", conditions)))
        if is_null_constant(otherwise) and len(results) == 1:
            is_there = self.negated(self.is_null(results[0]))
            return self.negated(chain("and", (self.is_true(conditions[0]), is_there)))
        return term("is_null", (one,), Facts(ColumnType.BOOLEAN, nullable=False))


def _both_ways(one: Term) -> list[Term]:
    """Return the conditions whose negation stands beside them in a chain."""
    return _opposites(one.parts, nullable=True)


def _narrowed(one: Term) -> Term:
    """Return a conjunction in whose disjunctions sets are cut to those beside them."""
    sets = {
        part.parts[0].key: part.value
        for part in one.parts
        if one.head == "and" and isinstance(part.value, NumberSet | TextSet)
    }
    parts = [_cut(part, sets) for part in one.parts]
    same = all(new is old for new, old in zip(parts, one.parts, strict=True))
    return one if same else chain("and", parts)


def _cut(one: Term, sets: Mapping[str, ValueSet]) -> Term:
    if one.head != "or" or not sets:
        return one
    found: list[Term] = []
    for part in one.parts:
        known = sets.get(part.parts[0].key) if part.head == "within" else None
        if known is None or not isinstance(part.value, NumberSet | TextSet):
            found.append(part)
            continue
        values = _met("and", known, part.value)
        if values == known:
            return truth(holds=True)  # it is so wherever the set beside it is met
        if not values.is_empty:
            found.append(within(part.parts[0], values))
    same = [part.key for part in found] == [part.key for part in one.parts]
    return one if same else chain("or", found)


def is_null_constant(one: Term) -> bool:
    """Whether a term is the literal NULL."""
    return one.head == "constant" and one.value is None


_OPPOSITE: Final = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _average(one: Term) -> Term:
    operator, *rest = one.parameters
    opposite = _OPPOSITE[str(operator)]
    return term("average", one.parts, one.facts, opposite, *rest)


def _tested_for_null(one: Term) -> Term | None:
    """Return x of ``x IS NOT NULL``."""
    if one.head == "not" and one.parts[0].head == "is_null":
        return one.parts[0].parts[0]
    return None
