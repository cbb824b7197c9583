"""Rules that bind declarations to one another; each broken one is a sentence."""

from collections import Counter
from collections.abc import Iterator, Sequence

from privacy.losses import Loss
from privacy.schema import ColumnType
from query_lang.hierarchies import BUILT_IN
from query_lang.reading.writable import is_writable
from upstream.manifests.declarations import (
    ColumnSpec,
    Declarations,
    LossRange,
    PopulationSpec,
    TableSpec,
)
from upstream.manifests.rules.block_rules import broken_block_rules
from upstream.manifests.rules.column_rules import broken_column_rules
from upstream.manifests.rules.file_rules import broken_file_rules, is_relative
from upstream.manifests.yaml_nodes import Place, Plain

Broken = Iterator[tuple[Place, str]]

RESERVED = frozenset({"row_hash", "row_rank", "unit_key"})
TODO = "TODO"
"""How a draft's open sources begin."""

_NOT_LINKED = frozenset(
    {
        "",
        "false",
        "n/a",
        "never",
        "no",
        "nobody",
        "none",
        "not",
        "not linked",
        "null",
        "true",
        "unknown",
        "unlinked",
        "yes",
    }
)
"""What a manifest may say as ``linked`` that names nothing."""
_DATA_AS_SOURCE = frozenset({"data", "the data", "from data", "from the data"})


def broken_rules(manifest: Declarations) -> list[tuple[Place, str]]:
    """Return every broken rule with the path of the node that breaks it."""
    return [
        *_manifest(manifest),
        *_population(manifest.population),
        *broken_block_rules(manifest),
    ]


def _manifest(manifest: Declarations) -> Broken:
    own = [hierarchy.name for hierarchy in manifest.hierarchies]
    yield from _linked(manifest.linked)
    yield from _hierarchies(manifest, own)
    yield from _twins(("tables",), [t.name for t in manifest.tables], "table")
    unit_names, _ = manifest.unit_column_names()
    for index, table in enumerate(manifest.tables):
        at: Place = ("tables", index)
        yield from _table(at, table, list(dict.fromkeys((*BUILT_IN, *own))))
        yield from _kind(at, table)
        if table.public:
            yield from _public(at, table, unit_names)
        else:
            yield from _private(at, table)
            yield from _unit_type(at, table, manifest.population.unit_type)


def _linked(told: str | None) -> Broken:
    if told is None:
        return
    plain = told.strip().rstrip(".").lower()
    if plain in _NOT_LINKED or plain.startswith(TODO.lower()):
        sentence = (
            "linked says by what each patient has one id, such as master patient index "
            "of 2025: leave it out where nothing is known of that"
        )
        yield ("linked",), sentence


def _hierarchies(manifest: Declarations, names: list[str]) -> Broken:
    at: Place = ("hierarchies",)
    yield from _twins(at, names, "hierarchy")
    for index, hierarchy in enumerate(manifest.hierarchies):
        if hierarchy.name in BUILT_IN:
            sentence = f"{hierarchy.name} is built in: choose another name"
            yield (*at, index, "name"), sentence
        if hierarchy.not_unit_ids or hierarchy.source is not None:
            what = f"not_unit_ids of {hierarchy.name}"
            yield from source_rules((*at, index), hierarchy.source, what)
        if not is_relative(hierarchy.file) or not hierarchy.file.endswith(".csv"):
            sentence = "write a *.csv path, relative to the manifest's folder"
            yield (*at, index, "file"), sentence


def _population(population: PopulationSpec) -> Broken:
    at: Place = ("population",)
    losses = (population.cap, population.delta_cap)
    sizes = (population.per_query, population.max_units, population.blocks)
    if any(x is not None for x in (*losses, *sizes)):
        what = "the caps and max_units"
        what += " and blocks" if population.blocks is not None else ""
        yield from source_rules(at, population.source, what)
    elif population.source is not None:
        yield from source_rules(at, population.source, "")
    if population.unit_fold and population.unit_type == "integer":
        sentence = "integers have one spelling: remove unit_fold"
        yield (*at, "unit_fold"), sentence
    yield from _of_measure(at, population)


def _of_measure(at: Place, population: PopulationSpec) -> Broken:
    """Yield what is wrong with the losses, each of which has one measure's name."""
    word, other = population.word, "epsilon" if population.is_zcdp else "rho"
    for name in (f"{other}_cap", f"{other}_per_query"):
        if getattr(population, name) is not None:
            own = name.replace(other, word)
            sentence = (
                f"this population counts {word}: write {own}"
                if population.is_zcdp
                else f"write {own}, or measure: zcdp for a population that counts rho"
            )
            yield (*at, name), sentence
    if population.cap is not None and not population.cap.nano_epsilon:
        yield (*at, f"{word}_cap"), f"{word}_cap must be above 0"
    if population.delta_cap is not None and population.delta_cap.nano_epsilon:
        sentence = (
            "a delta_cap above 0 is not in this version: write 0, or leave it out"
        )
        yield (*at, "delta_cap"), sentence
    if population.per_query is not None:
        yield from _per_query((*at, f"{word}_per_query"), population.per_query)
    yield from _delta(at, population)


def _delta(at: Place, population: PopulationSpec) -> Broken:
    """Yield what is wrong with the delta at which rho is told as an epsilon."""
    delta = population.delta
    if not population.is_zcdp:
        if delta is not None:
            yield (*at, "delta"), "pure losses have no delta: remove it"
        return
    if delta is None:
        sentence = (
            "delta is missing: write at what rho is told as an epsilon, such as "
            "0.000001, well below 1 divided by the number of units"
        )
        yield at, sentence
    elif not 0 < delta.nano_epsilon <= _MOST_DELTA.nano_epsilon:
        yield (*at, "delta"), f"delta lies above 0 and up to {_MOST_DELTA}"


_MOST_DELTA = Loss.parse("0.001")


def _per_query(at: Place, losses: LossRange) -> Broken:
    if not losses.min.nano_epsilon:
        yield (*at, "min"), "min must be above 0"
    if losses.max < losses.min:
        yield (*at, "max"), "max must not lie below min"


def source_rules(at: Place, source: str | None, what: str) -> Broken:
    """Yield what is wrong with the source of a public fact (PRIVACY 2)."""
    if source is None:
        yield at, f"source is missing: say which public fact {what} come from"
    elif source.strip().upper().startswith(TODO):
        sentence = (
            "source is still to do: check the proposal and name the standard, the "
            "protocol or the paid release that it comes from, or remove it"
        )
        yield (*at, "source"), sentence
    elif source.strip().lower() in _DATA_AS_SOURCE:
        sentence = (
            "source must not be the data: name a standard, the protocol or a paid "
            "release, or leave the bound out"
        )
        yield (*at, "source"), sentence


def source_problems(content: Plain, at: Place = ()) -> Broken:
    """Yield what is wrong with each source that is said, whatever is wrong beside it.

    Args:
        content: Of a manifest that may have another shape than one.
        at: Where it stands.
    """
    if isinstance(content, list):
        for index, item in enumerate(content):
            yield from source_problems(item, (*at, index))
    elif isinstance(content, dict):
        for key, value in content.items():
            if key == "source" and isinstance(value, str):
                yield from source_rules(at, value, "")
            else:
                yield from source_problems(value, (*at, key))


def _table(at: Place, table: TableSpec, hierarchies: Sequence[str]) -> Broken:
    names = [column.name for column in table.columns]
    yield from _twins((*at, "columns"), names, "column")
    yield from broken_file_rules(at, table)
    for index, name in enumerate(table.key):
        if name not in names:
            yield (*at, "key", index), f"key names {name}, which is no column: add it"
    yield from _twins((*at, "key"), list(table.key), "key column")
    yield from _columns(at, table, hierarchies)
    yield from _derived(at, table, hierarchies)


def _derived(at: Place, table: TableSpec, hierarchies: Sequence[str]) -> Broken:
    """Refuse what no derived column may be, whatever its expression means."""
    if table.derived and table.public:
        sentence = "only a private table has derived columns: write them into the file"
        yield (*at, "derived"), sentence
    read = [column.name for column in table.columns]
    names = [column.name for column in table.derived_columns]
    yield from _twins((*at, "derived"), names, "column")
    for index, column in enumerate(table.derived_columns):
        below: Place = (*at, "derived", index)
        if column.name in read:
            yield (*below, "name"), f"{column.name} is a column of the files already"
        yield from _name(below, column.name)
        yield from broken_column_rules(below, column, hierarchies, is_unit=False)
        yield from _source_of(below, table, column)


def _columns(at: Place, table: TableSpec, hierarchies: Sequence[str]) -> Broken:
    for index, column in enumerate(table.columns):
        below: Place = (*at, "columns", index)
        yield from _name(below, column.name)
        is_unit = column.name == table.unit_column
        yield from _optional(below, table, column, is_unit=is_unit)
        yield from broken_column_rules(below, column, hierarchies, is_unit=is_unit)
        yield from _source_of(below, table, column)


def _name(at: Place, name: str) -> Broken:
    if name in RESERVED:
        yield (*at, "name"), f"the name {name} is reserved: choose another"
    elif not is_writable(name):
        sentence = f"{name} is a word of the language, no name: choose another"
        yield (*at, "name"), sentence


def _source_of(at: Place, table: TableSpec, column: ColumnSpec) -> Broken:
    """Refuse bounds of a column of which nobody says where they come from."""
    if column.domain is not None:
        yield from source_rules(at, column.source, "the domain's bounds")
    elif column.source is not None:
        yield from source_rules(at, column.source, "")
    elif table.source is None and (column.max_length or column.not_unit_ids):
        what = "max_length and not_unit_ids (else the table's source)"
        yield from source_rules(at, None, what)


def _optional(
    at: Place, table: TableSpec, column: ColumnSpec, *, is_unit: bool
) -> Broken:
    """Refuse columns that files may lack where a row needs a value."""
    if not column.is_optional:
        return
    if is_unit or not column.nullable or column.name in table.key:
        sentence = (
            f"{column.name} cannot be optional: the unit's column, those of a key and "
            "those that are not nullable have to be in every file"
        )
        yield (*at, "optional"), sentence


def _twins(at: Place, names: list[str], what: str) -> Broken:
    for name, count in Counter(names).items():
        if count > 1:
            second = [i for i, n in enumerate(names) if n == name][1]
            yield (*at, second), f"the {what} {name} stands twice: keep one of them"


def _fan_out(at: Place, table: TableSpec) -> Broken:
    names = [column.name for column in table.columns]
    for index, fan in enumerate(table.fan_out):
        below: Place = (*at, "fan_out", index, "columns")
        yield from _twins(below, list(fan.columns), "column")
        for position, name in enumerate(fan.columns):
            if name not in names:
                sentence = f"fan_out names {name}, which is no column: add it"
                yield (*below, position), sentence


def _kind(at: Place, table: TableSpec) -> Broken:
    if table.public == (table.unit_column is not None):
        sentence = (
            f"table {table.name}: declare either unit_column (a private table) or "
            "public: true"
        )
        yield at, sentence


def _private(at: Place, table: TableSpec) -> Broken:
    if table.fan_out:
        sentence = "only a public table declares fan_out: remove it"
        yield (*at, "fan_out"), sentence
    if table.listed:
        yield (*at, "listed"), "only rows of a public table are listed: remove it"
    names = [column.name for column in table.columns]
    if table.unit_column is not None and table.unit_column not in names:
        sentence = f"unit_column names {table.unit_column}: declare it as a column"
        yield (*at, "unit_column"), sentence
    yield from _second_unit_columns(at, table)
    if table.max_rows_per_unit is None:
        sentence = (
            f"max_rows_per_unit is missing in table {table.name}: say the most rows "
            "that one unit may have"
        )
        yield at, sentence
    yield from source_rules(at, table.source, "max_rows_per_unit")
    first_by = table.keep.first_by if table.keep else None
    if first_by and (first_by not in names or first_by == table.unit_column):
        yield (*at, "keep"), "keep.first_by names a column other than the unit column"


def _second_unit_columns(at: Place, table: TableSpec) -> Broken:
    """Refuse the unit's ids as an ordinary column: literals on it would name units."""
    units = [c for c in table.columns if c.name == table.unit_column]
    sources = {name for unit in units for name in unit.file_columns}
    for index, column in enumerate(table.columns):
        if column.name != table.unit_column and sources & {*column.file_columns}:
            sentence = (
                f"{column.name} reads the unit column once more, and its ids would be "
                "ordinary values that questions may name: remove it"
            )
            yield (*at, "columns", index), sentence


def _unit_type(at: Place, table: TableSpec, unit_type: str) -> Broken:
    """Refuse integers among texts: 007 and 7 would be two units, each with the cap.

    The other way round is harmless: texts are read as the integers that they spell.
    """
    for index, column in enumerate(table.columns):
        is_integer = column.type is ColumnType.INTEGER
        if column.name == table.unit_column and is_integer and unit_type == "text":
            sentence = (
                f"{column.name} is an integer, but unit_type is text, where 007 and 7 "
                "are two units: declare the same type in every table, and as unit_type"
            )
            yield (*at, "columns", index, "type"), sentence


def _public(at: Place, table: TableSpec, unit_names: frozenset[str]) -> Broken:
    if table.max_rows_per_unit is not None:
        yield (*at, "max_rows_per_unit"), "a public table has no units: remove this"
    if table.keep is not None:
        yield (*at, "keep"), "a public table is copied whole: remove keep"
    yield from _fan_out(at, table)
    if table.source is not None or table.max_rows is not None:
        yield from source_rules(at, table.source, "the rows of max_rows")
    for index, column in enumerate(table.columns):
        below: Place = (*at, "columns", index)
        if {column.name, *column.file_columns} & unit_names:
            sentence = (
                "a table that contains the unit column cannot be public: declare "
                "unit_column; if its rows are about no single person, take the column "
                "out of table and file"
            )
            yield below, sentence
        if column.constant_in_unit:
            yield (*below, "constant_in_unit"), "a public table has no units: remove it"
