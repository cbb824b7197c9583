"""What a pipeline asks for and nothing gives: it is refused before anything is loaded.

A load would go well, and the table hold nothing but NULL: whoever asks it would believe
that nobody smokes.
"""

from collections.abc import Iterable, Iterator, Sequence

from query_lang.binding.outside_domain import nearest_value
from server.use_cases.extraction.declarations import Found
from server.use_cases.extraction.pipelines.files import Column, Pipeline, Rows
from server.use_cases.extraction.store.texts import Collection
from server.use_cases.extraction.work import TextParts, found_types
from upstream.errors import IngestionError, Problem
from upstream.extraction.models.model import TextModel
from upstream.extraction.terms.terms import TermModel
from upstream.manifests.yaml_nodes import KEY, Place

_MOST_TOLD = 20  # names in one sentence


class PipelineChecks:
    """Holds a pipeline's file against models and documents."""

    def __init__(self, parts: TextParts, found: Found[Pipeline]) -> None:
        self._parts = parts
        self._found = found
        self._table = found.declared.table

    def check_models(self, models: Sequence[str]) -> None:
        """Check that models find the types, and lists have the meanings, that it names.

        Args:
            models: Their ids.

        Raises:
            IngestionError: A type or a meaning is none of theirs.
        """
        opened = [self._parts.opened(one) for one in models]
        types = {kind for one in opened for kind in found_types(one)}
        problems = list(self._wrong_risks(types))
        if isinstance(self._table.rows, Rows) and self._table.rows.span not in types:
            said = _unknown("type", self._table.rows.span, types, "the models find")
            problems.append(self._problem(("table", "rows", "span"), said))
        for place, column in self._columns():
            if column.span is None:
                continue
            if column.span not in types:
                said = _unknown("type", column.span, types, "the models find")
                problems.append(self._problem((*place, "span"), said))
                continue
            known = _meanings(opened, column.span)
            for number, meaning in enumerate(column.meanings):
                if known is not None and meaning not in known:
                    said = _unknown("meaning", meaning, known, "the lists have")
                    problems.append(self._problem((*place, "meanings", number), said))
        _refuse(problems)

    def _wrong_risks(self, types: set[str]) -> Iterator[Problem]:
        for kind in self._found.declared.risks:
            if kind not in types:
                said = _unknown("type", kind, types, "the models find")
                yield self._problem(("risks", kind, KEY), said)

    def check_fields(self, collection: Collection) -> None:
        """Check that some document has each field that a column is made of.

        Reads documents until all fields were seen.

        Raises:
            IngestionError: None has one.
        """
        wanted = {
            column.field: place for place, column in self._columns() if column.field
        }
        seen: set[str] = set()
        for page in self._parts.pages(collection.id):
            for one in page:
                seen.update(name for name, text in one.document.fields.items() if text)
            if wanted.keys() <= seen:
                return
        _refuse(
            self._problem(
                (*wanted[field], "field"),
                _unknown("field", field, seen, "the documents have"),
            )
            for field in sorted(wanted.keys() - seen)
        )

    def _columns(self) -> Iterator[tuple[Place, Column]]:
        yield ("table", "unit"), self._table.unit
        for number, column in enumerate(self._table.columns):
            yield ("table", "columns", number), column

    def _problem(self, place: Place, said: str) -> Problem:
        line, column = self._found.places.get(place) or (None, None)
        return Problem(str(self._found.path), line, column, said)


def _meanings(
    opened: Sequence[TextModel | TermModel | None], kind: str
) -> set[str] | None:
    """Return what spans of a type can stand for; None: it is what a text says."""
    known: set[str] = set()
    for model in opened:
        if kind not in found_types(model):
            continue
        meanings = model.meanings(kind) if isinstance(model, TermModel) else None
        if meanings is None:
            return None
        known |= meanings
    return known


def _unknown(what: str, said: str, known: Iterable[str], who: str) -> str:
    listed = sorted(known)
    near = nearest_value(said, listed)
    if near is not None:
        return f"no {what} {said!r}: did you mean {near!r}?"
    shown = ", ".join(listed[:_MOST_TOLD]) + (", ..." if listed[_MOST_TOLD:] else "")
    return f"no {what} {said!r}: {who} {shown or 'none'}"


def _refuse(problems: Iterable[Problem]) -> None:
    told = tuple(problems)
    if told:
        raise IngestionError(told)
