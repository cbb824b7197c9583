"""The commands that help to write a manifest; they need no installation."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.terminal.output import REFUSED, Json, print_json, refusals, say


def manifest_commands() -> typer.Typer:
    """Return ``manifest draft`` and ``manifest check``."""
    cli = typer.Typer(help="Write and check manifests, before any load.")
    _add_draft(cli)
    _add_check(cli)
    return cli


def _add_draft(cli: typer.Typer) -> None:
    @cli.command()
    def draft(
        files: Annotated[
            list[str] | None,
            typer.Argument(help="Text files, workbooks, Parquet, URLs of databases."),
        ] = None,
        *,
        unit: Annotated[
            list[str] | None,
            typer.Option(help="A column of the privacy unit's ids; repeat it."),
        ] = None,
        table: Annotated[
            list[str] | None,
            typer.Option(help="A table or view of a database; repeat it. Else all."),
        ] = None,
        url_variable: Annotated[
            list[str] | None,
            typer.Option(help="A variable that holds a database's URL, password too."),
        ] = None,
        json: Json = False,
    ) -> None:
        """Print a first manifest for files, with TODO where only you can say.

        How they are written (delimiter, encoding, decimal commas, formats of dates,
        lines around the table) is recognised, and said in a sentence each.

        Domains come from public ladders and published code lists, never from the data.
        The manifest is refused until each TODO is replaced.

        In a database it drafts all tables and views, or those that --table names. It
        prints no password: --url-variable names a variable that holds the URL.

        Example: curator manifest draft stays.csv --unit patient_id > hospital.yaml
        """
        from server.use_cases.loading import manifests  # noqa: PLC0415 - slow

        request = manifests.DraftRequest(
            files or [], unit or [], table or [], url_variable or []
        )
        if not request.places and not request.url_variables:
            raise typer.BadParameter("name files, or the URL of a database")  # noqa: EM101, TRY003 - one sentence
        with refusals():
            drafted = manifests.draft(request)
        if json:
            print_json(drafted)
        else:
            typer.echo(drafted["manifest"], nl=False)


def _add_check(cli: typer.Typer) -> None:
    @cli.command()
    def check(
        manifest: Path,
        *,
        import_folder: Annotated[
            Path | None,
            typer.Option(
                envvar="CURATOR_IMPORT", help="Folder that loads may read; its own."
            ),
        ] = None,
        json: Json = False,
    ) -> None:
        """Say all that a load would refuse without reading a row; exit 1 if anything.

        Example: curator manifest check hospital.yaml
        """
        from server.use_cases.loading import manifests  # noqa: PLC0415 - slow

        found = manifests.problems(manifest, import_folder)
        if json:
            print_json(manifests.report(found))
        elif not found:
            typer.echo("ok: nothing that shows without reading rows")
        for problem in () if json else found:
            say(str(problem))
        if found:
            raise typer.Exit(REFUSED)
