"""The command ``curator``."""

import contextlib
import json
import logging
import socket
import threading
from typing import Annotated

import typer
import uvicorn
from fastapi import FastAPI

from server.api.app import openapi_document
from server.bootstrap import (
    Server,
    actor,
    checked_for_workers,
    end_boot,
    initialise,
    make_jobs,
    make_runner,
    make_services,
)
from server.cli.commands import Wiring, add_commands, settings_or_exit
from server.cli.demo import run_demo, serve_demo
from server.cli.jobs import job_commands
from server.cli.ledger import ledger_commands
from server.cli.manifests import manifest_commands
from server.cli.output import REFUSED, Json, refusals, say, show
from server.job_worker import ChildWorker, work_as_process
from server.settings import Settings
from server.use_cases.auditing import AuditOffice
from server.workers import Supervisor

cli = typer.Typer(
    help="A differentially private query server for medical data.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_WIRING = Wiring(make_services, initialise, actor, make_jobs)
add_commands(cli, _WIRING)
cli.add_typer(manifest_commands(), name="manifest")
cli.add_typer(job_commands(_WIRING.jobs_office, _WIRING.operator), name="job")
cli.add_typer(
    ledger_commands(lambda: AuditOffice(make_services(settings_or_exit()), actor())),
    name="ledger",
)


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
) -> None:
    """Serve questions over HTTP until stopped.

    Example: curator serve --port 8000
    """
    settings = settings_or_exit(host=host, port=port, workers=workers)
    logging.basicConfig(level=settings.log_level.upper())
    logging.getLogger("alembic").setLevel(logging.WARNING)
    if settings.slot_ms == 0:
        say("warning: CURATOR_SLOT_MS is 0: response times are not quantised")
    with refusals():
        beside = ChildWorker() if worker else contextlib.nullcontext()
        if settings.workers > 1:
            _serve_by_workers(settings, beside)
        else:
            server = Server(settings)
            server.start()
            with beside:
                _run(_listening(settings, server.app()))


def _listening(settings: Settings, app: FastAPI | None = None) -> uvicorn.Config:
    """Return how uvicorn listens, and how long it drains."""
    return uvicorn.Config(
        app or (lambda: None),
        host=settings.host,
        port=settings.port,
        log_level=settings.log_level.lower(),
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=30,
    )


def _run(config: uvicorn.Config, sockets: list[socket.socket] | None = None) -> None:
    runner = uvicorn.Server(config)
    with contextlib.suppress(KeyboardInterrupt):
        runner.run(sockets=sockets)
    if not runner.started:
        raise typer.Exit(REFUSED)


def _serve_by_workers(
    settings: Settings, beside: contextlib.AbstractContextManager[object]
) -> None:
    """Check everything, then serve one socket from several processes."""
    with checked_for_workers(settings), beside:
        listening = _listening(settings).bind_socket()

        def work(boot: str) -> None:
            app = Server(settings, worker=boot).app()
            _run(_listening(settings, app), [listening])

        Supervisor(settings.workers, work, lambda boot: end_boot(settings, boot)).run()


@cli.command("worker")
def run_worker(
    *, child: Annotated[bool, typer.Option("--child", hidden=True)] = False
) -> None:
    """Run jobs until stopped; a job that is running goes back into the queue.

    Example: curator worker
    """
    settings = settings_or_exit()
    logging.basicConfig(level=settings.log_level.upper())
    logging.getLogger("alembic").setLevel(logging.WARNING)
    stop = threading.Event()
    with refusals():
        runner = make_runner(make_services(settings), stop)
    work_as_process(stop, runner.run_one, is_child=child)


@cli.command()
def demo(
    *,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the demo's data until stopped.")
    ] = False,
) -> None:
    """Load a synthetic hospital, ask six questions, and say what to try next."""
    with refusals():
        (serve_demo if serve else run_demo)(_WIRING)


@cli.command()
def openapi() -> None:
    """Print the OpenAPI document of the HTTP interface."""
    typer.echo(json.dumps(openapi_document(), indent=2, sort_keys=True))


def main() -> None:
    """Run the command line."""
    cli()


if __name__ == "__main__":
    main()
