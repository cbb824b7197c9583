"""All strategies of cube releases, by the name that a spec calls them."""

from collections.abc import Mapping
from typing import Final

from release.strategies.cells import Cells
from release.strategies.contract import Strategy

STRATEGIES: Final[Mapping[str, Strategy]] = {
    strategy.name: strategy for strategy in (Cells(),)
}
"""One line each; docs/proofs has a page of each name."""
