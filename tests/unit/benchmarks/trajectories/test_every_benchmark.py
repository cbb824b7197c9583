"""The benchmarks of codes and notes run, on few made-up patients."""

import random
import sys

import pytest

from benchmarks.trajectories.codes import WIDTHS, described, lda_line, main
from benchmarks.trajectories.cohorts import (
    COHORTS,
    REPEATED,
    SAMPLE_MEANS,
    draw_repeats,
    draw_trajectories,
)
from benchmarks.trajectories.notes import (
    METHODS,
    PEOPLE,
    VISITS,
    draw_records,
    published,
    risks_of,
    scored,
    search_terms,
)
from upstream.trajectories.codes.ages import age_tree
from upstream.trajectories.codes.icd9cm import icd9cm_tree
from upstream.trajectories.lda.queries import frequent_queries
from upstream.trajectories.lda.trajectories import cohort_of

LABELS = ["Surgery", "Cardiology", "Radiology"] * 20
WORDS = [[label, str(place % 7), str(place % 5)] for place, label in enumerate(LABELS)]


def test_both_tables_of_codes_are_printed(monkeypatch, capsys):
    few = ["--people", "2000", "--records", "60", "--cohorts", "1", "--k", "2"]
    monkeypatch.setattr(sys, "argv", ["codes", *few])
    main()
    printed = capsys.readouterr().out
    assert printed.count("| 5 |") >= 8
    assert "| 2 | A-GS |" in printed
    assert "| 2 | Baseline |" in printed


@pytest.mark.long
def test_made_up_cohorts_have_the_numbers_of_table_3():
    for numbers in COHORTS:
        drawn = draw_trajectories(numbers)[:1500]
        pairs = sum(map(len, drawn)) / len(drawn)
        codes = sum(len({code for code, _ in each}) for each in drawn) / len(drawn)
        assert pairs == pytest.approx(numbers.pairs, rel=0.1)
        assert codes == pytest.approx(numbers.codes, rel=0.1)
        assert numbers.name in described(numbers, drawn)


def test_a_gs_loses_less_than_baseline():
    drawn = draw_trajectories(COHORTS[2])[:300]
    codes = {code for record in drawn for code, _ in record}
    cohort = cohort_of(drawn, icd9cm_tree(codes), age_tree(1, 128, WIDTHS))
    queries = frequent_queries(cohort.trajectories, 0.02)
    lines = [lda_line(cohort, 5, name, queries) for name in ("A-GS", "Baseline")]
    losses = [[float(cell) for cell in line.split("|")[3:5]] for line in lines]
    assert sum(losses[0]) < sum(losses[1])


def test_repeats_are_of_people_with_a_disease():
    records = draw_repeats(SAMPLE_MEANS, 500, random.Random(1))
    assert all(records)
    assert {code for record in records for code in record} == set(REPEATED)


def test_every_method_publishes_notes_and_is_scored():
    records = draw_records(LABELS)
    clusters = [tuple(range(start, start + 3)) for start in range(0, 60, 3)]
    for name in METHODS:
        method = published(name, (records, VISITS), clusters, 3)
        assert len(scored(records, WORDS, search_terms(WORDS), method)) == 3
        risk, unique = risks_of(
            records, published(name, (records, PEOPLE), clusters, 3).rows
        )
        assert 0 < risk <= 1
        assert name == "Safe Harbor" or (risk <= 1 / 3 and unique == 0)
