"""Rules and places made into errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from privacy.errors import (
    NoPublicDomainError,
    SqlNotAllowedError,
    SqlSyntaxError,
    TooManyGroupsError,
    UnknownColumnError,
)
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.rules import Rule

NAMED_BY_PLACE: Final = "derived_{line}_{column}"
"""What a table in brackets is called that got no name; nobody is shown it."""
_NAMED: Final = re.compile(r"\bderived_([0-9]+)_([0-9]+)\b(?:\.([a-z][a-z0-9_]*))?")
_NAME_IT: Final = "give each table in brackets a name: FROM (SELECT ...) AS t"


def _told(detail: str) -> str:
    """Return what is wrong, with tables that have no name called by their places."""
    return _NAMED.sub(_placed, detail)


def _placed(found: re.Match[str]) -> str:
    line, column, name = found.groups()
    table = f"the table at line {line}, column {column}"
    return table if name is None else f"{name} of {table}"


def _advised(hint: str) -> str:
    """Return a hint without a name that nobody wrote."""
    return _NAME_IT if _NAMED.search(hint) else hint


def refuse(
    rule: Rule,
    position: Position,
    *,
    detail: str | None = None,
    hint: str | None = None,
) -> SqlNotAllowedError:
    """Return the refusal of a rule, its words made more exact where given."""
    return SqlNotAllowedError(
        rule=rule.name,
        line=position.line,
        column=position.column,
        detail=_told(detail or rule.detail),
        hint=_advised(hint or rule.hint),
    )


def syntax_error(position: Position, *, rule: Rule = rules.SYNTAX) -> SqlSyntaxError:
    """Return the error of a text that is not SQL."""
    return SqlSyntaxError(
        rule=rule.name,
        line=position.line,
        column=position.column,
        detail=rule.detail,
        hint=rule.hint,
    )


def with_hint(
    error: SqlNotAllowedError | SqlSyntaxError, hint: str
) -> SqlNotAllowedError | SqlSyntaxError:
    """Return the refusal of the same rule and place, with another hint."""
    return type(error)(
        rule=error.rule,
        line=error.line,
        column=error.column,
        detail=error.detail,
        hint=hint,
    )


def unknown_column(
    position: Position, *, detail: str, hint: str | None = None
) -> UnknownColumnError:
    """Return the error of a name that fits no column in scope."""
    return UnknownColumnError(
        rule=rules.UNKNOWN_COLUMN.name,
        line=position.line,
        column=position.column,
        detail=_told(detail),
        hint=_advised(hint or rules.UNKNOWN_COLUMN.hint),
    )


def no_public_domain(
    position: Position, *, detail: str, hint: str | None = None
) -> NoPublicDomainError:
    """Return the error of a key whose cells no declaration lists."""
    return NoPublicDomainError(
        rule=rules.NO_PUBLIC_DOMAIN.name,
        line=position.line,
        column=position.column,
        detail=_told(detail),
        hint=_advised(hint or rules.NO_PUBLIC_DOMAIN.hint),
    )


def too_many_groups(
    position: Position, *, cells: int, hint: str | None = None
) -> TooManyGroupsError:
    """Return the error of keys that span more cells than an answer holds."""
    return TooManyGroupsError(
        rule=rules.TOO_MANY_GROUPS.name,
        line=position.line,
        column=position.column,
        detail=f"{rules.TOO_MANY_GROUPS.detail}; these keys span {cells:,}",
        hint=hint or rules.TOO_MANY_GROUPS.hint,
    )


@contextmanager
def refusing_depth(position: Position) -> Iterator[None]:
    """Refuse what is nested too deeply to be walked, wherever that is found out.

    A chain of UNION, INTERSECT or EXCEPT has no brackets, and each is nested in the
    next.

    Raises:
        SqlNotAllowedError: Rule ``depth``.
    """
    try:
        yield
    except RecursionError:
        raise refuse(rules.DEPTH, position) from None
