"""The benchmarks of extraction run, on a few generated notes."""

from argparse import Namespace
from itertools import islice

import pytest

from benchmarks.extraction.corpora import DATA, asq_parts
from benchmarks.extraction.dast import untrained_rules
from benchmarks.extraction.dictionaries import are_installed, dictionaries_of
from benchmarks.extraction.growth import tagged
from benchmarks.extraction.hide import _features
from benchmarks.extraction.meddocan import parts_of
from benchmarks.extraction.presidio import INJECTED, PresidioFinder, is_installed
from benchmarks.extraction.sampling import Point, point
from benchmarks.extraction.speed import measured
from benchmarks.extraction.tables import overview_line
from benchmarks.extraction.trained import for_recall, judged, spec_of, trained
from server.demo.notes.notes import draw_notes
from upstream.extraction.features.feature_set import FeatureChoices
from upstream.extraction.models.sampling import Window
from upstream.extraction.models.training import GoldStandard

pytestmark = pytest.mark.slow
QUICK = '{"training": {"algorithm": "ap", "iterations": 4}}'
NOTES = list(islice(draw_notes(40, seed=5), 80))
GOLD = GoldStandard(NOTES[:40], NOTES[40:60])
HELD = NOTES[60:]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    trained("quick", spec_of(QUICK), GOLD, path)
    return path


@pytest.mark.long
def test_a_kept_model_is_read_instead_of_trained(kept):
    again = trained("other", spec_of(QUICK), GoldStandard([]), kept)
    assert again.name == "quick"


def test_thresholds_for_recall_leave_fewer_characters(kept):
    model = trained("quick", spec_of(QUICK), GOLD, kept)
    best = judged(model, HELD)
    careful = judged(for_recall(model, GOLD.tune), HELD)
    leaked = [each.judgement.characters.missed for each in (best, careful)]
    assert leaked[1] <= leaked[0]
    assert best.tokens > 1000
    assert overview_line("x", best.judgement).count("|") == 12


def test_every_part_of_tagging_is_timed(kept):
    model = trained("quick", spec_of(QUICK), GOLD, kept)
    found = measured(model, [each.document.text for each in HELD])
    assert found["tokens"] > 1000
    assert min(found.values()) > 0
    tokens, seconds, peak = tagged(kept, 10)
    assert tokens > 300
    assert seconds > 0 < peak


@pytest.mark.long
def test_sampling_tells_how_many_tokens_are_kept():
    found = point(Window(near=1), GOLD, HELD)
    assert isinstance(found, Point)
    assert 0.1 < found.kept < 0.9
    assert found.judgement.strict().right > 50


def test_subsets_of_features_are_hides_groups():
    assert _features("rc", GOLD) == FeatureChoices(
        affixes=False,
        dictionaries=False,
        **dict.fromkeys(
            set(FeatureChoices.model_fields)
            - {"expressions", "affixes", "context", "dictionaries", "window"},
            False,
        ),
    )


def test_untrained_rules_find_names_dates_and_ages_alone():
    rules = untrained_rules({"NAME": "PATIENT", "DATE": "DATE", "AGE": "AGE"})
    text = "Mr. Ray Cole, 61 y/o, seen 3/14/2024, call 555-201-4478"
    assert [text[s.start : s.end] for s in rules.find(text)] == [
        "Ray Cole",
        "61 y/o",
        "3/14/2024",
    ]


@pytest.mark.skipif(not are_installed(), reason="optional packages are not here")
def test_dictionaries_are_made_of_installed_packages():
    names = [each.name for each in dictionaries_of("es")]
    assert names == ["city", "country", "first", "last", "region"]


@pytest.mark.skipif(not is_installed(), reason="presidio-analyzer is not here")
def test_presidio_is_mapped_to_our_types():
    (spans,) = PresidioFinder(INJECTED).find(["seen 03/12/2024, call 555-201-4478"])
    assert {span.label for span in spans} == {"DATE", "PHONE"}


@pytest.mark.skipif(not (DATA / "asq_phi").exists(), reason="no asq-phi here")
def test_queries_are_split_by_their_ids():
    parts = asq_parts(DATA)
    ids = [{q.document.id for q in p} for p in (parts.train, parts.tune, parts.judge)]
    assert not ids[0] & ids[1] | ids[1] & ids[2] | ids[0] & ids[2]
    shares = [len(each) / sum(map(len, ids)) for each in ids]
    assert shares == pytest.approx([0.6, 0.1, 0.3], abs=0.01)


@pytest.mark.skipif(not (DATA / "meddocan").exists(), reason="no MEDDOCAN here")
def test_half_of_dev_is_judged_and_the_other_tuned_on():
    parts = parts_of(DATA, None, half=True)
    tuned = {each.document.id for each in parts.tune}
    assert not tuned & {each.document.id for each in parts.judge}
    assert len(parts.train) == 500


def test_missing_data_is_told_by_its_name(tmp_path):
    with pytest.raises(SystemExit, match="name its folder with --data"):
        parts_of(Namespace(data=tmp_path).data, None, half=False)
