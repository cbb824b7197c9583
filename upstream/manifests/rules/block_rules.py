"""Rules of a population's blocks: what a unit's block is read from."""

from collections.abc import Iterator

from privacy.schema import ColumnType
from upstream.manifests.declarations import (
    BlocksSpec,
    ColumnSpec,
    Declarations,
    TableSpec,
)
from upstream.manifests.yaml_nodes import Place

Broken = Iterator[tuple[Place, str]]

MOST_BLOCKS = 64
"""The most blocks of a population: the anchor holds a total for each."""
MOST_LENGTH = 40
"""The most bytes of UTF-8 of a block's name, for the same reason."""
_AT: Place = ("population", "blocks")
_TYPES = {str: ColumnType.TEXT, int: ColumnType.INTEGER}


def broken_block_rules(manifest: Declarations) -> Broken:
    """Yield every broken rule of the blocks with the path of its node."""
    blocks = manifest.population.blocks
    if blocks is None:
        return
    yield from _values(blocks)
    if len(set(blocks.tables)) < len(blocks.tables):
        yield (*_AT, "tables"), "a table stands twice: keep one of them"
    tables = {table.name: (at, table) for at, table in enumerate(manifest.tables)}
    for place, name in enumerate(blocks.tables):
        found = tables.get(name)
        if found is None or found[1].public:
            sentence = f"blocks name {name}, which is no private table of this manifest"
            yield (*_AT, "tables", place), sentence
        else:
            yield from _table(found[0], found[1], blocks, is_first=not place)


def _values(blocks: BlocksSpec) -> Broken:
    at: Place = (*_AT, "values")
    values = blocks.values
    if len({*map(type, values)}) > 1:
        yield at, "blocks are all texts or all whole numbers: quote all, or none"
    if len({*map(str, values)}) < len(values):
        yield at, "a block stands twice: keep one of them"
    if len(values) > MOST_BLOCKS:
        sentence = f"a population has at most {MOST_BLOCKS} blocks: take larger ones"
        yield at, sentence
    for place, value in enumerate(values):
        text = str(value)
        if not (text.isprintable() and 0 < len(text.encode()) <= MOST_LENGTH):
            sentence = f"a block's name is printable, and 1 to {MOST_LENGTH} bytes long"
            yield (*at, place), sentence


def _table(
    index: int, table: TableSpec, blocks: BlocksSpec, *, is_first: bool
) -> Broken:
    at: Place = ("tables", index)
    name = blocks.column
    of_files = [column for column in table.columns if column.name == name]
    found = of_files or [c for c in table.derived_columns if c.name == name]
    if not found or name == table.unit_column:
        yield at, f"blocks are read from {name}, which is no column of {table.name}"
        return
    if is_first and not of_files:
        sentence = f"the files of {table.name} must have {name}: it is not computed"
        yield at, sentence
    column, declared = found[0], _place(table, name)
    if of_files and column.nullable:
        yield (*at, *declared), f"{name} says each unit's block: write nullable: false"
    if not column.constant_in_unit:
        sentence = f"a unit has one block: declare {name} constant_in_unit"
        yield (*at, *declared), sentence
    yield from _domain((*at, *declared), column, blocks)


def _place(table: TableSpec, name: str) -> Place:
    names = [column.name for column in table.columns]
    if name in names:
        return ("columns", names.index(name))
    derived = [column.name for column in table.derived_columns]
    return ("derived", derived.index(name))


def _domain(at: Place, column: ColumnSpec, blocks: BlocksSpec) -> Broken:
    """Refuse a column that may have a value which is no block."""
    if column.type is not _TYPES.get(type(blocks.values[0])):
        yield (*at, "type"), f"{column.name} is of another type than the blocks are"
    domain = column.domain
    if domain is None or domain.values != blocks.values or domain.other:
        sentence = (
            f"the domain of {column.name} is the list of blocks: declare the same "
            "values, in the same order, without other"
        )
        yield at, sentence
