"""Published cubes as they are asked: known by public facts, opened when numbers count.

A published release never changes, so what is known of one is kept. Who may read it is
asked each time, elsewhere.
"""

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final, Generic, TypeVar

from sqlalchemy import select

from privacy.errors import InvalidOptionError
from privacy.schema import Dataset
from privacy.schema_json import dataset_from_json
from query_lang.plans.nodes import Aggregate
from query_lang.specs.cubes import ResolvedCube, bind_cube
from query_lang.specs.sequences import bind_sequences
from release.contract.plans import domain_of
from release.contract.spec import CubeSpec, SequenceSpec, spec_from_json
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.binding.question import take_apart
from release.cubes.questions.binding.views import View, view_of
from release.cubes.questions.evaluating.engine import PublicEngine
from release.cubes.questions.evaluating.evaluation import PublicValues
from release.sequences.questions.answering import AskedSequences
from release.sequences.questions.published import PublishedSequences
from server.persistence import tables
from server.use_cases.losses.amounts import Priced
from server.use_cases.losses.releases import paid_for
from server.use_cases.releases.catalogue import ReleaseCatalogue
from server.use_cases.releases.times import PublicationRow
from server.use_cases.services.errors import NotFoundError
from server.use_cases.services.services import Services

OPEN: Final = 8
"""Cubes whose numbers are held at once."""

KNOWN: Final = 256
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KnownCube:
    """What a release counts; none of its numbers.

    Attributes:
        cube: As its readers know it.
        counted: The plan of what was counted.
        snapshot: Whose rows.
        public: Whether every principal may read it.
        values: Evaluates on the values of its dimensions.
    """

    cube: PublishedCube
    counted: Aggregate
    snapshot: str
    public: bool
    values: PublicValues


class NoCubeError(InvalidOptionError):
    """A release of sequences was taken for a cube."""

    def __init__(self) -> None:
        super().__init__("this release holds sequences: it is no cube to be asked")


def is_cube(row: PublicationRow) -> bool:
    """Whether a release is a cube."""
    return bool(json.loads(str(row.spec))["kind"] == "cube")


class Kept(Generic[T]):
    """Keeps what was made last, by id; safe for many threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._found: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str, make: Callable[[], T]) -> T:
        """Return what is kept, or make it; two threads may make one at once."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = make()
        with self._lock:
            self._found[key] = made
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        return made


class OpenReleases:
    """Releases that are open for questions; whether a caller may is checked before."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._catalogue = ReleaseCatalogue(services)
        self._engine = PublicEngine(services.release_incidents)
        self._known: Kept[KnownCube] = Kept(KNOWN)
        self._asked: Kept[AskedCube] = Kept(OPEN)
        self._sequences: Kept[AskedSequences] = Kept(OPEN)

    def known(self, row: PublicationRow) -> KnownCube:
        """Return what a release counts.

        Raises:
            NoCubeError: It holds sequences.
        """
        return self._known.get(str(row.id), lambda: self._know(row))

    def asked(self, row: PublicationRow) -> AskedCube:
        """Return a release, open for questions.

        Raises:
            NotFoundError: Its files are gone or broken; 'curator doctor' says so.
            NoCubeError: It holds sequences.
        """
        return self._asked.get(str(row.id), lambda: self._open(row))

    def sequences(self, row: PublicationRow) -> AskedSequences:
        """Return a release of sequences, open for questions.

        Raises:
            NotFoundError: It is none, or its files are gone or broken.
        """
        if is_cube(row):
            raise NotFoundError
        return self._sequences.get(str(row.id), lambda: self._open_sequences(row))

    def _open_sequences(self, row: PublicationRow) -> AskedSequences:
        opened = self._catalogue.opened(row)
        model, manifest = opened.sequences(), opened.manifest
        spec = spec_from_json(str(row.spec))
        if not isinstance(spec, SequenceSpec):
            raise NotFoundError
        bound = bind_sequences(spec.request(), self._dataset(row))
        published = PublishedSequences(
            id=str(row.id),
            name=spec.name,
            domain=model.domain,
            unit=str(manifest["unit"]),
            strategy=spec.strategy,
            **self._paid(row),
            warnings=bound.warnings,
        )
        return AskedSequences(published, model)

    def _open(self, row: PublicationRow) -> AskedCube:
        known = self.known(row)
        return AskedCube(known.cube, self._catalogue.opened(row).cube(), known.values)

    def planned(
        self, announcement: str, spec: CubeSpec, snapshot: str, dataset: Dataset
    ) -> KnownCube:
        """Return what a release that is announced would count of a snapshot.

        Args:
            announcement: Its id.
            spec: Of the release.
            snapshot: Which one.
            dataset: What it declares.

        Raises:
            CuratorError: That does not fit the spec any more.
        """
        bound = bind_cube(spec.request(), dataset)
        cube = _published(announcement, spec, dataset, bound)
        values = PublicValues(cube, self._engine)
        return KnownCube(cube, bound.plan, snapshot, spec.is_public, values)

    def _know(self, row: PublicationRow) -> KnownCube:
        spec, snapshot = spec_from_json(str(row.spec)), str(row.snapshot)
        if not isinstance(spec, CubeSpec):
            raise NoCubeError
        known = self.planned(str(row.id), spec, snapshot, self._dataset(row))
        return replace(known, cube=replace(known.cube, **self._paid(row)))

    def _paid(self, row: PublicationRow) -> Priced:
        """Return what a release was paid, as its readers are told."""
        return paid_for(json.loads(str(row.spec)), self._catalogue.measure(row))

    def _dataset(self, row: PublicationRow) -> Dataset:
        """Return the declarations of the snapshot that was counted."""
        snapshot = tables.snapshot
        with self._services.databases.reader.connect() as connection:
            written = connection.execute(
                select(snapshot.c.schema).where(snapshot.c.id == str(row.snapshot))
            ).scalar_one()
        return dataset_from_json(json.loads(written))


def _published(
    release_id: str, spec: CubeSpec, dataset: Dataset, bound: ResolvedCube
) -> PublishedCube:
    counted = bound.plan
    return PublishedCube(
        id=release_id,
        name=spec.name,
        domain=domain_of(bound, counts_units=spec.count == "units"),
        counts=spec.count,
        unit=dataset.unit,
        unit_column=bound.unit_column,
        snapshot_date=dataset.snapshot_date,
        views=_views(counted),
        hierarchies=dataset.hierarchies,
        strategy=spec.strategy,
        warnings=bound.warnings,
    )


def _views(counted: Aggregate) -> dict[str, View]:
    computed = take_apart(counted).computed
    views = {
        key.name: view_of(computed[key.slot])
        for key in counted.keys
        if key.slot in computed
    }
    return {name: view for name, view in views.items() if view is not None}
