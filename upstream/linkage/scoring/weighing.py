"""Scores of pairs in SQL, and what each field adds."""

from collections.abc import Mapping, Sequence

from upstream.linkage.comparing.levels import MISSING, Comparison, Sides
from upstream.linkage.comparing.vectors import code_name, codes_sql, count_name
from upstream.linkage.scoring.expectation import LOWEST_U
from upstream.linkage.scoring.parameters import FieldParameters, Parameters
from upstream.linkage.tables import name_sql, number_sql

UNLIKE = 0.6
"""Similarity up to which values are unlike, and add nothing to a weighted sum."""


def weight_name(field: str) -> str:
    """Return the column of what a field adds to a pair's weight."""
    return name_sql(f"{field}:w")


def weighed_sql(
    parameters: Parameters,
    comparisons: Sequence[Comparison],
    values: Mapping[str, int],
    pairs: str,
) -> str:
    """Return a query of pairs: both numbers, weight, score, and what they are made of.

    ``is:differs`` is whether a guarded field differs wholly.

    Args:
        parameters: What pairs are scored by.
        comparisons: Of the fields.
        values: How many records have a value, by field.
        pairs: What follows FROM: tables ``l`` and ``r``.
    """
    of_fields = zip(parameters.fields, comparisons, strict=True)
    parts = ", ".join(
        f"{_part_sql(parameters, field, each, values[each.field])} "
        f"AS {_raw_name(each.field)}"
        for field, each in of_fields
    )
    raw = f"SELECT *, {parts} FROM ({codes_sql(comparisons, pairs)})"  # noqa: S608 - names are quoted
    total = " + ".join(
        [
            number_sql(parameters.prior_weight),
            *(weight_name(e.field) for e in comparisons),
        ]
    )
    return (
        f'SELECT *, {_score_sql(parameters)} AS "is:score", '  # noqa: S608 - as above
        f'{_differs_sql(parameters, comparisons)} AS "is:differs" FROM '
        f'(SELECT *, {total} AS "is:weight" FROM ({_shared_sql(parameters, raw)}))'
    )


def _differs_sql(parameters: Parameters, comparisons: Sequence[Comparison]) -> str:
    """Return whether a pair without an id in common differs in a guarded field."""
    differs = " OR ".join(
        f"{code_name(each.field)} = {len(each.levels)}"
        for each in comparisons
        if each.field in parameters.guarded
    )
    ids = "".join(
        f" AND {code_name(each.field)} <> 1" for each in comparisons if each.is_unique
    )
    return f"(({differs}){ids})" if differs else "false"


def _raw_name(field: str) -> str:
    """Return the column of what a field says of matches and strangers."""
    return name_sql(f"{field}:p")


def _shared_sql(parameters: Parameters, raw: str) -> str:
    """Return a query of parts, less what families account for.

    A pair that is no match may be a family's; how likely that is, by the fields that
    families share, is taken from what those fields add, each by its part.
    """
    if parameters.families is None:
        names = ", ".join(
            f"{_raw_name(each.field)} AS {weight_name(each.field)}"
            for each in parameters.fields
        )
        return f"SELECT *, {names} FROM ({raw})"  # noqa: S608 - names are quoted
    home = [each for each in parameters.fields if each.levels[0].family is not None]
    kin = " + ".join(
        [number_sql(parameters.families_weight), *(_kin_sql(each) for each in home)]
    )
    added = " + ".join(f"greatest({_raw_name(each.field)}, 0)" for each in home)
    less = 'log2(1.0::DOUBLE + pow(2.0::DOUBLE, least("is:kin", 900.0::DOUBLE)))'
    parts = ", ".join(
        f"{_less_sql(each) if each in home else _raw_name(each.field)} "
        f"AS {weight_name(each.field)}"
        for each in parameters.fields
    )
    return (
        f"SELECT *, {parts} FROM "  # noqa: S608 - as above
        f'(SELECT *, {less} / nullif("is:added", 0) AS "is:less" FROM '
        f'(SELECT *, {kin} AS "is:kin", {added} AS "is:added" FROM ({raw})))'
    )


def _kin_sql(field: FieldParameters) -> str:
    """Return what a field says of families and strangers."""
    raw = _raw_name(field.field)
    weights = [number_sql(level.weight_family) for level in field.levels]
    return f"({raw} + {_by_level_sql(field.field, weights)})"


def _less_sql(field: FieldParameters) -> str:
    """Return what a field adds when families have had their part."""
    raw = _raw_name(field.field)
    return f'({raw} - coalesce("is:less" * greatest({raw}, 0), 0))'


def _score_sql(parameters: Parameters) -> str:
    """Return the score of a weight."""
    if parameters.method == "weighted_sum":
        return 'greatest(0.0::DOUBLE, least(1.0::DOUBLE, "is:weight"))'
    return '1.0::DOUBLE / (1.0::DOUBLE + pow(2.0::DOUBLE, -"is:weight"))'


def _part_sql(
    parameters: Parameters, field: FieldParameters, comparison: Comparison, values: int
) -> str:
    """Return what a field adds."""
    if parameters.method == "weighted_sum":
        agreeing = (
            f"greatest(0.0::DOUBLE, ({similarity_sql(comparison)} "
            f"- {number_sql(UNLIKE)}) / {number_sql(1 - UNLIKE)})"
        )
        return f"{number_sql(field.part)} * coalesce({agreeing}, 0.0::DOUBLE)"
    weights = [number_sql(level.weight) for level in field.levels]
    if parameters.term_frequencies and not field.is_unique:
        weights[0] = _rare_sql(field, values)
    weight = _by_level_sql(field.field, weights)
    if field.parent is None:
        return weight
    given = [number_sql(level.weight_given) for level in field.levels]
    agrees = f"{code_name(field.parent)} BETWEEN 1 AND {int(field.near)}"
    return (
        f"CASE WHEN {agrees} THEN {_by_level_sql(field.field, given)} ELSE {weight} END"
    )


def _by_level_sql(field: str, weights: Sequence[str]) -> str:
    """Return the weight of the level at which a pair is, 0 where a value is missing."""
    cases = [f"WHEN {code} THEN {weight}" for code, weight in enumerate(weights, 1)]
    return f"CASE {code_name(field)} {' '.join(cases)} ELSE 0.0::DOUBLE END"


def _rare_sql(field: FieldParameters, values: int) -> str:
    """Return the weight of agreement on a value by how many records have it."""
    agreed = field.levels[0].m or LOWEST_U
    part = f"{count_name(field.field)}::DOUBLE / {number_sql(float(max(1, values)))}"
    return f"log2({number_sql(agreed)} / greatest({part}, {number_sql(LOWEST_U)}))"


def similarity_sql(comparison: Comparison) -> str:
    """Return the similarity of a field: of its level where that has one of its own."""
    sides, code = Sides(comparison.field), code_name(comparison.field)
    cases = [
        f"WHEN {place} THEN "
        f"greatest({sides.similarity}, {number_sql(level.similarity)})"
        for place, level in enumerate(comparison.levels, 1)
        if level.similarity is not None
    ]
    if not cases:
        return sides.similarity
    cases = [f"WHEN {MISSING} THEN NULL", *cases, f"ELSE {sides.similarity}"]
    return f"CASE {code} {' '.join(cases)} END"
