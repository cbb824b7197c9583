"""What custodians do with a manifest: create a population, load a dataset."""

from pathlib import Path

from server.persistence import tables
from server.use_cases.approvals.changes import Change
from server.use_cases.approvals.second_persons import (
    asking_second_person,
    require_second_person,
)
from server.use_cases.custody.populations import PopulationService
from server.use_cases.custody.replies import PopulationShape
from server.use_cases.identity.catalogue import refuse_used
from server.use_cases.loading.comparisons import require_reason
from server.use_cases.loading.loading import LoadChoices, Loader, LoadRequest
from server.use_cases.loading.lock import load_lock
from server.use_cases.loading.new_populations import (
    creation,
    insert_population,
    require_cap,
)
from server.use_cases.services.documents import Document
from server.use_cases.services.secret_files import OverlapFiles
from server.use_cases.services.services import Services
from upstream.manifests.declarations import PopulationSpec
from upstream.manifests.manifest import load_manifest
from upstream.progress import Progress, silent


class LoadService:
    """Creates populations and loads datasets; each change is one chain entry."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor

    def create_population(
        self, manifest_path: Path, known: PopulationSpec | None = None
    ) -> PopulationShape:
        """Create the population that a manifest declares.

        Args:
            manifest_path: The manifest.
            known: The population, where it was read already.
        """
        folder = self._services.settings.import_
        declared = known or load_manifest(manifest_path, folder).population
        with (
            asking_second_person(self._services, self._actor),
            load_lock(self._services.settings, declared.id),
            self._services.ledger.recorded("population.create", self._actor) as change,
        ):
            refuse_used(change.connection, tables.population, declared.id)
            require_cap(declared)
            wanted = Change("population.create", None, (creation(declared),))
            approver = require_second_person(change, self._actor, wanted)
            overlaps = OverlapFiles(self._services.settings.overlaps)
            digest = overlaps.write(declared.id, frozenset())
            insert_population(change, declared, digest, (self._actor, approver))
        return PopulationService(self._services, self._actor).population(declared.id)

    def load(
        self,
        manifest_path: Path,
        choices: LoadChoices,
        progress: Progress | None = None,
        request: LoadRequest | None = None,
    ) -> Document:
        """Load a dataset from files and make its snapshot the active one.

        Raises:
            CommandRefusedError: As ``Loader.load``, or an override has no reason.
                Nothing was changed.
            ProposalOpenError: A second person must approve first.
        """
        require_reason(choices.reason, override_overlap=choices.override_overlap)
        loader = Loader(self._services, self._actor)
        request = request or LoadRequest(progress=progress or silent)
        return loader.load(manifest_path, choices, request)
