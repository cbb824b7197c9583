"""Functions of texts as DuckDB SQL: by code points; letters and blanks are ASCII.

``upper`` and ``trim`` of the engine know all of Unicode, and ``LIKE`` takes a time that
is no multiple of a text's length; so letters are translated, blanks named, and patterns
written as regular expressions (RE2).
"""

from collections.abc import Callable, Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Protocol

from query_lang.plans.expressions import Call, Expression, Function
from query_lang.rendering.fragments import Fragment, listed


class Renderer(Protocol):
    """What renders the operands."""

    def render(self, expression: Expression) -> Fragment:
        """Return the SQL of an expression."""
        ...


def _called(name: str, *more: str) -> Callable[[Renderer, Call], Fragment]:
    """Return what writes a function of a text, fixed arguments and the parameters."""

    def write(renderer: Renderer, call: Call) -> Fragment:
        own = Fragment(f"{name}(") + renderer.render(call.operands[0])
        for text in more:
            own += Fragment(f", '{text}'")
        for parameter in call.parameters:
            # whole numbers as such, since how a parameter is typed is the driver's
            own += (
                Fragment(f", {parameter}")
                if isinstance(parameter, int)
                else Fragment(", CAST(? AS VARCHAR)", (parameter,))
            )
        return own + Fragment(")")

    return write


def _concatenated(renderer: Renderer, call: Call) -> Fragment:
    items = listed(map(renderer.render, call.operands), " || ")
    return Fragment("(") + items + Fragment(")")


def _matches(renderer: Renderer, call: Call) -> Fragment:
    """Write a pattern, which has letters, digits and signs of its own, but no quote."""
    (pattern,) = call.parameters
    own = Fragment("regexp_full_match(") + renderer.render(call.operands[0])
    return own + Fragment(f", '{pattern}')")


RENDERERS: Mapping[Function, Callable[[Renderer, Call], Fragment]] = {
    Function.UPPER: _called("translate", ascii_lowercase, ascii_uppercase),
    Function.LOWER: _called("translate", ascii_uppercase, ascii_lowercase),
    Function.SUBSTRING: _called("substring"),
    Function.RIGHT: _called("right"),
    Function.TRIM: _called("trim", " "),
    Function.LTRIM: _called("ltrim", " "),
    Function.RTRIM: _called("rtrim", " "),
    Function.REPLACE: _called("replace"),
    Function.LENGTH: _called("length"),
    Function.STRPOS: _called("strpos"),
    Function.CONCAT: _concatenated,
    Function.MATCHES: _matches,
}
