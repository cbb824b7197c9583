"""``curator dataset``."""

import typer

from server.cli.data.datasets import DatasetParts, dataset_commands
from server.cli.host.snapshots import snapshot_commands
from server.commands.wired import WIRING
from server.use_cases.custody.populations import PopulationService
from server.use_cases.datasets.metadata.formats import MetadataService
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.loading.service import LoadService

cli = typer.Typer()
_dataset = dataset_commands(
    DatasetParts(
        WIRING.opened(PopulationService),
        WIRING.opened(LoadService),
        WIRING.opened(lambda services, _: MetadataService(services)),
        WIRING.submit,
        WIRING.gives_way,
    )
)
_dataset.add_typer(snapshot_commands(WIRING.opened(SnapshotService)), name="snapshot")
cli.add_typer(_dataset, name="dataset")
