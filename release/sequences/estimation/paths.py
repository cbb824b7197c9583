"""A published tree of paths: what every model of sequences becomes to be asked."""

from dataclasses import dataclass

from release.contract.models import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class PathTree:
    """Nodes with how many units' sequences pass through them; all is noisy or public.

    Nodes stand breadth first in canonical order: roots by group, then by depth, parent
    and symbol. For each node with children, its count is the sum of theirs (a child
    with the code ``rest`` takes what has no node of its own); counts are never
    negative and never grow along a path.

    Attributes:
        groups: For each node, the place of the split's value.
        parents: The place of its parent; -1 for a root.
        symbols: Its symbol's code; ``domain.end`` where sequences end,
            ``domain.rest`` for what is not known, -1 for a root.
        depths: How many symbols lead to it; 0 for a root.
        counts: Estimated units.
        variances: Mean squared error that the model expects of each count.
        lean: How far errors of different nodes lean the same way, from 0 (they have
            nothing in common) to 1 (they do in full, as in a model whose probabilities
            each stand for many nodes).
        doubts: How much of each count noise alone may have made: all of it where the
            node would not be there but for noise that it may well have; None: nothing.
        mosts: How many units there may be at each node at the most, whatever the model
            expects of it; None: as its error says.

    All arrays have one length, one entry a node.
    """

    groups: IntArray
    parents: IntArray
    symbols: IntArray
    depths: IntArray
    counts: FloatArray
    variances: FloatArray
    lean: float = 0.0
    doubts: FloatArray | None = None
    mosts: FloatArray | None = None
