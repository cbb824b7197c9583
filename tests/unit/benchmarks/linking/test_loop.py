"""The benchmark of the loop runs, and judges rightly."""

import pytest

from benchmarks.extraction.trained import spec_of
from benchmarks.linking.corpora import demo_corpus
from benchmarks.linking.loop import WAYS, line, looped, print_rounds, together
from benchmarks.linking.looped import Ways
from benchmarks.linking.matching import judge_pairs, match
from benchmarks.linking.scored import link_by_weights, single

pytestmark = pytest.mark.slow
QUICK = spec_of('{"training": {"algorithm": "ap", "iterations": 4}}')


@pytest.fixture(scope="module")
def corpus():
    return demo_corpus(60, 20)


@pytest.mark.long
def test_a_loop_ends_and_leaks_no_more_than_without_it(corpus):
    steps = looped(corpus, Ways(QUICK), 4)
    leaked = [found.spans.characters.missed for _, found in steps]
    assert len(steps) > 1
    assert leaked[-1] < leaked[0]
    assert line(*steps[0]).count("|") == 12


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(WAYS))
def test_every_way_runs(corpus, name, capsys):
    steps = looped(corpus, Ways(QUICK, **WAYS[name]), 2)
    print_rounds(name, steps)
    assert f"| {name} |" in capsys.readouterr().out


@pytest.mark.long
def test_match_weights_link_better_than_nothing(corpus):
    ((_, found),) = looped(corpus, Ways(QUICK, link=link_by_weights), 1)
    assert found.linked > 0
    assert found.pairs.precision > 0.5


def test_a_note_has_one_day_of_birth_years_before_its_other_days():
    note = {"name": ("Mary Lee",), "born": ("3/5/2024", "3/4/1960", "3/6/24")}
    assert single(note) == {
        "name": "Mary Lee",
        "given": "mary",
        "last": "lee",
        "born": "1960-03-04",
    }
    assert "born" not in single({**note, "born": ("3/5/2024", "3/6/24")})


@pytest.mark.long
def test_hospitals_are_counted_together_and_one_that_ended_stays(corpus):
    steps = looped(corpus, Ways(QUICK), 3)
    both = list(together([steps, steps[:1]]))
    assert len(both) == len(steps)
    last, judged = both[-1]
    assert last.documents == steps[-1][0].documents + steps[0][0].documents
    assert last.spans == steps[-1][0].spans
    assert len(judged.spans.documents) == 2 * len(corpus.notes)


def test_a_round_that_gains_nothing_is_told(corpus, capsys):
    steps = looped(corpus, Ways(QUICK, known=False), 3)
    print_rounds("nothing", steps)
    out = capsys.readouterr().out
    assert "| round 2, gained nothing |" in out
    assert "The loop gained nothing." in out


def test_records_are_matched_by_keys_that_they_share():
    records = {
        "a": {"given": ("Mary A.",), "last": ("Núñez",), "born": ("1960-03-05",)},
        "b": {
            "name": ("Nunez, Mary",),
            "born": ("March 5, 1960",),
            "no": ("MR-1234567",),
        },
        "c": {"no": ("01234567",)},
        "d": {"given": ("Mary",), "last": ("Nunez",), "born": ("1985-03-05",)},
    }
    found = match(records)
    assert found["a"] == found["b"] == found["c"] != found["d"]


def test_one_phone_does_not_make_a_father_his_son():
    home = {"given": ("Jo",), "last": ("Lee",), "phone": ("663 555 2073",)}
    father, son = ({**home, "born": (day,)} for day in ("1950-01-02", "1980-03-04"))
    found = match({"father": father, "son": son})
    assert found["father"] != found["son"]
    found = match({"father": father, "unknown": home})
    assert found["father"] == found["unknown"]


def test_pairs_are_judged_by_the_truth():
    truth = dict(zip("abcde", "11122", strict=True))
    counts = judge_pairs(dict(zip("abcde", [1, 1, 2, 2, 3], strict=True)), truth)
    assert (counts.right, counts.false, counts.missed) == (1, 1, 3)
