"""Parsed trees as JSON; the round trip is exact and reading trusts nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import reduce
from types import NoneType, UnionType
from typing import Literal, Never, get_args, get_origin, get_type_hints

from query_lang.syntax import nodes as syntax
from query_lang.syntax.nodes import Idiom, Query

Json = dict[str, "Json"] | list["Json"] | str | int | bool | None

_CLASSES: Mapping[str, type] = {
    name: value
    for name, value in vars(syntax).items()
    if isinstance(value, type) and is_dataclass(value) and value is not Idiom
}
_TAG = "node"
_PLAIN = frozenset({str, int, bool, NoneType})


def to_json(tree: Query) -> Json:
    """Write a tree: an object per node, its class under ``node``."""
    return _write(tree)


def _write(value: object) -> Json:
    kind = type(value)
    if isinstance(value, tuple):
        return [_write(item) for item in value]
    if value is None or isinstance(value, str | int):  # a bool is an int
        return value
    written: dict[str, Json] = {_TAG: kind.__name__}
    for name in _FORMS[kind.__name__].shapes:
        item = getattr(value, name)
        written[name] = item if type(item) in _PLAIN else _write(item)
    return written


def from_json(document: Json) -> Query:
    """Read a tree back.

    Raises:
        ValueError: The document is not one that ``to_json`` writes.
    """
    tree = _read(document, _ROOT)
    if not isinstance(tree, Query):  # pragma: no cover - the shape holds it
        raise TypeError
    return tree


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a field may hold.

    Attributes:
        types: Of nodes and plain values, each exactly: a bool is no line number.
        words: The texts of a Literal; their type is not among ``types``.
        items: What a tuple holds, where the field is one.
    """

    types: frozenset[object] = frozenset()
    words: frozenset[str] = frozenset()
    items: "_Shape | None" = None


@dataclass(frozen=True, slots=True)
class _Form:
    """A class of nodes and the shapes of its fields, in order of declaration."""

    kind: type
    shapes: Mapping[str, _Shape]


def _read(document: Json, shape: _Shape) -> object:
    """Read what stands where only ``shape`` may."""
    value: object = document
    if isinstance(document, dict):
        value = _node(document)
    elif isinstance(document, list):
        if shape.items is None:
            _refuse()
        return tuple([_read(item, shape.items) for item in document])
    elif isinstance(document, str) and document in shape.words:
        return document
    if type(value) not in shape.types:
        _refuse()
    return value


def _node(document: dict[str, Json]) -> object:
    tag = document.get(_TAG)
    form = _FORMS.get(tag) if isinstance(tag, str) else None
    if form is None or len(document) != len(form.shapes) + 1:
        _refuse()
    values: list[object] = []
    for name, shape in form.shapes.items():
        if name not in document:
            _refuse()
        value = document[name]
        if type(value) not in _PLAIN or type(value) not in shape.types:
            values.append(_read(value, shape))
        else:
            values.append(value)
    built: object = form.kind(*values)
    return built


def _refuse() -> Never:
    message = "no node of the tree is written so"
    raise ValueError(message)


def _shape(hint: object) -> _Shape:
    """Return the shape that an annotation describes."""
    if isinstance(hint, type) and get_origin(hint) is None:
        return _Shape(frozenset({hint}))
    if isinstance(hint, UnionType):
        return reduce(_either, map(_shape, get_args(hint)))
    if get_origin(hint) is Literal:
        return _Shape(words=frozenset(get_args(hint)))
    return _Shape(items=_shape(get_args(hint)[0]))  # a tuple of any length


def _either(one: _Shape, other: _Shape) -> _Shape:
    return _Shape(
        one.types | other.types, one.words | other.words, one.items or other.items
    )


_FORMS: Mapping[str, _Form] = {
    name: _Form(
        kind,
        {
            field.name: _shape(get_type_hints(kind)[field.name])
            for field in fields(kind)
        },
    )
    for name, kind in _CLASSES.items()
}
_ROOT = _Shape(frozenset({Query}))
