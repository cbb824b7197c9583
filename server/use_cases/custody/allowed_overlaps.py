"""Populations that share units, since that was allowed when one of them was loaded."""

from sqlalchemy import Connection

from budget.reading.statements import EntryLine, read_entries

_SHARING = ("dataset.load", "snapshot.activate")


def populations_in_overlap(entry: EntryLine) -> frozenset[str]:
    """Return the populations that an entry let share units, if any.

    Of a load, or of an activation, whose snapshot names the other one's.
    """
    facts = entry.body.get("facts")
    if entry.body.get("action") not in _SHARING or not isinstance(facts, dict):
        return frozenset()
    others = facts.get("overlap") or []
    return frozenset({str(facts.get("population")), *others}) if others else frozenset()


def populations_sharing_with(connection: Connection, population: str) -> list[str]:
    """Return the names of the populations that share units with one, by consent."""
    entries = read_entries(connection, "admin", naming='"overlap":["')
    named = map(populations_in_overlap, entries)
    sharing = {one for names in named if population in names for one in names}
    return sorted(sharing - {population})
