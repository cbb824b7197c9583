"""Releases as spec files and options ask for them: priced, shared out, submitted."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from privacy.losses import ZERO_LOSS, Loss
from server.cli.data.jobs import require_done, run_job
from server.cli.releases.parts import ReleaseParts
from server.cli.terminal.arguments import read_loss
from server.cli.terminal.output import USAGE, say
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


@dataclass(frozen=True, slots=True)
class Order:
    """A spec file, and the release that it asks for as jobs take it."""

    path: Path
    release: dict[str, object]

    @property
    def told(self) -> Document:
        """What the job is handed."""
        return {"release": self.release}

    @property
    def loss(self) -> Loss:
        """What the release may cost."""
        return Loss.parse(str(self.release[self.word]))

    @property
    def word(self) -> str:
        """What its loss is called."""
        return "rho" if "rho" in self.release else "epsilon"


def read_orders(
    specs: Sequence[Path], share: str | None, epsilon: str | None, rho: str | None
) -> list[Order]:
    """Return the orders of spec files, with the losses that options give them."""
    return _shared([_order(path) for path in specs], share, epsilon, rho)


def _order(path: Path) -> Order:
    """Return a spec file as jobs take it."""
    spec, _ = read_spec_file(path)
    told = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Order(path, told)


def _shared(
    orders: list[Order], share: str | None, epsilon: str | None, rho: str | None
) -> list[Order]:
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
        Order(order.path, {**_without_loss(order.release), word: str(loss)})
        for order, loss in zip(orders, losses, strict=True)
    ]


def _word(orders: list[Order], epsilon: str | None, rho: str | None) -> str:
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


def _sum(orders: Sequence[Order]) -> Loss:
    return sum((order.loss for order in orders), ZERO_LOSS)


def all_planned(parts: ReleaseParts, orders: Sequence[Order]) -> list[ReleasePlanShape]:
    """Plan every release.

    Raises:
        CommandRefusedError: Two have one name.
    """
    names = [order.release["name"] for order in orders]
    if len(set(names)) < len(names):
        message = "two of these releases have one name: nothing was charged"
        raise CommandRefusedError(message)
    return [_planned(parts, order) for order in orders]


def sums_of(plans: Sequence[ReleasePlanShape]) -> list[Document]:
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


def check_affordable(parts: ReleaseParts, orders: Sequence[Order]) -> None:
    """Plan every release before the first is charged.

    Raises:
        CommandRefusedError: Two have one name, or a cap is too small for all.
    """
    plans = all_planned(parts, orders)
    if len(plans) == 1:
        return  # its own charge says what is missing
    for one in sums_of(plans):
        if not one["affordable"]:
            word = "rho" if "rho" in one else "epsilon"
            message = (
                f"the releases would cost {word} {one[word]} together, and "
                f"{one['remaining']} is left: nothing was charged"
            )
            raise CommandRefusedError(message)


def submitted(
    parts: ReleaseParts, order: Order, *, background: bool, quiet: bool
) -> Document:
    """Submit one release, and see it published unless a worker is to do it."""
    jobs, viewer = parts.jobs(), parts.viewer()
    job = str(jobs.submit(viewer, "release.publish", order.told)["id"])
    if background:
        return {"job": job}
    ended = run_job(jobs, viewer, parts.runner, job, quiet=quiet)
    require_done(ended, "the release was cancelled")
    result = ended["result"]
    if result is None:
        return {}
    shown = parts.service().show(viewer, str(result["release"]))
    return {**result, "visible": shown["visible"]}


def _planned(parts: ReleaseParts, order: Order) -> ReleasePlanShape:
    """Plan a release; what is refused has a line and a column."""
    with placing(order):
        return parts.planner().plan(parts.viewer(), order.told)


@contextmanager
def placing(order: Order) -> Iterator[None]:
    """Say of what is refused in here where it stands in the spec file.

    Raises:
        ManifestError: A spec was refused.
    """
    try:
        yield
    except SpecRefusedError as error:
        _, places = read_spec_file(order.path)
        raise placed(error, order.path, places) from None
