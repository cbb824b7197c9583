"""``curator release plan | publish | schema``: from spec files to charges.

What reads and prices specs is imported by the command that does it: it takes longer
than listing releases does.
"""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.releases.parts import ReleaseParts
from server.cli.terminal.output import Json, print_json, refusals, show

Share = Annotated[
    str | None, typer.Option(help="Divide the loss between several releases: 1:1.")
]
Epsilon = Annotated[
    str | None,
    typer.Option(help="Epsilon in place of the specs'; with --share, of all together."),
]
Rho = Annotated[
    str | None,
    typer.Option(help="Rho likewise, where the population counts rho."),
]
Specs = Annotated[
    list[Path], typer.Argument(help="YAML or JSON files; docs/releases.md.")
]


def add_making(cli: typer.Typer, parts: ReleaseParts) -> None:
    """Add the commands that plan and publish."""
    _add_planning(cli, parts)
    _add_publishing(cli, parts)


def _add_planning(cli: typer.Typer, parts: ReleaseParts) -> None:
    @cli.command()
    def plan(
        specs: Specs,
        *,
        share: Share = None,
        epsilon: Epsilon = None,
        rho: Rho = None,
        json: Json = False,
    ) -> None:
        """Price releases and predict each strategy's error; touches no data.

        Of several, each is planned as 'publish' with the same words would charge it;
        then their sum is shown.

        Example: curator release plan cube.yaml tree.yaml --share 1:1 --epsilon 1
        """
        from server.cli.releases import orders  # noqa: PLC0415 - see above

        with refusals():
            given = orders.read_orders(specs, share, epsilon, rho)
            plans = orders.all_planned(parts, given)
        if len(plans) == 1:
            show(plans[0], as_json=json)
            return
        sums = orders.sums_of(plans)
        if json:
            print_json({"releases": plans, "sums": sums})
            return
        for planned in plans:
            show(planned, as_json=False)
            typer.echo()
        for one in sums:
            show({"sum": f"{len(plans)} releases", **one}, as_json=False)


def _add_publishing(cli: typer.Typer, parts: ReleaseParts) -> None:
    @cli.command()
    def publish(
        specs: Specs,
        *,
        share: Share = None,
        epsilon: Epsilon = None,
        rho: Rho = None,
        background: Annotated[
            bool, typer.Option(help="Let a worker do it; print the job's id.")
        ] = False,
        json: Json = False,
    ) -> None:
        """Charge the population once a release, and publish each for good.

        If it is cut off before the charge, nothing has happened; after it, the charge
        stays.

        Example: curator release publish cube.yaml tree.yaml --share 1:1 --epsilon 1
        """
        from server.cli.releases import orders  # noqa: PLC0415 - see above

        with refusals():
            given = orders.read_orders(specs, share, epsilon, rho)
            orders.check_affordable(parts, given)
            made = [
                orders.submitted(parts, order, background=background, quiet=json)
                for order in given
            ]
        if len(made) == 1:
            show(made[0], as_json=json)
        elif json:
            print_json({"releases": made})
        else:
            for one in made:
                show(one, as_json=False)

    @cli.command()
    def schema() -> None:
        """Print the JSON Schema of spec files, for editors.

        Example: curator release schema > release.schema.json
        """
        from release.contract.spec import json_schema  # noqa: PLC0415 - see above

        print_json(json_schema())
