"""``curator dataset``."""

from typing import TYPE_CHECKING

import typer

from server.cli.data.datasets import DatasetParts, dataset_commands
from server.cli.host.snapshots import snapshot_commands
from server.commands.wired import WIRING
from server.use_cases.custody.populations import PopulationService
from server.use_cases.datasets.snapshots import SnapshotService

if TYPE_CHECKING:
    from server.use_cases.datasets.metadata.formats import MetadataService
    from server.use_cases.loading.service import LoadService


def _loads() -> "LoadService":
    from server.use_cases.loading.service import LoadService  # noqa: PLC0415

    return LoadService(WIRING.services(), WIRING.actor())


def _metadata() -> "MetadataService":
    from server.use_cases.datasets.metadata import formats  # noqa: PLC0415

    return formats.MetadataService(WIRING.services())


cli = typer.Typer()
_dataset = dataset_commands(
    DatasetParts(
        WIRING.opened(PopulationService),
        _loads,
        _metadata,
        WIRING.submit,
        WIRING.gives_way,
    )
)
_dataset.add_typer(snapshot_commands(WIRING.opened(SnapshotService)), name="snapshot")
cli.add_typer(_dataset, name="dataset")
