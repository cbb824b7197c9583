"""``curator model``: train models, list and compare them."""

from pathlib import Path
from typing import Annotated, cast

import typer

from server.cli.terminal.output import (
    Json,
    print_json,
    refusals,
    show,
    show_list,
    write,
)
from server.cli.texts.judgements import say_known, say_missing
from server.cli.texts.parts import Background, Population, TextCommandParts
from server.use_cases.services.documents import Document


def model_commands(parts: TextCommandParts) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(help="Models of texts: raw data, never given to analysts.")
    _add_making(cli, parts)
    _add_lists(cli, parts)
    return cli


def _add_making(cli: typer.Typer, parts: TextCommandParts) -> None:
    @cli.command()
    def train(
        model: Annotated[str, typer.Argument(help="The model's name, a new one.")],
        gold: Annotated[str, typer.Argument(help="A collection with marked spans.")],
        *,
        tune: Annotated[
            str | None, typer.Option(help="A collection to choose thresholds on.")
        ] = None,
        spec: Annotated[
            Path | None, typer.Option(help="YAML: algorithm, features, rules, types.")
        ] = None,
        folds: Annotated[
            int, typer.Option(help="Judge it by so many folds; 0: do not.")
        ] = 0,
        fold_by: Annotated[
            str, typer.Option(help="A field that keeps a patient in one fold.")
        ] = "",
        dictionary: Annotated[
            list[str] | None, typer.Option(help="Lists of terms that it looks in.")
        ] = None,
        population: Population = None,
        background: Background = False,
        json: Json = False,
    ) -> None:
        """Train a model on a gold standard that was read.

        It prints how good the model is; "curator model show" prints the whole card.

        Example: curator model train names gold --folds 5
        """
        from server.use_cases.extraction.training import spec_in  # noqa: PLC0415 - slow

        with refusals():
            told: Document = {
                "population": parts.population(population),
                "model": model,
                "gold": gold,
                "tune": tune,
                "spec": {} if spec is None else spec_in(spec),
                "folds": folds,
                "fold_by": fold_by,
                "dictionaries": dictionary or [],
            }
            made = parts.done("text.train", told, background=background, quiet=json)
        if json or background:
            show(made, as_json=json)
        else:
            _print_trained(made)

    @cli.command()
    def terms(
        declaration: Path, *, background: Background = False, json: Json = False
    ) -> None:
        """Make a model of lists of terms that a file declares: nothing is trained.

        The file and the lists lie under CURATOR_IMPORT; see docs/text.md.

        Example: curator model terms terms.yaml
        """
        with refusals():
            told: Document = {"declaration": str(declaration.absolute())}
            parts.run("text.terms", told, background=background, as_json=json)

    @cli.command()
    def compare(
        first: str,
        second: str,
        gold: Annotated[str, typer.Argument(help="A collection with marked spans.")],
        *,
        population: Population = None,
        json: Json = False,
    ) -> None:
        """Say whether one model is better than another by more than chance.

        Their findings are exchanged at random, document by document: the probability
        is how often the F1 of such mixtures differs as much.

        Example: curator model compare names older held_out
        """
        with refusals():
            told: Document = {
                "population": parts.population(population),
                "gold": gold,
                "models": [first, second],
            }
            made = parts.done("text.evaluate", told, background=False, quiet=json)
        if json:
            print_json(made)
        else:
            _print_comparison(first, second, made)

    @cli.command()
    def delete(
        model: str, *, population: Population = None, json: Json = False
    ) -> None:
        """Delete a model; the spans that it found stay.

        Example: curator model delete older
        """
        with refusals():
            show(parts.service().delete_model(population, model), as_json=json)


def _add_lists(cli: typer.Typer, parts: TextCommandParts) -> None:
    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the models.

        Example: curator model list
        """
        with refusals():
            show_list(parts.service().models(), as_json=json)

    @cli.command("show")
    def show_one(
        model: str, *, population: Population = None, json: Json = False
    ) -> None:
        """Show one model: what it learned from, and how good it was.

        Example: curator model show names
        """
        with refusals():
            show(parts.service().model(population, model), as_json=json)


def _print_trained(made: Document) -> None:
    """Print what a model learned from, and its figures on what it did not learn."""
    card = cast("dict[str, dict[str, Document]]", made["card"])
    shown: Document = {name: made[name] for name in ("job", "model", "name")}
    show({**shown, "documents": card["documents"]}, as_json=False)
    show_list(
        [{"type": kind, "spans": count} for kind, count in card["spans"].items()],
        as_json=False,
    )
    from upstream.extraction.models.training import TUNED  # noqa: PLC0415 - slow

    figures = (
        ("by_folds", "of folds that it did not learn"),
        (TUNED, "of documents that thresholds were chosen on (flattering)"),
    )
    told = [
        {"figures": said}
        | {name: card[key]["strict"][name] for name in ("precision", "recall", "f1")}
        for key, said in figures
        if key in card
    ]
    show_list(told, as_json=False)


def _print_comparison(first: str, second: str, made: Document) -> None:
    """Print the figures of both, and a sentence on each difference."""
    compared = made["comparison"]
    if not isinstance(compared, dict):
        return
    show_list(
        [
            {"F1 of": name, first: told["first_f1"], second: told["second_f1"]}
            | {
                f"{second} - {first}": told["difference"],
                "probability": told["probability"],
            }
            for name, told in compared.items()
        ],
        as_json=False,
    )
    for name, told in compared.items():
        if not told["difference"]:
            write(f"{name}: no difference (probability {told['probability']})")
            continue
        better = second if told["difference"] > 0 else first
        said = "is more than chance" if told["significant"] else "may be chance"
        write(
            f"{name}: {better} is better by {abs(told['difference'])}, which {said} "
            f"(probability {told['probability']})"
        )
    models = made["models"]
    for one in models if isinstance(models, list) else []:
        say_missing(one)
        if one["knows_gold"]:
            say_known(one["name"])
