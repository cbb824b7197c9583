"""DuckDB's SQL as a dialect; what a plan costs is calibrated for this one."""

from query_lang.plans.dimensions import CubeDimension
from query_lang.plans.nodes import Aggregate
from query_lang.plans.rendered import RenderedPlan
from query_lang.plans.sequences import UnitSequences
from query_lang.rendering.dialect import Hierarchies
from query_lang.rendering.duckdb.render import render_cube, render_plan
from query_lang.rendering.duckdb.sequences import render_sequences
from query_lang.rendering.fragments import Fragment
from query_lang.syntax.nodes import Position


class DuckDBDialect:
    """Writes plans as statements for DuckDB."""

    def query(
        self, plan: Aggregate, own: Hierarchies, position: Position
    ) -> RenderedPlan:
        """Return what the engine runs, and the cells that its rows fill."""
        return render_plan(plan, own, position)

    def cube(self, plan: Aggregate, own: Hierarchies, position: Position) -> Fragment:
        """Return one statement with a cube's keys and its measure, a row a group."""
        return render_cube(plan, own, position)

    def sequences(
        self,
        made: UnitSequences,
        dimensions: tuple[CubeDimension, CubeDimension | None],
        own: Hierarchies,
        position: Position,
    ) -> Fragment:
        """Return one statement: the group's code, the sequence, its phase, how many."""
        return render_sequences(made, dimensions, own, position)


DUCKDB = DuckDBDialect()
