"""``curator dataset``."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli.data.load_report import without_zeros
from server.cli.terminal.arguments import check_line
from server.cli.terminal.output import (
    Json,
    print_json,
    refusals,
    say,
    show,
    show_list,
)
from server.cli.terminal.progress import shown_progress

if TYPE_CHECKING:  # each command reads what it needs
    from server.use_cases.custody.populations import PopulationService
    from server.use_cases.datasets.metadata.formats import MetadataService
    from server.use_cases.jobs.replies import JobDetail
    from server.use_cases.loading.service import LoadService
    from server.use_cases.services.documents import Document

Submit = Callable[[str, "Document"], "JobDetail"]
GivesWay = Callable[[], AbstractContextManager[None]]


class Format(StrEnum):
    """In which a public schema is exported."""

    CSVW = "csvw"
    CROISSANT = "croissant"


@dataclass(frozen=True, slots=True)
class DatasetParts:
    """What the commands are made of; ``submit`` queues a job of a kind.

    Rows are worked on while ``gives_way`` leaves processors to a server.
    """

    service: Callable[[], "PopulationService"]
    loads: Callable[[], "LoadService"]
    metadata: Callable[[], "MetadataService"]
    submit: Submit
    gives_way: GivesWay


def _nothing_new(snapshot: str) -> str:
    return (
        f"note: these are the very rows of the snapshot {snapshot}; in a new one every "
        "question is paid anew: 'curator dataset snapshot activate "
        f"{snapshot}' goes back to that one"
    )


def dataset_commands(parts: DatasetParts) -> typer.Typer:
    """Return the commands about datasets."""
    cli = typer.Typer(help="Tables behind the query interface.")
    _add_loading(cli, parts)
    _add_reading(cli, parts)
    return cli


def _add_loading(cli: typer.Typer, parts: DatasetParts) -> None:
    @cli.command()
    def load(
        manifest: Path,
        *,
        dry_run: Annotated[
            bool,
            typer.Option(help="Check and report the first rows; change nothing."),
        ] = False,
        whole: Annotated[
            bool, typer.Option(help="With --dry-run: read all rows.")
        ] = False,
        override_overlap: Annotated[
            bool, typer.Option(help="Let patients be in two populations.")
        ] = False,
        accept_changes: Annotated[
            bool, typer.Option(help="Let declarations differ from the last snapshot's.")
        ] = False,
        reason: Annotated[
            str | None,
            typer.Option(help="Why; recorded with an override.", callback=check_line),
        ] = None,
        background: Annotated[
            bool, typer.Option(help="Let a worker do it; print the job's id.")
        ] = False,
        json: Json = False,
    ) -> None:
        """Load a dataset from the files that a manifest names, and activate it.

        The report is for custodians alone: it counts raw rows. In the background, files
        are read under CURATOR_IMPORT alone; see 'curator job follow'.

        Example: curator dataset load hospital.yaml
        """
        from server.use_cases.loading.loading import LoadChoices  # noqa: PLC0415

        choices = LoadChoices(
            dry_run=dry_run,
            whole=whole,
            override_overlap=override_overlap,
            accept_changes=accept_changes,
            reason=reason,
        )
        with refusals(as_json=json):
            if background:
                told = {"manifest": str(manifest.resolve()), **asdict(choices)}
                job = parts.submit("dataset.load", told)["id"]
                show({"job": job}, as_json=json)
                return
            if json:
                with parts.gives_way():
                    loaded = parts.loads().load(manifest, choices)
            else:
                with parts.gives_way(), shown_progress() as progress:
                    loaded = parts.loads().load(manifest, choices, progress)
            show(loaded if json else without_zeros(loaded), as_json=json)
            if "same_rows_as" in loaded:
                say(_nothing_new(str(loaded["same_rows_as"])))


def _add_reading(cli: typer.Typer, parts: DatasetParts) -> None:
    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the datasets and their active snapshots."""
        with refusals():
            show_list(parts.service().datasets(), as_json=json)

    @cli.command("show")
    def show_one(name: str, *, json: Json = False) -> None:
        """Show one dataset: schema and snapshots."""
        with refusals():
            show(parts.service().dataset(name), as_json=json)

    @cli.command()
    def metadata(
        name: str,
        *,
        form: Annotated[
            Format, typer.Option("--format", help="CSVW, or Croissant.")
        ] = Format.CSVW,
        json: Json = False,  # noqa: ARG001 - it is JSON already
    ) -> None:
        """Print a dataset's public schema for catalogues: CSVW or Croissant.

        It holds what the page of the dataset shows analysts, and nothing else.

        Example: curator dataset metadata hospital --format croissant
        """
        with refusals():
            print_json(parts.metadata().exported(name, form.value))
