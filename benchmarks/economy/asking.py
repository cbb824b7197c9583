"""Asking the product over HTTP as a group does, and reading what came back."""

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any, Final

import httpx

from privacy.losses import ZERO_LOSS, Loss
from tests.support.installations.harness import client

DATASET: Final = "diabetes130"
TRIES: Final = 5
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One measured number of an answer.

    Attributes:
        group: Its keys' values; as they are, for a comparison with the truth.
        value: As it was drawn; None: NULL.
        half_width: 95 % of the noise lies within so much; infinite where an end of the
            interval is open.
    """

    group: tuple[object, ...]
    value: float | None
    half_width: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer showed, where it came from, and what it cost.

    Attributes:
        cells: Its numbers.
        source: ``paid``, ``stored``, ``derived`` or ``release``.
        spent: What was charged for it.
    """

    cells: Sequence[Cell]
    source: str
    spent: Loss

    @property
    def widest(self) -> float:
        """The half-width of its least sure cell."""
        return max((cell.half_width for cell in self.cells), default=inf)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was refused: the code of the problem and its sentence.

    Attributes:
        probe: What could be asked for first, in the place of what was; None: nothing.
    """

    code: str
    detail: str
    probe: Document | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """A running server, and the groups' keys to it.

    Attributes:
        url: Of the server.
        word: What losses are called.
        keys: By group.
        allotment: Of each group.
    """

    url: str
    word: str
    keys: Mapping[str, str]
    allotment: Loss

    @property
    def allotments(self) -> Loss:
        """Of all groups."""
        return Loss(self.allotment.nano_epsilon * len(self.keys))

    def asker(self, group: str) -> "Asker":
        """Return what asks for a group."""
        return Asker(client(self.url, self.keys[group]), self.word)


@dataclass(frozen=True, slots=True)
class Asker:
    """Plans and asks with one key."""

    http: httpx.Client
    word: str

    def plan(self, sql: str, **how: object) -> Document | Refusal:
        """Return the plan of a question, or why it was refused."""
        return self._posted("plan", {"sql": sql, **how})

    def ask(self, sql: str, **how: object) -> Answer | Refusal:
        """Return the answer to a question, or why it was refused."""
        found = self._posted("queries", {"sql": sql, **how})
        return found if isinstance(found, Refusal) else self._read(found)

    def least(self) -> Loss:
        """Return the least that one query of this dataset may spend."""
        document = self.http.get(f"/v1/datasets/{DATASET}").json()
        return Loss.parse(document[f"{self.word}_per_query"]["min"])

    def loss_of(self, plan: Document) -> Loss:
        """Return what a plan would be charged."""
        return Loss.parse(plan[self.word])

    def _posted(self, route: str, body: Mapping[str, object]) -> Document | Refusal:
        headers = {"Idempotency-Key": secrets.token_hex(16)}
        path = f"/v1/datasets/{DATASET}/{route}"
        reply = self._sent(path, body, headers)
        found = reply.json()
        if reply.is_success:
            return found
        probes = [way for way in found.get("ways", ()) if way["kind"] == "probe"]
        return Refusal(found["type"], found["detail"], next(iter(probes), None))

    def _sent(
        self, path: str, body: Mapping[str, object], headers: Mapping[str, str]
    ) -> httpx.Response:
        """Send a request; again, with its key, where an idle connection was closed."""
        for _ in range(TRIES):
            with suppress(httpx.TransportError):
                return self.http.post(path, json=body, headers=headers)
        return self.http.post(path, json=body, headers=headers)

    def _read(self, answer: Document) -> Answer:
        spent = Loss.parse(answer["charge"][self.word])
        return Answer(cells_of(answer), _source(answer, spent), spent)


def _source(answer: Document, spent: Loss) -> str:
    if "release" in answer:
        return "release"
    if "paid" in answer:
        return "derived"
    return "stored" if spent == ZERO_LOSS else "paid"


def cells_of(answer: Document) -> list[Cell]:
    """Return the numbers of an answer's last column, each with its half-width."""
    rows = answer["rows"]
    values = [None if row[-1] is None else float(row[-1]) for row in rows]
    widths = _half_widths(answer, values)
    return [
        Cell(tuple(row[:-1]), value, width)
        for row, value, width in zip(rows, values, widths, strict=True)
    ]


def _half_widths(answer: Document, values: Sequence[float | None]) -> list[float]:
    """Return each row's half-width: its own, of its interval, or that of the column."""
    column = answer["columns"][-1]["name"]

    def of_column(member: str) -> Document | None:
        listed = answer.get(member, [])
        return next((each for each in listed if each["column"] == column), None)

    own, intervals = of_column("half_widths"), of_column("intervals")
    if own is not None:
        return [float(width) for width in own["rows"]]
    if intervals is not None:
        return [
            _farther(value, ends)
            for value, ends in zip(values, intervals["rows"], strict=True)
        ]
    noise = of_column("noise")
    return [inf if noise is None else float(noise["half_width_95"])] * len(values)


def _farther(value: float | None, ends: Sequence[str | None] | None) -> float:
    if value is None or ends is None or None in ends:
        return inf
    return max(abs(float(end) - value) for end in ends if end is not None)
