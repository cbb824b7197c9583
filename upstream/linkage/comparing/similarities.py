"""Similarities of two texts from 0 to 1, the same in either order."""


def alike_sql(left: str, right: str) -> str:
    """Return Jaro and Winkler's similarity: for names, whose beginnings are surest."""
    first, second = f"least({left}, {right})", f"greatest({left}, {right})"
    return (
        f"CASE WHEN {left} = {right} THEN 1.0::DOUBLE "
        f"ELSE jaro_winkler_similarity({first}, {second}) END"
    )


def edited_sql(left: str, right: str) -> str:
    """Return the part of the longer text that no edit touches.

    An edit inserts, deletes or changes a sign, or swaps two neighbours.
    """
    longer = f"greatest(length({left}), length({right}))"
    edits = f"damerau_levenshtein({left}, {right})"
    return (
        f"CASE WHEN {left} = {right} THEN 1.0::DOUBLE "
        f"ELSE 1.0::DOUBLE - {edits}::DOUBLE / {longer}::DOUBLE END"
    )
