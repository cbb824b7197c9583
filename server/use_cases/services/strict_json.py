"""One strict reader of JSON bodies: nothing is guessed, nothing is lost.

Numbers keep their exact value (Decimal), so that a loss written as ``0.1`` is one
tenth. Refused: duplicate keys, NaN and Infinity, trailing text, other encodings, a byte
order mark, lone surrogates, deep nesting, and numbers too long to be meant.
"""

import json
import re
from decimal import Decimal, InvalidOperation
from typing import NoReturn

MAX_DEPTH = 64
MAX_NUMBER_CHARACTERS = 400
_BEYOND_MEANING = 999_999  # an exponent that every later range check refuses

JsonValue = (
    None | bool | int | Decimal | str | list["JsonValue"] | dict[str, "JsonValue"]
)

_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
"""A string that nothing closes goes to the end: it is looked at once, and no JSON."""


class MalformedJsonError(ValueError):
    """The body is not strict JSON; the message says why and quotes nothing."""


def read_json(body: bytes) -> JsonValue:
    """Parse one JSON value from the bytes of a body.

    Raises:
        MalformedJsonError: The bytes are not strict JSON.
    """
    try:
        text = body.decode("utf-8", "strict")
    except UnicodeDecodeError:
        message = "the body is not UTF-8"
        raise MalformedJsonError(message) from None
    if text.startswith("\ufeff"):
        message = "the body starts with a byte order mark"
        raise MalformedJsonError(message)
    _check_depth(text)
    try:
        value: JsonValue = json.loads(
            text,
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=_constant,
            object_pairs_hook=_object,
        )
    except MalformedJsonError:
        raise
    except (ValueError, RecursionError):
        message = "the body is not JSON"
        raise MalformedJsonError(message) from None
    _check_surrogates(text)
    return value


def _check_depth(text: str) -> None:
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match.group()
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token, 0)
        if depth > MAX_DEPTH:
            message = f"the body nests deeper than {MAX_DEPTH}"
            raise MalformedJsonError(message)


def _check_surrogates(text: str) -> None:
    """Refuse lone surrogates, which only escapes can smuggle in."""
    for match in _STRING_OR_BRACKET.finditer(text):
        if "\\u" in match.group().lower():
            try:
                json.loads(match.group()).encode("utf-8")
            except UnicodeEncodeError:
                message = "a string holds a lone surrogate"
                raise MalformedJsonError(message) from None


def _decimal(text: str) -> Decimal:
    if len(text) > MAX_NUMBER_CHARACTERS:
        message = f"a number is longer than {MAX_NUMBER_CHARACTERS} characters"
        raise MalformedJsonError(message)
    try:
        return Decimal(text)
    except InvalidOperation:  # JSON has no limit to exponents, Decimal has
        mantissa, _, exponent = text.lower().partition("e")
        sign = "-" if exponent.startswith("-") else ""
        return Decimal(f"{mantissa}e{sign}{_BEYOND_MEANING}")


def _integer(text: str) -> int:
    return int(_decimal(text))


def _constant(_: str) -> NoReturn:
    message = "NaN and Infinity are not JSON"
    raise MalformedJsonError(message)


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        message = "a key stands twice in one object"
        raise MalformedJsonError(message)
    return value
