"""Declared sizes, held at each load: rows of a table, units of a population."""

from privacy.wording import counted
from upstream.errors import IngestionError, Problem
from upstream.manifests.declarations import PopulationSpec, TableSpec
from upstream.manifests.proposals import rung_above


def check_rows(table: TableSpec, rows: int) -> None:
    """Require that a table keeps no more rows than it declares.

    Raises:
        IngestionError: It does, with the line to write.
    """
    if rows > table.most_rows:
        kept = f"table {table.name} keeps {counted(rows, 'row')}"
        raise IngestionError((_too_many(kept, "max_rows", table.most_rows, rows),))


def check_units(population: PopulationSpec, units: int) -> None:
    """Require that a load has no more units than its population declares.

    Raises:
        IngestionError: It has, with the line to write.
    """
    if units > population.most_units:
        has = f"the load has {counted(units, 'unit')} of population {population.id}"
        problem = _too_many(has, "max_units", population.most_units, units)
        raise IngestionError((problem,))


def _too_many(found: str, key: str, declared: int, count: int) -> Problem:
    sentence = (
        f"{found}, more than its {key} of {declared:,}: check the files, or, where the "
        f"protocol says so, declare {key}: {rung_above(count)} (everybody sees it, and "
        "questions take longer the larger it is)"
    )
    return Problem("manifest", None, None, sentence)
