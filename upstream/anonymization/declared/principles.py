"""What a custodian declares of classes: k, and what must hold of sensitive columns."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import Field, StrictInt

from upstream.anonymization.arrays import Text
from upstream.anonymization.declared.columns import Declared
from upstream.anonymization.principles.anonymity import KAnonymity, PatientAnonymity
from upstream.anonymization.principles.cells import patient_values_of
from upstream.anonymization.principles.closeness import TCloseness
from upstream.anonymization.principles.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
)
from upstream.anonymization.principles.principle import (
    AllOf,
    Principle,
    Sensitive,
    sensitive_column,
)

K = Annotated[StrictInt, Field(ge=2, le=1_000_000)]
Number = Annotated[str | int | float, Field()]


class Recursive(Declared):
    """Recursive (c, l)-diversity: ``r1 < c (rl + ... + rm)``."""

    c: Annotated[float, Field(gt=0, le=1e6)]
    l: Annotated[StrictInt, Field(ge=2, le=1_000)]  # noqa: E741 - the literature's name


class SensitiveSpec(Declared):
    """What must hold of a sensitive column in every class; nothing if nothing is said.

    Attributes:
        distinct: At least so many values (distinct l-diversity).
        entropy: An entropy of at least its logarithm (entropy l-diversity).
        recursive: The commonest value is not too common.
        close: The distance from the whole table is at most this (t-closeness).
        order: The values in order: then ``close`` counts how far apart they are.
    """

    distinct: Annotated[StrictInt, Field(ge=2, le=1_000)] | None = None
    entropy: Annotated[float, Field(gt=1, le=1_000)] | None = None
    recursive: Recursive | None = None
    close: Annotated[float, Field(ge=0, le=1)] | None = None
    order: tuple[Annotated[str, Field(max_length=500)], ...] = ()

    def principles(
        self, column: Sensitive, patients: Sensitive | None = None
    ) -> list[Principle]:
        """Return what is asked for.

        Args:
            column: Of what.
            patients: Whose each row is; None: each is another's.
        """
        held = None if patients is None else patient_values_of(patients, column)
        found: list[Principle] = []
        if self.distinct is not None:
            found.append(DistinctDiversity(column, self.distinct, held))
        if self.entropy is not None:
            found.append(EntropyDiversity(column, self.entropy, held))
        if self.recursive is not None:
            c = Fraction(str(self.recursive.c))
            found.append(RecursiveDiversity(column, c, self.recursive.l, held))
        if self.close is not None:
            t = Fraction(str(self.close))
            found.append(TCloseness(column, t, bool(self.order), held))
        return found


def patients_of(values: Sequence[Text] | None) -> Sensitive | None:
    """Return whose each row is; None where each row is another patient's.

    Args:
        values: By row: the patient; None: nobody stands twice.
    """
    if values is None or len(set(values)) == len(values):
        return None
    return sensitive_column("patient", values)


def principle_of(
    k: int,
    patients: Sensitive | None,
    sensitive: Mapping[str, tuple[SensitiveSpec, Sensitive]],
) -> Principle:
    """Return all that every class must have.

    Args:
        k: Patients of a class.
        patients: Whose each row is; None: each is another's.
        sensitive: By column: what is asked of it, and its values.
    """
    least = KAnonymity(k) if patients is None else PatientAnonymity(patients, k)
    others = [
        one
        for spec, column in sensitive.values()
        for one in spec.principles(column, patients)
    ]
    return AllOf((least, *others)) if others else least
