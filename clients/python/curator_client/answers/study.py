"""Several questions that one charge pays for: their plan, and their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from curator_client.answers.answer import Answer
from curator_client.answers.losses import loss_in_words, loss_of, word_of
from curator_client.tables.display import parted, preformatted, wrapped

Asked = TypeVar("Asked")
_LONGEST = 60  # characters of a text that are shown


@dataclass(frozen=True, repr=False)
class StudyPlan(Generic[Asked]):
    """What several questions would cost together; nothing was spent.

    Attributes:
        document: The server's reply.
    """

    document: dict[str, Any]
    asker: Callable[[], Asked] | None = field(default=None, compare=False)

    def ask(self) -> Asked:
        """Ask exactly these questions; they are paid for once, by one charge.

        Calling it again brings the same answers for nothing.

        Raises:
            CuratorRefusalError: Another question was asked in between, and the budget
                no longer suffices.
            ValueError: The plan was made from a document, and knows no server.
        """
        if self.asker is None:
            message = "this plan knows no server: make it with curator.plan_study(...)"
            raise ValueError(message)
        return self.asker()

    @property
    def price(self) -> str:
        """What asking would charge: epsilon, or rho where the population counts it."""
        return loss_of(self.document)

    @property
    def one_by_one(self) -> str:
        """What the questions would cost if each were asked alone."""
        return loss_of(self.document["one_by_one"])

    @property
    def affordable(self) -> bool:
        """Whether every limit has room for it."""
        return bool(self.document["affordable"])

    @property
    def questions(self) -> list[dict[str, Any]]:
        """Of each question its ``half_widths``, its ``part`` and what it costs alone.

        ``half_widths`` has the least and the greatest of each counting or summing
        column; ``noise`` is of questions that are shown as they are drawn.
        """
        return list(self.document["questions"])

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The tables that are measured, and for which questions.

        Where ``adds_up``, all numbers of the part's questions are sums of the same
        cells.
        """
        return list(self.document["parts"])

    def _text(self) -> str:
        """Return a summary; each line as long as it comes."""
        room = "affordable" if self.affordable else "over budget"
        alone = f"{word_of(self.document)} {self.one_by_one} one by one"
        lines = [f"price: {loss_in_words(self.document)} ({alone}; {room})"]
        for part in self.parts:
            lines += [_measured(part)]
            lines += [_expected(n, self.questions[n]) for n in part["questions"]]
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return a summary, its lines no longer than the terminal is wide."""
        return wrapped(self._text())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return preformatted(self._text())


@dataclass(frozen=True, repr=False)
class Study:
    """The answers to several questions that one charge paid for.

    ``study[0]`` is the answer to the first question.

    Attributes:
        document: The whole reply.
        hide_below: The dataset's display rule, or None.
    """

    document: dict[str, Any]
    hide_below: int | None = None

    @property
    def query_id(self) -> str:
        """The id of the charge; ``curator.past_study(query_id)`` brings all again."""
        return str(self.document["query_id"])

    @property
    def charge(self) -> dict[str, Any]:
        """What was paid for all of it."""
        return dict(self.document["charge"])

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The tables that were measured, and for which questions."""
        return list(self.document["parts"])

    @property
    def answers(self) -> list[Answer]:
        """The answers, in the order of the questions."""
        told = self.document["answers"]
        return [Answer(each, hide_below=self.hide_below) for each in told]

    def __len__(self) -> int:
        """Return how many questions it has."""
        return len(self.document["answers"])

    def __getitem__(self, place: int) -> Answer:
        """Return the answer to one question."""
        return self.answers[place]

    def __iter__(self) -> Iterator[Answer]:
        """Yield the answers."""
        return iter(self.answers)

    def __str__(self) -> str:
        """Return all answers, and what they cost together."""
        paid = "free" if self.charge["reused"] else loss_in_words(self.charge)
        several = [f"[{n}]\n{answer}" for n, answer in enumerate(self.answers)]
        return "\n\n".join([*several, f"(paid for all: {paid})"])

    def __repr__(self) -> str:
        """Return the answers as terminals show them."""
        return str(self)

    def _repr_html_(self) -> str:
        shown = "".join(each._repr_html_() for each in self.answers)
        paid = "free" if self.charge["reused"] else loss_in_words(self.charge)
        return f"{shown}{preformatted(f'paid for all: {paid}')}"


def _measured(part: dict[str, Any]) -> str:
    base, *coarse = part["tables"]
    told = f"measured: {_short(base['sql'])} ({loss_in_words(base)})"
    more = [f"{_short(each['sql'])} ({loss_in_words(each)})" for each in coarse]
    return f"{told}, with {'; '.join(more)}" if more else told


def _expected(number: int, question: dict[str, Any]) -> str:
    widths = [
        f"{each['column']} ± {parted(each['greatest'])}"
        for each in question["half_widths"]
    ]
    said = ", ".join(widths) or "as it is drawn"
    return f"  [{number}] {_short(question['sql'])}: {said}"


def _short(sql: str) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
