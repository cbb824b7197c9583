"""Compiling for the engine that tests run on."""

import sys

from query_lang import compile as queries
from query_lang.plans.costs import UNLIMITED
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB
from query_lang.specs import cubes, sequences


def compile_query(sql, dataset, *others, limits=UNLIMITED, **named):
    return queries.compile_query(sql, dataset, Target(DUCKDB, limits), *others, **named)


def compile_syntax(tree, dataset):
    return queries.compile_syntax(tree, dataset, Target(DUCKDB))


def compile_cube(request, dataset, limits=UNLIMITED):
    return cubes.compile_cube(request, dataset, Target(DUCKDB, limits))


def compile_sequences(request, dataset, limits=UNLIMITED):
    return sequences.compile_sequences(request, dataset, Target(DUCKDB, limits))


def calls_of(act):
    """Return how many functions an act calls: work that no clock has to measure."""
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
    return calls
