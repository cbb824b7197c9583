"""How a draft says what its files are like: lines of YAML."""

from collections.abc import Iterator, Mapping, Sequence

from privacy.schema import ColumnType
from upstream.drafting.columns.column_guesses import Guess, earliest_century
from upstream.drafting.columns.column_names import Drafted
from upstream.drafting.sources.draft_sources import DraftSource
from upstream.drafting.yaml_words import in_yaml

_TODO = "TODO"
_POINT = "."
Guesses = Mapping[str, Guess]


def _flow(keys: Mapping[str, object]) -> str:
    """Return keys and values as one line of YAML."""
    return "{" + ", ".join(f"{key}: {in_yaml(v)}" for key, v in keys.items()) + "}"


def written_lines(
    source: DraftSource, columns: Sequence[Drafted], guesses: Guesses
) -> Iterator[str]:
    """Yield where a table's rows lie, how they are written, and values in them."""
    if source.database is not None:
        place = source.database.model_dump(exclude_none=True)
        yield f"  database: {_flow(place)}"
    else:
        yield f"  files: {in_yaml(list(source.shown))}"
    look = source.look
    for key, spec in (("csv", look.csv), ("excel", look.excel), ("json", look.json_)):
        if spec is not None:
            told = spec.model_dump(exclude_none=True, by_alias=True)
            yield f"  {key}: {_flow(told)}"
    nulls = [*source.nulls, *(one for g in guesses.values() for one in g.nulls)]
    if nulls:
        yield f"  null_values: {in_yaml(['', *dict.fromkeys(nulls)])}"
    truths = [guess.truths for guess in guesses.values() if guess.truths]
    for key, at in (("true_values", 0), ("false_values", 1)):
        words = dict.fromkeys(word for pair in truths for word in pair[at])
        if said := [word for word in words if word not in {"true", "false"}]:
            yield f"  {key}: {in_yaml(said)}"
    for key, mark in _shared_marks(columns, guesses).items():
        yield f"  {key}: {in_yaml(mark)}"


def _shared_marks(columns: Sequence[Drafted], guesses: Guesses) -> dict[str, str]:
    """Return how all numbers with decimals are written, if it is in one way."""
    kinds = [c for c in columns if c.kind is ColumnType.DECIMAL]
    known = [guesses.get(c.source) for c in kinds]
    found = [guess for guess in known if guess is None or not guess.is_open]
    decimals = {None if guess is None else guess.decimal for guess in found}
    if len(decimals) != 1 or None in decimals:
        return {}
    thousands = {g.thousands for g in found if g is not None and g.thousands}
    told = {"decimal": next(iter(decimals)) or ","}
    if len(thousands) == 1:
        told["thousands"] = thousands.pop()
    return told


def column_words(
    column: Drafted,
    columns: Sequence[Drafted],
    guesses: Guesses,
    nulls: Sequence[str] = (),
) -> Iterator[str]:
    """Yield how a column's values are written, where its table does not say it.

    Args:
        column: One of the table's.
        columns: All of them.
        guesses: What they seem to hold.
        nulls: The table's words for nothing, which a list of the column's replaces.
    """
    guess = guesses.get(column.source)
    if guess is None:
        return
    yield from _asked_words(guess, nulls)
    formats = [f"{_TODO} {one}" if one in guess.twins else one for one in guess.formats]
    if len(formats) == 1:
        yield f"format: {in_yaml(formats[0])}"
    elif formats:
        yield f"formats: {in_yaml(formats)}"
    if guess.is_zoned:
        yield f"clock: {_TODO} as_written"
    if guess.is_short:
        yield f"century: {_TODO} {earliest_century()}"
    yield from _mark_words(guess, _shared_marks(columns, guesses))


def _asked_words(guess: Guess, nulls: Sequence[str]) -> Iterator[str]:
    """Yield what is asked of a column's words, limits and marks."""
    if guess.words:
        asked = [f"{_TODO} {word}" for word in guess.words]
        yield f"null_values: {in_yaml(['', *nulls, *guess.nulls, *asked])}"
    if guess.limits:
        numbers = [(one, one.lstrip("<>= ").replace(",", ".")) for one in guess.limits]
        meant = ", ".join(f"{in_yaml(one)}: {_TODO} {n}" for one, n in numbers)
        yield f"map: {{{meant}}}"
    if guess.flag is not None:
        yes, others = guess.flag
        no = ", ".join(f"{in_yaml(one)}: {_TODO} false" for one in others)
        yield f"null_values: [], map: {{{in_yaml(yes)}: true, {no}}}"


def _mark_words(guess: Guess, told: Mapping[str, str]) -> Iterator[str]:
    """Yield a column's marks, as far as its table does not say them."""
    if guess.is_open:
        if guess.decimal and guess.thousands:
            yield f"decimal: {in_yaml(guess.decimal)}"
        key = "decimal" if guess.decimal and not guess.thousands else "thousands"
        asked = guess.thousands or guess.decimal or _POINT
        yield f"{key}: {in_yaml(f'{_TODO} {asked}')}"
        return
    for key, mark in (("decimal", guess.decimal), ("thousands", guess.thousands)):
        if mark is not None and told.get(key) != mark:
            yield f"{key}: {in_yaml(mark)}"
