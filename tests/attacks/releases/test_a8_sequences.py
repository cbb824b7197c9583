"""A8, of sequences: no path, file or byte is there because one patient exists."""

import pytest

import server.use_cases.publishing.job as at_work
from release.sequences.strategies.registry import STRATEGIES
from tests.attacks.releases.test_a8_releases import bytes_of
from tests.audit.instruments.replays import KeepingMeter, ReplayingMeter
from tests.support.installations.arms import CANARIES, ROWS, make_installation
from tests.support.installations.publishing import Press, paths

BY_SEX = {"column": "sex"}
MONTHS = {"every": "1 month", "start": "first", "take": "count", "bins": [2]}
FORMS = {
    "symbols": {"split": BY_SEX},
    "periods": {"symbol": None, "periods": MONTHS},
}


@pytest.fixture(scope="module")
def presses(tmp_path_factory):
    return {
        arm: Press(make_installation(tmp_path_factory.mktemp(arm), rows))
        for arm, rows in ROWS.items()
    }


@pytest.mark.sampled
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_with_the_same_noisy_values_arms_publish_the_same_paths(
    presses, strategy, form, monkeypatch
):
    """What mechanisms returned on one arm is returned on the others."""
    told = paths(f"{strategy}_{form}", strategy=strategy, epsilon="4", **FORMS[form])
    kept, folders = [], []
    for arm in ("with", "without", "empty"):
        meters = []

        def make(charge, parts, sampler, measure, noise, *, meters=meters, kept=kept):
            assert measure.is_pure
            assert not noise.has_l2
            meters.append(
                ReplayingMeter(charge, parts, kept)
                if kept
                else KeepingMeter(charge, parts, sampler)
            )
            return meters[0]

        monkeypatch.setattr(at_work, "Meter", make)
        done = presses[arm].publish(told)
        assert done["state"] == "done", done["error"]
        release = done["result"]["release"]
        (folder,) = (p for p in presses[arm].folders() if p.name.startswith(release))
        folders.append(folder)
        kept = kept or meters[0].kept
    first, *others = map(bytes_of, folders)
    assert "tree.csv" in first
    for other in others:
        assert other == first


def test_nothing_that_rows_hold_beyond_the_alphabet_is_in_a_file(presses):
    job = presses["with"].publish(paths("canaries", epsilon="400"))
    assert job["state"] == "done"
    release = job["result"]["release"]
    (folder,) = (p for p in presses["with"].folders() if p.name.startswith(release))
    written = b"".join(path.read_bytes() for path in folder.iterdir())
    assert [canary for canary in CANARIES if canary.encode() in written] == []
