"""One document of a gold standard as JSON, in the three shapes that are read."""

from collections.abc import Mapping

from upstream.extraction.gold.outcomes import (
    GoldDocument,
    GoldError,
    gold_document,
    require_unicode,
    require_within,
)
from upstream.extraction.reading.outcomes import Json, stored_text
from upstream.extraction.text.documents import Place, TextDocument
from upstream.extraction.text.spans import GOLD, AnnotatedDocument, Span

_TRIPLE = 3  # start, end, label
_NAMES = (("start", "start_position"), ("end", "end_position"))
_LABELS = ("label", "entity_type")


def id_of(item: Mapping[str, Json], file: str, number: int) -> str:
    """Return a document's id; Presidio has none but in its metadata.

    Args:
        item: The document.
        file: Names it where it has no id.
        number: Of its line or item.
    """
    beside = item.get("metadata")
    found = item.get("id", beside.get("id") if isinstance(beside, dict) else None)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    return found if isinstance(found, str) and found else f"{file}#{number}"


def document_of(item: Mapping[str, Json], file: str, number: int) -> GoldDocument:
    """Return the document of an object, whichever shape it has.

    Raises:
        GoldError: It has none of the shapes, or a span is not in its text.
    """
    text = item.get("text", item.get("full_text"))
    if not isinstance(text, str):
        sentence = "no object with text (or full_text) and spans"
        raise GoldError(sentence)
    require_unicode(text)
    listed = item.get("spans")
    if not isinstance(listed, list):
        sentence = "no list of spans: write [] where there are none"
        raise GoldError(sentence)
    spans = [_span(each, text) for each in listed]
    place = Place(file, f"item {number}", "character")
    beside = item.get("fields")
    fields = beside if isinstance(beside, dict) else {}
    document = TextDocument(
        id_of(item, file, number),
        text,
        place,
        stored_text(text).pieces,
        _texts(fields),
    )
    return gold_document(document, spans)


def _texts(fields: Mapping[str, Json]) -> dict[str, str]:
    """Return fields as texts: whole numbers as they are written; others are left."""
    return {
        name: str(value)
        for name, value in fields.items()
        if isinstance(value, str | int) and not isinstance(value, bool)
    }


def line_of(annotated: AnnotatedDocument) -> dict[str, Json]:
    """Return a document as the object that is written into a line."""
    document = annotated.document
    spans: list[Json] = [_written(span) for span in annotated.spans]
    item: dict[str, Json] = {"id": document.id, "text": document.text, "spans": spans}
    if document.fields:
        item["fields"] = dict(document.fields)
    return item


def presidio_item_of(annotated: AnnotatedDocument) -> dict[str, Json]:
    """Return a document as an object of Presidio's evaluation.

    Raises:
        GoldError: A span has a score or a source, which the shape cannot say.
    """
    document = annotated.document
    spans: list[Json] = []
    for span in annotated.spans:
        if (span.score, span.source, span.is_denied) != (1.0, GOLD, False):
            sentence = (
                "Presidio's spans have no scores, sources or denials: write lines"
            )
            raise GoldError(sentence, offset=span.start)
        value = document.text[span.start : span.end]
        spans.append(
            {
                "entity_type": span.label,
                "entity_value": value,
                "start_position": span.start,
                "end_position": span.end,
            }
        )
    beside: dict[str, Json] = {"id": document.id}
    return {"full_text": document.text, "spans": spans, "metadata": beside}


def _written(span: Span) -> Json:
    if (span.score, span.source, span.is_denied) == (1.0, GOLD, False):
        return [span.start, span.end, span.label]
    denied: dict[str, Json] = {"denied": True} if span.is_denied else {}
    return {
        "start": span.start,
        "end": span.end,
        "label": span.label,
        "score": span.score,
        "source": span.source,
        **denied,
    }


def _span(item: Json, text: str) -> Span:
    if isinstance(item, list) and len(item) == _TRIPLE:
        given: Mapping[str, Json] = dict(
            zip(("start", "end", "label"), item, strict=True)
        )
    elif isinstance(item, dict):
        given = item
    else:
        sentence = "a span is [start, end, label], or an object with those names"
        raise GoldError(sentence)
    start, end = (_offset(given, names) for names in _NAMES)
    require_within(text, start, end)
    quote = given.get("entity_value")
    if isinstance(quote, str) and quote != text[start:end]:
        sentence = "the text there is not the span's value: offsets count code points"
        raise GoldError(sentence, offset=start)
    return _labelled(given, start, end)


def _labelled(given: Mapping[str, Json], start: int, end: int) -> Span:
    label = next((given[name] for name in _LABELS if name in given), None)
    score, source = given.get("score", 1.0), given.get("source", GOLD)
    if not isinstance(label, str):
        sentence = "a span without a label"
        raise GoldError(sentence, offset=start)
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not isinstance(source, str) or not is_number or not 0 <= float(str(score)) <= 1:
        sentence = "a span's score is from 0 to 1, and its source a text"
        raise GoldError(sentence, offset=start)
    denied = given.get("denied", False)
    if not isinstance(denied, bool):
        sentence = "a span's denied is true or false"
        raise GoldError(sentence, offset=start)
    return Span(start, end, label, float(str(score)), source, denied)


def _offset(given: Mapping[str, Json], names: tuple[str, str]) -> int:
    value = next((given[name] for name in names if name in given), None)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    sentence = f"a span's {names[0]} is no whole number"
    raise GoldError(sentence)
