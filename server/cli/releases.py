"""``curator release``: private cubes, from a spec to signed files."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from release.spec import json_schema
from release.store import problems_in
from server.cli.jobs import follow_job, shown_headway
from server.cli.output import (
    REFUSED,
    Json,
    print_json,
    refusals,
    say,
    show,
    show_list,
)
from server.use_cases.answers import Document
from server.use_cases.job_running import JobRunner
from server.use_cases.jobs import JobsOffice, Viewer
from server.use_cases.paging import Page
from server.use_cases.release_spec_files import placed, read_spec_file
from server.use_cases.release_specs import SpecRefusedError
from server.use_cases.releases import ReleaseOffice

_COLUMNS = ("id", "name", "dataset", "epsilon", "state", "public", "created")
Spec = Annotated[Path, typer.Argument(help="A YAML or JSON file; docs/releases.md.")]
Release = Annotated[str, typer.Argument(help="Its id or name.")]


@dataclass(frozen=True, slots=True)
class ReleaseParts:
    """What the commands work with.

    Attributes:
        office: Lists, shows, verifies and withdraws.
        jobs: Submits.
        viewer: Whoever works on this host.
        runner: Runs jobs in this process, until its event is set.
    """

    office: Callable[[], ReleaseOffice]
    jobs: Callable[[], JobsOffice]
    viewer: Callable[[], Viewer]
    runner: Callable[[threading.Event], JobRunner]


def release_commands(parts: ReleaseParts) -> typer.Typer:
    """Return the commands about releases."""
    cli = typer.Typer(help="Private cubes: paid once, then asked for nothing.")
    _add_making(cli, parts)
    _add_reading(cli, parts)
    _add_keeping(cli, parts)
    return cli


def _add_making(cli: typer.Typer, parts: ReleaseParts) -> None:
    @cli.command()
    def plan(spec: Spec, *, json: Json = False) -> None:
        """Price a release and foretell each strategy's error; touches no data.

        Example: curator release plan cube.yaml
        """
        with refusals():
            show(_planned(parts, spec), as_json=json)

    @cli.command()
    def publish(
        spec: Spec,
        *,
        background: Annotated[
            bool, typer.Option(help="Let a worker do it; print the job's id.")
        ] = False,
        json: Json = False,
    ) -> None:
        """Charge the population once, and publish a cube for good.

        Interrupted before the charge, nothing has happened; after it, the charge stays.

        Example: curator release publish cube.yaml
        """
        with refusals():
            told = _told(spec)
            _placed(spec, lambda: parts.office().plan(parts.viewer(), told))
            jobs, viewer = parts.jobs(), parts.viewer()
            job = str(jobs.submit(viewer, "release.publish", told)["id"])
            if background:
                show({"job": job}, as_json=json)
                return
            ended = _run(parts, job, quiet=json)
        if ended["state"] != "done":
            say(f"refused: {ended['error'] or 'the release was cancelled'}")
            raise typer.Exit(REFUSED)
        result = ended["result"]
        show(result if isinstance(result, dict) else {}, as_json=json)

    @cli.command()
    def schema() -> None:
        """Print the JSON Schema of spec files, for editors.

        Example: curator release schema > release.schema.json
        """
        print_json(json_schema())


def _add_reading(cli: typer.Typer, parts: ReleaseParts) -> None:
    @cli.command("list")
    def list_all(
        *,
        limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
        cursor: Annotated[
            str | None, typer.Option(help="The last list's next_cursor.")
        ] = None,
        json: Json = False,
    ) -> None:
        """List the releases, newest first.

        Example: curator release list
        """
        with refusals():
            page = parts.office().page(parts.viewer(), Page(limit, cursor))
        if json:
            print_json(page)
            return
        items = page["items"]
        rows = items if isinstance(items, list) else []
        show_list([{k: row[k] for k in _COLUMNS} for row in rows], as_json=False)

    @cli.command("show")
    def show_one(release: Release, *, json: Json = False) -> None:
        """Show one release: state, readers, spec, manifest.

        Example: curator release show ages_by_chapter
        """
        with refusals():
            show(parts.office().show(parts.viewer(), release), as_json=json)

    @cli.command()
    def key(*, json: Json = False) -> None:
        """Print the public key that verifies this installation's releases.

        Example: curator release key
        """
        with refusals():
            show({"public_key": parts.office().public_key()}, as_json=json)


def _add_keeping(cli: typer.Typer, parts: ReleaseParts) -> None:
    @cli.command()
    def verify(
        release: Annotated[str, typer.Argument(help="Its id or name, or a folder.")],
        *,
        public_key: Annotated[
            str | None, typer.Option(help="Of a folder: whose signature is expected.")
        ] = None,
        json: Json = False,
    ) -> None:
        """Check a release's files: complete, unchanged, signed; exit 1 if not.

        Of a downloaded folder too, where no installation is. Raw counts are not read.

        Example: curator release verify ages_by_chapter
        """
        with refusals():
            if Path(release).is_dir():
                problems = problems_in(Path(release), public_key)
                found: Document = {"ok": not problems, "problems": problems}
            else:
                found = parts.office().verify(parts.viewer(), release)
        show(found, as_json=json)
        if not found["ok"]:
            raise typer.Exit(REFUSED)

    @cli.command()
    def withdraw(
        release: Release,
        *,
        reason: Annotated[str, typer.Option(help="Why; recorded.")],
        json: Json = False,
    ) -> None:
        """Hide a release from its readers, for good; what it cost stays spent.

        Example: curator release withdraw ages_by_chapter --reason "wrong cohort"
        """
        with refusals():
            withdrawn = parts.office().withdraw(parts.viewer(), release, reason)
            show(withdrawn, as_json=json)


def _told(spec: Path) -> Document:
    """Return a spec file as jobs take it."""
    read, _ = read_spec_file(spec)
    return {"release": read.model_dump(mode="json", by_alias=True, exclude_none=True)}


def _planned(parts: ReleaseParts, spec: Path) -> Document:
    told = _told(spec)
    return _placed(spec, lambda: parts.office().plan(parts.viewer(), told))


def _placed(spec: Path, work: Callable[[], Document]) -> Document:
    """Do something with a spec; what it refuses has a line and a column."""
    try:
        return work()
    except SpecRefusedError as error:
        _, places = read_spec_file(spec)
        raise placed(error, spec, places) from None


def _run(parts: ReleaseParts, job: str, *, quiet: bool) -> Document:
    """Run a job here, unless a worker has taken it, and watch it until its end."""
    stop = threading.Event()
    runner = parts.runner(stop)
    jobs, viewer = parts.jobs(), parts.viewer()
    working = threading.Thread(target=runner.run_one, args=(job,), daemon=True)
    with shown_headway(quiet=quiet) as tell:
        working.start()
        try:
            return follow_job(lambda: jobs.show(viewer, job), tell)
        except KeyboardInterrupt:
            jobs.cancel(viewer, job)
            return follow_job(lambda: jobs.show(viewer, job), tell)
        finally:
            stop.set()
            working.join()
