"""Gold standards and reports that the benchmarks read; those that are absent are named.

All lie in one folder, which ``--data`` or ``CURATOR_TEST_DATA`` names; none is ours to
hand on: MEDDOCAN (CC BY 4.0), asq-phi (MIT), and reports of mtsamples.com.
"""

import argparse
import gzip
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from upstream.extraction.gold.json_spans import read_json_spans
from upstream.extraction.gold.outcomes import GoldDocument
from upstream.extraction.text.spans import AnnotatedDocument

DATA = Path(
    os.environ.get("CURATOR_TEST_DATA", Path(__file__).parents[2] / "../shared/data")
)
"""Where the test data is unless it is said elsewhere, as the tests have it."""

ASQ_TRAINED = 7
"""Of ten queries of asq-phi by id, so many are trained or tuned on."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A gold standard in three parts.

    Attributes:
        train: To learn from.
        tune: To choose thresholds on.
        judge: Seen by neither.
    """

    train: Sequence[AnnotatedDocument]
    tune: Sequence[AnnotatedDocument]
    judge: Sequence[AnnotatedDocument]


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the folder."""
    parser.add_argument(
        "--data",
        type=Path,
        default=DATA,
        help="folder with meddocan/, mtsamples/ and asq_phi/",
    )


def gold_of(path: Path) -> list[AnnotatedDocument]:
    """Return the documents of a gold standard: JSON lines, one a document."""
    if not path.exists():
        sys.exit(f"{path} is missing: name its folder with --data")
    return [
        AnnotatedDocument(each.document, each.spans)
        for each in read_json_spans(path)
        if isinstance(each, GoldDocument)
    ]


def reports_of(data: Path) -> list[dict]:
    """Return the reports of mtsamples.com, each with ``id`` and ``text``."""
    path = data / "mtsamples" / "mtsamples.jsonl.gz"
    if not path.exists():
        sys.exit(f"{path} is missing: name its folder with --data")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def asq_parts(data: Path) -> Parts:
    """Return the queries of asq-phi, 60 to 10 to 30 in a hundred, by the last digit.

    What is held out of the shared part has the last digits 7, 8 and 9, so these are
    taken from whatever file is there by their place where no such id is in it.
    """
    found = gold_of(data / "asq_phi" / "queries.jsonl")
    last = {each.document.id: int(each.document.id) % 10 for each in found}
    if max(last.values()) < ASQ_TRAINED:
        last = {each.document.id: at % 10 for at, each in enumerate(found)}
    train, tune, judge = [], [], []
    for each in found:
        digit = last[each.document.id]
        part = train if digit < ASQ_TRAINED - 1 else tune
        (part if digit < ASQ_TRAINED else judge).append(each)
    return Parts(train, tune, judge)
