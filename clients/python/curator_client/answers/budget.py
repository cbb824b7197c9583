"""What may still be spent, and how many more questions that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from curator_client.tables.display import Side, html_table, paragraph, text_table

_TITLES = ["limit", "allotment", "spent", "remaining"]
_HIDDEN_CAP = (
    "the population's cap is not shown to you; with what others spend, it may be "
    "reached sooner"
)

NO_PROJECT = "you are in no project, or its access has ended: ask your custodian"


@dataclass(frozen=True, repr=False)
class Budget:
    """Your projects' budgets.

    Attributes:
        document: The server's reply.
        price: The epsilon of "such a question", or None where none is known yet.
    """

    document: dict[str, Any]
    price: str | None = field(default=None, compare=False)

    def __getitem__(self, member: str) -> Any:
        """Return a member of the server's reply."""
        return self.document[member]

    @property
    def projects(self) -> list[dict[str, Any]]:
        """The projects, as the server wrote them."""
        return list(self.document["projects"])

    def remaining(self, project: str | None = None) -> str:
        """Return what you may spend in a project: the least of the limits you see.

        Raises:
            LookupError: You have no such project, or several and named none.
        """
        left = (Decimal(limit["remaining"]) for _, limit in _limits(self._one(project)))
        return format(min(left), "f")

    def questions_left(
        self, epsilon: str | float | Decimal | None = None, project: str | None = None
    ) -> int:
        """Return how many more questions of a price fit in every limit you see.

        Args:
            epsilon: The price; else the last one that was planned or paid.
            project: May be left out where you have but one.

        Raises:
            ValueError: No price is known.
            LookupError: You have no such project, or several and named none.
        """
        price = self.price if epsilon is None else str(epsilon)
        if price is None:
            message = "give a price: no question was planned or paid for yet"
            raise ValueError(message)
        return _times(self.remaining(project), price)

    def _one(self, name: str | None) -> dict[str, Any]:
        fitting = [p for p in self.projects if name in (None, p["project"])]
        if len(fitting) == 1:
            return fitting[0]
        known = ", ".join(str(p["project"]) for p in self.projects) or "none"
        message = f"name a project; yours are: {known}"
        raise LookupError(message)

    def _cells(self, project: dict[str, Any]) -> list[list[str]]:
        price = self.price
        more = [] if price is None else [f"more at {price}"]
        rows = [[*_TITLES, *more]]
        for title, limit in _limits(project):
            allowed = str(limit.get("allotment", limit.get("epsilon")))
            left = str(limit["remaining"])
            count = [] if price is None else [f"{_times(left, price):,}"]
            rows.append([title, allowed, str(limit["spent"]), left, *count])
        return rows

    def _shown(self) -> Iterator[tuple[str, list[list[str]], str]]:
        """Yield each project's heading, table and sentences."""
        for project in self.projects:
            heading = (
                f"project {project['project']}: {', '.join(project['datasets'])}"
                f" (population {project['population']}), "
                + (f"until {project['expires']}" if project["expires"] else "no expiry")
            )
            said = [] if self.price is None else [self._sentence(project)]
            said += [_HIDDEN_CAP] if project["cap"] is None else []
            yield heading, self._cells(project), "; ".join(said)

    def _sentence(self, project: dict[str, Any]) -> str:
        count = self.questions_left(project=str(project["project"]))
        asked = "question" if count == 1 else "questions"
        fit = "fits" if count == 1 else "fit"
        word = "rho" if project.get("measure") == "zcdp" else "epsilon"
        return f"{count:,} more {asked} at {word} {self.price} {fit}"

    def __repr__(self) -> str:
        """Return the budgets for terminals."""
        parts = [
            f"{heading}\n{text_table(cells, _sides(cells))}\n  {said}".rstrip()
            for heading, cells, said in self._shown()
        ]
        return "\n\n".join(parts) or NO_PROJECT

    def _repr_html_(self) -> str:
        parts = [
            paragraph(heading) + html_table(cells, _sides(cells)) + paragraph(said)
            for heading, cells, said in self._shown()
        ]
        return "".join(parts) or paragraph(NO_PROJECT)


def _limits(project: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the limits that bind you in a project, as far as they are shown."""
    named = [
        ("project", project),
        ("your own", project["principal"]),
        ("population's cap", project["cap"]),
    ]
    return [(title, limit) for title, limit in named if limit is not None]


def _times(remaining: str, price: str) -> int:
    """Return how often a price fits, exactly; a price of nothing never ends."""
    try:
        loss = Decimal(price)
    except InvalidOperation:
        loss = Decimal(0)
    if not loss > 0:
        message = f"{price!r} is no price: write a number above 0, such as '0.1'"
        raise ValueError(message)
    return int(Decimal(remaining) // loss)


def _sides(cells: list[list[str]]) -> list[Side]:
    sides: list[Side] = ["right"] * len(cells[0])
    return ["left", *sides[1:]]
