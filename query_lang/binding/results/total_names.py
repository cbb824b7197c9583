"""A word for totals: ``COALESCE(ward, 'all')``, CASE over GROUPING, or over IS NULL."""

from dataclasses import dataclass

from privacy.schema import ColumnType
from query_lang.syntax.nodes import (
    Case,
    Cast,
    Comparison,
    Expression,
    FunctionCall,
    IsNull,
    NumberLiteral,
    StringLiteral,
)
from query_lang.syntax.type_names import cast_target


@dataclass(frozen=True, slots=True)
class WordForTotals:
    """What such a form says.

    Attributes:
        key: Whose value is shown.
        asked: What is asked whether the row is a total over it; the same key.
        word: Shown instead.
        of_null: Whether the word stands for its NULL as well.
        is_cast: Whether the key is cast to text.
    """

    key: Expression
    asked: Expression
    word: str
    of_null: bool
    is_cast: bool


def word_for_totals(tree: Expression) -> WordForTotals | None:  # noqa: PLR0911 - an arm a form
    """Return what a form says of a key and a word; None of other forms."""
    match tree:
        case FunctionCall("coalesce", (key, StringLiteral(word))):
            return _word(key, _plain(key), word, of_null=True)
        case Case(operand, (branch,), otherwise) if otherwise is not None:
            condition = branch.condition
            if operand is not None:
                condition = Comparison("=", operand, condition, tree.position)
            asked = _asked(condition)
            pair = (branch.result, otherwise)
        case _:
            return None
    if asked is None:
        return None
    of_total, of_other = pair if asked.is_total else pair[::-1]
    if not isinstance(of_total, StringLiteral):
        return None
    return _word(of_other, asked.key, of_total.text, of_null=asked.of_null)


def _word(
    key: Expression, asked: Expression, word: str, *, of_null: bool
) -> WordForTotals | None:
    is_cast = isinstance(key, Cast)
    if isinstance(key, Cast) and (
        key.type.sizes
        or cast_target(key.type, key.position).type is not ColumnType.TEXT
    ):
        return None
    return WordForTotals(_plain(key), asked, word, of_null, is_cast)


def _plain(key: Expression) -> Expression:
    return key.value if isinstance(key, Cast) else key


@dataclass(frozen=True, slots=True)
class _Asked:
    """A condition that tells totals apart, or NULL: of which key, and which way."""

    key: Expression
    is_total: bool
    of_null: bool = False


def _asked(condition: Expression) -> _Asked | None:  # noqa: PLR0911 - an arm a form
    match condition:
        case IsNull(key, negated):
            return _Asked(key, not negated, of_null=True)
        case FunctionCall("grouping", (key,)):
            return _Asked(key, is_total=True)
        case Comparison("=", FunctionCall("grouping", (key,)), NumberLiteral(number)):
            return _Asked(key, number == "1") if number in {"0", "1"} else None
        case Comparison(
            "<>" | ">", FunctionCall("grouping", (key,)), NumberLiteral("0")
        ):
            return _Asked(key, is_total=True)
        case _:
            return None
