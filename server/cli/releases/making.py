"""``curator release plan | publish | schema``: from spec files to charges."""

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from privacy.losses import ZERO_LOSS, Loss
from release.contract.spec import json_schema
from server.cli.data.jobs import run_job
from server.cli.terminal.arguments import read_loss
from server.cli.terminal.output import (
    REFUSED,
    USAGE,
    Json,
    print_json,
    refusals,
    say,
    show,
)
from server.use_cases.jobs.jobs import JobService, Viewer
from server.use_cases.jobs.running import JobRunner
from server.use_cases.publishing.advising import ReleaseAdviser
from server.use_cases.publishing.releases import ReleaseService
from server.use_cases.publishing.replies import ReleasePlanShape
from server.use_cases.publishing.shares import (
    SharesRefusedError,
    check_number,
    divided,
    read_shares,
)
from server.use_cases.publishing.spec_files import placed, read_spec_file
from server.use_cases.publishing.specs import SpecRefusedError
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError

Share = Annotated[
    str | None, typer.Option(help="Of several: how the loss divides, as 1:1.")
]
Epsilon = Annotated[
    str | None,
    typer.Option(help="In the place of the specs' own; with --share: of all."),
]
Rho = Annotated[
    str | None,
    typer.Option(help="The same, of a population that counts rho."),
]
Specs = Annotated[
    list[Path], typer.Argument(help="YAML or JSON files; docs/releases.md.")
]


@dataclass(frozen=True, slots=True)
class ReleaseParts:
    """What the commands work with.

    Attributes:
        service: Lists, shows, verifies and withdraws.
        jobs: Submits.
        viewer: Whoever works on this host.
        runner: Runs jobs in this process, until its event is set.
        adviser: Reads what was asked.
    """

    service: Callable[[], ReleaseService]
    jobs: Callable[[], JobService]
    viewer: Callable[[], Viewer]
    runner: Callable[[threading.Event], JobRunner]
    adviser: Callable[[], ReleaseAdviser]


@dataclass(frozen=True, slots=True)
class _Order:
    """A spec file, and the release that it asks for as jobs take it."""

    path: Path
    release: dict[str, object]

    @property
    def told(self) -> Document:
        return {"release": self.release}

    @property
    def loss(self) -> Loss:
        return Loss.parse(str(self.release[self.word]))

    @property
    def word(self) -> str:
        """What its loss is called."""
        return "rho" if "rho" in self.release else "epsilon"


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
        with refusals():
            orders = _shared([_order(path) for path in specs], share, epsilon, rho)
            plans = _all_planned(parts, orders)
        if len(plans) == 1:
            show(plans[0], as_json=json)
            return
        sums = _sums(plans)
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

        Interrupted before the charge, nothing has happened; after it, the charge stays.

        Example: curator release publish cube.yaml tree.yaml --share 1:1 --epsilon 1
        """
        with refusals():
            orders = _shared([_order(path) for path in specs], share, epsilon, rho)
            _check(parts, orders)
            made = [
                _submitted(parts, order, background=background, quiet=json)
                for order in orders
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
        print_json(json_schema())


def _order(path: Path) -> _Order:
    """Return a spec file as jobs take it."""
    spec, _ = read_spec_file(path)
    told = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    return _Order(path, told)


def _shared(
    orders: list[_Order], share: str | None, epsilon: str | None, rho: str | None
) -> list[_Order]:
    """Return the orders with the losses that options give them."""
    given = epsilon if rho is None else rho
    if share is None and given is None:
        return orders
    word = _word(orders, epsilon, rho)
    if share is None and len(orders) > 1:
        say(f"--{word} of several releases needs --share: how it divides, as 1:1")
        raise typer.Exit(USAGE)
    try:
        shares = (1,) if share is None else read_shares(share)
        check_number(shares, len(orders))
        whole = _sum(orders) if given is None else read_loss(given)
        losses = divided(whole, shares)
    except SharesRefusedError as error:
        say(f"--share: {error}")
        raise typer.Exit(USAGE) from None
    return [
        _Order(order.path, {**_without_loss(order.release), word: str(loss)})
        for order, loss in zip(orders, losses, strict=True)
    ]


def _word(orders: list[_Order], epsilon: str | None, rho: str | None) -> str:
    """Return what is shared: epsilon or rho."""
    if epsilon is not None and rho is not None:
        say("give --epsilon or --rho, as the population counts")
        raise typer.Exit(USAGE)
    if epsilon is None and rho is None:
        words = {order.word for order in orders}
        if len(words) > 1:
            say("some of these files give epsilon and some rho: they do not add up")
            raise typer.Exit(USAGE)
        return words.pop()
    return "epsilon" if rho is None else "rho"


def _without_loss(release: dict[str, object]) -> dict[str, object]:
    return {key: told for key, told in release.items() if key not in {"epsilon", "rho"}}


def _sum(orders: Sequence[_Order]) -> Loss:
    return sum((order.loss for order in orders), ZERO_LOSS)


def _all_planned(
    parts: ReleaseParts, orders: Sequence[_Order]
) -> list[ReleasePlanShape]:
    """Plan every release.

    Raises:
        CommandRefusedError: Two have one name.
    """
    names = [order.release["name"] for order in orders]
    if len(set(names)) < len(names):
        message = "two of these releases have one name: nothing was charged"
        raise CommandRefusedError(message)
    return [_planned(parts, order) for order in orders]


def _sums(plans: Sequence[ReleasePlanShape]) -> list[Document]:
    """Return what releases cost together, a population each."""
    by_population: dict[str, list[ReleasePlanShape]] = defaultdict(list)
    for planned in plans:
        by_population[planned["population"]].append(planned)
    return [_sum_of(population, own) for population, own in by_population.items()]


def _sum_of(population: str, plans: Sequence[ReleasePlanShape]) -> Document:
    """Return what a population's releases cost together, in its measure."""
    word = "rho" if "rho" in plans[0] else "epsilon"
    prices = [Loss.parse(str(dict(planned)[word])) for planned in plans]
    left, whole = plans[-1]["remaining"], sum(prices, ZERO_LOSS)
    return {
        "population": population,
        word: str(whole),
        "remaining": left,
        "affordable": left is not None and whole <= Loss.parse(left),
    }


def _check(parts: ReleaseParts, orders: Sequence[_Order]) -> None:
    """Plan every release before the first is charged.

    Raises:
        CommandRefusedError: Two have one name, or a cap is too small for all.
    """
    plans = _all_planned(parts, orders)
    if len(plans) == 1:
        return  # its own charge says what is missing
    for one in _sums(plans):
        if not one["affordable"]:
            word = "rho" if "rho" in one else "epsilon"
            message = (
                f"the releases would cost {word} {one[word]} together, and "
                f"{one['remaining']} is left: nothing was charged"
            )
            raise CommandRefusedError(message)


def _submitted(
    parts: ReleaseParts, order: _Order, *, background: bool, quiet: bool
) -> Document:
    """Submit one release, and see it published unless a worker is to do it."""
    jobs, viewer = parts.jobs(), parts.viewer()
    job = str(jobs.submit(viewer, "release.publish", order.told)["id"])
    if background:
        return {"job": job}
    ended = run_job(jobs, viewer, parts.runner, job, quiet=quiet)
    if ended["state"] != "done":
        say(f"refused: {ended['error'] or 'the release was cancelled'}")
        raise typer.Exit(REFUSED)
    result = ended["result"]
    if result is None:
        return {}
    shown = parts.service().show(viewer, str(result["release"]))
    return {**result, "visible": shown["visible"]}


def _planned(parts: ReleaseParts, order: _Order) -> ReleasePlanShape:
    """Plan a release; what is refused has a line and a column."""
    try:
        return parts.service().plan(parts.viewer(), order.told)
    except SpecRefusedError as error:
        _, places = read_spec_file(order.path)
        raise placed(error, order.path, places) from None
