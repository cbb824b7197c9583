"""All that is known of the tokens of a document, by groups that can be left out."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field

from upstream.extraction.features.columns import NEAR, Column
from upstream.extraction.features.layout import (
    count_column,
    field_columns,
    layout_columns,
    lines_of,
    segment_columns,
)
from upstream.extraction.features.lexicons import LEXICONS
from upstream.extraction.features.pairs import pair_attributes
from upstream.extraction.features.phrases import (
    Dictionary,
    dictionary_columns,
    form_columns,
)
from upstream.extraction.features.words import (
    affix_attributes,
    pattern_attributes,
    shape,
)
from upstream.extraction.patterns.forms import Match, matches
from upstream.extraction.text.tokens import Tokens

_CACHED = 100_000


class FeatureChoices(BaseModel):
    """Which groups of features a model has; the first four are HIDE's.

    Attributes:
        expressions: HIDE's regular expressions of a token, and its shape.
        affixes: Its prefixes and suffixes of one to three characters.
        dictionaries: ``IN_name`` on each token of a phrase; also of small lists of
            words that stand beside identifiers.
        context: The words around it, and how often it occurs.
        window: How many words to each side, with context.
        layout: White space, line, and the field that a token is the value of.
        segments: What stands between commas, as the parts of an address do.
        forms: The forms of dates, numbers, names and addresses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    expressions: bool = True
    affixes: bool = True
    dictionaries: bool = True
    context: bool = True
    window: int = Field(default=4, ge=1, le=8)
    layout: bool = True
    segments: bool = True
    forms: bool = True
    pairs: bool = True


@dataclass(frozen=True, slots=True)
class DocumentFeatures:
    """What is known of a document's tokens.

    Attributes:
        tokens: The tokens.
        columns: What is known of each by its place in the document.
        pairs: Pairs of neighbouring words and shapes.
        matches: Where forms stand in the text; None: they were not looked for.
    """

    tokens: Tokens
    columns: tuple[Column, ...] = ()
    matches: tuple[Match, ...] | None = None


def document_features(
    tokens: Tokens, choices: FeatureChoices, dictionaries: Iterable[Dictionary] = ()
) -> DocumentFeatures:
    """Return what is known of a document's tokens by their places."""
    if not len(tokens):
        return DocumentFeatures(tokens)
    columns: list[Column] = []
    if choices.layout or choices.segments:
        line = lines_of(tokens)
        if choices.layout:
            columns += layout_columns(tokens, line)
            columns += field_columns(tokens, line)
        if choices.segments:
            columns += segment_columns(tokens, line)
    found = tuple(matches(tokens)) if choices.forms else None
    if found:
        columns += form_columns(tokens, found)
    if choices.dictionaries:
        columns += dictionary_columns(tokens, (*LEXICONS, *dictionaries))
    if choices.context:
        columns.append(count_column(tuple(word.lower() for word in tokens.words)))
    return DocumentFeatures(tokens, tuple(columns), found)


@lru_cache(maxsize=_CACHED)
def word_attributes(word: str, choices: FeatureChoices) -> tuple[str, ...]:
    """Return what a token's own letters say.

    >>> word_attributes("56", FeatureChoices(context=False, pairs=False))[:3]
    ('DOUBLEDIGIT', 'NUMBER', 'HASDIGIT')
    """
    found: tuple[str, ...] = ()
    if choices.context:
        found += (f"W={word.lower()}",)
    if choices.expressions:
        found += (*pattern_attributes(word), f"SHAPE={shape(word)}")
    if choices.affixes:
        found += affix_attributes(word)
    return found


@lru_cache(maxsize=_CACHED)
def attributes_beside(
    word: str, distance: int, choices: FeatureChoices
) -> tuple[str, ...]:
    """Return what a token says of the one that is ``-distance`` from it.

    Of the nearest, all of its letters' attributes; of those further off, the word.
    """
    if abs(distance) == 1:
        said = word_attributes(word, choices)
    elif choices.expressions:
        said = (f"W={word.lower()}", f"SHAPE={shape(word)}")
    else:
        said = (f"W={word.lower()}",)
    return tuple(f"{distance}|{name}" for name in said)


def distances(choices: FeatureChoices) -> tuple[int, ...]:
    """Return how far off are the tokens that say something of a token.

    >>> distances(FeatureChoices(window=2))
    (-2, -1, 1, 2)
    """
    reach = range(1, choices.window + 1) if choices.context else ()
    return (*(-step for step in reversed(reach)), *reach)


def attribute_lists(
    features: DocumentFeatures, choices: FeatureChoices
) -> list[dict[str, float]]:
    """Return, for each token, its attributes and how much it has of each."""
    rows = _word_rows(features.tokens.words, choices)
    for column in features.columns:
        for token, name, value in column.said():
            rows[token][name] = value
            for step in NEAR if column.is_near else ():
                if 0 <= token - step < len(rows):
                    rows[token - step][f"{step}|{name}"] = value
    for names in pair_attributes(features.tokens.words) if choices.pairs else ():
        for said, name in zip(rows, names, strict=True):
            said[name] = 1.0
    return rows


def _word_rows(
    words: tuple[str, ...], choices: FeatureChoices
) -> list[dict[str, float]]:
    """Return what the words say of themselves and of their neighbours."""
    around = distances(choices)
    rows: list[dict[str, float]] = []
    for at, word in enumerate(words):
        said = dict.fromkeys(word_attributes(word, choices), 1.0)
        for step in around:
            if 0 <= at + step < len(words):
                beside_it = attributes_beside(words[at + step], step, choices)
            else:
                beside_it = (f"{step}|EDGE",)
            said.update(dict.fromkeys(beside_it, 1.0))
        rows.append(said)
    return rows
