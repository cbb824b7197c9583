"""Splink alone, as its own documentation sets it up, beside which we are measured."""

import logging
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import duckdb

BLOCKING = (
    ("given_name", "surname"),
    ("date_of_birth",),
    ("surname", "postcode"),
    ("given_name", "postcode"),
    ("address_1", "suburb"),
    ("street_number", "address_1"),
)
"""Rules that a custodian would write."""
STRICT = (
    ("given_name", "surname", "postcode"),
    ("date_of_birth", "given_name"),
    ("date_of_birth", "surname"),
    ("date_of_birth", "postcode"),
    ("given_name", "address_1", "suburb"),
    ("surname", "address_1", "street_number"),
)
"""Rules of which a million records do not fill the disk."""
_LEARNT_BY = (("given_name", "surname"), ("date_of_birth",), ("address_1",))


def scored_alone(
    connection: duckdb.DuckDBPyConnection,
    sources: Sequence[str],
    *,
    strict: bool = False,
) -> duckdb.DuckDBPyConnection:
    """Make a table ``alone`` of left, right and probability; return the connection.

    Args:
        connection: It has ``record``.
        sources: Of the records.
        strict: Whether pairs are brought by ``STRICT`` rules, to learn from, too.
    """
    logging.disable(logging.CRITICAL)
    connection.execute("SET enable_progress_bar = false")
    splink = import_module("splink")  # a package of the benchmarks alone
    api = splink.DuckDBAPI(connection=connection)
    tables = [
        api.register(
            connection.sql(
                f"SELECT * EXCLUDE (source) FROM record WHERE source = '{one}'"
            ),
            dataset_display_name=one,
        )
        for one in sources
    ]
    rules = STRICT if strict else BLOCKING
    linker = splink.Linker(tables, _settings(rules, is_linking=len(sources) > 1))
    training = linker.training
    training.estimate_probability_two_random_records_match(
        [
            splink.block_on("given_name", "surname", "postcode"),
            splink.block_on("date_of_birth", *(["surname"] if strict else [])),
        ],
        recall=0.9,
    )
    training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for rule in (STRICT[0], STRICT[2], STRICT[4]) if strict else _LEARNT_BY:
        training.estimate_parameters_using_expectation_maximisation(
            splink.block_on(*rule)
        )
    found = linker.inference.predict(threshold_match_probability=0.05)
    connection.execute(
        "CREATE OR REPLACE TABLE alone AS SELECT least(number_l, number_r) AS one, "
        "greatest(number_l, number_r) AS other, match_probability AS score "
        f"FROM {found.physical_name}"
    )
    return connection


def _settings(rules: Sequence[Sequence[str]], *, is_linking: bool) -> Any:
    splink, cl = import_module("splink"), import_module("splink.comparison_library")
    return splink.SettingsCreator(
        link_type="link_only" if is_linking else "dedupe_only",
        unique_id_column_name="number",
        blocking_rules_to_generate_predictions=[
            splink.block_on(*rule) for rule in rules
        ],
        comparisons=[
            cl.NameComparison("given_name"),
            cl.NameComparison("surname"),
            cl.LevenshteinAtThresholds("street_number", 1),
            cl.JaroWinklerAtThresholds("address_1", [0.9, 0.8]),
            cl.JaroWinklerAtThresholds("address_2", [0.9, 0.8]),
            cl.JaroWinklerAtThresholds("suburb", [0.9, 0.8]),
            cl.DamerauLevenshteinAtThresholds("postcode", [1, 2]),
            cl.ExactMatch("state"),
            cl.DamerauLevenshteinAtThresholds("date_of_birth", [1, 2]),
        ],
    )


def grouped(pairs: Sequence[tuple[int, int]], records: int) -> list[int]:
    """Return the smallest number that each record is linked with by way of others."""
    leader = list(range(records + 1))

    def top(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for pair in pairs:
        for one, other in pairwise(pair):
            low, high = sorted((top(one), top(other)))
            leader[high] = low
    return [top(number) for number in range(1, records + 1)]
