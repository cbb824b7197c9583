"""WHERE of a question to sequences: the parsed tree to conditions."""

import operator
from collections.abc import Callable, Mapping
from typing import Final

from privacy.errors import QueryError
from query_lang.syntax.logic import All, AnyOf, Negation
from query_lang.syntax.nodes import (
    And,
    Between,
    Comparison,
    ComparisonOperator,
    Expression,
    FunctionCall,
    InList,
    IsNull,
    Name,
    Not,
    Or,
)
from query_lang.syntax.refusals import refuse, unknown_column
from release.contract.sequence_domain import SequenceDomain
from release.sequences.contract import Run
from release.sequences.questions import rules, symbols
from release.sequences.questions.question import (
    Condition,
    EndsWith,
    FirstThen,
    GroupIn,
    HasRun,
    LengthIn,
    SlopeIs,
    SlopeIsNull,
    StartsWith,
    SymbolIn,
)

_MIRRORED: Final[Mapping[ComparisonOperator, ComparisonOperator]] = {
    "=": "=",
    "<>": "<>",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
_OPERATORS: Final[Mapping[ComparisonOperator, Callable[[int, int], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_RUNS: Final[Mapping[str, Callable[[Run], Condition]]] = {
    "starts_with": StartsWith,
    "ends_with": EndsWith,
    "has_run": HasRun,
    "first_then": FirstThen,
}


class ConditionBinder:
    """Binds conditions over one release."""

    def __init__(self, domain: SequenceDomain) -> None:
        self._domain = domain

    def bind(self, tree: Expression) -> Condition:
        """Return what a condition means.

        Raises:
            QueryError: It is none on sequences, or names what is not there.
        """
        match tree:
            case And(items):
                return All(tuple(self.bind(item) for item in items))
            case Or(items):
                return AnyOf(tuple(self.bind(item) for item in items))
            case Not(item):
                return Negation(self.bind(item))
            case _:
                return self._predicate(tree)

    def _predicate(self, tree: Expression) -> Condition:
        match tree:
            case FunctionCall(name) if name in _RUNS:
                found = _RUNS[name](symbols.run_of(tree, self._domain))
            case Comparison():
                found = self._comparison(tree)
            case Between():
                found = self._between(tree)
            case InList():
                found = self._in(tree)
            case IsNull():
                found = self._null(tree)
            case _:
                raise self._refusal(tree)
        negated = isinstance(tree, Between | InList | IsNull) and tree.negated
        return Negation(found) if negated else found

    def _refusal(self, tree: Expression) -> QueryError:
        if isinstance(tree, Name):
            self.check_split(tree)
        return refuse(rules.SEQUENCE_CONDITION, tree.position)

    def check_split(self, tree: Name) -> None:
        """Refuse a column that is not the one that splits the release.

        Raises:
            UnknownColumnError: There is no such column.
        """
        split = self._domain.split
        if split is None or tree.name != split.name:
            known = "no column" if split is None else f"the column {split.name}"
            detail = f"a release of sequences has functions, and {known}"
            raise unknown_column(
                tree.position, detail=detail, hint=rules.SEQUENCE_CONDITION.hint
            )

    # -- comparisons -----------------------------------------------------------

    def _comparison(self, tree: Comparison) -> Condition:
        if not isinstance(tree.left, FunctionCall | Name):
            turned = _MIRRORED[tree.operator]
            if not isinstance(tree.right, FunctionCall | Name):
                raise refuse(rules.SEQUENCE_CONDITION, tree.position)
            return self._compared(tree.right, turned, tree.left)
        return self._compared(tree.left, tree.operator, tree.right)

    def _compared(
        self, subject: Expression, sign: ComparisonOperator, value: Expression
    ) -> Condition:
        match subject:
            case FunctionCall("length"):
                return self._length(sign, value)
            case FunctionCall("slope"):
                return SlopeIs(sign, symbols.slope_bound(value, self._domain))
            case FunctionCall("symbol_at") | Name() if sign in {"=", "<>"}:
                found = self._listed(subject, (value,))
                return Negation(found) if sign == "<>" else found
            case FunctionCall("symbol_at") | Name():
                if isinstance(subject, Name):
                    self.check_split(subject)
                raise refuse(
                    rules.SEQUENCE_CONDITION,
                    subject.position,
                    detail="symbols and values of the split are compared with =, <> "
                    "and IN",
                    hint="write SYMBOL_AT(3) IN ('a', 'b')",
                )
            case _:
                raise self._refusal(subject)

    def _length(self, sign: ComparisonOperator, value: Expression) -> Condition:
        most = self._domain.max_length
        bound = symbols.whole_number(value, most)
        compare = _OPERATORS[sign]
        if bound > most or (sign == ">" and bound == most):
            raise symbols.past_length(value, self._domain)
        return LengthIn(frozenset(n for n in range(most + 1) if compare(n, bound)))

    def _between(self, tree: Between) -> Condition:
        match tree.value:
            case FunctionCall("length" | "slope"):
                parts = (
                    self._compared(tree.value, ">=", tree.low),
                    self._compared(tree.value, "<=", tree.high),
                )
            case _:
                raise refuse(rules.SEQUENCE_CONDITION, tree.position)
        return All(parts)

    def _in(self, tree: InList) -> Condition:
        match tree.value:
            case FunctionCall("length"):
                most = self._domain.max_length
                found = frozenset(symbols.whole_number(n, most) for n in tree.items)
                if most + 1 in found:
                    raise symbols.past_length(tree.value, self._domain)
                return LengthIn(found)
            case FunctionCall("symbol_at") | Name():
                return self._listed(tree.value, tree.items)
            case _:
                raise refuse(rules.SEQUENCE_CONDITION, tree.position)

    def _listed(
        self, subject: FunctionCall | Name, items: tuple[Expression, ...]
    ) -> Condition:
        """Return whether a symbol, or the split's value, is one of some literals."""
        domain = self._domain
        if isinstance(subject, FunctionCall):
            place = symbols.place_of(subject, domain)
            codes = frozenset(symbols.code_of(item, domain.alphabet) for item in items)
            return SymbolIn(place, codes)
        self.check_split(subject)
        split = domain.split
        if split is None:
            raise TypeError
        null = split.values.index(None) if None in split.values else None
        return GroupIn(frozenset(symbols.code_of(i, split) for i in items), null)

    # -- NULL --------------------------------------------------------------------

    def _null(self, tree: IsNull) -> Condition:
        domain = self._domain
        match tree.value:
            case FunctionCall("symbol_at") as call:
                values = domain.alphabet.values
                null = {values.index(None)} if None in values else set()
                place = symbols.place_of(call, domain)
                return SymbolIn(
                    place, frozenset(null | {domain.end}), null_is_false=True
                )
            case FunctionCall("slope"):
                symbols.check_slope(tree.value, domain)
                return SlopeIsNull()
            case Name() as name:
                self.check_split(name)
                values = domain.split.values if domain.split else ()
                places = [n for n, value in enumerate(values) if value is None]
                return GroupIn(frozenset(places))
            case _:
                raise self._refusal(tree.value)
