"""``curator text``: read, tag and judge texts; list, export and delete them."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.terminal.arguments import check_line
from server.cli.terminal.output import Json, refusals, show, show_list
from server.cli.texts.judgements import print_judgements
from server.cli.texts.parts import (
    After,
    Background,
    Limit,
    Population,
    TextCommandParts,
)
from server.use_cases.extraction.formats import Format
from server.use_cases.services.documents import Document


def text_commands(parts: TextCommandParts) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(help="Notes: raw data of custodians, which analysts never see.")
    _add_jobs(cli, parts)
    _add_pipelines(cli, parts)
    _add_lists(cli, parts)
    _add_changes(cli, parts)
    return cli


def _add_jobs(cli: typer.Typer, parts: TextCommandParts) -> None:
    @cli.command()
    def read(
        declaration: Path, *, background: Background = False, json: Json = False
    ) -> None:
        """Read texts, or a gold standard, that a file declares, as a collection.

        The file and what it names lie under CURATOR_IMPORT; see docs/text.md.

        Example: curator text read notes.yaml
        """
        with refusals():
            told: Document = {"declaration": str(declaration.absolute())}
            parts.run("text.read", told, background=background, as_json=json)

    @cli.command()
    def tag(
        collection: str,
        model: Annotated[str, typer.Argument(help="A model's name, or rules.")],
        *,
        population: Population = None,
        background: Background = False,
        json: Json = False,
    ) -> None:
        """Let a model find spans in a collection.

        Example: curator text tag notes names
        """
        with refusals():
            told: Document = {
                "population": parts.population(population),
                "collection": collection,
                "model": model,
            }
            parts.run("text.tag", told, background=background, as_json=json)

    @cli.command()
    def evaluate(
        gold: Annotated[str, typer.Argument(help="A collection with marked spans.")],
        models: Annotated[
            list[str], typer.Argument(help="A model, or two; rules is one.")
        ],
        *,
        population: Population = None,
        background: Background = False,
        json: Json = False,
    ) -> None:
        """Judge a model on a gold standard: precision, recall and F1, by type.

        Example: curator text evaluate held_out names
        """
        with refusals():
            told: Document = {
                "population": parts.population(population),
                "gold": gold,
                "models": models,
            }
            made = parts.done("text.evaluate", told, background=background, quiet=json)
        if json or background:
            show(made, as_json=json)
        else:
            print_judgements(made)


def _add_pipelines(cli: typer.Typer, parts: TextCommandParts) -> None:
    @cli.command()
    def run(
        pipeline: Path,
        *,
        dry_run: Annotated[
            bool, typer.Option(help="Do all but load: report what would be.")
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
        background: Background = False,
        json: Json = False,
    ) -> None:
        """Read and tag texts, make a private table of what is found, and load it.

        The report is for custodians alone: it counts raw rows.

        Example: curator text run pipeline.yaml
        """
        with refusals(as_json=json):
            told: Document = {
                "pipeline": str(pipeline.absolute()),
                "dry_run": dry_run,
                "override_overlap": override_overlap,
                "accept_changes": accept_changes,
                "reason": reason,
            }
            parts.run("text.pipeline", told, background=background, as_json=json)

    @cli.command()
    def origin(
        job: Annotated[str, typer.Argument(help="The pipeline's.")],
        row: Annotated[int, typer.Argument(min=1, help="Of its table, from 1.")],
        *,
        json: Json = False,
    ) -> None:
        """Say which documents, and where in them, a row's values come from.

        Example: curator text origin job_0123456789abcdef01234567 17
        """
        with refusals():
            show_list(parts.service().origins(job, row), as_json=json)


def _add_lists(cli: typer.Typer, parts: TextCommandParts) -> None:
    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the collections: how many documents each has, and whose spans.

        Example: curator text list
        """
        with refusals():
            show_list(parts.service().collections(), as_json=json)

    @cli.command()
    def documents(
        collection: str,
        *,
        population: Population = None,
        after: After = 0,
        limit: Limit = 50,
        json: Json = False,
    ) -> None:
        """List a collection's documents: where each stands, not what it says.

        Example: curator text documents notes --limit 10
        """
        with refusals():
            found = parts.service().documents(
                population, collection, after=after, most=limit
            )
            show_list(found, as_json=json)

    @cli.command()
    def quarantined(
        collection: str,
        *,
        population: Population = None,
        after: After = 0,
        limit: Limit = 50,
        json: Json = False,
    ) -> None:
        """List what could not be read, and why.

        Example: curator text quarantined notes
        """
        with refusals():
            found = parts.service().quarantined(
                population, collection, after=after, most=limit
            )
            show_list(found, as_json=json)


def _add_changes(cli: typer.Typer, parts: TextCommandParts) -> None:
    @cli.command()
    def export(
        collection: str,
        to: Annotated[Path, typer.Argument(help="A folder, or of JSON a file; new.")],
        *,
        finder: Annotated[
            str, typer.Option(help="Whose spans: gold, rules or a model's name.")
        ] = "gold",
        written: Annotated[
            Format, typer.Option("--format", help="How it is written.")
        ] = "json",
        population: Population = None,
        json: Json = False,
    ) -> None:
        """Write texts with their spans to files: these are patients' notes.

        Example: curator text export notes tagged.jsonl --finder names
        """
        with refusals():
            made = parts.service().export(
                population, collection, finder=finder, written=written, target=to
            )
            show(made, as_json=json)

    @cli.command()
    def delete(
        collection: str, *, population: Population = None, json: Json = False
    ) -> None:
        """Delete a collection and all spans in it; models that learned from it stay.

        Example: curator text delete notes
        """
        with refusals():
            show(parts.service().delete(population, collection), as_json=json)
