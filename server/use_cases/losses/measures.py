"""Which measure a population has: its declaration says so, once and for all."""

import json
from collections.abc import Mapping

from sqlalchemy import Connection, select

from privacy.losses import Loss
from privacy.measures import PURE, Measure, zcdp
from server.persistence import tables


def measure_in(declaration: Mapping[str, object]) -> Measure:
    """Return the measure that a population's stored declaration names."""
    if declaration.get("measure", PURE.name) == PURE.name:
        return PURE
    return zcdp(Loss.parse(str(declaration["delta"])))


def measure_of(connection: Connection, population: str) -> Measure:
    """Return the measure of a population that exists."""
    declaration = connection.execute(
        select(tables.population.c.declaration).where(
            tables.population.c.name == population
        )
    ).scalar_one()
    return measure_in(json.loads(declaration))


def measures_of_populations(connection: Connection) -> Mapping[str, Measure]:
    """Return the measure of every population, by its name."""
    population = tables.population
    rows = connection.execute(select(population.c.name, population.c.declaration)).all()
    return {row.name: measure_in(json.loads(row.declaration)) for row in rows}


def measures_of_projects(connection: Connection) -> Mapping[str, Measure]:
    """Return the measure of every project's population, by the project's name."""
    rows = connection.execute(
        select(tables.project.c.name, tables.population.c.declaration).join(
            tables.population, tables.population.c.name == tables.project.c.population
        )
    ).all()
    return {row.name: measure_in(json.loads(row.declaration)) for row in rows}
