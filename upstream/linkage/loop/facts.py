"""What is known of a patient: the values of all records, by field."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from upstream.linkage.declared import FieldKind, FieldSpec
from upstream.linkage.records import Record

MOST_VALUES = 200
"""Values of one field that are looked for: a patient has not more."""
LONGEST_VALUE = 200
"""Characters of a value; a longer one is none that a field has."""


@dataclass(frozen=True)
class PatientFacts:
    """What the records of one patient say.

    Attributes:
        fields: What the fields are, by name.
        values: As they were written, by field, each once, in order of appearance.
    """

    fields: Mapping[str, FieldSpec] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of_kind(
        self, kind: FieldKind, types: Mapping[str, str]
    ) -> dict[str, list[tuple[str, FieldSpec]]]:
        """Return the values of fields of a kind, by the span type of their field.

        Args:
            kind: The kind.
            types: Span types, by field; a field that is not here is left out.
        """
        found: dict[str, list[tuple[str, FieldSpec]]] = {}
        for name, spec in self.fields.items():
            if spec.kind == kind and name in types:
                values = found.setdefault(types[name], [])
                values += [(value, spec) for value in self.values.get(name, ())]
        return {label: values for label, values in found.items() if values}


def facts_of(
    fields: Mapping[str, FieldSpec], records: Iterable[Record]
) -> PatientFacts:
    """Return what records of one patient say, whether they agree or not.

    Args:
        fields: What the fields are; values of other fields are left out.
        records: The patient's, of whatever sources.
    """
    found: dict[str, dict[str, None]] = {name: {} for name in fields}
    for record in records:
        for name, value in record.values.items():
            said = value.strip()
            held = found.get(name)
            is_usable = said and len(said) <= LONGEST_VALUE
            if held is not None and is_usable and len(held) < MOST_VALUES:
                held[said] = None
    return PatientFacts(fields, {name: tuple(held) for name, held in found.items()})
