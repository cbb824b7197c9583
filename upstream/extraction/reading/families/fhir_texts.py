"""The texts that a FHIR resource holds, and what stands beside them (FHIR R4)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from upstream.extraction.reading.families.fhir_attachments import Attachments
from upstream.extraction.reading.outcomes import FlawError, Json, Written, stored_text
from upstream.extraction.text.documents import Unit

_DATES = ("date", "effectiveDateTime", "issued")


@dataclass(frozen=True, slots=True)
class Found:
    """A text of a resource.

    Attributes:
        id: The resource's type and id, and which of its texts; empty if it has none.
        item: Where in the resource it stands, for people.
        body: The text or a flaw.
        unit: What offsets count: bytes of an attachment, characters of a value.
        fields: The patient's reference, the encounter's and the date.
        file: The file that holds the attachment, if the resource does not.
    """

    id: str
    item: str
    body: Written | FlawError
    unit: Unit
    fields: Mapping[str, str] = field(default_factory=dict)
    file: str | None = None


def texts_of(attachments: Attachments, resource: Mapping[str, Json]) -> Iterator[Found]:
    """Yield the texts of a resource in a fixed order; resources of other types none."""
    kind = resource.get("resourceType")
    values = _VALUES.get(kind) if isinstance(kind, str) else None
    if values is None:
        return
    beside = _fields(resource)
    base = _text(resource.get("id"))
    for suffix, item, value in values(resource):
        name = f"{kind}/{base}{suffix}" if base else ""
        if isinstance(value, str):
            yield Found(name, item, stored_text(value), "character", beside)
        else:
            path, body = attachments.read(value)
            yield Found(name, item, body, "byte", beside, path)


_Object = Mapping[str, Json]
_Values = Iterator[tuple[str, str, str | _Object]]
"""What ends a text's id, where it stands, and the text or its attachment."""


def _of_reference(resource: _Object) -> _Values:
    for number, content in enumerate(_list(resource.get("content")) or [None], 1):
        attachment = _object(_object(content).get("attachment"))
        yield _suffix(number), f"content {number}", attachment


def _of_report(resource: _Object) -> _Values:
    for number, form in enumerate(_list(resource.get("presentedForm")), 1):
        yield _suffix(number), f"presentedForm {number}", _object(form)
    if "conclusion" in resource:
        yield "/conclusion", "conclusion", _text(resource["conclusion"])


def _of_observation(resource: _Object) -> _Values:
    if "valueString" in resource:
        yield "", "valueString", _text(resource["valueString"])
    for number, note in enumerate(_list(resource.get("note")), 1):
        yield f"/note/{number}", f"note {number}", _text(_object(note).get("text"))


def _of_binary(resource: _Object) -> _Values:
    yield "", "data", resource


_VALUES = {
    "DocumentReference": _of_reference,
    "DiagnosticReport": _of_report,
    "Observation": _of_observation,
    "Binary": _of_binary,
}


def _suffix(number: int) -> str:
    return f"/{number}" if number > 1 else ""


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _object(value: Json) -> _Object:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _fields(resource: _Object) -> dict[str, str]:
    """Return the references of patient and encounter, and the date, where they are."""
    found = {
        "patient": _text(_object(resource.get("subject")).get("reference")),
        "encounter": _text(_object(resource.get("encounter")).get("reference")),
        "date": next((d for n in _DATES if (d := _text(resource.get(n)))), ""),
    }
    return {name: text for name, text in found.items() if text}
