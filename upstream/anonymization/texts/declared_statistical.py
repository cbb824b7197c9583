"""What a custodian declares of statistical de-identification."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from upstream.anonymization.declared.columns import (
    Codes,
    Declared,
    QuasiIdentifier,
)
from upstream.anonymization.declared.principles import K
from upstream.anonymization.texts.kinds import INDIRECT, Kind


def _indirect(name: str) -> Kind:
    if name not in {kind.value for kind in INDIRECT}:
        known = ", ".join(sorted(kind.value for kind in INDIRECT))
        message = f"write a kind that narrows people down: {known}"
        raise ValueError(message)
    return Kind(name)


def _of_texts(spec: QuasiIdentifier) -> QuasiIdentifier:
    if isinstance(spec, Codes):
        message = "texts have no codes here: write category, or hierarchy"
        raise ValueError(message)  # noqa: TRY004 - pydantic's refusal
    return spec


class Statistical(Declared):
    """How what narrows people down is generalized.

    Attributes:
        k: Patients whose generalized values are the same.
        method: ``mondrian``: ranges and upper levels of patients who are alike in
            their values; ``dast``: lists of the values of patients whose texts are
            alike, and single values where all of the collection stay safe.
        quasi_identifiers: By kind: how its values become less exact. Kinds that are
            not named are tagged.
    """

    k: K
    method: Literal["mondrian", "dast"] = "mondrian"
    quasi_identifiers: Annotated[
        Mapping[
            Annotated[str, AfterValidator(_indirect)],
            Annotated[QuasiIdentifier, AfterValidator(_of_texts)],
        ],
        Field(min_length=1),
    ]
