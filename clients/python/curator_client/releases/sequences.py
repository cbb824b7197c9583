"""Published releases of sequences, for those who wait and for those who await."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_client.releases.release import AsyncRelease, Release, awaiting, waiting
from curator_client.releases.sequence_steps import SequenceSteps

if TYPE_CHECKING:
    from curator_client.connection.lines import AsyncLine, Line
    from curator_client.releases.steps import ReleaseSteps


def opened(steps: ReleaseSteps, line: Line) -> Release:
    """Return a release of the steps' kind."""
    kind = SequenceRelease if isinstance(steps, SequenceSteps) else Release
    return kind(steps, line)


def opened_async(steps: ReleaseSteps, line: AsyncLine) -> AsyncRelease:
    """Return a release of the steps' kind, to be awaited."""
    kind = AsyncSequenceRelease if isinstance(steps, SequenceSteps) else AsyncRelease
    return kind(steps, line)


class _PublishedSequences:
    """What is known of a release of sequences without asking again."""

    _steps: ReleaseSteps

    @property
    def symbols(self) -> list[Any]:
        """The public symbols, in declared order."""
        return list(self._steps.document["manifest"]["alphabet"]["values"])

    @property
    def max_length(self) -> int:
        """How many symbols of each sequence were looked at, at most."""
        return int(self._steps.document["manifest"]["max_length"])

    @property
    def dimensions(self) -> dict[str, list[Any]]:
        """The public values of the dimension that splits the release, if one does."""
        split = self._steps.document["manifest"]["split"]
        return {} if split is None else {str(split["name"]): list(split["values"])}

    def __repr__(self) -> str:
        """Say what it is in a line or two."""
        document = self._steps.document
        manifest = document["manifest"]
        split = "".join(f", by {name}" for name in self.dimensions)
        return (
            f"release {document['name']} ({document['id']}): sequences of "
            f"{manifest['dataset']}, epsilon {manifest['loss']['epsilon']}, "
            f"{manifest['strategy']}\n  {len(self.symbols)} symbols, the first "
            f"{self.max_length} of each {manifest['unit']}{split}"
        )


class SequenceRelease(_PublishedSequences, Release):
    """A published release of sequences: asked, downloaded and drawn for nothing.

    Example::

        release = curator.release("pathways")
        release.first_then("ICU", "ward")
        release.query("SELECT COUNT(*) FROM pathways WHERE LENGTH() >= 3")
    """

    count_prefix = waiting(SequenceSteps.count_prefix)
    count_run = waiting(SequenceSteps.count_run)
    first_then = waiting(SequenceSteps.first_then)
    at = waiting(SequenceSteps.at)
    lengths = waiting(SequenceSteps.lengths)
    slopes = waiting(SequenceSteps.slopes)
    top_runs = waiting(SequenceSteps.top_runs)
    tree = waiting(SequenceSteps.tree)
    plot_tree = waiting(SequenceSteps.plot_tree)
    to_pandas = waiting(SequenceSteps.to_pandas)
    synthetic = waiting(SequenceSteps.synthetic)
    fidelity = waiting(SequenceSteps.fidelity)


class AsyncSequenceRelease(_PublishedSequences, AsyncRelease):
    """A published release of sequences; every method is awaited."""

    count_prefix = awaiting(SequenceSteps.count_prefix)
    count_run = awaiting(SequenceSteps.count_run)
    first_then = awaiting(SequenceSteps.first_then)
    at = awaiting(SequenceSteps.at)
    lengths = awaiting(SequenceSteps.lengths)
    slopes = awaiting(SequenceSteps.slopes)
    top_runs = awaiting(SequenceSteps.top_runs)
    tree = awaiting(SequenceSteps.tree)
    plot_tree = awaiting(SequenceSteps.plot_tree)
    to_pandas = awaiting(SequenceSteps.to_pandas)
    synthetic = awaiting(SequenceSteps.synthetic)
    fidelity = awaiting(SequenceSteps.fidelity)
