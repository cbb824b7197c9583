"""What statements and reports tell of releases: what, for how much, for whom."""

import json
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, select

from budget.reading import statements as books
from budget.reading.statements import EntryLine
from privacy.measures import Measure
from server.persistence import tables
from server.use_cases.losses.measures import measures_of_populations
from server.use_cases.losses.releases import paid_in_words
from server.use_cases.oversight.markdown import moment, table
from server.use_cases.oversight.statement_changes import actor_of, reason_of
from server.use_cases.releases.times import PublicationRow, is_past

_HEADER = ("release", "kind", "epsilon", "published", "may be read by", "withdrawn")
_PUBLIC = "everybody with a key"


def releases_of(connection: Connection, population: str) -> list[PublicationRow]:
    """Return the releases of a population from their charge on, oldest first."""
    release = tables.publication
    wanted = select(release).where(release.c.population == population)
    return list(connection.execute(wanted.order_by(release.c.created)).all())


def readable_in(
    rows: Iterable[PublicationRow], project: str, members: Sequence[str]
) -> list[tuple[PublicationRow, str]]:
    """Return the releases that a project's members may read, or could, and why.

    Whoever else may read them is not told to those who read of this project.
    """
    named = [{"project": project}, *({"principal": name} for name in members)]
    found = []
    for row in rows:
        if not is_past(row.visible):
            continue
        readers = [_reader(one) for one in json.loads(row.readers) if one in named]
        if row.public or readers:
            found.append((row, _PUBLIC if row.public else "; ".join(readers)))
    return found


def read_by(row: PublicationRow) -> str:
    """Return who may read a release once it is published."""
    named = [_reader(one) for one in json.loads(row.readers)]
    return _PUBLIC if row.public else "; ".join(["custodians", *named])


def release_table(
    connection: Connection, releases: Sequence[tuple[PublicationRow, str]]
) -> str:
    """Return a table of releases, each with who may read it."""
    if not releases:
        return "None."
    ends, measures = _withdrawals(connection), measures_of_populations(connection)
    return table(
        _HEADER,
        [
            _line(row, measures[str(row.population)], readers, ends.get(str(row.id)))
            for row, readers in releases
        ],
    )


def _line(
    row: PublicationRow, measure: Measure, readers: str, withdrawal: EntryLine | None
) -> tuple[str, ...]:
    spec = json.loads(row.spec)
    title = f"{row.name} ({row.id})"
    what = f"{spec['kind']}, {spec['strategy']}"
    if row.state == "withdrawn" or _has_failed(row):
        readers = "nobody"
    ended = "" if withdrawal is None else _ended(withdrawal)
    paid = paid_in_words(spec, measure)
    return (title, what, paid, _published(row), readers, ended)


def _published(row: PublicationRow) -> str:
    """Return when readers first saw a release, once they do.

    Auditors read statements: that one is ready, they see when everybody does, and that
    one failed at a time that tells no more.
    """
    if _has_failed(row):
        return "failed; its charge stays"
    return moment(row.visible) if is_past(row.visible) else "not yet"


def _has_failed(row: PublicationRow) -> bool:
    """Return whether a release failed, and others than custodians may know by now.

    Failures of earlier versions have no time of their own, and are long past.
    """
    return row.state == "failed" and (row.visible is None or is_past(row.visible))


def _reader(reader: Mapping[str, str]) -> str:
    kind, name = next(iter(reader.items()))
    return f"project {name}" if kind == "project" else name


def _withdrawals(connection: Connection) -> dict[str, EntryLine]:
    """Return the entry that withdrew each release, by the release's id."""
    found = {}
    for entry in books.read_entries(connection, "admin"):
        facts = entry.body.get("facts")
        if entry.body.get("action") == "release.withdraw" and isinstance(facts, dict):
            found[str(facts["release"])] = entry
    return found


def _ended(entry: EntryLine) -> str:
    return f"{moment(entry.time)} by {actor_of(entry)}: {reason_of(entry)}"
