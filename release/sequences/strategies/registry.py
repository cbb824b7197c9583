"""All strategies of sequence releases, by the name that a spec calls them."""

from collections.abc import Mapping
from typing import Final

from release.sequences.contract import SequenceStrategy
from release.sequences.strategies.auto import AutoSequences
from release.sequences.strategies.ngram import Ngram
from release.sequences.strategies.prefix_tree import PrefixTree

_PLAIN: Final[Mapping[str, SequenceStrategy]] = {
    strategy.name: strategy for strategy in (Ngram(), PrefixTree())
}

STRATEGIES: Final[Mapping[str, SequenceStrategy]] = {
    **_PLAIN,
    AutoSequences.name: AutoSequences(_PLAIN),
}
"""One line each; docs/proofs has a page of each name."""
