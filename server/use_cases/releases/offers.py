"""Published releases that answer a question in the place of fresh noise.

One is offered only where it counts exactly what the question asks, of the same
snapshot; what comes near is told with its differences (PRIVACY 7). A release that the
caller may not read is not looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Final

from privacy.errors import QueryError
from privacy.losses import Loss
from query_lang.binding.bind import ResolvedQuery
from release.contract.answers import ReleaseAnswer
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.binding.matching import Difference, match
from release.cubes.questions.binding.question import CubeQuestion
from release.cubes.questions.evaluating.effort import Effort
from release.cubes.questions.evaluating.measuring import Measurer
from release.cubes.questions.evaluating.steps import matching_steps
from server.use_cases.identity.access import Caller, Grant
from server.use_cases.losses.amounts import Priced
from server.use_cases.releases.catalogue import ReleaseCatalogue
from server.use_cases.releases.opened import KnownCube, OpenReleases, is_cube
from server.use_cases.releases.replies import FreeAnswer, RelatedRelease, ReleaseTaken
from server.use_cases.releases.times import PublicationRow
from server.use_cases.services.services import Services

LOOKED_AT: Final = 32
"""The newest releases of a dataset that are compared with a question."""

COMPARED_AT_ONCE: Final = 2
COMPARED_VALUES: Final = 20_000
"""The most values on which a comparison evaluates an expression; a release itself is
asked with more."""

COMPARED_STEPS: Final = 500_000_000
"""What comparing a question with all releases may take, the newest first, in
``release.cubes.questions.evaluating.steps``. Those that are left then are not told."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A release that answers a question."""

    row: PublicationRow
    known: KnownCube
    question: CubeQuestion

    @property
    def loss(self) -> Loss:
        """What was paid for it."""
        return Loss.parse(self.known.cube.epsilon)


@dataclass(frozen=True, slots=True)
class Near:
    """A release that comes near to a question."""

    known: KnownCube
    differences: list[Difference]


class ReleaseOffers:
    """Compares questions with the releases that their asker may read.

    Attributes:
        open_releases: Where they are open.
    """

    def __init__(self, services: Services, open_releases: OpenReleases) -> None:
        self._catalogue = ReleaseCatalogue(services)
        self.open_releases = open_releases
        self._comparing = BoundedSemaphore(COMPARED_AT_ONCE)

    def find(
        self, caller: Caller, grant: Grant, asked: ResolvedQuery
    ) -> tuple[list[Offer], list[Near]]:
        """Return the releases that answer a question, the best first, and the near.

        Who asks at once waits, and is told the same: load decides nothing (PRIVACY 6).
        No number of a release is read for it.

        Args:
            caller: Who asks.
            grant: Of what; its snapshot is asked.
            asked: The question.
        """
        readable = list(self._readable(caller, grant))
        if not readable:
            return [], []
        with self._comparing:
            return _sorted_out(asked, readable, grant.snapshot)

    def answer(self, offer: Offer, confidence: str = "0.95") -> ReleaseAnswer:
        """Answer a question from a release.

        Args:
            offer: The release, and the question.
            confidence: Of each interval by itself.

        Raises:
            NotFoundError: The release's files are gone.
            SqlNotAllowedError: It would add up too many numbers.
        """
        return self.open_releases.asked(offer.row).answer(offer.question, confidence)

    def _readable(
        self, caller: Caller, grant: Grant
    ) -> Iterator[tuple[PublicationRow, KnownCube]]:
        rows = self._catalogue.readable(caller, grant.dataset)
        for row in [row for row in rows if is_cube(row)][:LOOKED_AT]:
            yield row, self.open_releases.known(row)


def _sorted_out(
    asked: ResolvedQuery,
    readable: list[tuple[PublicationRow, KnownCube]],
    snapshot: str,
) -> tuple[list[Offer], list[Near]]:
    """Return which releases answer a question, the best first, and which come near."""
    offers: list[Offer] = []
    near: list[Near] = []
    effort = Effort(
        asked.position,
        COMPARED_STEPS,
        evaluated=COMPARED_VALUES,
        axis=COMPARED_VALUES,
    )
    try:
        matching = matching_steps(asked.plan)
    except QueryError:  # too much to write out: nothing to compare, but to be paid
        return [], []
    for row, known in readable:
        if effort.spent + matching > effort.steps:
            break
        effort.spend(matching)
        found = compared(asked, known, snapshot, effort)
        if isinstance(found, CubeQuestion):
            offers.append(Offer(row, known, found))
        elif all(difference.what != "source" for difference in found):
            near.append(Near(known, found))
    offers.sort(key=lambda offer: offer.loss, reverse=True)
    return offers, near


def compared(
    asked: ResolvedQuery, known: KnownCube, snapshot: str, effort: Effort
) -> CubeQuestion | list[Difference]:
    """Return a question as a release answers it, or why it does not.

    Args:
        asked: The question.
        known: What the release counts, or would.
        snapshot: Of the asker.
        effort: What comparing may take.
    """
    try:
        found = match(asked, known.counted, known.cube)
    except QueryError as refusal:
        return [Difference("dimension", refusal.detail)]
    differences = [] if isinstance(found, CubeQuestion) else found
    if known.snapshot != snapshot:
        detail = "the release counts another snapshot of the data"
        return [Difference("snapshot", detail), *differences]
    if isinstance(found, CubeQuestion):
        differences = _unanswerable(found, known, effort)
    return differences or found


def _unanswerable(
    question: CubeQuestion, known: KnownCube, effort: Effort
) -> list[Difference]:
    """Return why a release cannot answer what it matches."""
    try:
        Measurer(question, known.cube, known.values, effort).check()
    except QueryError as refusal:
        return [Difference("counting", refusal.detail)]
    return []


def free_offers(offers: list[Offer]) -> list[FreeAnswer]:
    """Describe what is on offer for nothing."""
    return list(map(release_taken, offers))


def release_taken(offer: Offer) -> ReleaseTaken:
    """Describe the release of an offer."""
    cube = offer.known.cube
    return {
        "kind": "release",
        "id": cube.id,
        "name": cube.name,
        **_paid(cube),
    }


def _paid(cube: PublishedCube) -> Priced:
    if cube.rho is None:
        return {"epsilon": cube.epsilon}
    return {"epsilon": cube.epsilon, "rho": cube.rho}


def related_releases(near: list[Near]) -> list[RelatedRelease]:
    """Describe what comes near."""
    return [
        {
            "kind": "release",
            "id": one.known.cube.id,
            "name": one.known.cube.name,
            **_paid(one.known.cube),
            "differences": [
                {"what": each.what, "detail": each.detail} for each in one.differences
            ],
        }
        for one in near
    ]
