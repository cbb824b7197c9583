"""Which pairs a pass brings that no pass before it brought."""

from collections.abc import Sequence

from upstream.linkage.blocking.blocks import block_name
from upstream.linkage.tables import text_sql


def allowed_sql(once: Sequence[str]) -> str:
    """Return whether two records may be one patient's by their sources."""
    if not once:
        return "true"
    sources = ", ".join(map(text_sql, sorted(once)))
    return f"NOT (l.source = r.source AND l.source IN ({sources}))"


def met_sql(place: int, once: Sequence[str]) -> str:
    """Return the condition that two records meet in a pass."""
    column = block_name(place)
    return f"l.{column} = r.{column} AND l.number < r.number AND {allowed_sql(once)}"


def is_new_sql(place: int) -> str:
    """Return whether no pass before this one brings two records together."""
    met = [
        f"coalesce(l.{block_name(one)} = r.{block_name(one)}, false)"
        for one in range(place)
    ]
    return f"NOT ({' OR '.join(met)})" if met else "true"


def rules_met_sql(passes: int) -> str:
    """Return how many of the passes bring two records together."""
    return " + ".join(
        f"coalesce(l.{block_name(one)} = r.{block_name(one)}, false)::INTEGER"
        for one in range(passes)
    )
