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

    An edit inserts, deletes or changes a sign, or swaps two neighbours; swaps are
    looked for where there are few edits.
    """
    longer = f"greatest(length({left}), length({right}))"
    edits = f"levenshtein({left}, {right})"
    swaps = f"damerau_levenshtein({left}, {right})"
    some = f"CASE {edits} WHEN 2 THEN {swaps} WHEN 3 THEN {swaps} ELSE {edits} END"
    return (
        f"CASE WHEN {left} = {right} THEN 1.0::DOUBLE "
        f"ELSE 1.0::DOUBLE - ({some})::DOUBLE / {longer}::DOUBLE END"
    )


def one_edit_sql(left: str, right: str, similarity: str, shortest: int) -> str:
    """Return whether two alike texts, not too short, differ by one edit.

    Args:
        left: One text.
        right: The other.
        similarity: Their similarity: below 0.7 nothing is looked at.
        shortest: Signs that the longer one has at least.
    """
    may = (
        f"{similarity} >= 0.7::DOUBLE "
        f"AND greatest(length({left}), length({right})) >= {shortest}"
    )
    return if_sql(may, f"damerau_levenshtein({left}, {right}) = 1")


def if_sql(first: str, then: str) -> str:
    """Return whether both hold; the second is looked at where the first does.

    DuckDB computes both sides of AND for every row, but a branch of CASE for its own.
    """
    return f"(CASE WHEN {first} THEN {then} ELSE false END)"
