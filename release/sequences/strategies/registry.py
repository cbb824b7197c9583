"""All strategies of sequence releases, by the name that a spec calls them."""

from collections.abc import Mapping
from typing import Final

from mechanisms.scales.noises import GAUSSIAN
from release.contract.strategies import registered
from release.sequences.contract import SequenceStrategy
from release.sequences.strategies.auto import AutoSequences
from release.sequences.strategies.ngram import Ngram
from release.sequences.strategies.prefix_tree import PrefixTree

STRATEGIES: Final[Mapping[str, SequenceStrategy]] = registered(
    (Ngram(), PrefixTree()), AutoSequences
)
"""One line each; docs/proofs has a page of each name."""

RHO_STRATEGIES: Final[Mapping[str, SequenceStrategy]] = registered(
    (Ngram(GAUSSIAN), PrefixTree(GAUSSIAN)),
    lambda known: AutoSequences(known, GAUSSIAN),
)
"""The same of releases that are paid in rho."""
