"""Documents as rows of a register: what fields and spans say of a patient."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from server.use_cases.extraction.pipelines.found_spans import Found, FoundSpans
from server.use_cases.extraction.pipelines.values import Values
from server.use_cases.extraction.store.texts import Collection, StoredDocument
from server.use_cases.extraction.work import TextParts
from server.use_cases.linkage.work.declarations import TextSource
from upstream.extraction.models.union import Risk
from upstream.extraction.text.spans import Span
from upstream.linkage.registers.register import Register
from upstream.linkage.registers.tables import Rows

_ID = "id"


@dataclass(frozen=True, slots=True)
class Known:
    """What the loop found in documents, by their numbers; in none at first."""

    spans: Mapping[int, tuple[Span, ...]]


class TextRows:
    """A source of texts: its documents, and what was found in them."""

    def __init__(
        self,
        parts: TextParts,
        source: TextSource,
        collection: Collection,
        models: Sequence[str],
    ) -> None:
        """Open the source.

        Args:
            parts: The stores.
            source: Its declaration.
            collection: Its documents.
            models: The ids of the models that went over them.
        """
        self._parts = parts
        self.source = source
        self.collection = collection
        self.models = models
        self._found = FoundSpans(parts, Found(collection, models), source.risks)
        self._values = Values(source.fields, self._found.meaning)

    def spans(self, known: Known) -> FoundSpans:
        """Return the spans of models and of the loop."""
        return self._found.adding(known.spans)

    def risk(self, label: str) -> Risk:
        """Return how risky a type of spans is; of lists of terms it is health."""
        return self._found.risk(label)

    def pages(self) -> Iterator[list[StoredDocument]]:
        """Yield the documents, a page at a time."""
        return self._parts.pages(self.collection.id)

    def documents(
        self, known: Known
    ) -> Iterator[tuple[StoredDocument, tuple[Span, ...]]]:
        """Yield the documents, and the spans of models and of the loop."""
        spans = self.spans(known)
        for page in self.pages():
            found = spans.of(range(page[0].number, page[-1].number + 1))
            for one in page:
                yield one, found.get(one.number, ())

    def read(
        self, register: Register, known: Known, tell: Callable[[str, int, None], None]
    ) -> Rows:
        """Write a row for each document into the register; one that was there goes."""
        names = [_ID, *(one.name for one in self.source.fields)]
        rows = Rows(self.source.name, columns=names)
        told = "".join(f", c{number} VARCHAR" for number in range(len(names)))
        register.connection.execute(
            f"CREATE OR REPLACE TABLE {rows.table} "
            f"(row BIGINT, file VARCHAR, place BIGINT, record INTEGER{told})"
        )
        batch: list[list[str | int | None]] = []
        for one, spans in self.documents(known):
            batch.append([one.number, one.document.place.file, *self._row(one, spans)])
            if len(batch) == _BATCH:
                _insert(register, rows, batch)
                tell(f"read {self.source.name}", rows.count, None)
                batch = []
        _insert(register, rows, batch)
        return rows

    def _row(self, one: StoredDocument, spans: tuple[Span, ...]) -> list[str | None]:
        own = self.source.id
        id_ = one.document.id if own is None else one.document.fields.get(own)
        values = (self._values.value(c, one, spans).value for c in self.source.fields)
        return [id_, *values]


_BATCH = 1_000


def _insert(
    register: Register, rows: Rows, batch: Sequence[Sequence[str | int | None]]
) -> None:
    if not batch:
        return
    numbers, files, *values = zip(*batch, strict=True)
    told = {f"c{place}": ("VARCHAR", column) for place, column in enumerate(values)}
    register.insert(
        rows.table,
        {
            "row": ("BIGINT", numbers),
            "file": ("VARCHAR", files),
            "place": ("BIGINT", numbers),
            **told,
        },
    )
    rows.count += len(batch)


def with_keys(
    pages: Iterator[list[StoredDocument]], key: str, keys: Mapping[int, int]
) -> Iterator[list[StoredDocument]]:
    """Yield documents with their unit key as a field; those of nobody have none.

    Args:
        pages: The documents.
        key: The field's name.
        keys: Unit keys by the documents' numbers.
    """
    for page in pages:
        yield [_with_key(one, key, keys.get(one.number)) for one in page]


def _with_key(one: StoredDocument, name: str, key: int | None) -> StoredDocument:
    fields = {**one.document.fields, name: "" if key is None else str(key)}
    return replace(one, document=replace(one.document, fields=fields))
