"""A coin decides whether the target is there; an attacker spends all and guesses.

The attacker knows every other row and the whole interface. Each round has a budget of
its own: a project whose allotment is B. Allotments stand in for caps, so that rounds
can share two servers; hence the projects keep their history private, else stored
answers of other rounds would be free, and the losses of all rounds would add up. No
attack, however clever, is right more often than e^B / (1 + e^B).
"""

import secrets
from decimal import Decimal
from http import HTTPStatus

from tests.audit.instruments.arms import Line, Question
from tests.audit.subjects.suites import ONE, UNITS

NARROW = f"SELECT {UNITS} FROM visits WHERE age = 40"
WIDE = f"SELECT {UNITS} FROM visits"
FIRST = Decimal("0.2")
SURE = 0.15  # evidence after which the attacker asks otherwise


class Attacker:
    """Chooses text and epsilon from the answers so far; weighs exact likelihoods."""

    def __init__(self, line, budget, counts_without):
        self._line = line
        self._budget = self._left = Decimal(str(budget))
        self._counts = counts_without  # known answers without the target, by text
        self.evidence = 0.0  # log of P(answers | present) / P(answers | absent)

    def guess(self):
        """Spend everything, then say whether the target is there."""
        self._ask(NARROW, self._left * FIRST)
        if abs(self.evidence) > SURE:
            self._ask(WIDE, self._left / 2)
        self._ask(NARROW, self._left)
        self._derive()
        self._beg()
        if self.evidence == 0:
            return secrets.randbelow(2) == 1
        return self.evidence > 0

    def _ask(self, sql, epsilon):
        epsilon = epsilon.quantize(Decimal("0.001"))
        body = self._line.answer(Question(ONE.dataset, sql, str(epsilon)))
        self._left -= epsilon
        assert Decimal(body["charge"]["epsilon"]) == epsilon
        assert Decimal(body["remaining"]["project"]) == self._left
        self._weigh(sql, body)
        if self._left == self._budget - epsilon:
            self._average(sql, str(epsilon), body)

    def _weigh(self, sql, body):
        value, scale = body["rows"][0][0], float(body["noise"][0]["scale"])
        count = self._counts[sql]
        self.evidence += (abs(value - count) - abs(value - count - 1)) / scale

    def _average(self, sql, epsilon, body):
        """Ask again for nothing: fresh noise here would win every game."""
        again = self._line.answer(Question(ONE.dataset, sql, epsilon, reuse="allow"))
        if again["rows"] != body["rows"]:
            self._weigh(sql, again)

    def _derive(self):
        """Ask what follows from all that was paid: fresh noise would win every game."""
        for sql in (NARROW, WIDE):
            free = Question(ONE.dataset, sql, "0.5", reuse="allow", prefer="paid")
            first, second = (self._line.post(free) for _ in range(2))
            if first[0] == second[0] == HTTPStatus.OK:
                assert first[1]["charge"]["epsilon"] == "0"
                if first[1]["rows"] != second[1]["rows"]:
                    mean = (first[1]["rows"][0][0] + second[1]["rows"][0][0]) / 2
                    self.evidence += mean - self._counts[sql] - 0.5

    def _beg(self):
        """Ask when nothing is left: an answer here would win every game."""
        status, body = self._line.post(Question(ONE.dataset, NARROW, "0.5"))
        if status == 200:
            self._weigh(NARROW, body)


def play(arms, urls, budget, rounds, tell=None):
    """Play; return how many guesses were right."""
    sides = arms.absent, arms.present
    coins = [secrets.randbelow(2) for _ in range(rounds)]
    keys = [
        iter(side.projects(coins.count(coin), str(budget), ONE.dataset))
        for coin, side in enumerate(sides)
    ]
    counts = {NARROW: _shared_at_40(), WIDE: 60}
    right = 0
    for number, coin in enumerate(coins, start=1):
        with Line(urls[1 - coin], next(keys[coin])) as line:
            right += Attacker(line, budget, counts).guess() == bool(coin)
        if tell is not None:
            tell(number)
    return right


def _shared_at_40():
    return sum(row.split(",")[2] == "40" for row in ONE.shared)
