"""Names that become public with a schema: columns, tables, hierarchies, levels.

A table that has a column for each person says who they are by its columns' names. A
public table's names in its files are compared too: whatever such columns are called,
everybody reads what belongs to one person. Other names tell that somebody is recorded;
names with one digit or two are left out of those: ``q1`` to ``q40`` are questions.
"""

import re
from collections.abc import Iterator, Sequence

from privacy.schema import Table
from upstream.public_check.published_ids import Declared, Published, Texts, literal_rows

_DIGIT = re.compile(r"\d")
_LEAST_DIGITS = 3


def public_names(declared: Declared) -> Published:
    """Return all names that a schema shows, to be compared as one."""
    return tuple(texts for texts in _names(declared) if texts is not None)


def _names(declared: Declared) -> Iterator[Texts | None]:
    schema = declared.schema
    own = [schema.name, schema.population, schema.unit]
    yield _others("the names of tables", [*own, *schema.tables], coincide=False)
    hierarchies = [*schema.hierarchies]
    yield _others("the names of hierarchies", hierarchies, coincide=False)
    for hierarchy in schema.hierarchies.values():
        place = f"hierarchy {hierarchy.name}"
        coincide = place in declared.coinciding
        levels = [*hierarchy.levels]
        yield _others(f"the level names of {place}", levels, coincide=coincide)
    for table in schema.tables.values():
        for coincide in (False, True):
            yield _columns(table, declared, coincide=coincide)


def _columns(table: Table, declared: Declared, *, coincide: bool) -> Texts | None:
    """Return those columns' names whose numbers may be no ids, or all others'."""
    place = f"the column names of {table.name}"
    named = {f"{table.name}.{column.name}": column.name for column in table.columns}
    chosen = [at for at in named if (at in declared.coinciding) == coincide]
    names = [named[at] for at in chosen]
    if not table.is_public:
        return _others(place, names, coincide=coincide)
    names += [name for at in chosen for name in declared.headers.get(at, ())]
    return _texts(place, names, coincide=coincide)


def _others(place: str, names: Sequence[str], *, coincide: bool) -> Texts | None:
    compared = [name for name in names if _digits(name) not in range(1, _LEAST_DIGITS)]
    return _texts(place, compared, coincide=coincide)


def _texts(place: str, names: Sequence[str], *, coincide: bool) -> Texts | None:
    """Return names as texts; nothing is looked for within those of few digits."""
    if not names:
        return None
    is_free = any(_digits(name) >= _LEAST_DIGITS for name in names)
    return Texts(place, literal_rows(names), coincide, is_free, are_names=True)


def _digits(name: str) -> int:
    return len(_DIGIT.findall(name))
