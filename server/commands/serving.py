"""``curator serve``, ``worker``, ``job`` and ``openapi``."""

import json
import threading
from typing import Annotated

import typer

from server.cli.data.jobs import job_commands
from server.cli.terminal.arguments import settings_or_exit
from server.cli.terminal.output import refusals
from server.commands.wired import WIRING
from server.processes.job_worker import work_as_process
from server.telemetry.logs import configure_logs
from server.use_cases.jobs.queues import JobQueues

cli = typer.Typer()
cli.add_typer(job_commands(WIRING.job_service, WIRING.operator), name="job")


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
        queues = JobQueues(WIRING.runner(stop))
    work_as_process(stop, queues, is_child=child)


@cli.command()
def openapi() -> None:
    """Print the OpenAPI document of the HTTP interface."""
    from server.api.app import openapi_document  # noqa: PLC0415 - no other needs the web

    typer.echo(json.dumps(openapi_document(), indent=2))
