"""Which class rebuilds a published release of sequences, by kind."""

from collections.abc import Callable, Mapping
from typing import Final

from release.models.contract import Table
from release.sequences.contract import SequenceModel
from release.sequences.domain import SequenceDomain

Rebuild = Callable[
    [SequenceDomain, Mapping[str, object], Mapping[str, Table]], SequenceModel
]

MODELS: Final[Mapping[str, Rebuild]] = {}
"""By kind, as it stands in the manifest: domain, facts and tables to the model."""
