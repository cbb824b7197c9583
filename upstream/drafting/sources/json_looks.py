"""Which tables the objects of a JSON file are: its rows, and one for each list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from engines.regular_files import opened
from upstream.drafting.sources.file_samples import Look
from upstream.files.exports.json_objects import (
    Object,
    TextList,
    json_objects,
    lists_of_objects,
    members_of,
)
from upstream.files.exports.json_rows import dotted
from upstream.manifests.file_specs import JsonSpec, is_by_line

Fields = tuple[str, ...]
"""The names of the fields on the way to a list; none: of the objects themselves."""

_MOST_LEVELS = 32
_ELEMENTS = "a row is an element of the list {}, beside the fields around it"
_IN_ANOTHER = "is a list: a table of its own reads it, with json: {{list: {}}}"
_OF_LISTS = "is a list of lists, which have no names: it is not read"


@dataclass(slots=True)
class JsonLook:
    """What the objects of a file are rows of.

    Attributes:
        rows: The list whose elements are the main table; None: there is no main one.
        lists: All lists, and whether their elements can be rows.
        said: What was seen of the main table.
    """

    rows: Fields | None = ()
    lists: dict[Fields, bool] = field(default_factory=dict)
    said: tuple[str, ...] = ()

    @property
    def tables(self) -> list[Fields]:
        """The main table, and those of lists."""
        main = [] if self.rows is None else [self.rows]
        read = [path for path, is_read in self.lists.items() if is_read]
        return list(dict.fromkeys([*main, *read]))

    def of_table(self, path: Fields) -> Look:
        """Return how a table is declared, and what was seen of it."""
        if not path:
            return Look(said=self.said)
        spec = JsonSpec.model_validate({"list": dotted(path)})
        return Look(json_=spec, said=(_ELEMENTS.format(dotted(path)),))

    def left_out(self, path: Fields) -> tuple[tuple[str, str], ...]:
        """Return the lists that stand in a table's rows, with what is said of each."""
        return tuple(
            (
                "_".join(one),
                _IN_ANOTHER.format(dotted(one)) if is_read else _OF_LISTS,
            )
            for one, is_read in self.lists.items()
            if one != path and self._around(one) == path
        )

    def _around(self, path: Fields) -> Fields:
        """Return the list that a list stands in."""
        above = (path[:length] for length in range(len(path) - 1, 0, -1))
        return next((one for one in above if one in self.lists), ())


def look_at_json(path: Path, most: int) -> JsonLook:
    """Return which tables a JSON file holds.

    Args:
        path: The file.
        most: How many of its objects are looked at.

    Raises:
        OSError: It cannot be read.
        IngestionError: It is no JSON.
    """
    with opened(path) as file:
        members = members_of(file, path.name)
        top = lists_of_objects(members or {})
        if len(top) > 1:
            look = JsonLook(rows=None)
        elif top:
            look = JsonLook(rows=(top[0],))
        else:
            look = JsonLook(said=_usual(path.name))
        around = top[:1] if look.rows != () else ()
        for fields in _objects(file, path.name, around, most):
            _note(look.lists, fields, (), most)
    return look


def _usual(name: str) -> tuple[str, ...]:
    return ("an object a line",) if is_by_line(name) else ()


def _objects(
    file: BinaryIO, name: str, around: Sequence[str], most: int
) -> Iterator[Object]:
    found = islice(json_objects(file, name, around), most)
    return (one.fields for one in found)


def _note(lists: dict[Fields, bool], fields: Object, at: Fields, most: int) -> None:
    """Note the lists among an object's fields, and those within them."""
    if len(at) > _MOST_LEVELS:
        return  # the rows' reader says it
    for key, value in fields.items():
        path = (*at, key)
        if isinstance(value, dict):
            _note(lists, value, path, most)
        elif isinstance(value, list | TextList):
            lists.setdefault(path, False)
            for element in islice(value, most):
                if not isinstance(element, list):
                    lists[path] = True
                if isinstance(element, dict):
                    _note(lists, element, path, most)
