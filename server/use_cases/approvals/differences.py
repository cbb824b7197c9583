"""What a change alters, a line each, so that nobody has to compare two declarations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from budget.chain.entries import canonical_json
from server.use_cases.approvals.changes import Altered, shown_value

_NONE: Final = "none"
_DEFAULTS: Final[Mapping[str, object]] = {"null_values": [""]}
"""Of the manifest's properties, where it is something else than nothing."""
_NOTHING: Final[tuple[object, ...]] = ("", [], {})
_PLAIN: Final = re.compile(r"[^\s\"|\[\]{}](?:[^\"|\[\]{}\n\r]*[^\s\"|\[\]{}])?")
"""A text that stands in a list as it is; all of a list with another one are quoted."""


def differences(altered: Altered) -> list[str]:
    """Return what differs between an old and a new value, a line each.

    >>> differences(Altered("ward.visits", {"rows": 10, "key": []}, {"rows": 12}))
    ['ward.visits: rows: 10 -> 12']
    >>> differences(Altered("cap of people", "1", "2"))
    ['cap of people: 1 -> 2']
    """
    old, new = altered.old, altered.new
    if old is None and isinstance(new, Mapping):
        return [f"{altered.what}: new", *(f"  {line}" for line in _said(new))]
    return [f"{altered.what}: {line}" for line in _differing(old, new)] or [
        f"{altered.what}: as it was"
    ]


def _differing(old: object, new: object) -> Iterator[str]:
    """Yield what differs; at least a line where anything does."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            held, wanted = old.get(key), new.get(key)
            if not _is_same(held, wanted) and not _is_default(key, old, new):
                yield from (f"{key}: {line}" for line in _differing(held, wanted))
        return
    before, after = _by_name(old), _by_name(new)
    if before is None or after is None:
        if not _is_same(old, new):
            yield _changed(old, new)
        return
    yield from _differing_things(before, after)


def _differing_things(
    before: Mapping[str, Mapping[str, object]],
    after: Mapping[str, Mapping[str, object]],
) -> Iterator[str]:
    for name in {**before, **after}:
        if name not in before:
            yield f"{name}: new: {_inline(after[name])}"
        elif name not in after:
            yield f"{name}: removed"
        else:
            lines = _differing(before[name], after[name])
            yield from (f"{name}: {line}" for line in lines)
    kept = [name for name in before if name in after]
    wanted = [name for name in after if name in before]
    if kept != wanted:
        yield f"order: {_inline(kept)} -> {_inline(wanted)}"


def _changed(old: object, new: object) -> str:
    before, after = _inline(old), _inline(new)
    if before == after:  # such as a number, and a text of the same digits
        before, after = canonical_json(old), canonical_json(new)
    return f"{before} -> {after}"


def _is_default(key: str, old: Mapping[str, object], new: Mapping[str, object]) -> bool:
    """Whether a property is written in one alone, and says what holds without it."""
    written = [one[key] for one in (old, new) if key in one]
    return len(written) == 1 and not _says(key, written[0])


def _said(new: Mapping[str, object]) -> Iterator[str]:
    """Yield what is declared anew; of lists of named things, a line for each."""
    for key, value in new.items():
        if key == "name" or not _says(key, value):
            continue
        named = _by_name(value)
        if named is None:
            yield f"{key}: {_inline(value)}"
        for name, rest in (named or {}).items():
            yield f"{key}: {name}: {_inline(rest)}"


def _is_same(one: object, other: object) -> bool:
    return canonical_json(one) == canonical_json(other)  # to Python 0 is False


def _says(key: str, value: object) -> bool:
    """Whether a value of a property says something, where it is declared anew."""
    if key in _DEFAULTS:
        return value is not None and not _is_same(value, _DEFAULTS[key])
    return value is not None and value is not False and value not in _NOTHING


def _by_name(value: object) -> dict[str, Mapping[str, object]] | None:
    """Return a list of things by their names; None: it is none."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return None
    if not all(isinstance(one, Mapping) and "name" in one for one in value):
        return None
    named: dict[str, Mapping[str, object]] = {
        str(one["name"]): {key: held for key, held in one.items() if key != "name"}
        for one in value
    }
    return named if len(named) == len(value) else None


def _inline(value: object) -> str:
    """Return a value within a line.

    >>> _inline({"type": "integer", "domain": {"min": 0, "max": 9}, "map": {}})
    'type integer, domain (min 0, max 9)'
    """
    if value is None:
        return _NONE
    if isinstance(value, Mapping):
        told = [
            f"{key} ({_inline(held)})"
            if isinstance(held, Mapping)
            else f"{key} {_inline(held)}"
            for key, held in value.items()
            if _says(key, held)
        ]
        return ", ".join(told) or "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " | ".join(_items(value)) or "[]"
    return shown_value(value)


def _items(items: Sequence[object]) -> list[str]:
    """Return the items of a list, so that no two lists read alike."""
    are_plain = all(not isinstance(one, str) or _PLAIN.fullmatch(one) for one in items)
    return [
        canonical_json(one) if isinstance(one, str) and not are_plain else _inline(one)
        for one in items
    ]
