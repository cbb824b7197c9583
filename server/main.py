"""The command ``curator``."""

import json
import threading
from typing import Annotated

import typer

from server.bootstrap import (
    INSTRUMENTS,
    make_jobs,
    make_runner,
    make_services,
)
from server.cli.analyst import add_analyst_commands
from server.cli.anonymization.anonymize import CopyCommandParts, anonymize_commands
from server.cli.commands import Wiring, add_commands, settings_or_exit
from server.cli.data.jobs import job_commands
from server.cli.data.manifests import manifest_commands
from server.cli.demos.hospital import run_demo, serve_demo
from server.cli.demos.linking import run_linking_demo
from server.cli.demos.notes import run_notes_demo
from server.cli.host.backup import backup_commands
from server.cli.host.doctor import add_doctor, database_commands
from server.cli.host.ledger import ledger_commands
from server.cli.host.operating import add_report
from server.cli.linkage.linkages import LinkageCommandParts, linkage_commands
from server.cli.releases.making import ReleaseParts
from server.cli.releases.published import release_commands
from server.cli.terminal.output import Json, refusals, say, show
from server.cli.texts.models import model_commands
from server.cli.texts.parts import TextCommandParts
from server.cli.texts.texts import text_commands
from server.installing import actor, initialise, upgrade_database
from server.processes.job_worker import work_as_process
from server.telemetry.logs import configure_logs
from server.use_cases.anonymization.hand_outs import HandOutService
from server.use_cases.anonymization.service import CopyService
from server.use_cases.anonymization.work.texts.previews import PreviewService
from server.use_cases.extraction.service import TextService
from server.use_cases.jobs.queues import JobQueues
from server.use_cases.linkage.review import ReviewService
from server.use_cases.linkage.work.service import LinkageService
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.oversight.statements import StatementService
from server.use_cases.publishing.releases import ReleaseService
from server.use_cases.services.errors import CommandRefusedError
from server.version import VERSION

cli = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_WIRING = Wiring(make_services, initialise, actor, make_jobs, make_runner)
add_commands(cli, _WIRING)
add_analyst_commands(cli)
cli.add_typer(manifest_commands(), name="manifest")
cli.add_typer(job_commands(_WIRING.job_service, _WIRING.operator), name="job")
cli.add_typer(
    release_commands(
        ReleaseParts(
            service=lambda: ReleaseService(make_services(settings_or_exit())),
            jobs=_WIRING.job_service,
            viewer=_WIRING.operator,
            runner=lambda stop: make_runner(make_services(settings_or_exit()), stop),
        )
    ),
    name="release",
)
_texts = TextCommandParts(
    service=lambda: TextService(make_services(settings_or_exit()), actor()),
    jobs=_WIRING.job_service,
    viewer=_WIRING.operator,
    runner=lambda stop: make_runner(make_services(settings_or_exit()), stop),
)
cli.add_typer(text_commands(_texts), name="text")
cli.add_typer(model_commands(_texts), name="model")
_linkages = LinkageCommandParts(
    work=_texts,
    service=lambda: LinkageService(make_services(settings_or_exit()), actor()),
    review=lambda: ReviewService(make_services(settings_or_exit())),
)
cli.add_typer(linkage_commands(_linkages), name="linkage")
_copies = CopyCommandParts(
    work=_texts,
    copies=lambda: CopyService(make_services(settings_or_exit())),
    hand_outs=lambda: HandOutService(make_services(settings_or_exit())),
    previews=lambda: PreviewService(make_services(settings_or_exit())),
)
cli.add_typer(anonymize_commands(_copies), name="anonymize")
_ledger = ledger_commands(
    lambda: AuditService(make_services(settings_or_exit()), actor()),
    lambda: AuditService(make_services(settings_or_exit(), ends_restore=True), actor()),
)
add_report(
    _ledger,
    lambda: StatementService(make_services(settings_or_exit()), on_host=True),
)
cli.add_typer(_ledger, name="ledger")
cli.add_typer(backup_commands(settings_or_exit), name="backup")
cli.add_typer(database_commands(settings_or_exit, upgrade_database), name="db")
add_doctor(cli, settings_or_exit, INSTRUMENTS)


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - typer hands it so
    if wanted:
        typer.echo(f"curator {VERSION}")
        raise typer.Exit


@cli.callback()
def _main(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say the version."
        ),
    ] = False,
) -> None:
    """A differentially private query server for medical data."""


@cli.command()
def init(
    *,
    single_custodian: Annotated[
        bool,
        typer.Option(
            help="One person may do what else needs two; every statement says so."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Make a new installation in CURATOR_DATA with its anchor at CURATOR_ANCHOR.

    Example: CURATOR_DATA=/srv/curator CURATOR_ANCHOR=/mnt/anchor/curator.anchor
    curator init --single-custodian
    """
    settings = settings_or_exit()
    with refusals():
        made = initialise(settings, single_custodian=single_custodian)
    if made["anchor_on_same_device"] == "true":
        say(
            "warning: the anchor is on the same device as the data; a restored copy "
            "of the whole device cannot be told from the live one"
        )
    show(made, as_json=json)


@cli.command()
def serve(
    *,
    host: Annotated[str | None, typer.Option()] = None,
    port: Annotated[int | None, typer.Option()] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; several need PostgreSQL.")
    ] = None,
    worker: Annotated[
        bool, typer.Option(help="Run jobs in a child process, niced.")
    ] = True,
    trust_proxy: Annotated[
        bool | None,
        typer.Option(
            "--trust-proxy",
            help="Speak plain HTTP: a TLS proxy alone can reach this address.",
        ),
    ] = None,
    insecure_demo: Annotated[
        bool | None,
        typer.Option(
            "--insecure-demo", help="Serve although unsafe: never patients' data."
        ),
    ] = None,
) -> None:
    """Serve questions over HTTP until stopped; refuse unsafe configurations.

    SIGTERM drains: questions under way are answered first, for 30 seconds at most.

    Example: curator serve --port 8000
    """
    flags = {
        "workers": workers,
        "host": host,
        "port": port,
        "trust_proxy": trust_proxy,
        "insecure_demo": insecure_demo,
    }
    settings = settings_or_exit(**flags)
    with refusals():
        from server.serving import serve as serve_http  # noqa: PLC0415 - see openapi

        serve_http(settings, flags, with_jobs=worker)


@cli.command("worker")
def run_worker(
    *, child: Annotated[bool, typer.Option("--child", hidden=True)] = False
) -> None:
    """Run jobs until stopped; a job that is running goes back into the queue.

    Example: curator worker
    """
    settings = settings_or_exit()
    configure_logs(settings.log_level)
    stop = threading.Event()
    with refusals():
        runner = make_runner(make_services(settings), stop)
    work_as_process(stop, JobQueues(runner), is_child=child)


@cli.command()
def demo(
    *,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the demo's data until stopped.")
    ] = False,
    notes: Annotated[
        bool, typer.Option("--notes", help="Another demo: counts of what notes say.")
    ] = False,
    linking: Annotated[
        bool, typer.Option("--linking", help="Another demo: who is one patient.")
    ] = False,
) -> None:
    """Load a synthetic hospital, publish a cube of it, ask both, say what to try."""
    with refusals():
        if notes + linking + serve > 1:
            message = "say one of --serve (of the hospital's demo), --notes, --linking"
            raise CommandRefusedError(message)
        wanted = {run_notes_demo: notes, run_linking_demo: linking, serve_demo: serve}
        next((demo for demo, is_meant in wanted.items() if is_meant), run_demo)(_WIRING)


@cli.command()
def openapi() -> None:
    """Print the OpenAPI document of the HTTP interface."""
    from server.api.app import openapi_document  # noqa: PLC0415 - no other needs the web

    typer.echo(json.dumps(openapi_document(), indent=2, sort_keys=True))


def main() -> None:
    """Run the command line."""
    cli()


if __name__ == "__main__":
    main()
