"""JSON texts read object by object: one a line, or out of a list.

Numbers stay the texts that they are written as: no value goes through a float.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from json import JSONDecodeError
from typing import BinaryIO

from upstream.files.exports.packed import unpacked
from upstream.files.records import Places, refused
from upstream.manifests.file_specs import is_by_line

MOST_WHOLE_BYTES = 256 << 20  # of a JSON text that is not read by lines, unpacked
LONGEST_LINE = 16 << 20  # characters of an object in a line of its own
_MOST_PLACES = 400  # of a number whose exponent is written out
_MOST_TOLD = 5  # names of lists: where ids are names, these are values
_BLANK = re.compile(r"[ \t\r\n]*")
_NO_OBJECT = (
    "no JSON object in {}: write one object a line, {{...}}; if the file was cut off, "
    "export it again; if all of it is one list, let its name end in .json"
)
_TOO_LONG = f"this line is longer than {LONGEST_LINE >> 20} MB: write one object a line"
_TOO_LARGE = (
    f"has more than {MOST_WHOLE_BYTES >> 20} MB, the most that is read of one list: "
    "export NDJSON instead, one object a line, and let its name end in .ndjson"
)
_NOT_UTF8 = "neither UTF-8 nor UTF-16 with a byte order mark: save the file as UTF-8"
_NESTED = "is nested too deeply to be a row"
_AROUND = (
    "is one object around lists of objects ({}): name the table's list with json: "
    "{{list: {}}}; if the object is itself a row, let the file's name end in .ndjson"
)
_NO_LIST = "holds neither a list of objects nor an object: its rows would be objects"

Object = Mapping[str, object]
"""An object's fields: texts (numbers too), booleans, None, objects and lists."""


class JsonFaultError(ValueError):
    """What is wrong with an object, in words that tell no value."""


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object of a JSON text.

    Attributes:
        number: The line that it stands in, or of a list its number in it, from 1.
        fields: What it has.
        is_around: Whether it is the whole text, which the list that is read is part of.
    """

    number: int
    fields: Object
    is_around: bool = False


@dataclass(frozen=True, slots=True)
class TextList:
    """A list within a text, whose elements are read one after the other.

    Attributes:
        text: What it is part of.
        start: Where its bracket stands.
    """

    text: str
    start: int

    def __iter__(self) -> Iterator[object]:
        return (element for element, _ in self.elements())

    def elements(self) -> Iterator[tuple[object, int]]:
        """Yield each element, and where the text goes on behind it."""
        at = _after_blank(self.text, self.start + 1)
        while self.text[at : at + 1] != "]":
            element, at = _DECODER.raw_decode(self.text, at)
            at = _after_blank(self.text, at)
            yield element, at
            at = _after_comma(self.text, at, "]")

    def end(self) -> int:
        """Return where the text goes on behind the list."""
        at = _after_blank(self.text, self.start + 1)
        for _, after in self.elements():
            at = after
        return at + 1

    @property
    def holds_objects(self) -> bool:
        """Whether its first element is an object."""
        return isinstance(next(iter(self), None), dict)


def json_objects(
    file: BinaryIO, name: str, path: Sequence[str] = ()
) -> Iterator[FoundObject]:
    """Yield the objects of a JSON text that are rows, or that hold them.

    Args:
        file: The file, packed or not; it stays open.
        name: What to call it in a problem.
        path: Of the list that the table is made of, if the objects are not its rows.

    Raises:
        IngestionError: It is no JSON, or which of its lists is meant cannot be told.
    """
    encoding = _encoding(file, name)
    file.seek(0)
    try:
        with unpacked(file, name) as content:
            if is_by_line(name):
                text = io.TextIOWrapper(content, encoding, newline="\n")
                try:
                    yield from _of_lines(text, name)
                finally:
                    text.detach()
                return
            whole = content.read(MOST_WHOLE_BYTES + 1)
        if len(whole) > MOST_WHOLE_BYTES:
            raise refused(name, _TOO_LARGE)
        yield from _of_whole(whole.decode(encoding), name, path)
    except UnicodeDecodeError as error:
        raise refused(name, _NOT_UTF8) from error


def _encoding(file: BinaryIO, name: str) -> str:
    file.seek(0)
    with unpacked(file, name) as content:
        begin = content.read(4)
    return "utf-16" if begin[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"


def _of_lines(text: io.TextIOBase, name: str) -> Iterator[FoundObject]:
    """Yield the object of each line.

    Raises:
        IngestionError: Lines hold none; told once all were read.
    """
    others = Places()
    lines = iter(lambda: text.readline(LONGEST_LINE + 1), "")
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise refused(name, _TOO_LONG, number)
        if not line.strip(" \t\r\n"):
            continue
        found = _object_in(line, name, number)
        if found is None:
            others.add(number)
        else:
            yield FoundObject(number, found)
    if others.count:
        told = _NO_OBJECT.format(others.in_words())
        raise refused(name, told, others.first[0])


def _object_in(line: str, name: str, number: int) -> dict[str, object] | None:
    """Return the object that is a line; None: it is none.

    Raises:
        IngestionError: It is one that cannot be read.
    """
    try:
        found = _DECODER.decode(line)
    except JSONDecodeError:
        return None
    except JsonFaultError as error:
        raise refused(name, str(error), number) from error
    except RecursionError as error:
        raise refused(name, _NESTED, number) from error
    return found if isinstance(found, dict) else None


def _of_whole(text: str, name: str, path: Sequence[str]) -> Iterator[FoundObject]:
    try:
        start = _after_blank(text, 0)
        if text[start : start + 1] == "[":
            rows = TextList(text, start)
            yield from _numbered(rows, name)
            _require_end(text, rows.end())
        elif text[start : start + 1] == "{":
            members, end = _members(text, start)
            if _after_blank(text, end) < len(text):
                yield from _of_lines(io.StringIO(text), name)
            else:
                yield from _of_members(members, name, path)
        else:
            raise refused(name, _NO_LIST)
    except JSONDecodeError as error:
        said = (
            f"no JSON from line {error.lineno}, column {error.colno} on: was it cut "
            "off, or written by hand? Export it again"
        )
        raise refused(name, said) from error
    except JsonFaultError as error:
        raise refused(name, str(error)) from error
    except RecursionError as error:
        raise refused(name, _NESTED) from error


def _numbered(rows: TextList, name: str) -> Iterator[FoundObject]:
    number = 0
    try:
        for number, element in enumerate(rows, 1):
            if not isinstance(element, dict):
                raise refused(
                    name, "no object: each element of the list is a row", number
                )
            yield FoundObject(number, element)
    except JsonFaultError as error:
        raise refused(name, str(error), number + 1) from error
    except RecursionError as error:
        raise refused(name, _NESTED, number + 1) from error


def _of_members(
    members: dict[str, object], name: str, path: Sequence[str]
) -> Iterator[FoundObject]:
    """Yield the object, which is the whole text.

    A list of objects in it is the table only where that is declared: an object a line,
    of which one patient alone is left, is a row as it was beside others.

    Raises:
        IngestionError: It has lists of objects, and none is declared.
    """
    lists = lists_of_objects(members)
    if lists and not path:
        told = ", ".join([*lists[:_MOST_TOLD], *["..."] * (len(lists) > _MOST_TOLD)])
        raise refused(name, _AROUND.format(told, lists[0]))
    yield FoundObject(1, members, is_around=bool(path) and path[0] in members)


def lists_of_objects(members: Object) -> list[str]:
    """Return the names of the lists of objects that a text's own object has."""
    return [
        key
        for key, value in members.items()
        if isinstance(value, TextList) and value.holds_objects
    ]


def members_of(file: BinaryIO, name: str) -> Object | None:
    """Return the fields of the object that a whole text is; None: it is none.

    Raises:
        IngestionError: It cannot be unpacked.
    """
    if is_by_line(name):
        return None
    encoding = _encoding(file, name)
    file.seek(0)
    with unpacked(file, name) as content:
        text = content.read(MOST_WHOLE_BYTES).decode(encoding, "replace")
    start = _after_blank(text, 0)
    try:
        if text[start : start + 1] == "{":
            members, end = _members(text, start)
            return members if _after_blank(text, end) == len(text) else None
    except (JSONDecodeError, JsonFaultError, RecursionError):
        return None  # the rows' reader says why
    return None


def _members(text: str, start: int) -> tuple[dict[str, object], int]:
    """Return an object's fields, lists unread, and where the text goes on."""
    found: list[tuple[str, object]] = []
    at = _after_blank(text, start + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise JSONDecodeError("name", text, at)  # noqa: EM101 - told in our words
        key, at = _DECODER.raw_decode(text, at)
        at = _after_blank(text, at)
        if text[at : at + 1] != ":":
            raise JSONDecodeError("colon", text, at)  # noqa: EM101 - as above
        at = _after_blank(text, at + 1)
        value: object
        if text[at : at + 1] == "[":
            value = TextList(text, at)
            at = value.end()
        else:
            value, at = _DECODER.raw_decode(text, at)
        found.append((str(key), value))
        at = _after_comma(text, _after_blank(text, at), "}")
    return _fields(found), at + 1


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def _after_comma(text: str, at: int, close: str) -> int:
    """Return where the next part begins, or where the closing mark stands."""
    sign = text[at : at + 1]
    if sign == close:
        return at
    after = _after_blank(text, at + 1)
    if sign != "," or text[after : after + 1] == close:
        raise JSONDecodeError("comma", text, at)  # noqa: EM101 - told in our words
    return after


def _require_end(text: str, at: int) -> None:
    after = _after_blank(text, at)
    if after < len(text):
        raise JSONDecodeError("end", text, after)  # noqa: EM101 - told in our words


def _fields(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        message = f"an object has the field {twice!r} twice: which one would be meant?"
        raise JsonFaultError(message)
    return found


def _number(text: str) -> str:
    """Return a number as it is written, an exponent written out.

    >>> _number("1.50"), _number("1.5e-3"), _number("2E3")
    ('1.50', '0.0015', '2000')
    """
    if "e" not in text and "E" not in text:
        return text
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > _MOST_PLACES or len(exponent) > len("-400"):
        return text
    number = Decimal(text)
    return format(number, "f") if abs(number.adjusted()) <= _MOST_PLACES else text


def _no_number(word: str) -> object:
    message = f"{word} is no JSON: write null where there is no number"
    raise JsonFaultError(message)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_fields,
    parse_int=str,
    parse_float=_number,
    parse_constant=_no_number,
)
