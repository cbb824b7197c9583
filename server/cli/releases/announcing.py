"""``curator release announce | announced``: what is planned, and by which day.

What reads specs is imported by the command that does it, as in ``making.py``.
"""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.releases.parts import ReleaseParts
from server.cli.terminal.arguments import Reason, read_day
from server.cli.terminal.output import Json, print_json, refusals, show, show_list
from server.use_cases.services.documents import Reply
from server.use_cases.services.paging import Page

_COLUMNS = ("id", "name", "dataset", "epsilon", "by", "state")


def add_announcing(cli: typer.Typer, parts: ReleaseParts) -> None:
    """Add the commands that announce releases."""
    _add_announce(cli, parts)
    _add_announced(cli, parts)


def _add_announce(cli: typer.Typer, parts: ReleaseParts) -> None:
    @cli.command()
    def announce(
        spec: Annotated[
            Path, typer.Argument(help="A YAML or JSON file; docs/releases.md.")
        ],
        *,
        by: Annotated[
            str, typer.Option(help="The day by which it will be there: YYYY-MM-DD.")
        ],
        json: Json = False,
    ) -> None:
        """Tell a release's readers that it is planned; it charges nothing.

        Plans of questions that it will answer then name it as a way that is free.

        Example: curator release announce cube.yaml --by 2026-12-15
        """
        from server.cli.releases import orders  # noqa: PLC0415 - see above

        day = read_day(by)
        with refusals():
            (order,) = orders.read_orders([spec], None, None, None)
            with orders.placing(order):
                made = parts.announcer().announce(parts.viewer(), order.told, day)
        show(made if json else _brief(made), as_json=json)


def _add_announced(cli: typer.Typer, parts: ReleaseParts) -> None:
    @cli.command()
    def announced(
        dataset: Annotated[
            str | None, typer.Argument(help="Of which dataset; else of all.")
        ] = None,
        *,
        limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
        cursor: Annotated[
            str | None, typer.Option(help="The last list's next_cursor.")
        ] = None,
        json: Json = False,
    ) -> None:
        """List the announcements, newest first, and what became of each.

        Example: curator release announced hospital
        """
        wanted = Page(limit, cursor)
        with refusals():
            page = parts.announcer().page(parts.viewer(), wanted, dataset)
        if json:
            print_json(page)
            return
        show_list([_brief(row) for row in page["items"]], as_json=False)

    @cli.command("withdraw-announcement")
    def withdraw_announcement(
        announcement: Annotated[
            str, typer.Argument(help="Its id, as 'release announced' lists it.")
        ],
        *,
        reason: Reason = None,
        json: Json = False,
    ) -> None:
        """Take an announcement back; releases are withdrawn by 'withdraw'.

        Example: curator release withdraw-announcement ann_6b1f0c2d9a8e47530f1b2c3d
        """
        with refusals():
            announcer = parts.announcer()
            taken = announcer.withdraw(parts.viewer(), announcement, reason)
        show(taken if json else _brief(taken), as_json=json)


def _brief(announcement: Reply) -> Reply:
    return {name: announcement[name] for name in _COLUMNS}
