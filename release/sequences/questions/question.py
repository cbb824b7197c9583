"""What can be asked of sequences: conditions, keys and measures, names resolved."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from privacy.schema import ColumnType, Scalar
from query_lang.plans.compiled import OutputColumn, Presentation
from query_lang.syntax.logic import Logical, atoms
from query_lang.syntax.nodes import ComparisonOperator, Position
from release.sequences.contract import Run

# -- conditions ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The first symbols are these."""

    run: Run


@dataclass(frozen=True, slots=True)
class EndsWith:
    """The sequence has ended, and its last symbols are these."""

    run: Run


@dataclass(frozen=True, slots=True)
class HasRun:
    """Somewhere these symbols follow each other at once."""

    run: Run


@dataclass(frozen=True, slots=True)
class FirstThen:
    """These symbols come in this order, with any others between them."""

    run: Run


@dataclass(frozen=True, slots=True)
class SymbolIn:
    """The symbol at a place, counted from 1, is one of these; NULL has its own code.

    ``codes`` holds ``domain.end`` where NULL (ended before) counts as TRUE; where it
    does not, ``null_is_false`` tells FALSE from NULL.
    """

    place: int
    codes: frozenset[int]
    null_is_false: bool = False


@dataclass(frozen=True, slots=True)
class LengthIn:
    """The number of known symbols is one of these; h means h or more."""

    lengths: frozenset[int]


@dataclass(frozen=True, slots=True)
class SlopeIs:
    """The least-squares slope compares so; NULL for fewer than two symbols."""

    operator: ComparisonOperator
    bound: Fraction


@dataclass(frozen=True, slots=True)
class SlopeIsNull:
    """There is no slope."""


@dataclass(frozen=True, slots=True)
class GroupIn:
    """The value of the dimension that splits the release is one of these.

    ``null`` is the place of its NULL, where a comparison with NULL is meant to be
    NULL.
    """

    places: frozenset[int]
    null: int | None = None


Atom = (
    StartsWith
    | EndsWith
    | HasRun
    | FirstThen
    | SymbolIn
    | LengthIn
    | SlopeIs
    | SlopeIsNull
    | GroupIn
)
Condition = Logical[Atom]


# -- keys ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SymbolKey:
    """The symbol at a place, counted from 1; NULL where the sequence ended before."""

    place: int


@dataclass(frozen=True, slots=True)
class LengthKey:
    """The number of known symbols; h means h or more."""


@dataclass(frozen=True, slots=True)
class SlopeKey:
    """Bands of one width: band b holds slopes from (b - 1/2) to (b + 1/2) widths."""

    width: Fraction
    most: int  # bands on each side of the one around 0


@dataclass(frozen=True, slots=True)
class GroupKey:
    """The value of the dimension that splits the release."""


Key = SymbolKey | LengthKey | SlopeKey | GroupKey


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A key, and the values that its groups show.

    Attributes:
        key: What is grouped by.
        values: In declared order, NULL last.
        type: Of the values that are not NULL.
    """

    key: Key
    values: tuple[Scalar | None, ...]
    type: ColumnType


# -- measures --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Count:
    """How many units' sequences match."""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """At how many places of all sequences a run starts."""

    run: Run


@dataclass(frozen=True, slots=True)
class TopRuns:
    """The runs that occur most.

    Attributes:
        most: How many.
        shortest: Fewest symbols of a run.
        longest: Most symbols of a run.
    """

    most: int
    shortest: int
    longest: int


@dataclass(frozen=True, slots=True)
class SequenceQuestion:
    """What is asked of a release of sequences.

    Attributes:
        condition: Must be TRUE of a sequence that counts; None: all do.
        keys: In the order of GROUP BY.
        measures: The distinct numbers.
        columns: Of the answer.
        presentation: ORDER BY and LIMIT.
        position: Where the question begins, for refusals.
        top: Where the most frequent runs are asked for; then nothing else is.
        positions: Where each condition stands.
    """

    condition: Condition | None
    keys: tuple[KeyColumn, ...]
    measures: tuple[Count | Occurrences, ...]
    columns: tuple[OutputColumn, ...]
    presentation: Presentation
    position: Position
    top: TopRuns | None = None

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """What the condition joins."""
        return () if self.condition is None else tuple(atoms(self.condition))


Places = Mapping[Scalar | None, int]
