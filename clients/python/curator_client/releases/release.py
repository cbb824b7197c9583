"""Published releases, for those who wait and for those who await."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from curator_client.releases.steps import ReleaseSteps
from curator_client.tables.display import paragraph

if TYPE_CHECKING:
    from curator_client.connection.exchange import Steps
    from curator_client.connection.lines import AsyncLine, Line

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound=ReleaseSteps)


def waiting(
    steps: Callable[Concatenate[S, P], Steps[T]],
) -> Callable[Concatenate[Release, P], T]:
    """Make a method that waits for what a release's steps return."""

    @functools.wraps(steps)
    def method(self: Release, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._line.run(steps(cast("S", self._steps), *args, **kwargs))

    return _described(method)


def awaiting(
    steps: Callable[Concatenate[S, P], Steps[T]],
) -> Callable[Concatenate[AsyncRelease, P], Awaitable[T]]:
    """Make a method that is awaited."""

    @functools.wraps(steps)
    async def method(self: AsyncRelease, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._line.run(steps(cast("S", self._steps), *args, **kwargs))

    return _described(method)


def _described(method: T) -> T:
    """Let ``help`` show what a method returns rather than the steps to it."""
    signature = inspect.signature(method)  # type: ignore[arg-type]
    returned = str(signature.return_annotation).removeprefix("Steps[").removesuffix("]")
    method.__signature__ = signature.replace(return_annotation=returned)  # type: ignore[attr-defined]
    return method


class _Published:
    """What is known of a release without asking again.

    Attributes:
        document: What the server says of it.
    """

    _steps: ReleaseSteps

    @property
    def document(self) -> dict[str, Any]:
        """What the server says of it."""
        return dict(self._steps.document)

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.document["id"])

    @property
    def name(self) -> str:
        """What FROM calls it."""
        return str(self.document["name"])

    @property
    def manifest(self) -> dict[str, Any]:
        """The signed manifest: loss, bounds, dimensions, strategy, files."""
        return dict(self.document["manifest"])

    @property
    def dimensions(self) -> dict[str, list[Any]]:
        """The public values of each dimension, in declared order, NULL last."""
        return {str(d["name"]): list(d["values"]) for d in self.manifest["dimensions"]}

    def __repr__(self) -> str:
        """Say what it is in a line or two."""
        sizes = " x ".join(f"{n} {len(v)}" for n, v in self.dimensions.items())
        manifest = self.manifest
        return (
            f"release {self.name} ({self.id}): {manifest['counts']} of "
            f"{manifest['dataset']}, epsilon {manifest['loss']['epsilon']}, "
            f"{manifest['strategy']}\n  {sizes} = {manifest['cells']:,} cells"
        )

    def _repr_html_(self) -> str:
        return "".join(paragraph(line) for line in repr(self).splitlines())


class Release(_Published):
    """A published release: asked, downloaded and drawn for nothing.

    Example::

        release = curator.release("rel_0b1c...")
        release.query("SELECT sex, COUNT(*) AS n FROM wards GROUP BY sex")
        release.heatmap("month", "age")
    """

    query = waiting(ReleaseSteps.query)
    cuboid = waiting(ReleaseSteps.cuboid)
    histogram = waiting(ReleaseSteps.histogram)
    heatmap = waiting(ReleaseSteps.heatmap)
    to_pandas = waiting(ReleaseSteps.to_pandas)
    synthetic = waiting(ReleaseSteps.synthetic)
    fidelity = waiting(ReleaseSteps.fidelity)
    verify = waiting(ReleaseSteps.verify)

    def __init__(self, steps: ReleaseSteps, line: Line) -> None:
        self._steps = steps
        self._line = line


class AsyncRelease(_Published):
    """A published release; every method is awaited."""

    query = awaiting(ReleaseSteps.query)
    cuboid = awaiting(ReleaseSteps.cuboid)
    histogram = awaiting(ReleaseSteps.histogram)
    heatmap = awaiting(ReleaseSteps.heatmap)
    to_pandas = awaiting(ReleaseSteps.to_pandas)
    synthetic = awaiting(ReleaseSteps.synthetic)
    fidelity = awaiting(ReleaseSteps.fidelity)
    verify = awaiting(ReleaseSteps.verify)

    def __init__(self, steps: ReleaseSteps, line: AsyncLine) -> None:
        self._steps = steps
        self._line = line
