"""Bounds on what one unit may add to an answer."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ContributionBounds:
    """Bounds that a request asks for; each only ever lowers the declared ones.

    Attributes:
        tables: Rows that each named table gives per unit, before filters.
        max_rows_per_unit: Rows of one unit that enter the top aggregates.
        max_groups_per_unit: Groups that one unit may touch (L0), applied first.
    """

    tables: tuple[tuple[str, int], ...] = field(default=())  # sorted by name
    max_rows_per_unit: int | None = None
    max_groups_per_unit: int | None = None


NO_BOUNDS = ContributionBounds()
