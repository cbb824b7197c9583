"""What each node of a tree says of a condition: TRUE, FALSE, NULL, or not yet known.

Once a condition is settled at a node, it is settled so for all that is below.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from query_lang.syntax.logic import Logic
from query_lang.syntax.nodes import ComparisonOperator
from release.contract.models import IntArray
from release.sequences.contract import Run
from release.sequences.questions.levels import BoolArray, LevelledTree
from release.sequences.questions.question import (
    Atom,
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

SignArray = NDArray[np.int8]

_COMPARED: Final[
    Mapping[ComparisonOperator, Callable[[IntArray, IntArray], BoolArray]]
] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a condition holds at each node: 1 yes, -1 no, 0 not yet known.

    Attributes:
        is_true: Whether it is TRUE.
        is_false: Whether it is FALSE; it is NULL where both are no.
    """

    is_true: SignArray
    is_false: SignArray


def verdict(condition: Condition, tree: LevelledTree) -> Verdict:
    """Judge every node of a tree, in Kleene's logic where something is not known."""

    def judge(atom: Atom) -> Verdict:
        return _ATOMS[type(atom)](atom, tree)

    return Logic[Atom, Verdict](judge, _not, _both).evaluate(condition)


def _not(found: Verdict) -> Verdict:
    return Verdict(found.is_false, found.is_true)


def _both(left: Verdict, right: Verdict) -> Verdict:
    return Verdict(
        np.minimum(left.is_true, right.is_true),
        np.maximum(left.is_false, right.is_false),
    )


def _signs(yes: BoolArray, no: BoolArray) -> SignArray:
    return yes.astype(np.int8) - no.astype(np.int8)


def _plain(yes: BoolArray, no: BoolArray) -> Verdict:
    """Return the verdict of a condition that is never NULL."""
    signs = _signs(yes, no)
    return Verdict(signs, -signs)


# -- automata ------------------------------------------------------------------


def _starts_with(atom: StartsWith, tree: LevelledTree) -> Verdict:
    """States: how many symbols fitted; after the last one, that one did not."""
    size = len(atom.run)
    table = np.full((size + 2, tree.domain.symbols), size + 1, dtype=np.int64)
    for state, symbol in enumerate(atom.run):
        table[state, symbol] = state + 1
    table[size] = size
    states = tree.run(table)
    yes = states == size
    return _plain(yes, ~yes & ((states > size) | _falls_short(tree, size - states)))


def _has_run(atom: HasRun, tree: LevelledTree) -> Verdict:
    size = len(atom.run)
    table = run_table(atom.run, tree.domain.symbols)
    table[size] = size
    states = tree.run(table)
    return _plain(states == size, _falls_short(tree, size - states))


def _ends_with(atom: EndsWith, tree: LevelledTree) -> Verdict:
    states = tree.run(run_table(atom.run, tree.domain.symbols))
    fits = states == len(atom.run)
    return _plain(tree.has_ended & fits, tree.has_ended & ~fits)


def _first_then(atom: FirstThen, tree: LevelledTree) -> Verdict:
    size = len(atom.run)
    states = np.arange(size + 1)[:, None]
    table = np.repeat(states, tree.domain.symbols, axis=1)
    for state, symbol in enumerate(atom.run):
        table[state, symbol] = state + 1
    found = tree.run(table)
    return _plain(found == size, _falls_short(tree, size - found))


def _falls_short(tree: LevelledTree, needed: IntArray) -> BoolArray:
    """Return where more symbols are needed than a path can still have."""
    return needed > tree.left


def run_table(run: Run, symbols: int) -> IntArray:
    """Return the automaton whose state is how much of a run has just been read.

    Source: Knuth, Morris, Pratt 1977; the last state goes on looking.
    """
    size = len(run)
    table = np.zeros((size + 1, symbols), dtype=np.int64)
    fallback = 0
    for state in range(size + 1):
        if state:
            table[state] = table[fallback]
        if state < size:
            following = table[fallback, run[state]] if state else 0
            table[state, run[state]] = state + 1
            fallback = int(following)
    return table


# -- public arithmetic -----------------------------------------------------------


def _symbol_in(atom: SymbolIn, tree: LevelledTree) -> Verdict:
    found, end = tree.at(atom.place), tree.domain.end
    fits = np.zeros(end + 1, dtype=np.bool_)
    fits[list(atom.codes)] = True
    known = found >= 0
    yes = known & fits[found]
    if atom.null_is_false:
        return _plain(yes, known & ~yes)
    is_null = np.zeros(end + 1, dtype=np.bool_)
    is_null[end] = True
    for code, value in enumerate(tree.domain.alphabet.values):
        is_null[code] = value is None
    null = known & is_null[found]
    yes &= ~null
    return Verdict(_signs(yes, known & ~yes), _signs(known & ~yes & ~null, yes | null))


def _length_in(atom: LengthIn, tree: LevelledTree) -> Verdict:
    """A path that goes on has any length from what is known to h."""
    most = tree.domain.max_length
    fits = np.array([n in atom.lengths for n in range(most + 1)])
    reversed_ = fits[::-1]
    all_above = np.logical_and.accumulate(reversed_)[::-1]
    any_above = np.logical_or.accumulate(reversed_)[::-1]
    known, ended = np.minimum(tree.lengths, most), tree.has_ended
    yes = np.where(ended, fits[known], all_above[known])
    no = np.where(ended, ~fits[known], ~any_above[known])
    return _plain(yes, no)


def _slope_is(atom: SlopeIs, tree: LevelledTree) -> Verdict:
    slopes = tree.slopes
    bound = atom.bound * 10**tree.domain.alphabet.scale
    compared = _COMPARED[atom.operator](
        slopes.rise * bound.denominator, slopes.run * bound.numerator
    )
    final, exists = tree.is_final, slopes.exists
    yes = final & exists & compared
    no = final & exists & ~compared
    return Verdict(_signs(yes, final & ~yes), _signs(no, final & ~no))


def _slope_is_null(_: SlopeIsNull, tree: LevelledTree) -> Verdict:
    exists = tree.slopes.exists
    return _plain(tree.is_final & ~exists, tree.is_final & exists)


def _group_in(atom: GroupIn, tree: LevelledTree) -> Verdict:
    yes = np.isin(tree.groups, list(atom.places))
    null = tree.groups == (-1 if atom.null is None else atom.null)
    return Verdict(_signs(yes, ~yes), _signs(~yes & ~null, yes | null))


_ATOMS: Final[Mapping[type[Atom], Callable[..., Verdict]]] = {
    StartsWith: _starts_with,
    EndsWith: _ends_with,
    HasRun: _has_run,
    FirstThen: _first_then,
    SymbolIn: _symbol_in,
    LengthIn: _length_in,
    SlopeIs: _slope_is,
    SlopeIsNull: _slope_is_null,
    GroupIn: _group_in,
}
