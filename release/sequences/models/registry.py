"""Which class rebuilds a published model of sequences; each kind adds one line."""

from typing import Final

from release.contract.rebuilding import Rebuilds, rebuilds
from release.contract.sequence_domain import SequenceDomain
from release.sequences.contract import SequenceModel
from release.sequences.models.ngram import NgramModel
from release.sequences.models.picked import PickedSequences
from release.sequences.models.prefix_tree import PrefixTreeModel

MODELS: Final[Rebuilds[SequenceDomain, SequenceModel]] = rebuilds(
    {"ngram": NgramModel.rebuilt, "prefix_tree": PrefixTreeModel.rebuilt},
    PickedSequences.rebuilt,
)
