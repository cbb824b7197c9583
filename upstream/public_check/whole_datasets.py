"""Unit ids in all that a dataset shows, counted as one.

A handful in each of twenty lists names a hundred people. Counted as one are ids of
which there are more than accident would hit: small codes stand in many lists, and every
dataset has some numbers, years and codes that are somebody's id by chance. So numbers
count from four digits on, dates and years not at all but for columns of days, and what
has digits only where so many of its shape are ids (``upstream.id_forms.coincidence``);
five letters and more always.
"""

from dataclasses import dataclass, field

import duckdb

from upstream.id_forms.embedded_ids import LEAST_CODE, LEAST_NUMBER, is_date_sql
from upstream.public_check.embedded_hits import SHAPE, EmbeddedIds
from upstream.public_check.published_ids import (
    LOOKED_AT,
    Published,
    Texts,
    UnitSearch,
    parts_naming,
)

_DIGITS = "[0-9]+"
_RUNS = f"regexp_extract_all(written, '{_DIGITS}')"


@dataclass(slots=True)
class WholeDataset(UnitSearch):
    """The search for unit ids in all that a dataset shows.

    Attributes:
        connection: As of ``PublishedIds``.
        table: The name of the table that it makes.
        texts: What was added; its places are the parts that are found.
    """

    connection: duckdb.DuckDBPyConnection
    table: str
    texts: list[Texts] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Have the table, empty."""
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {self.table} (part INTEGER, digest BLOB, "
            "digits BLOB, alone BOOLEAN, filled BOOLEAN, length BIGINT)"
        )

    def add(self, published: Published) -> None:
        """Add what is looked at."""
        first = len(self.texts)
        self.texts += published
        for rows in (_whole_texts(), "SELECT * FROM temp.embedded"):
            self.connection.execute(
                f"INSERT INTO temp.{self.table} SELECT DISTINCT part + {first}, "  # noqa: S608 - our own names
                f"digest, digest, alone, filled, length FROM ({rows})"
            )

    def parts_naming(self, units: str, name: str) -> tuple[int, ...]:
        """Return the parts, as ``UnitSearch`` says."""
        chosen = EmbeddedIds(self.connection, self.table).on_purpose(name)
        words = f"SELECT part, digest FROM temp.{self.table} WHERE length = 0"  # noqa: S608 - our own name
        return parts_naming(self.connection, f"{words} UNION ALL {chosen}", units, name)


def _whole_texts() -> str:
    """Return the query of what whole texts may be meant as, by shape."""
    number = f"regexp_full_match(form, '{_DIGITS}')"
    digits = (
        f"CASE WHEN len({_RUNS}) = 1 THEN {_RUNS}[1] "
        "ELSE regexp_replace(form, '[^0-9]', '', 'g') END"
    )
    return (
        f"SELECT part, digest, {SHAPE} FROM (SELECT part, digest, form, "  # noqa: S608 - our own query
        f"{number} AS alone, {digits} AS digits FROM temp.{LOOKED_AT}) "
        f"WHERE CASE WHEN alone THEN length(form) >= {LEAST_NUMBER} "
        f"AND NOT {is_date_sql('form')} "
        f"ELSE digits <> '' OR length(form) >= {LEAST_CODE} END"
    )
