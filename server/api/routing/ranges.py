"""The Range header, as RFC 9110, 14 has it, for files that are sent in parts."""

import re
from typing import Final

_UNIT: Final = "bytes"
_RANGE: Final = re.compile(r"([0-9]+)-([0-9]*)|-([0-9]+)")
_BEYOND: Final = 10**18  # more bytes than any file has


def ranges_of(header: str, size: int) -> list[str] | None:
    """Return which of the header's ranges a file of this size has, one text for each.

    None: the header is of another unit, or invalid, and so is ignored. An empty list:
    the file has none of them, which is status 416.
    """
    unit, _, written = header.partition("=")
    if unit.lower() != _UNIT:
        return None
    parts = [part.strip(" \t") for part in written.split(",")]
    ranges = [_RANGE.fullmatch(part) for part in parts if part]
    found = []
    for match in ranges:
        if match is None or _ends_before_it_begins(match):
            return None
        if _is_within(match, size):
            found.append(_written(match))
    return found if ranges else None


def _ends_before_it_begins(match: re.Match[str]) -> bool:
    return bool(match[1] and match[2]) and _number(match[2]) < _number(match[1])


def _is_within(match: re.Match[str], size: int) -> bool:
    """Whether a file holds a byte of a range: of its end, or from a first byte on."""
    if match[3]:
        return size > 0 and _number(match[3]) > 0
    return _number(match[1]) < size


def _written(match: re.Match[str]) -> str:
    first, last, of_end = (
        str(_number(text)) if text else "" for text in match.groups("")
    )
    return f"-{of_end}" if of_end else f"{first}-{last}"


def _number(digits: str) -> int:
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) < len(str(_BEYOND)) else _BEYOND
