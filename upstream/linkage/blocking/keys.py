"""Keys of blocking: a field, or a part of one, such as ``birth_date:year``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from upstream.linkage.declared import FieldKind, LinkageSpec
from upstream.linkage.tables import name_sql

_PARTS = re.compile(r"sound|year|month|day|first(\d{1,2})|last(\d{1,2})")
_DATE_PARTS = {"year": (1, 4), "month": (5, 2), "day": (7, 2)}
_SOUNDS = "translate({}, 'bpfvcgjkqsxzdtlmnrhwyaeiou', '11112222222233455600000000')"
_SOUND_LENGTH = 5  # sounds of a name that count


class BlockingError(ValueError):
    """A key of blocking names no field, or a part that its kind has not."""


@dataclass(frozen=True, slots=True)
class Key:
    """One thing on which the records of a block agree.

    Attributes:
        field: The field.
        part: ``sound``, ``year``, ``month``, ``day``, ``first3``, ``last4`` ...; empty:
            the whole value.
    """

    field: str
    part: str

    def __str__(self) -> str:
        """Write the key as it is declared."""
        return f"{self.field}:{self.part}" if self.part else self.field


def read_key(text: str, spec: LinkageSpec) -> Key:
    """Return a key.

    Raises:
        BlockingError: It names no field, or no part of its kind.
    """
    field, _, part = text.partition(":")
    if field not in spec.fields:
        message = f"blocking: no field is called {field!r}"
        raise BlockingError(message)
    is_date = spec.fields[field].kind == "date"
    if (part in _DATE_PARTS and not is_date) or text.endswith(":"):
        message = f"blocking: {field} is no date, so {text!r} is not known"
        raise BlockingError(message)
    if part and _PARTS.fullmatch(part) is None:
        message = (
            f"blocking: {part!r} is none of sound, year, month, day, first3, last4"
        )
        raise BlockingError(message)
    return Key(field, part)


def key_sql(key: Key) -> str:
    """Return the value of a key in a record, NULL where it has none."""
    column = name_sql(key.field)
    if not key.part:
        return column
    if key.part == "sound":
        return sound_sql(column)
    if key.part in _DATE_PARTS:
        start, length = _DATE_PARTS[key.part]
        return f"nullif(substr({column}, {start}, {length}), '')"
    side, length = re.findall(r"[a-z]+|\d+", key.part)
    cut = f"{'left' if side == 'first' else 'right'}({column}, {length})"
    return f"CASE WHEN length({column}) >= {length} THEN {cut} END"


def sound_sql(text: str) -> str:
    """Return how a folded name sounds, roughly: its consonants in groups, as Soundex.

    Unlike Soundex the first letter is grouped too, so ``Kathrin`` is ``Catherine``; a
    name without Latin letters sounds as it is written.
    """
    letters = f"regexp_replace(replace({text}, 'ph', 'f'), '[^a-z]', '', 'g')"
    digits = _SOUNDS.format(letters)
    for sound in "0123456":
        digits = f"regexp_replace({digits}, '{sound}{{2,}}', '{sound}', 'g')"
    later = f"replace(substr({digits}, 2), '0', '')"
    sounds = f"left(left({digits}, 1) || {later}, {_SOUND_LENGTH})"
    return f"coalesce(nullif({sounds}, ''), {text})"


def pass_sql(keys: Sequence[Key], kinds: Sequence[FieldKind]) -> str:
    """Return what names the block of a record in a pass, NULL where a key is missing.

    Two names in full, or in sound, name the same block in either order, so that names
    that were swapped meet.

    Args:
        keys: Of the pass; their values have the names that ``key_name`` gives.
        kinds: Of their fields.
    """
    values = [key_name(key) for key in keys]
    known = " AND ".join(f"{value} IS NOT NULL" for value in values)
    if (
        len(keys) > 1
        and len({key.part for key in keys}) == 1
        and set(kinds) == {"name"}
    ):
        values = [f"array_to_string(list_sort([{', '.join(values)}]), '|')"]
    return f"CASE WHEN {known} THEN hash({', '.join(values)}) END"


def key_name(key: Key) -> str:
    """Return the column of a key's value."""
    return name_sql(f"key:{key}")
