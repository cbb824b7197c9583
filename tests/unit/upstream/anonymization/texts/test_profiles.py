"""What becomes of each kind."""

import pytest

from upstream.anonymization.texts.kinds import INDIRECT, Kind
from upstream.anonymization.texts.profiles import Action, profile


@pytest.mark.parametrize("name", ["full", "partial", "statistical", "safe_harbor"])
@pytest.mark.parametrize("replacement", ["tag", "surrogate"])
def test_every_kind_has_an_action_and_who_is_named_never_stays(name, replacement):
    actions = profile(name, replacement).actions
    assert set(actions) == set(Kind)
    direct = {actions[kind] for kind in Kind if kind not in INDIRECT}
    assert direct <= {Action.TAG, Action.SURROGATE}


def test_full_keeps_nothing():
    for replacement in ("tag", "surrogate"):
        kept = profile("full", replacement).actions.values()
        assert Action.KEEP not in kept


def test_partial_keeps_and_statistical_generalizes_what_narrows_down():
    assert {profile("partial").actions[kind] for kind in INDIRECT} == {Action.KEEP}
    told = profile("statistical").actions
    assert {told[kind] for kind in INDIRECT} == {Action.GENERALIZE}


def test_safe_harbor_keeps_years_ages_to_89_and_three_digits():
    told = profile("safe_harbor", "surrogate").actions
    assert told[Kind.DATE] is told[Kind.BIRTH_DATE] is Action.YEAR
    assert told[Kind.AGE] is Action.TOP_CODE
    assert told[Kind.ZIP] is Action.ZIP3
    assert told[Kind.PLACE] is told[Kind.ORGANIZATION] is Action.SURROGATE


def test_dates_are_shifted_and_ages_tagged_where_surrogates_are_asked_for():
    told = profile("full", "surrogate").actions
    assert told[Kind.DATE] is Action.SHIFT
    assert told[Kind.AGE] is told[Kind.PHOTO] is Action.TAG
