"""HIDE's loop: what records say of a patient is looked for in the patient's texts."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from server.use_cases.linkage.work.texts import Known, TextRows
from upstream.extraction.models.union import union
from upstream.extraction.text.spans import Span
from upstream.linkage.loop.facts import PatientFacts
from upstream.linkage.loop.known import known_spans
from upstream.linkage.loop.rounds import Extracted, Linked
from upstream.linkage.patients.settled import (
    Settled,
)


class Linking(Protocol):
    """The run that the loop goes round."""

    def values(self) -> int:
        """Return how many fields of records have a value."""
        ...

    def settled(self) -> Settled:
        """Return whose each record is."""
        ...

    def facts(self, keys: Sequence[int]) -> dict[int, PatientFacts]:
        """Return what is known of patients of several records, by unit key."""
        ...

    def owners(self, source: str, keys: Sequence[int]) -> dict[int, int]:
        """Return the unit key of each document of a source, by its number."""
        ...

    def read_again(self, known: Mapping[str, Known]) -> int:
        """Read texts with what was found; return how many values are new."""
        ...

    def score_again(self) -> None:
        """Score all pairs by what records say now."""
        ...

    def tell(self, stage: str, done: int, total: int | None) -> None:
        """Say how far the run is."""
        ...


class Loop:
    """Goes round: the first round takes what models found, later ones what is known."""

    def __init__(self, run: Linking, texts: Sequence[TextRows]) -> None:
        """Begin with what is scored.

        Args:
            run: Its sources are read, and their pairs scored.
            texts: The sources of texts.
        """
        self._run = run
        self._texts = texts
        self._settled: Settled | None = None
        self.known: dict[str, Known] = {one.source.name: Known({}) for one in texts}

    @property
    def settled(self) -> Settled:
        """Whose each record is, behind the last round."""
        if self._settled is None:
            raise TypeError
        return self._settled

    def extract(self) -> Extracted:
        """Look in linked documents for what other records of their patients say."""
        if self._settled is None:
            return Extracted(spans=0, values=self._run.values())
        before = self._spans()
        facts = self._run.facts(self._settled.keys)
        self.known = {one.source.name: self._search(one, facts) for one in self._texts}
        spans = self._spans() - before
        return Extracted(spans, self._run.read_again(self.known) if spans else 0)

    def _spans(self) -> int:
        return sum(
            len(spans) for one in self.known.values() for spans in one.spans.values()
        )

    def _search(self, texts: TextRows, facts: Mapping[int, PatientFacts]) -> Known:
        """Return what is found, beside what was found before."""
        name, types = texts.source.name, texts.source.types()
        owners = self._run.owners(name, self.settled.keys)
        found: dict[int, tuple[Span, ...]] = {}
        held = self.known[name].spans
        for number, (one, _) in enumerate(texts.documents(Known({})), 1):
            told = facts.get(owners.get(one.number, 0))
            seen = known_spans(one.document.text, told, types) if told else ()
            spans = union((held.get(one.number, ()), seen))
            if spans:
                found[one.number] = spans
            self._run.tell(f"search {name}", number, None)
        return Known(found)

    def link(self) -> Linked:
        """Link all records anew, with the values of all spans."""
        before = self._settled
        if before is not None:
            self._run.score_again()
        self._settled = self._run.settled()
        keys = self._settled.keys
        linked = self._run.facts(keys).keys()
        documents = sum(
            key in linked
            for one in self._texts
            for key in self._run.owners(one.source.name, keys).values()
        )
        if before is None:
            return Linked(documents, patients=len(set(keys[1:])))
        changed = {
            key
            for old, new in zip(before.keys, keys, strict=True)
            for key in (old, new)
            if old != new
        }
        return Linked(documents, patients=len(changed))
