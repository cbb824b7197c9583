"""What a file declares of a copy of texts."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from server.use_cases.anonymization.work.copy_jobs import CopyFile
from server.use_cases.anonymization.work.files import TableFiles, TextCrosswalk
from server.use_cases.extraction.tagging import ModelName
from upstream.anonymization.texts.cut_values import SPARSE_ZIP3
from upstream.anonymization.texts.declared_statistical import Statistical
from upstream.anonymization.texts.kinds import NO_IDENTIFIER, Kind
from upstream.anonymization.texts.profiles import ProfileName, Replacement
from upstream.extraction.normalising.dates import Order
from upstream.extraction.reading.specs import ColumnName
from upstream.manifests.declarations import Identifier

Residues = Literal["tag", "flag", "refuse"]
MOST_DAYS = 365
_KINDS = (*(kind.value for kind in Kind), NO_IDENTIFIER)


def _known(name: str) -> str:
    if name not in _KINDS:
        message = f"write one of {', '.join(_KINDS)}"
        raise ValueError(message)
    return name


KindName = Annotated[str, AfterValidator(_known)]


class Dates(BaseModel):
    """How dates are read, as of a pipeline, and how far they are moved.

    Attributes:
        order: What comes first in 3/5/2024.
        years_until: The last year that two digits may mean.
        shift_days: The most days by which a patient's dates are moved, either way.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    order: Order | None = None
    years_until: Annotated[int, Field(ge=1900, le=2200)] | None = None
    shift_days: Annotated[int, Field(ge=1, le=10_000)] = MOST_DAYS


class KnownIdentifiers(BaseModel):
    """A table of patients, such as a register, whose values no copy may say.

    Attributes:
        table: Its files.
        patient: The column that names the patient as the documents' field does.
        columns: By column: what kind of identifier it holds.
        attributes: Of an identifier view, as ``curator linkage view --to`` writes it:
            by attribute, what kind its values are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: TableFiles
    patient: ColumnName
    columns: Annotated[Mapping[ColumnName, Kind], Field(max_length=50)] = Field(
        default_factory=dict
    )
    attributes: Annotated[Mapping[str, Kind], Field(max_length=50)] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _patient_apart(self) -> Self:
        if not self.columns and not self.attributes:
            message = "write columns, or attributes of an identifier view, and kinds"
            raise ValueError(message)
        if self.patient in self.columns:
            message = f"the column {self.patient!r} names the patient: write others"
            raise ValueError(message)
        return self


class TextCopy(CopyFile):
    """A de-identified copy of a collection.

    Attributes:
        name: Of the copy. Copies of the same name have the same surrogates: who gets
            two of them can join them.
        collection: Of texts, read before.
        finder: Whose spans: a model's name or id, ``rules`` or ``gold``.
        patient: The field of documents that names the patient; none: each document is
            another patient's.
        linked: Instead: whose each document is, by the ids of a linkage's source.
        profile: What becomes of identifiers.
        replacement: What stands for those that are removed.
        types: What types of spans are, where their names do not tell.
        dates: How dates are read and moved.
        sparse_zip3: ZIP codes' first digits that 20,000 people or fewer share.
        year: By which a year of birth tells an age above 89.
        residues: What becomes of identifiers that are found in the output still:
            they are tagged, counted alone, or nothing is made.
        statistical: Of that profile: how what narrows people down is generalized.
        known: What else is known of patients: the output is read again for it, too.
    """

    collection: Identifier
    finder: ModelName
    patient: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    linked: TextCrosswalk | None = None
    profile: ProfileName
    replacement: Replacement = "tag"
    types: Mapping[str, KindName] = Field(default_factory=dict)
    dates: Dates = Field(default_factory=Dates)
    sparse_zip3: Annotated[
        list[Annotated[str, Field(pattern=r"^[0-9]{3}$")]], Field(max_length=1_000)
    ] = Field(default_factory=lambda: sorted(SPARSE_ZIP3))
    year: Annotated[int, Field(ge=1900, le=2200)] | None = None
    residues: Residues = "tag"
    statistical: Statistical | None = None
    known: KnownIdentifiers | None = None

    @property
    def reads_beside(self) -> bool:
        """Whether files are read beside the collection."""
        return self.known is not None or self.linked is not None

    @property
    def has_patients(self) -> bool:
        """Whether documents of one patient are known to be."""
        return self.patient is not None or self.linked is not None

    @model_validator(mode="after")
    def _shifts_need_patients(self) -> Self:
        if self.patient is not None and self.linked is not None:
            message = "patient and linked both say whose documents are: write one"
            raise ValueError(message)
        if self.replacement == "surrogate" and not self.has_patients:
            message = (
                "say which field names the patient (patient:), or whose documents are "
                "(linked:): surrogates are one patient's in all documents"
            )
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _known_needs_patients(self) -> Self:
        if self.known is not None and not self.has_patients:
            message = "say which field names the patient (patient:), so that known fits"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _of_the_profile(self) -> Self:
        if (self.profile == "statistical") != (self.statistical is not None):
            message = (
                "write statistical: with k and quasi_identifiers where the profile is "
                "statistical, and nowhere else"
            )
            raise ValueError(message)
        return self
