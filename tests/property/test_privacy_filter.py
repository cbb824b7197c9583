"""The filter against an oracle in exact fractions, whatever is asked in any order."""

import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from budget.ledger import Charged, Refused, Scope
from privacy.losses import MAX_NANO, NANO, Loss
from tests.support.installations.stored_ledgers import StoredLedger

SCOPES = [
    Scope.population("people"),
    Scope.population("others"),
    Scope.project("study"),
    Scope.project("trial"),
    Scope.principal("study", "ada"),
]
losses = st.one_of(
    st.integers(1, 5),
    st.integers(1, 3 * NANO),
    st.sampled_from([1, NANO // 3, NANO, 999_999 * NANO]),
).map(Loss)
limits = st.one_of(losses, st.just(Loss(MAX_NANO)))


class FilterAgainstOracle(RuleBasedStateMachine):
    """Charges and limits in any order; sums in fractions, by hand."""

    def __init__(self):
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._stored = StoredLedger(Path(self._folder.name))
        self._ledger = self._stored.create()
        self._limits = {SCOPES[0]: Fraction(10), SCOPES[2]: Fraction(5)}
        self._spent = defaultdict(Fraction)

    def teardown(self):
        assert self._ledger.verify([]).ok
        self._stored.databases.close()
        self._folder.cleanup()

    def _left(self, scope):
        if scope not in self._limits:
            return Fraction(0) if scope.must_be_limited else None
        return max(Fraction(0), self._limits[scope] - self._spent[scope])

    @rule(scope=st.sampled_from(SCOPES), amount=limits)
    def limit(self, scope, amount):
        with self._ledger.recorded("limit", "local:test") as change:
            change.set_limit(scope, amount)
        self._limits[scope] = amount.epsilon

    @rule(
        scopes=st.lists(st.sampled_from(SCOPES), min_size=1, unique=True), loss=losses
    )
    def charge(self, scopes, loss):
        fits = all(
            (left := self._left(scope)) is None or loss.epsilon <= left
            for scope in scopes
        )
        request = self._stored.request(loss=loss, scopes=tuple(scopes))
        outcome = self._ledger.charge(request)
        assert isinstance(outcome, Charged if fits else Refused)
        if fits:
            for scope in scopes:
                self._spent[scope] += loss.epsilon
        assert outcome.remaining == self._expected_remaining(scopes)

    @rule(scopes=st.just([SCOPES[0], SCOPES[2]]))
    def charge_exactly_what_is_left_and_one_nano_more(self, scopes):
        left = min(self._left(scope) for scope in scopes)
        nano = int(left * NANO)
        if 0 < nano < MAX_NANO:
            more = self._stored.request(loss=Loss(nano + 1), scopes=tuple(scopes))
            assert isinstance(self._ledger.charge(more), Refused)
            self.charge(scopes, Loss(nano))

    def _expected_remaining(self, scopes):
        lefts = {scope: self._left(scope) for scope in scopes}
        return {
            scope: None if left is None else Loss(int(left * NANO))
            for scope, left in lefts.items()
        }

    @invariant()
    def counters_are_exact(self):
        for scope in SCOPES:
            assert self._ledger.spent(scope).epsilon == self._spent[scope]


FilterAgainstOracle.TestCase.settings = settings(
    max_examples=12,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestFilterAgainstOracle = FilterAgainstOracle.TestCase
