"""The loop: extract, link, and again with what was linked, until nothing changes."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Protocol

MOST_ROUNDS = 5
"""Rounds after which it ends, whether something still changes or not."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an extraction found that the ones before it had not.

    Attributes:
        spans: New ones: of documents, offsets and types that were not found before.
        values: New values of fields, of documents, which linking has not seen.
    """

    spans: int
    values: int


@dataclass(frozen=True, slots=True)
class Linked:
    """What linking made of all values.

    Attributes:
        documents: That have a patient with another record.
        patients: Of which the records are others than before, in the first round all.
    """

    documents: int
    patients: int


@dataclass(frozen=True, slots=True)
class Round:
    """What one round changed.

    Attributes:
        number: From 1; the first one knows nothing of any patient.
        documents: That are linked behind it.
        new_documents: How many more than behind the round before; below 0: fewer.
        spans: New spans.
        values: New values that linking was given.
        patients: That changed.
    """

    number: int
    documents: int
    new_documents: int
    spans: int
    values: int
    patients: int

    @property
    def has_gained(self) -> bool:
        """Whether it found or changed anything at all."""
        return bool(self.spans or self.values or self.patients)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The report of a loop: counts alone, no value and no text.

    Attributes:
        rounds: In order; the last one gained nothing if it ``is_settled``.
        is_settled: Whether it ended since nothing changed, or at the most rounds.
    """

    rounds: tuple[Round, ...]
    is_settled: bool

    @property
    def has_gained(self) -> bool:
        """Whether any round but the first gained anything: what the loop is for."""
        return any(each.has_gained for each in self.rounds[1:])

    def to_json(self) -> dict[str, object]:
        """Return the report as a document of counts, of real documents and patients."""
        return {
            "rounds": [asdict(each) for each in self.rounds],
            "settled": self.is_settled,
            "gained": self.has_gained,
        }

    def lines(self) -> list[str]:
        """Return a sentence for each round, and one about the end.

        >>> Rounds((Round(1, 4, 4, 9, 7, 3), Round(2, 4, 0, 0, 0, 0)), True).lines()[1]
        'Round 2 gained nothing.'
        """
        end = (
            "Nothing changes any more."
            if self.is_settled
            else "It ended at the most rounds: something still changed."
        )
        return [*map(_sentence, self.rounds), end]


def _sentence(each: Round) -> str:
    if not each.has_gained:
        return f"Round {each.number} gained nothing."
    return (
        f"Round {each.number}: {each.spans:,} new spans, {each.values:,} new values, "
        f"{each.patients:,} patients changed, {each.documents:,} documents linked "
        f"({each.new_documents:+,})."
    )


class Looped(Protocol):
    """Whatever holds documents, spans and patients, and remembers them."""

    def extract(self) -> Extracted:
        """Find spans by models, and in linked documents what is known of patients.

        Spans that were found before stay, or are found again: the loop ends since no
        round takes anything away.
        """
        ...

    def link(self) -> Linked:
        """Link all records anew, with the values of all spans."""
        ...


def run_rounds(
    looped: Looped, most: int = MOST_ROUNDS, progress: Progress | None = None
) -> Rounds:
    """Run rounds until one changes nothing, and return what each changed.

    Args:
        looped: Extracts and links.
        most: Rounds at most; 1: extraction and linking once, without a loop.
        progress: Told after each round how many are done, and of how many; may raise.

    Raises:
        ValueError: ``most`` is below 1.
    """
    if most < 1:
        message = f"a loop has one round at least, not {most}"
        raise ValueError(message)
    rounds: list[Round] = []
    while len(rounds) < most:
        rounds.append(_run(looped, rounds[-1] if rounds else None))
        if progress is not None:
            progress(len(rounds), most)
        if not rounds[-1].has_gained:
            return Rounds(tuple(rounds), is_settled=True)
    return Rounds(tuple(rounds), is_settled=False)


def _run(looped: Looped, before: Round | None) -> Round:
    """Run one round; without new spans and values nothing has to be linked again."""
    extracted = looped.extract()
    linked_before = before.documents if before else 0
    if before and not (extracted.spans or extracted.values):
        return Round(before.number + 1, linked_before, 0, 0, 0, 0)
    linked = looped.link()
    return Round(
        number=before.number + 1 if before else 1,
        documents=linked.documents,
        new_documents=linked.documents - linked_before,
        spans=extracted.spans,
        values=extracted.values,
        patients=linked.patients,
    )
