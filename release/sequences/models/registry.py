"""Which class rebuilds a published model of sequences; each kind adds one line."""

from collections.abc import Callable, Mapping
from typing import Final

from release.contract.models import Table
from release.contract.sequence_domain import SequenceDomain
from release.sequences.contract import SequenceModel
from release.sequences.models.ngram import NgramModel
from release.sequences.models.picked import PickedSequences
from release.sequences.models.prefix_tree import PrefixTreeModel

Rebuild = Callable[
    [SequenceDomain, Mapping[str, object], Mapping[str, Table]], SequenceModel
]

_PLAIN: Final[Mapping[str, Rebuild]] = {
    "ngram": NgramModel.rebuilt,
    "prefix_tree": PrefixTreeModel.rebuilt,
}


def _picked(
    domain: SequenceDomain, facts: Mapping[str, object], tables: Mapping[str, Table]
) -> SequenceModel:
    return PickedSequences.rebuilt(_PLAIN, domain, facts, tables)


MODELS: Final[Mapping[str, Rebuild]] = {**_PLAIN, "picked": _picked}
"""By kind, as it stands in the manifest: domain, facts and tables to the model."""
