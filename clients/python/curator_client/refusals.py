"""What the server refused, shown where it stands in the question."""

from __future__ import annotations

from typing import Any


class CuratorUnreachable(Exception):  # noqa: N818 - it names a state, not a bug
    """No answer came, after every retry; with the same key nothing is paid twice."""


class CuratorRefusal(Exception):  # noqa: N818 - it names a reply, not a bug
    """A problem that the server sent.

    Attributes:
        code: The stable code, such as ``"sql_not_allowed"``.
        status: The HTTP status.
        problem: The whole problem document.
    """

    def __init__(self, problem: dict[str, Any], sql: str | None = None) -> None:
        self.problem = problem
        self.code = str(problem.get("type", "unknown"))
        self.status = int(problem.get("status", 0))
        super().__init__(_message(problem, sql))


def _message(problem: dict[str, Any], sql: str | None) -> str:
    lines = [f"{problem.get('type')}: {problem.get('detail')}"]
    place = _place(problem, sql)
    if place:
        lines += place
    if problem.get("hint"):
        lines.append(f"hint: {problem['hint']}")
    if isinstance(problem.get("remaining"), dict):
        left = problem["remaining"]
        shown = [f"{name} {left[name]}" for name in left if left[name] is not None]
        lines.append(f"remaining: {', '.join(shown)}")
    return "\n".join(lines)


def _place(problem: dict[str, Any], sql: str | None) -> list[str]:
    """Return the refused line with a caret under the refused column."""
    line, column = problem.get("line"), problem.get("column")
    texts = (sql or "").splitlines()
    if not isinstance(line, int) or not isinstance(column, int):
        return []
    if not 1 <= line <= len(texts):
        return []
    return [f"  {texts[line - 1]}", f"  {' ' * (column - 1)}^"]
