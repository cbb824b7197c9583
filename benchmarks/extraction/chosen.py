"""Which gold standard an experiment is made on: MEDDOCAN, reports or queries."""

import argparse
from collections.abc import Sequence

from benchmarks.extraction.corpora import Parts, asq_parts
from benchmarks.extraction.dictionaries import dictionaries_of
from benchmarks.extraction.injection import injected_parts
from benchmarks.extraction.meddocan import parts_of
from upstream.extraction.features.phrases import Dictionary

LANGUAGE = {"meddocan": "es", "reports": "en", "queries": "en"}


def add_corpus(parser: argparse.ArgumentParser, documents: int) -> None:
    """Add the options that choose one, and how many documents of it are trained on."""
    parser.add_argument("--corpus", choices=tuple(LANGUAGE), default="reports")
    parser.add_argument("--documents", type=int, default=documents, help="to train on")


def chosen_parts(told: argparse.Namespace) -> Parts:
    """Return the parts of the chosen one; MEDDOCAN is judged on half of dev."""
    if told.corpus == "meddocan":
        parts = parts_of(told.data, None, half=True)
    elif told.corpus == "queries":
        parts = asq_parts(told.data)
    else:
        parts = injected_parts(told.data, told.documents * 10 // 6)
    return Parts(parts.train[: told.documents], parts.tune, parts.judge)


def phrases_for(told: argparse.Namespace) -> Sequence[Dictionary]:
    """Return dictionaries in its language; none where their packages are missing."""
    return dictionaries_of(LANGUAGE[told.corpus])
