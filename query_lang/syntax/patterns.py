r"""Patterns of texts: LIKE, SIMILAR TO and regular expressions, alike everywhere.

Each becomes a ``Pattern`` that all of a text must match, by code points. What is left
out (backreferences, looking around, word boundaries, anchors inside) has no linear
time, or another meaning on another engine. ``.`` is any character, a line break too,
``$`` the end of the text; ``\d``, ``\w``, ``\s`` and letters of either case are ASCII.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import Final

MOST_CHARACTERS: Final = 500
"""Of a pattern as written."""

MOST_PLACES: Final = 300
"""Sets of characters of a pattern whose repetitions are written out."""

MOST_OPENED: Final = 4
"""Alternatives of brackets round all that is looked for that stand without them: each
is then a test of its own, which takes less of one unit and more of a whole table."""

MOST_REPEATED: Final = 100
MOST_NESTED: Final = 10

Ranges = tuple[tuple[int, int], ...]
"""Code points in order; none touches the next."""

_LAST: Final = 0x10FFFF
_PLAIN: Final = frozenset(ascii_letters + digits)


class PatternError(ValueError):
    """A pattern has no meaning here; the message says which part, and what to write."""


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Row:
    """Pieces, one after the other."""

    items: tuple["Pattern", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two or more pieces."""

    options: tuple["Pattern", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A piece from ``least`` to ``most`` times; None: as often as there is text."""

    item: "Pattern"
    least: int
    most: int | None


Pattern = Characters | Row | Choice | Repeat

ANY: Final = Characters(((0, _LAST),))
ANYTHING: Final = Repeat(ANY, 0, None)
_WILD: Final[Mapping[str, Pattern]] = {"%": ANYTHING, "_": ANY}


# -- sets of characters --------------------------------------------------------


def _merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return tuple(found)


def _others(ranges: Ranges) -> Ranges:
    found, at = [], 0
    for low, high in ranges:
        if at < low:
            found.append((at, low - 1))
        at = high + 1
    if at <= _LAST:
        found.append((at, _LAST))
    return tuple(found)


def _of(*written: str) -> Ranges:
    """Return a set of characters and of ranges such as ``a-z``."""
    return _merged((ord(text[0]), ord(text[-1])) for text in written)


def _small(ranges: Ranges) -> Ranges:
    """Return a set with its capital letters as small ones."""
    found: list[tuple[int, int]] = []
    for low, high in ranges:
        first, last = max(low, ord("A")), min(high, ord("Z"))
        if first > last:
            found.append((low, high))
            continue
        found.append((first + 32, last + 32))
        found += [(low, first - 1)] if low < first else []
        found += [(last + 1, high)] if last < high else []
    return _merged(found)


_SETS: Final[Mapping[str, Ranges]] = {
    "d": _of("0-9"),
    "w": _of("0-9", "A-Z", "_", "a-z"),
    "s": _of("\t-\r", " "),
}
_ESCAPES: Final[Mapping[str, Ranges]] = {
    **_SETS,
    **{name.upper(): _others(found) for name, found in _SETS.items()},
    **{name: _of(sign) for name, sign in {"t": "\t", "n": "\n", "r": "\r"}.items()},
}
_CLASSES: Final[Mapping[str, Ranges]] = {
    "alnum": _of("0-9", "A-Z", "a-z"),
    "alpha": _of("A-Z", "a-z"),
    "digit": _SETS["d"],
    "lower": _of("a-z"),
    "space": _SETS["s"],
    "upper": _of("A-Z"),
}


# -- LIKE ----------------------------------------------------------------------


def like_pattern(text: str) -> Pattern:
    """Read a pattern of LIKE: ``%``, ``_``, and a backslash before either or itself.

    Raises:
        PatternError: A backslash stands before another character.
    """
    _check_length(text)
    items: list[Pattern] = []
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            at += 1
            if text[at : at + 1] not in {"%", "_", "\\"}:
                message = r"a backslash stands before %, _ or another backslash"
                raise PatternError(message)
            items.append(Characters(_of(text[at])))
        else:
            items.append(_WILD.get(sign) or Characters(((ord(sign), ord(sign)),)))
        at += 1
    return _checked(_row(items))


def like_escaped(text: str, escape: str) -> str:
    """Return a pattern of LIKE whose escape sign is another one, with a backslash.

    Raises:
        PatternError: The sign stands before what needs none.
    """
    found, at = "", 0
    while at < len(text):
        sign = text[at]
        if escape and sign == escape:
            at += 1
            if at == len(text) or text[at] not in {"%", "_", escape}:
                message = f"{escape} stands before %, _ or itself"
                raise PatternError(message)
            found += f"\\{text[at]}" if text[at] in "%_\\" else text[at]
        else:
            found += "\\\\" if sign == "\\" else sign
        at += 1
    return found


# -- regular expressions -------------------------------------------------------


def regular_pattern(text: str, *, folds: bool = False) -> Pattern:
    """Read a regular expression that a part of a text may match.

    Args:
        text: As written.
        folds: Whether capital letters are read as small ones.

    Raises:
        PatternError: It holds what is not in the language.

    >>> written(regular_pattern("^E1[0-4]$"))
    'E1[0-4]'
    """
    _check_length(text)
    if text.startswith("(?i)"):
        text, folds = text.removeprefix("(?i)"), True
    return _checked(_Reader(text, folds=folds).whole())


def similar_pattern(text: str) -> Pattern:
    """Read a pattern of SIMILAR TO, which all of a text matches.

    Raises:
        PatternError: It holds what is not in the language.
    """
    _check_length(text)
    reader = _Reader(text, similar=True)
    found = reader.choice()
    reader.end()
    return _checked(found)


def _check_length(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        message = f"a pattern has at most {MOST_CHARACTERS} characters"
        raise PatternError(message)


def _checked(pattern: Pattern) -> Pattern:
    if places(pattern) > MOST_PLACES:
        message = f"a pattern has at most {MOST_PLACES} places, repetitions written out"
        raise PatternError(message)
    return pattern


@dataclass(slots=True)
class _Reader:
    text: str
    folds: bool = False
    similar: bool = False
    at: int = 0
    depth: int = 0

    def end(self) -> None:
        """Hold that the text is read to its end."""
        if self.at < len(self.text):
            message = "a bracket closes that was not opened"
            raise PatternError(message)

    def whole(self) -> Pattern:
        """Read alternatives whose ends may be anchored."""
        options = [self._anchored()]
        while self._takes("|"):
            options.append(self._anchored())
        self.end()
        return _choice(options)

    def _anchored(self) -> Pattern:
        start = () if self._takes("^") else (ANYTHING,)
        found = self._row()
        end = () if self._takes("$") else (ANYTHING,)
        options = found.options if isinstance(found, Choice) else ()
        if 0 < len(options) <= MOST_OPENED and all(map(_is_literal, options)):
            return _choice(_row([*start, option, *end]) for option in options)
        return _row([*start, found, *end])

    def choice(self) -> Pattern:
        """Read alternatives."""
        options = [self._row()]
        while self._takes("|"):
            options.append(self._row())
        return _choice(options)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _takes(self, sign: str) -> bool:
        found = self.text.startswith(sign, self.at)
        self.at += len(sign) if found else 0
        return found

    def _row(self) -> Pattern:
        items: list[Pattern] = []
        while self._next() and self._next() not in "|)":
            is_last = not self.depth and self.text[self.at : self.at + 2] in {"$", "$|"}
            if is_last and not self.similar:
                break
            items.append(self._repeated(self._atom()))
        return _row(items)

    def _repeated(self, item: Pattern) -> Pattern:
        sign = self._next()
        if not sign or sign not in "*+?{":
            return item
        self.at += 1
        if sign == "{":
            least, most = self._times()
        else:
            least, most = _TIMES[sign]
        if not self.similar:
            self._takes("?")  # the shortest match first: whether one is, is the same
        if self._next() and self._next() in "*+?{":
            message = "a repetition stands after one character, set or bracket"
            raise PatternError(message)
        return Repeat(item, least, most)

    def _times(self) -> tuple[int, int | None]:
        written, closed, _ = self.text[self.at :].partition("}")
        least, comma, most = written.partition(",")
        numbers = [least, *([most] if most else [])]
        most_digits = len(str(MOST_REPEATED))
        fits = closed and all(
            n.isascii() and n.isdigit() and len(n) <= most_digits for n in numbers
        )
        if not fits or any(int(n) > MOST_REPEATED for n in numbers):
            message = (
                f"a repetition is {{m}}, {{m,}} or {{m,n}}, at most {MOST_REPEATED}"
            )
            raise PatternError(message)
        self.at += len(written) + 1
        first = int(least)
        last = int(most) if most else None if comma else first
        if last is not None and last < first:
            message = "a repetition {m,n} has its smaller number first"
            raise PatternError(message)
        return first, last

    def _atom(self) -> Pattern:
        sign = self._next()
        self.at += 1
        if self.similar and sign in _WILD:
            return _WILD[sign]
        read = _ATOMS.get(sign)
        if read is None or (self.similar and sign in ".^$"):
            return self._set(((ord(sign), ord(sign)),))
        return read(self)

    def _set(self, ranges: Ranges, *, negated: bool = False) -> Characters:
        held = _small(ranges) if self.folds else ranges
        held = _others(held) if negated else held
        if not held:
            message = "a set has a character: [0-4]"
            raise PatternError(message)
        return Characters(held)

    def _any(self) -> Pattern:
        return ANY

    def _misplaced(self) -> Pattern:
        sign = self.text[self.at - 1]
        message = (
            "^ stands first and $ last: '^(E10|E11)$'; as characters \\^ and \\$"
            if sign in "^$"
            else f"{sign} has nothing to repeat; as a character \\{sign}"
        )
        raise PatternError(message)

    def _group(self) -> Pattern:
        self.depth += 1
        if self.depth > MOST_NESTED:
            message = f"brackets nest at most {MOST_NESTED} deep"
            raise PatternError(message)
        if self._takes("?") and not self._takes(":"):
            message = "brackets hold alternatives: (E10|E11); nothing looks around"
            raise PatternError(message)
        found = self.choice()
        if not self._takes(")"):
            message = "a bracket is not closed"
            raise PatternError(message)
        self.depth -= 1
        return found

    def _escaped(self) -> Pattern:
        return self._set(self._escape())

    def _escape(self) -> Ranges:
        sign = self._next()
        self.at += 1
        if sign in _ESCAPES and sign:
            return _ESCAPES[sign]
        if sign == "x" and self._takes("{"):
            written, _, _ = self.text[self.at :].partition("}")
            self.at += len(written) + 1
            try:
                character = chr(int(written, 16))
                character.encode()  # no half of a pair
                return _of(character)
            except (ValueError, OverflowError):
                message = "\\x{...} holds the number of a character"
                raise PatternError(message) from None
        if not sign or sign in _PLAIN or not sign.isascii():
            message = (
                "a backslash stands before a sign, d, w, s, D, W, S, t, n or r: "
                "\\d is a digit, \\. a dot"
            )
            raise PatternError(message)
        return _of(sign)

    def _class(self) -> Pattern:
        """Read ``[...]``: characters, ranges, and classes by name."""
        negated = self._takes("^")
        found: list[tuple[int, int]] = []
        while not self._takes("]"):
            found += self._class_item()
        return self._set(_merged(found), negated=negated)

    def _class_item(self) -> Ranges:
        if self._takes("[:"):
            name, _, _ = self.text[self.at :].partition(":]")
            self.at += len(name) + 2
            if name not in _CLASSES:
                known = ", ".join(f"[:{known}:]" for known in _CLASSES)
                message = f"the classes are {known}"
                raise PatternError(message)
            return _CLASSES[name]
        first = self._class_character()
        rest = self.text[self.at : self.at + 2]
        if not rest.startswith("-") or rest == "-]":
            return first
        self.at += 1
        last = self._class_character()
        ends = (*first, *last)
        is_range = len(ends) == 2 and all(low == high for low, high in ends)  # noqa: PLR2004 - two ends
        if not is_range or first > last:
            message = "a range in a set goes up: [0-4]"
            raise PatternError(message)
        return ((first[0][0], last[0][0]),)

    def _class_character(self) -> Ranges:
        sign = self._next()
        if not sign:
            message = "a set is not closed: [0-4]"
            raise PatternError(message)
        self.at += 1
        return self._escape() if sign == "\\" else ((ord(sign), ord(sign)),)


_TIMES: Final[Mapping[str, tuple[int, int | None]]] = {
    "*": (0, None),
    "+": (1, None),
    "?": (0, 1),
}
_ATOMS: Final[Mapping[str, Callable[[_Reader], Pattern]]] = {
    "(": _Reader._group,  # noqa: SLF001 - its own table
    "[": _Reader._class,  # noqa: SLF001
    "\\": _Reader._escaped,  # noqa: SLF001
    ".": _Reader._any,  # noqa: SLF001
    **dict.fromkeys("^$*+?{", _Reader._misplaced),  # noqa: SLF001
}


# -- one form of each ----------------------------------------------------------


def _row(items: Iterable[Pattern]) -> Pattern:
    """Return pieces in a row, rows within it opened; ANYTHING twice is once."""
    found: list[Pattern] = []
    for item in items:
        for piece in item.items if isinstance(item, Row) else (item,):
            if not (piece == ANYTHING and found and found[-1] == ANYTHING):
                found.append(piece)
    return found[0] if len(found) == 1 else Row(tuple(found))


def _choice(options: Iterable[Pattern]) -> Pattern:
    found: dict[Pattern, None] = {}
    for option in options:
        inner = option.options if isinstance(option, Choice) else (option,)
        found.update(dict.fromkeys(inner))
    return next(iter(found)) if len(found) == 1 else Choice(tuple(found))


def _is_literal(pattern: Pattern) -> bool:
    return literal_text(pattern) is not None


def places(pattern: Pattern) -> int:
    """Return how many sets of characters a pattern has, its repetitions written out."""
    match pattern:
        case Characters():
            return 1
        case Row(items) | Choice(items):
            return sum(map(places, items)) + 1
        case Repeat(item, least, most):
            return places(item) * max(1, least + 1 if most is None else most)


def most_characters(pattern: Pattern) -> int | None:
    """Return how many characters a text has at most that matches, None without end."""
    match pattern:
        case Characters():
            return 1
        case Row(items):
            found = [most_characters(item) for item in items]
            known = [most for most in found if most is not None]
            return sum(known) if len(known) == len(found) else None
        case Choice(options):
            found = [most_characters(option) for option in options]
            known = [most for most in found if most is not None]
            return max(known) if len(known) == len(found) else None
        case Repeat(item, _, most):
            each = most_characters(item)
            return None if most is None or each is None else most * each


def looked_at(pattern: Pattern) -> int | None:
    """Return how many characters of a text tell whether it matches, None if all do.

    What may go on with anything is told by the longest text before that; what is whole
    by one character more than its longest text.

    >>> [looked_at(regular_pattern(text)) for text in ("^E1[0-4]", "^E1?$", "E1")]
    [3, 3, None]
    """
    options = pattern.options if isinstance(pattern, Choice) else (pattern,)
    found: list[int] = []
    for option in options:
        items = option.items if isinstance(option, Row) else (option,)
        goes_on = items[-1:] == (ANYTHING,)
        most = most_characters(Row(items[:-1] if goes_on else items))
        if most is None:
            return None
        found.append(most + (not goes_on))
    return max(found)


def literal_text(pattern: Pattern) -> str | None:
    """Return the one text that matches a pattern, None where there may be others."""
    match pattern:
        case Characters(((low, high),)) if low == high:
            return chr(low)
        case Row(items):
            parts = [literal_text(item) for item in items]
            known = [part for part in parts if part is not None]
            return "".join(known) if len(known) == len(parts) else None
        case _:
            return None


def written(pattern: Pattern) -> str:  # noqa: PLR0911 - an arm a form
    r"""Write a pattern as a regular expression in ASCII: letters, digits, ``\x{...}``.

    Sets are listed, and brackets stand around each choice and what is repeated, so that
    it means the same wherever it is read.
    """
    match pattern:
        case Characters(((low, high),)) if low == high:
            return _sign(low)
        case Characters(ranges):
            ends = (
                _sign(low) if low == high else f"{_sign(low)}-{_sign(high)}"
                for low, high in ranges
            )
            return f"[{''.join(ends)}]"
        case Row(items):
            return "".join(map(written, items))
        case Choice(options):
            return f"(?:{'|'.join(map(written, options))})"
        case Repeat(item, least, most):
            inner = written(item)
            held = inner if isinstance(item, Characters) else f"(?:{inner})"
            times = f"{least}," if most is None else f"{least},{most}"
            return f"{held}{{{times}}}"


def read_back(text: str) -> Pattern:
    """Return the pattern that ``written`` wrote: of any length.

    >>> read_back(written(regular_pattern("^a+$"))) == regular_pattern("^a+$")
    True
    """
    return _Reader(f"^(?:{text})$", folds=False).whole()


def _sign(code: int) -> str:
    return chr(code) if chr(code) in _PLAIN else f"\\x{{{code:x}}}"
