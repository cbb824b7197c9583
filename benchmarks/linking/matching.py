"""A simple deterministic matcher: records that share a key are one patient's.

It is no match for scoring by weights: it is here so that what is gained is the loop's.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from upstream.extraction.measures.counts import Counts
from upstream.linkage.loop.matching.dates import days_of
from upstream.linkage.loop.matching.numbers import id_keys, phone_keys
from upstream.linkage.loop.matching.words import folded, words_of
from upstream.linkage.patients.groups import Groups

Values = Mapping[str, Sequence[str]]
_MOST = 12  # records of one key; more of them share it by chance
_WHOLE_PHONE, _FIRST_YEAR, _LEAST_ID = 10, 1900, 7


def match(records: Mapping[str, Values]) -> dict[str, int]:
    """Return which patient each record is of, by the record's name.

    Joined are records with one hospital number; one name and day of birth; one given
    name, day of birth and address or phone; one name and phone. Records whose days of
    birth are known and differ are not joined by a phone.
    """
    names = list(records)
    by_key: dict[object, list[int]] = defaultdict(list)
    for number, name in enumerate(names, 1):
        for key in set(keys_of(records[name])):
            by_key[key].append(number)
    days = [set(), *(_days(records[name]) for name in names)]
    groups = Groups(len(names))
    for key in sorted(by_key, key=repr):
        _join(groups, key, by_key[key], days)
    return {name: groups.leader(number) for number, name in enumerate(names, 1)}


def _join(groups: Groups, key, members: Sequence[int], days) -> None:
    if len(members) > _MOST:
        return
    first = members[0]
    for other in members[1:]:
        is_safe = key[0] != "phone" or not (days[first] and days[other])
        if is_safe or days[first] & days[other]:
            groups.join(first, other)


def keys_of(values: Values) -> Iterator[tuple]:
    """Yield what a record may be joined by."""
    names, days = set(names_of(values)), _days(values)
    phones = {
        key for key in phone_keys(values.get("phone", ())) if len(key) == _WHOLE_PHONE
    }
    yield from (("no", key) for key in _numbers(values))
    for given, last in names:
        yield from (("born", given, last, day) for day in days)
        yield from (("phone", given, last, phone) for phone in phones)
        yield from (("home", given, day, phone) for day in days for phone in phones)


def _numbers(values: Values) -> Iterator[str]:
    for key in id_keys(values.get("no", ())):
        if key.isdecimal() and len(key) == _LEAST_ID:
            yield key


def _days(values: Values) -> set:
    return {
        day
        for value in values.get("born", ())
        for day in days_of(value, "month_first")
        if _FIRST_YEAR < day[0] <= 2025
    }


def names_of(values: Values) -> Iterator[tuple[str, str]]:
    """Yield given names and surnames, without case, accents and initials."""
    for given in values.get("given", ()):
        for last in values.get("last", ()):
            parts = [part for part in words_of(given).folded if len(part) > 1]
            if parts:
                yield parts[0], folded(last)
    for name in values.get("name", ()):
        before, comma, behind = name.partition(",")
        last, first = (before, behind) if comma else _parted(name)
        parts = [part for part in words_of(first).folded if len(part) > 1]
        if parts and folded(last):
            yield parts[0], folded(last)


def _parted(name: str) -> tuple[str, str]:
    """Return the surname and the rest of a name without a comma."""
    parts = name.split()
    return (parts[-1], " ".join(parts[:-1])) if len(parts) > 1 else ("", "")


def judge_pairs(found: Mapping[str, object], truth: Mapping[str, str]) -> Counts:
    """Return how many pairs of records are rightly together."""
    both = Counter((found[name], truth[name]) for name in found)
    right, said, there = (
        sum(count * (count - 1) // 2 for count in counted.values())
        for counted in (
            both,
            Counter(found.values()),
            Counter(truth[name] for name in found),
        )
    )
    return Counts(right, said - right, there - right)


def merged(parts: Iterable[Values]) -> dict[str, tuple[str, ...]]:
    """Return the values of several records, each once."""
    found: dict[str, dict[str, None]] = {}
    for values in parts:
        for name, said in values.items():
            found.setdefault(name, {}).update(dict.fromkeys(said))
    return {name: tuple(said) for name, said in found.items()}
