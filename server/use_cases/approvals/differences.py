"""What a change alters, a line each, so that nobody has to compare two declarations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from budget.chain.entries import canonical_json
from server.use_cases.approvals.changes import Altered, shown_value

_NONE: Final = "none"


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
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            held, wanted = old.get(key), new.get(key)
            if not _is_same(held, wanted) and (_says(held) or _says(wanted)):
                yield from (f"{key}: {line}" for line in _differing(held, wanted))
        return
    before, after = _by_name(old), _by_name(new)
    if before is None or after is None:
        yield f"{_inline(old)} -> {_inline(new)}"
        return
    for name in {**before, **after}:
        if name not in before:
            yield f"{name}: new: {_inline(after[name])}"
        elif name not in after:
            yield f"{name}: removed"
        else:
            lines = _differing(before[name], after[name])
            yield from (f"{name}: {line}" for line in lines)


def _said(new: Mapping[str, object]) -> Iterator[str]:
    """Yield what is declared anew; of lists of named things, a line for each."""
    for key, value in new.items():
        if key == "name" or not _says(value):
            continue
        named = _by_name(value)
        if named is None:
            yield f"{key}: {_inline(value)}"
        for name, rest in (named or {}).items():
            yield f"{key}: {name}: {_inline(rest)}"


def _is_same(one: object, other: object) -> bool:
    return canonical_json(one) == canonical_json(other)  # to Python 0 is False


def _says(value: object) -> bool:
    """Whether a value says something, where it is declared anew."""
    return value is not None and value is not False and value not in ("", [], {}, [""])


def _by_name(value: object) -> dict[str, Mapping[str, object]] | None:
    """Return a list of things by their names; None: it is none."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return None
    if not all(isinstance(one, Mapping) and "name" in one for one in value):
        return None
    return {
        str(one["name"]): {key: held for key, held in one.items() if key != "name"}
        for one in value
    }


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
            if _says(held)
        ]
        return ", ".join(told) or _NONE
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " | ".join(_inline(one) for one in value) or _NONE
    return shown_value(value)
