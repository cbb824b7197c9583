"""Texts beside a column of codes: what no row holds, and what is more than one code.

``main_dx = 'I50'`` is true of the code I50 alone, and a register that writes I50.9 has
hardly a row of it: noise around 0, without a word. What is said follows from the text
and the hierarchy alone.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from privacy.schema import HierarchyDomain, Scalar
from query_lang.binding.environment import Environment
from query_lang.binding.outside_domain import outside_of
from query_lang.hierarchies.sought_codes import MOST_CODES, SoughtCodes
from query_lang.plans.expressions import Call, Expression, FieldRef, Function
from query_lang.syntax.nodes import Position, StringLiteral

_BEGINNING: Final = frozenset({Function.PREFIX})
_CAPITALS: Final = (
    "codes are compared as the files write them, mostly in capital letters: "
    "UPPER({}), or ILIKE, takes both"
)


def sought_in(value: Expression, environment: Environment) -> SoughtCodes | None:
    """Return what tells of the codes of a column; None of what has none."""
    domain = value.facts.domain
    if not isinstance(value, FieldRef) or not isinstance(domain, HierarchyDomain):
        return None
    found = environment.codes.get(domain.name)
    if found is None:
        found = SoughtCodes(domain, environment.dataset.hierarchies)
        environment.sizes.add_tried(min(found.steps, MOST_CODES))
        environment.codes[domain.name] = found
    return found


def warn_of_equal(
    literals: Mapping[Scalar, Position],
    value: Expression,
    shown: str,
    environment: Environment,
) -> None:
    """Note literals that a column of codes is compared with, one or a list.

    Args:
        literals: And where they stand.
        value: The column.
        shown: What to call it.
        environment: Is told.
    """
    codes = sought_in(value, environment)
    if codes is None:
        return
    texts = {text: at for text, at in literals.items() if isinstance(text, str)}
    environment.sizes.add_tried(len(texts))
    lacking = {text: at for text, at in texts.items() if codes.lacks(text)}
    if lacking:
        _warn_of_none(lacking, codes, shown, environment)
    held = [text for text in texts if text not in lacking]
    category = next(filter(None, map(codes.category, held)), None)
    if category is not None:
        _warn_once(
            f"{shown} = '{category}' takes the code {category} alone, and none within "
            f"it, such as {category}.0: icd_category({shown}) = '{category}', or "
            f"{shown} LIKE '{category}%', takes all of the category",
            f"whole {shown}",
            environment,
        )
    _warn_of_small(held, shown, environment)


def warn_of_end(
    end: Scalar | None, value: Expression, shown: str, environment: Environment
) -> None:
    """Note a category as the last of a range of codes: those within it come after."""
    codes = sought_in(value, environment)
    if codes is None or not isinstance(end, str):
        return
    category = codes.category(end)
    if category is not None:
        _warn_once(
            f"{category}.0 comes after {category}, so a range of {shown} that ends "
            f"there leaves out all within {category}: compare icd_category({shown})",
            f"end {shown}",
            environment,
        )


def warn_of_pattern(
    found: Expression,
    value: Expression,
    written: StringLiteral,
    shown: str,
    environment: Environment,
) -> None:
    """Note beginnings of a pattern that no code of a column begins with.

    Args:
        found: Whether a text matches, as it was bound.
        value: The column.
        written: The pattern.
        shown: What to call the column.
        environment: Is told.
    """
    codes = sought_in(value, environment)
    if codes is None:
        return
    if isinstance(found, Call) and found.function in {Function.EQ, Function.IN}:
        items = [getattr(each, "value", None) for each in found.operands[1:]]
        at = dict.fromkeys([i for i in items if i is not None], written.position)
        warn_of_equal(at, value, shown, environment)
        return
    starts = _beginnings(found)
    environment.sizes.add_tried(len(starts))
    if starts and all(map(codes.lacks_beginning, starts)):
        if environment.tells_outside() is not None:
            place = written.position
            environment.warn(
                "literal_outside_domain",
                f"no code of {codes.name} begins like the pattern at line "
                f"{place.line}, column {place.column}; no row of {shown} matches it",
            )
        return
    _warn_of_small(starts, shown, environment)


def _beginnings(found: Expression) -> Sequence[str]:
    """Return what texts begin with of which a pattern is true; none if that is more."""
    if not isinstance(found, Call):
        return []
    if found.function is Function.OR:
        parts = [_beginnings(each) for each in found.operands]
        return [text for part in parts for text in part] if all(parts) else []
    return [str(found.parameters[0])] if found.function in _BEGINNING else []


def _warn_of_none(
    lacking: Mapping[str, Position],
    codes: SoughtCodes,
    shown: str,
    environment: Environment,
) -> None:
    near = environment.tells_outside()
    if near is None:
        return
    level = codes.level(next(iter(lacking))) if near else None
    instead = f": {level.format(shown)} has such values" if level else ""
    it = "it is no code" if len(lacking) == 1 else "they are no codes"
    said = outside_of([*lacking.values()], shown)
    detail = f"{said}; {it} of {codes.name}, so no row is equal{instead}"
    environment.warn("literal_outside_domain", detail)


def _warn_of_small(texts: Sequence[str], shown: str, environment: Environment) -> None:
    if any(text != text.upper() for text in texts):
        _warn_once(_CAPITALS.format(shown), f"small {shown}", environment)


def _warn_once(detail: str, key: str, environment: Environment) -> None:
    """Warn of a column once, however many texts stand beside it."""
    environment.counted[key] += 1
    if environment.counted[key] == 1:
        environment.warn("code_text", detail)
