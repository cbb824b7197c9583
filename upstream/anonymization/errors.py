"""Refusals of anonymization: every problem at once, each with its place."""

from privacy.errors import CuratorError
from upstream.errors import Problem


class HierarchyError(CuratorError):
    """A generalization hierarchy was refused; nothing was generalized."""

    code = "hierarchy_refused"

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))


class UnreachableError(CuratorError):
    """No table that the algorithm can make keeps the principle."""

    code = "principle_unreachable"

    def __init__(self, principle: str, counted: str = "") -> None:
        """Take what was asked for, and what there is of that, counted."""
        self.principle = principle
        has = f" ({counted})" if counted else ""
        super().__init__(
            f"no generalization of the table has {principle}, not even all rows in one "
            f"class{has}: ask for less, or allow suppressed rows"
        )
