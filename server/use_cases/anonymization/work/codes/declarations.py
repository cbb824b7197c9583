"""What a file declares of a copy of codes."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, model_validator

from server.use_cases.anonymization.work.copy_jobs import CopyFile
from server.use_cases.anonymization.work.files import TableFiles
from upstream.anonymization.declared.columns import FromFile
from upstream.anonymization.declared.principles import K
from upstream.extraction.reading.specs import ColumnName

Cap = Annotated[StrictInt, Field(ge=1, le=1_000)]
Weight = Annotated[float, Field(ge=0, le=1)]


class CodeWeights(BaseModel):
    """How much losses of codes and of ages count; 1 together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: Weight = 0.5
    age: Weight = 0.5

    @model_validator(mode="after")
    def _one_together(self) -> Self:
        if abs(self.code + self.age - 1) > 1e-9:  # noqa: PLR2004 - rounding of decimals
            message = "code and age weigh 1 together"
            raise ValueError(message)
        return self


class CodesCopy(CopyFile):
    """An anonymized copy of patients' diagnosis codes: rows of one code each.

    Attributes:
        codes: Their files.
        patient: The column that names the patient.
        code: The column of codes.
        age: The column of ages, in completed years; of ``lda``.
        method: ``gccens``: repeats of codes are censored until each record fits k
            people. ``lda``: trajectories are aligned in clusters of k records.
        k: People, or records, that nobody is told apart from.
        people: Files of everybody's codes, with the same columns; none: who is in
            ``codes`` is everybody. Of ``gccens``.
        caps: How often a code may appear in a record: one number, or by code (once
            where it is not named). Of ``gccens``.
        strategy: ``by_caps``, as published; ``while_needed`` censors less, record by
            record. Of ``gccens``.
        system: What generalises codes: a code system, or a hierarchy's file. Of
            ``lda``.
        weights: How much losses count. Of ``lda``.
        aligner: ``a-gs``, or ``baseline`` to compare with. Of ``lda``.
    """

    codes: TableFiles
    patient: ColumnName
    code: ColumnName
    age: ColumnName | None = None
    method: Literal["gccens", "lda"]
    k: K
    people: TableFiles | None = None
    caps: Cap | Mapping[str, Cap] | None = None
    strategy: Literal["by_caps", "while_needed"] | None = None
    system: Literal["icd9cm", "icd10", "icd10cm"] | FromFile | None = None
    weights: CodeWeights | None = None
    aligner: Literal["a-gs", "baseline"] | None = None

    @model_validator(mode="after")
    def _of_the_method(self) -> Self:
        of_lda = {"age", "system", "weights", "aligner"}
        of_gccens = {"people", "caps", "strategy"}
        other, needed = (
            (of_lda, {"caps"})
            if self.method == "gccens"
            else (of_gccens, {"age", "system"})
        )
        for name in sorted(other):
            if getattr(self, name) is not None:
                message = f"{name} means nothing to {self.method}: leave it out"
                raise ValueError(message)
        for name in sorted(needed):
            if getattr(self, name) is None:
                message = f"{self.method} needs {name}: write it"
                raise ValueError(message)
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read."""
        return (self.patient, self.code, *([self.age] if self.age else []))

    @model_validator(mode="after")
    def _each_column_once(self) -> Self:
        if len(set(self.columns)) != len(self.columns):
            message = "patient, code and age are different columns"
            raise ValueError(message)
        return self
