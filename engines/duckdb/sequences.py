"""Rows of a statement about sequences to arrays of codes."""

from collections.abc import Iterable, Sequence

import numpy as np

from privacy.counts import IntArray
from privacy.schema import Scalar
from privacy.sealed import SATURATION
from privacy.sequences import SequenceCounts
from query_lang.rendering.duckdb.sequences import FIRST_MARK
from query_lang.specs.sequences import SequenceStatement

Rows = Sequence[tuple[Scalar | None, ...]]


def sequence_counts(
    statement: SequenceStatement, batches: Iterable[Rows]
) -> SequenceCounts:
    """Return the distinct sequences and phases, ordered by group, then as texts.

    Args:
        statement: Whose rows they are.
        batches: A row holds the code of its group, a sequence as a text, its phase,
            and how many units have them.

    Raises:
        ValueError: A row is no sequence, or two are one; the rendering is at fault.
    """
    rows = sorted(row for batch in batches for row in batch)
    groups, texts, phases, counts = zip(*rows, strict=True) if rows else ((),) * 4
    if len(set(zip(groups, texts, phases, strict=True))) < len(rows):
        message = "two rows are one sequence of one phase"
        raise ValueError(message)
    lengths = [len(str(text)) for text in texts]
    if rows and not 1 <= min(lengths) <= max(lengths) <= statement.max_length:
        message = "a sequence has another length than it may have"
        raise ValueError(message)
    counted = np.minimum(np.array(counts, dtype=np.int64), SATURATION)
    starts = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    symbols = _codes("".join(map(str, texts)), statement.symbols)
    return SequenceCounts(
        symbols,
        starts,
        np.array(groups, dtype=np.int64),
        counted,
        np.array(phases, dtype=np.int64),
    )


def _codes(marks: str, symbols: int) -> IntArray:
    codes = np.frombuffer(marks.encode("utf-32-le"), dtype="<u4").astype(np.int64)
    codes -= FIRST_MARK
    if np.any((codes < 0) | (codes >= symbols)):
        message = "a mark stands for no symbol"
        raise ValueError(message)
    return codes
