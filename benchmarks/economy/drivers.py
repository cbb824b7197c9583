"""How groups ask: evenly, and by the product's defaults.

``even`` gives each question the same part of its group's allotment, and asks it once.
``defaults`` knows nothing but what the product tells: of every question it asks for a
plan with the wanted accuracy, takes what is on offer for nothing, then the probes that
plans name, as long as they name one, and buys the accuracy if that costs at most
``MANY_SHARES`` even parts of what the group has left (``at_most``). All by HTTP, as
``curator_client`` would.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from benchmarks.economy.asking import Answer, Asker, Document, Refusal
from benchmarks.economy.questions import Question
from benchmarks.economy.usefulness import WISH, seems_useful
from privacy.losses import ZERO_LOSS, Loss

MANY_SHARES: Final = 5
"""Of an even part of what is left: the most that one question may cost."""

_MOST_PROBES: Final = 12


@dataclass(slots=True)
class Told:
    """What became of a question.

    Attributes:
        answer: The surest of its answers; None: it was refused.
        spent: What all its answers cost.
        offers: The kinds that its plans had on offer for nothing.
        refusals: The codes of what was refused on the way.
        priced: What the plan wanted for the accuracy; None: it named no price.
    """

    answer: Answer | None = None
    spent: Loss = ZERO_LOSS
    offers: list[str] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    priced: Loss | None = None

    def take(self, found: Answer | Refusal) -> bool:
        """Keep an answer if it is the surest; say whether it is one."""
        if isinstance(found, Refusal):
            self.refusals.append(found)
            return False
        self.spent += found.spent
        if self.answer is None or found.widest < self.answer.widest:
            self.answer = found
        return True


@dataclass(frozen=True, slots=True)
class Turn:
    """A question whose turn it is.

    Attributes:
        asker: Of its group.
        question: Itself.
        left: How many questions of the group are left, with this one.
        even: An even part of the group's allotment at its beginning.
        least: What one query may spend at least.
    """

    asker: Asker
    question: Question
    left: int
    even: Loss
    least: Loss


Driver = Callable[[Turn], Told]


def even(turn: Turn) -> Told:
    """Ask once, for an even part of the allotment."""
    told = Told()
    told.take(turn.asker.ask(turn.question.sql, **{turn.asker.word: str(turn.even)}))
    return told


def defaults(turn: Turn) -> Told:
    """Ask as the product's plans advise."""
    return Advised(turn).asked()


class Advised:
    """Asks one question, with what plans tell of it."""

    def __init__(self, turn: Turn) -> None:
        self._turn, self._asker = turn, turn.asker
        self._sql = turn.question.sql
        self._is_count = turn.question.meaning.measure.is_count
        self._told = Told()
        self._how: dict[str, object] = {"accuracy": WISH}
        self._refused: Refusal | None = None

    def asked(self) -> Told:
        """Return what became of it."""
        for _ in range(_MOST_PROBES):
            plan = self._plan()
            if isinstance(plan, Refusal):
                break
            if self._is_unattainable:
                if not self._takes_probe(plan):
                    break
                continue
            if self._told.answer is None:
                self._take_offers(plan)
            if self._is_content():
                break
            if not self._probes(plan):
                self._buys(plan)
                break
        else:
            self._buys(plan)  # enough is known of how large the numbers are
        return self._told

    def _plan(self) -> Document | Refusal:
        """Return the plan of the wish; of an even part where there can be none."""
        plan = self._asker.plan(self._sql, **self._how)
        self._refused = plan if isinstance(plan, Refusal) else None
        if isinstance(plan, Refusal):
            self._told.refusals.append(plan)
            even = {self._asker.word: str(self._turn.even)}
            if plan.probe is None:
                self._how = even
            plan = self._asker.plan(self._sql, **even)
        elif self._told.priced is None:
            self._told.priced = self._asker.loss_of(plan)
        return plan

    def _take_offers(self, plan: Document) -> None:
        """Take what costs nothing: the answer alone tells how noisy it is."""
        for kind in dict.fromkeys(offer["kind"] for offer in plan["free"]):
            self._told.offers.append(kind)
            wanted = {} if kind == "answer" else {"options": {"prefer": kind}}
            self._take(**self._how, **wanted)
            if self._is_content():
                return

    def _buys(self, plan: Document | Refusal) -> None:
        """Buy the accuracy if it costs at most what a question may cost."""
        if isinstance(plan, Refusal):
            return
        most = self._part(plan, MANY_SHARES)
        if "accuracy" in self._how and self._asker.loss_of(plan) <= most:
            self._take(accuracy={**WISH, "at_most": str(most)})

    def _probes(self, plan: Document) -> bool:
        """Buy what the plan says would tell more; say whether that was bought.

        Before the accuracy itself: what is paid for a probe is no loss where it is
        bought, and makes it cheaper. Nothing where not even the largest numbers that
        there may be would make the accuracy cheap enough: what is left is for others.
        """
        if "accuracy" not in self._how:
            self._take(**{self._asker.word: str(self._part(plan, 1))})
            return False
        most, told = self._part(plan, MANY_SHARES), plan["priced_by"]
        at_best, probe = told["at_best"], told["probe"]
        if probe is None or (at_best is not None and Loss.parse(at_best) > most):
            return False
        return self._price_of(probe) <= most and self._take(**{self._asker.word: probe})

    @property
    def _is_unattainable(self) -> bool:
        """Whether the accuracy is refused until a probe says that numbers are large."""
        return self._refused is not None and self._refused.probe is not None

    def _takes_probe(self, plan: Document) -> bool:
        """Buy the probe that a refusal names, if it is cheap enough."""
        if self._refused is None or self._refused.probe is None:
            return False
        probe = self._asker.loss_of(self._refused.probe)
        request = self._refused.probe["request"][self._asker.word]
        cheap = probe <= self._part(plan, MANY_SHARES)
        return cheap and self._take(**{self._asker.word: request})

    def _price_of(self, probe: str) -> Loss:
        plan = self._asker.plan(self._sql, **{self._asker.word: probe})
        if isinstance(plan, Refusal):
            return Loss(0)  # it is refused when it is asked, too
        return self._asker.loss_of(plan)

    def _part(self, plan: Document, shares: int) -> Loss:
        """Return so many even parts of what is left, but what a query may spend."""
        left = Loss.parse(plan["remaining"]["project"])
        part = Loss(shares * left.nano_epsilon // self._turn.left)
        return max(part, self._turn.least)

    def _is_content(self) -> bool:
        answer = self._told.answer
        return answer is not None and seems_useful(
            answer.cells, is_count=self._is_count
        )

    def _take(self, **how: object) -> bool:
        return self._told.take(self._asker.ask(self._sql, **how))
