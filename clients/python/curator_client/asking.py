"""The options of a question, for the command line and for notebooks alike."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

_CONFIDENCE = 0.95
_BOUNDS = frozenset({"max_rows_per_unit", "max_groups_per_unit"})
_Read = TypeVar("_Read")


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """Add what prices and places a question."""
    price = parser.add_mutually_exclusive_group()
    price.add_argument("--epsilon", metavar="E", help="spend this much")
    price.add_argument(
        "--rho", metavar="R", help="likewise, where the population counts rho"
    )
    price.add_argument(
        "--within",
        metavar="W",
        type=float,
        help="spend the least with which each cell stays within ± W",
    )
    price.add_argument(
        "--relative",
        metavar="P",
        help="likewise within such a part of each number: 5%%; goes with --at-least",
    )
    parser.add_argument(
        "--rows",
        metavar="N",
        type=int,
        help="of --within: it is of averages, in groups of N values or more",
    )
    parser.add_argument(
        "--at-least",
        metavar="W",
        type=float,
        help="of --relative: ± W is near enough, however small the number",
    )
    parser.add_argument(
        "--cells",
        metavar="P",
        help="of --within or --relative: 90%% of the cells at once, not each by itself",
    )
    parser.add_argument(
        "--at-most",
        metavar="E",
        help="of --within or --relative: refuse what costs more",
    )
    parser.add_argument(
        "--confidence",
        metavar="C",
        type=float,
        help=f"of --within or --relative (default {_CONFIDENCE})",
    )
    parser.add_argument(
        "--bound",
        metavar="NAME=K",
        action="append",
        default=[],
        help="count at most K of each unit's: max_rows_per_unit=3, "
        "max_groups_per_unit=1, or the rows of a table, visits=5; may be repeated",
    )
    parser.add_argument(
        "--weight",
        metavar="COLUMN=W",
        action="append",
        default=[],
        help="share the loss so among the columns, others weigh 1; may be repeated",
    )
    parser.add_argument(
        "--confirm",
        action="store_true",
        help="pay although the project wants so dear a question confirmed",
    )
    parser.add_argument(
        "--probes",
        action="store_true",
        help="of --relative: buy first what its plan names to know how large the "
        "numbers are, as long as it names something; mostly cheaper in all",
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
        ValueError: Neither epsilon nor an accuracy is given, or what belongs to an
            accuracy without one; or a bound or weight is no number.
    """
    accuracy = _accuracy_of(given)
    if given.epsilon is None and given.rho is None and accuracy is None:
        message = (
            "give --epsilon (--rho where the population counts that), or --within with "
            "the half-width that you need"
        )
        raise ValueError(message)
    options = {
        name: value
        for name, value in (
            ("reuse", "never" if given.never_reuse else None),
            ("prefer", given.prefer),
            ("confirm", given.confirm),
            ("bounds", _bounds_of(given.bound)),
            ("weights", dict(_pair("weight", one, float) for one in given.weight)),
        )
        if value
    }
    return {
        "epsilon": given.epsilon,
        "rho": given.rho,
        "accuracy": accuracy,
        "dataset": given.dataset,
        "project": given.project,
        "options": options or None,
    }


def _bounds_of(written: Sequence[str]) -> dict[str, Any]:
    """Return the bounds of a request; other names than its own are tables'."""
    found: dict[str, Any] = {}
    for name, most in (_pair("bound", one, int) for one in written):
        if name in _BOUNDS:
            found[name] = most
        else:
            found.setdefault("tables", {})[name] = most
    return found


def _pair(option: str, text: str, read: Callable[[str], _Read]) -> tuple[str, _Read]:
    """Return the name and the number of ``NAME=NUMBER``.

    Raises:
        ValueError: It is none.
    """
    name, _, number = text.partition("=")
    try:
        return name.strip(), read(number)
    except ValueError:
        message = f"--{option} takes a name and a number: --{option} {name}=3"
        raise ValueError(message) from None


def _accuracy_of(given: argparse.Namespace) -> dict[str, Any] | None:
    """Return the accuracy that the options stand for, None for none.

    Raises:
        ValueError: Something of an accuracy is given without one.
    """
    more = {
        "rows": given.rows,
        "at_least": given.at_least,
        "cells": given.cells,
        "at_most": given.at_most,
        "confidence": given.confidence,
    }
    written = {name: value for name, value in more.items() if value is not None}
    if given.within is None and given.relative is None:
        for name in written:
            option = name.replace("_", "-")
            message = f"--{option} goes with --within or --relative"
            raise ValueError(message)
        return None
    wish = {"within": given.within, "relative": given.relative}
    wished = {name: value for name, value in wish.items() if value is not None}
    return {"confidence": _CONFIDENCE, **wished, **written}
