"""``curator release``: private cubes and sequences, from a spec to signed files."""

from pathlib import Path
from typing import Annotated, Final

import typer

from server.cli.releases.advising import add_advising
from server.cli.releases.announcing import add_announcing
from server.cli.releases.making import add_making
from server.cli.releases.parts import ReleaseParts
from server.cli.terminal.arguments import check_line
from server.cli.terminal.output import (
    REFUSED,
    Json,
    print_json,
    refusals,
    show,
    show_list,
)
from server.use_cases.services.documents import Reply
from server.use_cases.services.paging import Page

_COLUMNS = ("id", "name", "dataset", "epsilon", "state", "public", "visible")
Release = Annotated[str, typer.Argument(help="Its id or name.")]


_BRIEF: Final = ("id", "name", "population", "dataset", "epsilon", "state")
"""Of a withdrawn release; ``show`` tells the rest."""


def release_commands(parts: ReleaseParts) -> typer.Typer:
    """Return the commands about releases."""
    cli = typer.Typer(help="Private cubes and sequences: paid once, then free to ask.")
    add_making(cli, parts)
    add_advising(cli, parts)
    add_announcing(cli, parts)
    _add_reading(cli, parts)
    _add_keeping(cli, parts)
    return cli


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
            page = parts.service().page(parts.viewer(), Page(limit, cursor))
        if json:
            print_json(page)
            return
        rows: list[Reply] = [*page["items"]]
        show_list([{k: row[k] for k in _COLUMNS} for row in rows], as_json=False)

    @cli.command("show")
    def show_one(release: Release, *, json: Json = False) -> None:
        """Show one release: state, readers, spec, manifest.

        Example: curator release show ages_by_chapter
        """
        with refusals():
            show(parts.service().show(parts.viewer(), release), as_json=json)

    @cli.command()
    def key(*, json: Json = False) -> None:
        """Print the public key that verifies this installation's releases.

        Example: curator release key
        """
        with refusals():
            show({"public_key": parts.service().public_key()}, as_json=json)


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
                from release.store.opening import problems_in  # noqa: PLC0415 - slow

                problems = problems_in(Path(release), public_key)
                found: Reply = {"ok": not problems, "problems": problems}
            else:
                found = parts.service().verify(parts.viewer(), release)
        show(found, as_json=json)
        if not found["ok"]:
            raise typer.Exit(REFUSED)

    @cli.command()
    def withdraw(
        release: Release,
        *,
        reason: Annotated[
            str, typer.Option(help="Why; recorded.", callback=check_line)
        ],
        json: Json = False,
    ) -> None:
        """Hide a release from its readers, for good; what it cost stays spent.

        Example: curator release withdraw ages_by_chapter --reason "wrong cohort"
        """
        with refusals():
            withdrawn = parts.service().withdraw(parts.viewer(), release, reason)
            brief = {name: withdrawn[name] for name in _BRIEF}
            show(withdrawn if json else brief, as_json=json)
