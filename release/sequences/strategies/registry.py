"""All strategies of sequence releases, by the name that a spec calls them."""

from collections.abc import Mapping
from typing import Final

from release.sequences.contract import SequenceStrategy

STRATEGIES: Final[Mapping[str, SequenceStrategy]] = {}
"""One line each; docs/proofs has a page of each name."""
