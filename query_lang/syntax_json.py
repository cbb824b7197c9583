"""Parsed trees as JSON; the round trip is exact and reading trusts nothing."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Literal, get_args, get_origin, get_type_hints

from query_lang import syntax
from query_lang.syntax import Query

Json = dict[str, "Json"] | list["Json"] | str | int | bool | None

_CLASSES: Mapping[str, type] = {
    name: value
    for name, value in vars(syntax).items()
    if isinstance(value, type) and is_dataclass(value)
}
_TAG = "node"


def to_json(tree: Query) -> Json:
    """Write a tree: an object per node, its class under ``node``."""
    return _write(tree)


def _write(value: object) -> Json:
    if isinstance(value, tuple):
        return [_write(item) for item in value]
    if value is None or isinstance(value, str | int):  # a bool is an int
        return value
    written: dict[str, Json] = {_TAG: type(value).__name__}
    for name in _hints(type(value)):
        written[name] = _write(getattr(value, name))
    return written


def from_json(document: Json) -> Query:
    """Read a tree back.

    Raises:
        ValueError: The document is not one that ``to_json`` writes.
    """
    tree = _read(document)
    if not isinstance(tree, Query):
        message = "a query is written here"
        raise ValueError(message)  # noqa: TRY004 - one error for every bad document
    return tree


def _read(document: Json) -> object:
    if isinstance(document, list):
        return tuple(_read(item) for item in document)
    if not isinstance(document, dict):
        return document
    tag = document.get(_TAG)
    kind = _CLASSES.get(tag) if isinstance(tag, str) else None
    if kind is None or set(document) != {_TAG, *_hints(kind)}:
        message = "no node of the tree is written so"
        raise ValueError(message)
    values = {name: _read(document[name]) for name in _hints(kind)}
    for name, hint in _hints(kind).items():
        if not _fits(values[name], hint):
            message = f"{tag}.{name} is not written so"
            raise ValueError(message)
    built: object = kind(**values)
    return built


def _hints(kind: type) -> Mapping[str, object]:
    """Return the annotation of each field, resolved, in order of declaration."""
    return _HINTS[kind]


def _fits(value: object, hint: object) -> bool:
    if isinstance(hint, type):
        return type(value) is hint  # exactly: a bool is no line number
    if isinstance(hint, UnionType):
        return type(value) in _members(hint) or any(
            _fits(value, member) for member in get_args(hint) if get_origin(member)
        )
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    item = get_args(hint)[0]  # of a tuple of any length
    return isinstance(value, tuple) and all(_fits(v, item) for v in value)


@cache
def _members(hint: UnionType) -> frozenset[object]:
    return frozenset(get_args(hint))


_HINTS: Mapping[type, Mapping[str, object]] = {
    kind: {
        field.name: get_type_hints(kind)[field.name]
        for field in fields(kind)  # the registry holds dataclasses alone
    }
    for kind in _CLASSES.values()
}
