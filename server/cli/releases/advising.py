"""``curator release advise``: which tables would have answered what was asked."""

from typing import Annotated

import typer

from server.cli.releases.parts import ReleaseParts
from server.cli.terminal.arguments import read_loss
from server.cli.terminal.output import Json, print_json, refusals, show, show_list

_TITLES = ("asked", "further", "cells", "paid", "half_width", "keys", "sql")


def add_advising(cli: typer.Typer, parts: ReleaseParts) -> None:
    """Add the command that reads what was asked."""

    @cli.command()
    def advise(
        dataset: Annotated[str, typer.Argument(help="Whose questions.")],
        *,
        days: Annotated[
            int, typer.Option(min=1, help="How many days to look back.")
        ] = 365,
        loss: Annotated[
            str, typer.Option(help="Epsilon (or rho) that a table would spend.")
        ] = "1",
        tables: Annotated[
            int, typer.Option(min=1, max=20, help="How many tables at most.")
        ] = 5,
        json: Json = False,
    ) -> None:
        """Rank tables by how many past questions they would have answered.

        It reads texts alone: no row and no answer. It says of each table how often its
        questions were asked, and their least and greatest 95 % half-width at that loss.

        Example: curator release advise hospital --loss 1
        """
        spent = read_loss(loss)
        with refusals():
            advice = parts.adviser().advise(dataset, spent, days=days, most=tables)
        if json:
            print_json(advice)
            return
        show({k: v for k, v in advice.items() if k != "tables"}, as_json=False)
        typer.echo()
        rows = []
        for table in advice["tables"]:
            widths = [each["half_width"] for each in table["questions"]]
            known = [float(width) for width in widths if width is not None]
            keys = ", ".join(table["keys"]) or "none"
            width = f"{min(known):g} to {max(known):g}" if known else "unknown"
            told = {**table, "keys": keys, "half_width": width}
            rows.append({title: told[title] for title in _TITLES})
        show_list(rows, as_json=False)
