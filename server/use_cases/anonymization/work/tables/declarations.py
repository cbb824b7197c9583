"""What a file declares of a copy of a table."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from server.use_cases.anonymization.work.copy_jobs import CopyFile
from server.use_cases.anonymization.work.files import Crosswalk, TableFiles
from upstream.anonymization.copies.given import Method
from upstream.anonymization.declared.columns import Number, QuasiIdentifier
from upstream.anonymization.declared.principles import K, SensitiveSpec
from upstream.extraction.reading.specs import ColumnName

MOST_COLUMNS = 50


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        message = f"has {twice[0]!r} twice: write it once"
        raise ValueError(message)
    return names


ColumnNames = Annotated[
    tuple[ColumnName, ...], Field(max_length=1_000), AfterValidator(_each_once)
]


class TableCopy(CopyFile):
    """An anonymized copy of a table.

    Attributes:
        table: Its files.
        patient: The column that names the patient, so that k counts patients; null:
            each row is another patient's. It is never published.
        linked: Whose each of these names is, where a linkage found that several are
            one patient's.
        quasi_identifiers: By column: what somebody may know of a patient, and how it
            becomes less exact.
        sensitive: By column: what nobody is to learn, and what must hold of it in
            every class; published as it is.
        keep: Other columns that are published as they are.
        unique: Those of ``sensitive`` and ``keep`` that may have another value in
            nearly every row.
        method: ``mondrian`` or ``incognito``.
        k: Patients that nobody can be told apart from, himself among them.
        cuts: Which cut Mondrian takes: that which loses least, or the median.
        relaxed: Whether Mondrian parts rows of one value.
        suppression: The largest share of rows that Incognito leaves out.
    """

    table: TableFiles
    patient: ColumnName | None
    linked: Crosswalk | None = None
    quasi_identifiers: Annotated[
        Mapping[ColumnName, QuasiIdentifier],
        Field(min_length=1, max_length=MOST_COLUMNS),
    ]
    sensitive: Annotated[
        Mapping[ColumnName, SensitiveSpec], Field(max_length=MOST_COLUMNS)
    ] = Field(default_factory=dict)
    keep: ColumnNames = ()
    unique: ColumnNames = ()
    method: Literal["mondrian", "incognito"] = "mondrian"
    k: K
    cuts: Literal["gain", "median"] | None = None
    relaxed: bool | None = None
    suppression: Annotated[float, Field(ge=0, lt=1)] | None = None

    @model_validator(mode="after")
    def _each_column_once(self) -> Self:
        own = [] if self.patient is None else [self.patient]
        named = Counter([*own, *self.quasi_identifiers, *self.sensitive, *self.keep])
        twice = [name for name, count in named.items() if count > 1]
        if twice:
            message = (
                f"the column {twice[0]!r} stands in two places of patient, "
                "quasi_identifiers, sensitive and keep: write it in one"
            )
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _linked_names(self) -> Self:
        if self.linked is not None and self.patient is None:
            message = "linked needs patient: the column of the source's ids"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _of_the_method(self) -> Self:
        of_other: dict[str, object] = {"cuts": self.cuts, "relaxed": self.relaxed}
        if self.method == "mondrian":
            of_other = {"suppression": self.suppression}
        for name, value in of_other.items():
            if value is not None:
                message = f"{name} means nothing to {self.method}: leave it out"
                raise ValueError(message)
        if self.method == "incognito":
            self._require_widths()
        return self

    def _require_widths(self) -> None:
        for name, spec in self.quasi_identifiers.items():
            if isinstance(spec, Number) and not spec.widths:
                message = (
                    f"incognito takes each column to one level: write the widths of "
                    f"{name!r}, such as widths: [5, 10, 20]"
                )
                raise ValueError(message)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read."""
        own = () if self.patient is None else (self.patient,)
        return (*own, *self.quasi_identifiers, *self.sensitive, *self.keep)

    @property
    def published_as_they_are(self) -> tuple[str, ...]:
        """The columns that no class generalizes."""
        return (*self.sensitive, *self.keep)

    def how(self) -> Method:
        """Return how classes are made."""
        return Method(
            self.method,
            self.cuts or "gain",
            bool(self.relaxed),
            Fraction(str(self.suppression or 0)),
        )
