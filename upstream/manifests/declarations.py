"""What a custodian declares: the manifest's keys, whole (CONTRACT 4)."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    PrivateAttr,
    StrictBool,
    StrictInt,
    StrictStr,
    StringConstraints,
    WithJsonSchema,
)

from privacy.errors import InvalidLossError
from privacy.losses import Loss
from privacy.measures import MeasureName
from privacy.schema import (
    DEFAULT_MAX_LENGTH,
    DEFAULT_MAX_PUBLIC_ROWS,
    DEFAULT_MAX_ROWS,
    DEFAULT_MAX_UNITS,
    ColumnType,
    Hierarchy,
)
from upstream.manifests.file_specs import (
    Character,
    CsvSpec,
    DatabaseSpec,
    ExcelSpec,
    JsonSpec,
    Spec,
)

Fold = Literal["case", "trim", "zeros"]
FOLDS: tuple[Fold, ...] = ("case", "trim", "zeros")
"""In what spellings of one id may differ where a population declares so (unit_fold)."""

MOST_LENGTH = 65_536
"""The most bytes that a text column may declare: a load holds thousands of rows."""

MOST_ROWS = 2**40
"""The most rows that a table, and units that a population, may declare."""


def _loss(value: object) -> Loss:
    if isinstance(value, Loss):
        return value
    text = "" if isinstance(value, bool) else str(value)
    try:
        return Loss.parse(text)
    except InvalidLossError as error:
        raise ValueError(error.reason) from error


def _text(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        message = 'write "" for an empty field'
        raise ValueError(message)
    return str(value) if isinstance(value, int) else value


def _names(value: object) -> object:
    """Return one name as it is, several as a tuple of different ones."""
    if not isinstance(value, list | tuple):
        return _text(value)
    names = tuple(_text(one) for one in value)
    if not names or len(set(names)) < len(names):
        message = "write a name, or a list of different names"
        raise ValueError(message)
    return names[0] if len(names) == 1 else names


def _iso_date(value: object) -> date:
    if isinstance(value, date):
        return value
    message = "write the day as YYYY-MM-DD"
    try:
        parsed = date.fromisoformat(str(value))
    except ValueError as error:
        raise ValueError(message) from error
    if parsed.isoformat() != value:
        raise ValueError(message)
    return parsed


_NUMBER_OR_TEXT = {"anyOf": [{"type": "number"}, {"type": "string"}]}
_SCALAR_SCHEMA = {
    "anyOf": [{"type": "number"}, {"type": "string"}, {"type": "boolean"}]
}

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
LossField = Annotated[
    Loss,
    PlainValidator(_loss),
    PlainSerializer(str, return_type=str),
    WithJsonSchema(_NUMBER_OR_TEXT),
]
Text = Annotated[
    str,
    BeforeValidator(_text),
    WithJsonSchema(_SCALAR_SCHEMA),
]
Names = Annotated[
    str | tuple[str, ...],
    BeforeValidator(_names),
    WithJsonSchema(
        {
            "anyOf": [
                _SCALAR_SCHEMA,
                {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 1},
            ]
        }
    ),
]
"""A name, or several: one is the same as a list of it."""

Day = Annotated[
    date,
    PlainValidator(_iso_date),
    PlainSerializer(date.isoformat, return_type=str),
    WithJsonSchema({"type": "string", "format": "date"}),
]
RawScalar = Annotated[bool | int | str, WithJsonSchema(_SCALAR_SCHEMA)]
"""A public value as written: numbers with a point and dates are their text."""

Source = Annotated[str, StringConstraints(min_length=1, max_length=500)]


def _truth_as_text(value: object) -> object:
    """Return true and false as texts, which a rule refuses by what they say."""
    return str(value).lower() if isinstance(value, bool) else value


def _folds(value: object) -> object:
    """Return one fold or a list of them as a list in a fixed order."""
    given = [value] if isinstance(value, str) else value
    if isinstance(given, list | tuple) and set(given) <= set(FOLDS):
        return tuple(fold for fold in FOLDS if fold in given)
    message = f"write one of {', '.join(FOLDS)}, or a list of them"
    raise ValueError(message)


FoldField = Annotated[
    tuple[Fold, ...],
    BeforeValidator(_folds),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(FOLDS)},
                {"type": "array", "items": {"enum": list(FOLDS)}},
            ]
        }
    ),
]


class LossRange(Spec):
    """The losses that one query may ask for, both ends included."""

    min: LossField
    max: LossField


class BlocksSpec(Spec):
    """How the population is divided: each block has the cap for itself.

    ``column`` says in each row of ``tables`` in which block the row's unit is; the
    first table has a row of every unit. ``values`` are the blocks; later ones follow.
    """

    column: Identifier
    tables: tuple[Identifier, ...] = Field(min_length=1)
    values: tuple[StrictInt | StrictStr, ...] = Field(min_length=1)


class PopulationSpec(Spec):
    """Whom we protect, and the cap that all recipients share.

    ``delta`` is at what rho is told as an epsilon, where the measure is zCDP.
    ``blocks``: the cap is that of each block, and of no other.
    """

    id: Identifier
    unit: Identifier
    unit_type: Literal["integer", "text"]
    measure: MeasureName | None = None
    delta: LossField | None = None
    epsilon_cap: LossField | None = None
    delta_cap: LossField | None = None
    epsilon_per_query: LossRange | None = None
    rho_cap: LossField | None = None
    rho_per_query: LossRange | None = None
    max_units: StrictInt | None = Field(default=None, ge=1, le=MOST_ROWS)
    unit_fold: FoldField | None = None
    blocks: BlocksSpec | None = None
    source: Source | None = None

    @property
    def is_zcdp(self) -> bool:
        """Whether it counts rho; where nothing is said, it counts epsilon."""
        return self.measure == "zcdp"

    @property
    def word(self) -> str:
        """What its losses are called, as in the names of its keys."""
        return "rho" if self.is_zcdp else "epsilon"

    @property
    def cap(self) -> Loss | None:
        """The most that may ever be spent, in the population's measure."""
        return self.rho_cap if self.is_zcdp else self.epsilon_cap

    @property
    def per_query(self) -> LossRange | None:
        """What one query may spend, in the population's measure."""
        return self.rho_per_query if self.is_zcdp else self.epsilon_per_query

    @property
    def most_units(self) -> int:
        """The most units that a dataset may have, the default where none is said."""
        return DEFAULT_MAX_UNITS if self.max_units is None else self.max_units


class HierarchySpec(Spec):
    """A hierarchy from a file (``upstream.manifests.hierarchies``).

    ``not_unit_ids`` says that numbers in it are unit ids by coincidence alone.
    """

    name: Identifier
    file: str
    not_unit_ids: StrictBool | None = None
    source: Source | None = None


class DisplaySpec(Spec):
    """How pages show an answer; never acts on rows."""

    hide_below: StrictInt = Field(ge=0)


class KeepSpec(Spec):
    """Which rows the row bound keeps: the first by a column."""

    first_by: Identifier


class FanOutSpec(Spec):
    """The most rows of a public table that share values of some columns."""

    columns: tuple[Identifier, ...] = Field(min_length=1)
    max: StrictInt = Field(ge=1)


class DomainSpec(Spec):
    """A public domain: a range, a list with or without ``other``, or a hierarchy."""

    min: RawScalar | None = None
    max: RawScalar | None = None
    values: tuple[RawScalar, ...] | None = None
    other: StrictBool = False
    hierarchy: str | None = None
    _own: Mapping[str, Hierarchy] = PrivateAttr(default_factory=dict)

    @property
    def own(self) -> Mapping[str, Hierarchy]:
        """The manifest's own hierarchies, once their files are read."""
        return self._own

    def attach(self, own: Mapping[str, Hierarchy]) -> None:
        """Give the domain the hierarchies that its name may mean."""
        self._own = own


class ColumnSpec(Spec):
    """A declared column and how the file writes it.

    What is not said of ``null_values``, ``decimal``, ``thousands`` and ``trim`` is the
    table's (``upstream.manifests.table_words``). Of several names (``from``) a file has
    one.
    """

    name: Identifier
    from_: Names | None = Field(default=None, alias="from")
    type: ColumnType
    scale: StrictInt | None = Field(default=None, ge=0, le=18)
    nullable: StrictBool = True
    null_values: tuple[Text, ...] = ("",)
    map: dict[Text, RawScalar | None] = Field(default_factory=dict)
    format: str | None = None
    formats: tuple[str, ...] | None = Field(default=None, min_length=1)
    century: StrictInt | None = Field(default=None, ge=1, le=9900)
    clock: Literal["as_written", "utc"] | None = None
    decimal: Character | None = None
    thousands: Character | None = None
    trim: StrictBool | None = None
    optional: StrictBool | None = None
    constant_in_unit: StrictBool = False
    max_length: StrictInt | None = Field(default=None, ge=1, le=MOST_LENGTH)
    not_unit_ids: StrictBool | None = None
    source: Source | None = None
    domain: DomainSpec | None = None

    @property
    def file_columns(self) -> tuple[str, ...]:
        """The column's names in files, in the order in which they are looked for."""
        if self.from_ is None:
            return (self.name,)
        return self.from_ if isinstance(self.from_, tuple) else (self.from_,)

    def names_in(self, header: Sequence[str]) -> list[str]:
        """Return the column's names that a file has: one, or the file is refused."""
        return [name for name in self.file_columns if name in header]

    @property
    def null_texts(self) -> frozenset[str]:
        """The source texts that are NULL."""
        mapped = (raw for raw, value in self.map.items() if value is None)
        return frozenset((*self.null_values, *mapped))

    @property
    def time_formats(self) -> tuple[str, ...]:
        """The declared formats, in the order in which they are tried; none: ISO."""
        return self.formats or (() if self.format is None else (self.format,))

    @property
    def is_optional(self) -> bool:
        """Whether some files may lack it: its values are NULL there."""
        return bool(self.optional)

    @property
    def length_bytes(self) -> int:
        """The most bytes of UTF-8 of a text, the default where none is said."""
        return DEFAULT_MAX_LENGTH if self.max_length is None else self.max_length


class DerivedSpec(Spec):
    """A column that a load computes of each row (``upstream.manifests.derived``).

    ``expression`` is of the language, over the row's own columns and the unit's
    constants in other private tables.
    """

    name: Identifier
    expression: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    type: ColumnType
    scale: StrictInt | None = Field(default=None, ge=0, le=18)
    constant_in_unit: StrictBool = False
    max_length: StrictInt | None = Field(default=None, ge=1, le=MOST_LENGTH)
    source: Source | None = None
    domain: DomainSpec | None = None

    def as_column(self) -> ColumnSpec:
        """Return the column as others are declared; its values may be NULL."""
        return ColumnSpec.model_construct(
            name=self.name,
            type=self.type,
            scale=self.scale,
            constant_in_unit=self.constant_in_unit,
            max_length=self.max_length,
            source=self.source,
            domain=self.domain,
            null_values=(),
        )


class TableSpec(Spec):
    """A declared table: private (``unit_column``) or public.

    Its rows are in files, or in a table of a database. How values are written
    (``null_values`` and what follows it) is said for all columns that do not say it.
    The rows of a public table that is ``listed`` are shown with the schema, and are the
    lists of its columns' values.
    """

    name: Identifier
    files: tuple[str, ...] = ()
    csv: CsvSpec | None = None
    excel: ExcelSpec | None = None
    json_: JsonSpec | None = Field(default=None, alias="json")
    database: DatabaseSpec | None = None
    null_values: tuple[Text, ...] | None = Field(default=None, exclude=True)
    true_values: tuple[Text, ...] | None = Field(default=None, exclude=True)
    false_values: tuple[Text, ...] | None = Field(default=None, exclude=True)
    decimal: Character | None = Field(default=None, exclude=True)
    thousands: Character | None = Field(default=None, exclude=True)
    trim: StrictBool | None = Field(default=None, exclude=True)
    unit_column: Identifier | None = None
    public: StrictBool = False
    listed: StrictBool | None = None
    key: tuple[Identifier, ...] = ()
    source: Source | None = None
    max_rows_per_unit: StrictInt | None = Field(default=None, ge=1, le=2**31 - 1)
    keep: KeepSpec | None = None
    fan_out: tuple[FanOutSpec, ...] = ()
    max_rows: StrictInt | None = Field(default=None, ge=1, le=MOST_ROWS)
    columns: tuple[ColumnSpec, ...] = Field(min_length=1)
    derived: tuple[DerivedSpec, ...] | None = Field(default=None, min_length=1)

    @property
    def derived_columns(self) -> tuple[ColumnSpec, ...]:
        """The columns that a load computes, as others are declared."""
        return tuple(each.as_column() for each in self.derived or ())

    @property
    def most_rows(self) -> int:
        """The most rows of the table, the default where none is said."""
        default = DEFAULT_MAX_PUBLIC_ROWS if self.public else DEFAULT_MAX_ROWS
        return default if self.max_rows is None else self.max_rows

    def column(self, name: str) -> ColumnSpec:
        """Return the declared column of that name.

        Raises:
            KeyError: No column has that name.
        """
        every = (*self.columns, *self.derived_columns)
        return {column.name: column for column in every}[name]


class Declarations(Spec):
    """A whole manifest's keys, shaped but not yet checked against one another.

    ``linked`` says by what each patient has one unit id: a linkage, or an index.
    """

    version: Literal[1]
    population: PopulationSpec
    dataset: Identifier
    snapshot_date: Day
    hierarchies: tuple[HierarchySpec, ...] = ()
    display: DisplaySpec | None = None
    linked: Annotated[Source, BeforeValidator(_truth_as_text)] | None = None
    tables: tuple[TableSpec, ...] = Field(min_length=1)

    def unit_column_names(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the unit columns' declared names, and their names in files."""
        units = [
            column
            for table in self.tables
            for column in table.columns
            if column.name == table.unit_column
        ]
        return (
            frozenset(column.name for column in units),
            frozenset(name for column in units for name in column.file_columns),
        )
