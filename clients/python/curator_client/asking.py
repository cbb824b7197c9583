"""The options of a question, for the command line and for notebooks alike."""

from __future__ import annotations

import argparse
from typing import Any

_CONFIDENCE = 0.95


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """Add what prices and places a question."""
    price = parser.add_mutually_exclusive_group()
    price.add_argument("--epsilon", metavar="E", help="spend this much")
    price.add_argument(
        "--within",
        metavar="W",
        type=float,
        help="spend the least with which each cell stays within ± W",
    )
    parser.add_argument(
        "--confidence",
        metavar="C",
        type=float,
        help=f"of --within (default {_CONFIDENCE})",
    )
    parser.add_argument("--dataset", metavar="D", help="may be left out with one")
    parser.add_argument("--project", metavar="P", help="who pays, of several")
    parser.add_argument(
        "--never-reuse",
        action="store_true",
        help="buy a fresh answer though one is on offer for nothing",
    )
    parser.add_argument(
        "--prefer",
        choices=("release", "paid"),
        help="take a release that answers it, or what the project paid for, for "
        "nothing, where that gives it",
    )


def question_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of ``plan`` and ``query`` that the options stand for.

    Raises:
        ValueError: Neither epsilon nor an accuracy is given, or a confidence alone.
    """
    if given.epsilon is None and given.within is None:
        message = "give --epsilon, or --within with the half-width that you need"
        raise ValueError(message)
    if given.within is None and given.confidence is not None:
        message = "--confidence goes with --within"
        raise ValueError(message)
    accuracy = None
    if given.within is not None:
        confidence = _CONFIDENCE if given.confidence is None else given.confidence
        accuracy = {"within": given.within, "confidence": confidence}
    options = {
        name: value
        for name, value in (
            ("reuse", "never" if given.never_reuse else None),
            ("prefer", given.prefer),
        )
        if value is not None
    }
    return {
        "epsilon": given.epsilon,
        "accuracy": accuracy,
        "dataset": given.dataset,
        "project": given.project,
        "options": options or None,
    }
