"""Statistical de-identification: what stands for patients' values, by either method."""

import re
from collections import Counter, defaultdict
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.effort import rounds
from upstream.anonymization.errors import UnreachableError
from upstream.anonymization.texts.declared_statistical import Statistical
from upstream.anonymization.texts.deidentifying import Deidentifier, Patient
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.profiles import profile
from upstream.anonymization.texts.statistical import StatisticalView
from upstream.anonymization.texts.views import ViewBuilder
from upstream.anonymization.texts.written_dates import DateReading
from upstream.extraction.text.spans import Span

NOTES = {
    "p1": ("88", "25 April 2009", "Tufts", "fever throat headache nose"),
    "p2": ("52", "13 March 2009", "Mass General", "joint throat fever"),
    "p3": ("5", "5 April 2009", "Emory", "nose headache vomiting"),
    "p4": ("17", "20 August 2009", "UT Southwestern", "abdomen fatigue urine"),
    "p5": ("64", "19 July 2009", "Johns Hopkins", "abdomen fatigue jaundice"),
}
"""The five notes of figure 2 of Li and Qin 2017."""
QUASI = {
    "age": {"kind": "number"},
    "date": {"kind": "date", "levels": ["month", "year"]},
    "organization": {"kind": "category"},
}


def view_of(notes, method, k, quasi=None):
    """Return the view of notes."""
    told = Statistical.model_validate(
        {"k": k, "method": method, "quasi_identifiers": quasi or QUASI}
    )
    builder = ViewBuilder([Kind(one) for one in told.quasi_identifiers], DateReading())
    for patient, (age, day, place, _) in notes.items():
        builder.add_patient(patient)
        builder.add(patient, Kind.AGE, age)
        builder.add(patient, Kind.DATE, day)
        builder.add(patient, Kind.ORGANIZATION, place)
    terms = [notes[patient][3].split() for patient in sorted(notes)]
    return StatisticalView(builder.view(), told, terms, None)


def test_patients_of_like_values_have_ranges_in_common():
    told = view_of(NOTES, "mondrian", 2).generalized()
    ages = {p: own[Kind.AGE][NOTES[p][0]] for p, own in told.texts.items()}
    assert min(Counter(ages.values()).values()) >= 2
    assert ages["p3"] == ages["p4"] == "[age [5-17]]"
    assert told.measures["prosecutor"] <= 1 / 2


def test_patients_of_like_texts_have_lists_in_common():
    told = view_of(NOTES, "dast", 2).generalized()
    assert told.texts["p4"][Kind.ORGANIZATION]["UT Southwestern"] == (
        "[organization johns hopkins | ut southwestern]"
    )
    assert told.texts["p5"][Kind.DATE]["19 July 2009"] == "[date 2009-07 | 2009-08]"
    assert "5" in told.texts["p3"][Kind.AGE]["5"]
    assert told.measures["unique"] == 0.0
    assert told.measures["average_risk"] <= 1 / 2


def test_more_patients_alike_lose_more():
    choices = list(view_of(NOTES, "mondrian", 4).choices())
    assert [one["k"] for one in choices] == [2, 3, 4, 5]
    assert choices[0]["lm"] < choices[-1]["lm"]
    lists = list(view_of(NOTES, "dast", 6).choices())
    assert [(one["k"], one["is_possible"]) for one in lists[-2:]] == [
        *((5, True), (6, False))
    ]
    with pytest.raises(
        UnreachableError, match="6 patients of whom texts say the same kinds"
    ):
        view_of(NOTES, "dast", 6).generalized()


def test_only_the_value_that_most_spans_say_is_generalized():
    builder = ViewBuilder([Kind.AGE, Kind.SEX], DateReading())
    builder.add_patient("p1")
    for text in ("56 y/o", "56", "57", "about that"):
        builder.add("p1", Kind.AGE, text)
    builder.add("p1", Kind.NAME, "Ada")
    view = builder.view()
    assert view.columns == {Kind.AGE: ["56"], Kind.SEX: [None]}
    assert set(view.written[0][Kind.AGE]) == {"56 y/o", "56"}
    assert not view.written[0][Kind.SEX]
    assert view.tagged == [{Kind.AGE}]


def test_lists_are_of_patients_whose_texts_say_the_same_kinds():
    quasi = {"age": {"kind": "number"}, "organization": {"kind": "category"}}
    notes = {f"p{n}": ("44", "", "north" if n > 3 else "", "a b") for n in range(8)}
    notes["p8"] = ("97", "", "", "a b")
    told = view_of(notes, "dast", 4, quasi).generalized()
    assert told.texts["p8"][Kind.AGE].keys() == {"97"}
    assert told.texts["p5"][Kind.ORGANIZATION] == {"north": "[organization north]"}
    assert not any("not said" in str(own) for own in told.texts.values())
    alone = {f"p{n}": ("", "", "", "a b") for n in range(5)} | {
        "p5": ("97", "", "", "a b")
    }
    told = view_of(alone, "dast", 2, {"age": {"kind": "number"}}).generalized()
    assert told.texts["p5"][Kind.AGE] == {}
    assert told.measures["withheld"] == round(1 / 6, 4)


@pytest.mark.parametrize("method", ["mondrian", "dast"])
def test_who_says_nothing_hides_nobody_who_says_something(method):
    notes = {f"p{n}": ("", "", "", "a b c") for n in range(3)}
    notes |= {"p3": ("97", "", "", "a b c")}
    quasi = {"age": {"kind": "number"}}
    told = view_of(notes, method, 2, quasi).generalized()
    assert told.texts["p3"][Kind.AGE] == {}
    assert told.measures["withheld"] == 0.25


@settings(max_examples=rounds(400, 20), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["30", "31", "45", "46", "80"]),
            st.sampled_from(["1 May 2024", "2 May 2024", "5 June 2023", "some day"]),
            st.sampled_from(["north", "south"]),
            st.sampled_from(["fever nose", "fever", "abdomen", "abdomen fatigue"]),
        ),
        min_size=3,
        max_size=24,
    ),
    st.integers(2, 3),
    st.sampled_from(["mondrian", "dast"]),
)
def test_whatever_is_written_is_written_of_k_patients(rows, k, method):
    notes = {f"p{n:02d}": row for n, row in enumerate(rows)}
    try:
        told = view_of(notes, method, k).generalized()
    except UnreachableError:
        says = Counter(day == "some day" for _, day, _, _ in rows)
        assert max(says.values()) < k
        return
    if method == "mondrian":
        looks = Counter(
            tuple(sorted((kind, *set(own.values())) for kind, own in each.items()))
            for each in told.texts.values()
            if all(each.values())
        )
        assert told.measures["prosecutor"] <= 1 / k
        assert sum(looks.values()) <= len(rows)
    else:
        assert told.measures["average_risk"] <= 1 / k
        assert told.measures["unique"] == 0.0


LABELS = {"AGE": Kind.AGE, "DATE": Kind.DATE, "CITY": Kind.PLACE, "TOWN": Kind.PLACE}
SAID = re.compile(r"(AGE|DATE|CITY|TOWN)=([^;]*);")
OF_TAGS = {
    "age": {"kind": "number"},
    "date": {"kind": "date", "levels": ["year"]},
    "place": {"kind": "category", "order": ["Berlin", "Hamburg"]},
}


def spans_of(text):
    return [Span(*one.span(2), one[1]) for one in SAID.finditer(text)]


def copies_of(texts, method, k):
    """Return what is given out of texts of one patient each: their tags, in order."""
    told = Statistical.model_validate(
        {"k": k, "method": method, "quasi_identifiers": OF_TAGS}
    )
    own = Deidentifier(profile("statistical"), LABELS, DateReading())
    builder = ViewBuilder([Kind(one) for one in OF_TAGS], DateReading())
    names = [f"p{number:02d}" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        builder.add_patient(name)
        for kind, said in own.said(text, spans_of(text)):
            builder.add(name, kind, said)
    terms = [["fever", "nose"] if len(text) % 2 else ["jaundice"] for text in texts]
    written = StatisticalView(builder.view(), told, terms, None).generalized().texts
    done = [
        own.rewrite(text, spans_of(text), Patient(generalized=written[name])).text
        for name, text in zip(names, texts, strict=True)
    ]
    return [frozenset(re.findall(r"\[(?:[^\[\]]|\[[^\]]*\])*\]", one)) for one in done]


@pytest.mark.parametrize("method", ["mondrian", "dast"])
@pytest.mark.parametrize(
    "other",
    [
        "CITY=Kleinkleckersdorf;",  # which no order lists
        "DATE=3/5/24;",  # which is not read for sure
        "AGE=57;",  # which most of his spans do not say
    ],
)
def test_who_is_alone_by_a_tag_is_not_grouped_with_who_has_none(method, other):
    texts = ["AGE=44;", "AGE=45;", "AGE=45;", f"AGE=46;AGE=46;{other}"]
    *rest, last = copies_of(texts, method, 3)
    assert all(shown for one in rest for shown in one if shown.startswith("[age ["))
    assert last == {"[AGE]", "[PLACE]", "[DATE]"} & last
    assert last


def test_overlapping_spans_of_two_types_are_said_as_what_they_become():
    own = Deidentifier(profile("statistical"), LABELS, DateReading())
    spans = [Span(0, 2, "AGE"), Span(0, 4, "TOWN"), Span(5, 11, "CITY")]
    said = list(own.said("44 x Berlin", spans))
    assert said[1] == (Kind.PLACE, "Berlin")
    assert said[0][1] is None
    builder = ViewBuilder([Kind.AGE, Kind.PLACE], DateReading())
    builder.add_patient("p1")
    for kind, words in said:
        builder.add("p1", kind, words)
    assert builder.view().tagged == [{said[0][0]}]


TEXTS = st.lists(
    st.sampled_from(
        [
            *("AGE=44;", "AGE=45;", "AGE=61;", "AGE=old;", "DATE=5 May 2024;"),
            *("DATE=3/5/24;", "DATE=6 June 2023;", "CITY=Berlin;", "TOWN=hamburg;"),
            *("CITY=Ulm;", "TOWN=Ulm;"),
        ]
    ),
    max_size=3,
).map("".join)


@settings(max_examples=rounds(2_000, 60), deadline=None)
@given(
    st.lists(TEXTS, min_size=2, max_size=14),
    st.integers(1, 3),
    st.integers(2, 3),
    st.sampled_from(["mondrian", "dast"]),
)
def test_nobody_of_whom_a_value_is_written_is_alone_by_what_shows(texts, times, k, how):
    try:
        copies = copies_of(texts * times, how, k)
    except UnreachableError:
        return
    alike = defaultdict(list)
    for shown in copies:
        pattern = frozenset(one.partition(" ")[0] for one in shown)
        if any(one.startswith("[" + kind + " ") for one in shown for kind in OF_TAGS):
            alike[pattern].append({one for one in shown if " " in one})
    for rows in alike.values():
        told = [_profiles(one) for one in rows]
        for profiles in told:
            assert all(sum(each in other for other in told) >= k for each in profiles)


def _profiles(shown):
    """Return what a row may be: each value of a list; of a range, the range."""
    lists = [one.partition(" ")[2][:-1].split(" | ") for one in sorted(shown)]
    return set(product(*lists))


@pytest.mark.parametrize(
    "quasi",
    [
        {},
        {"name": {"kind": "category"}},
        {"sex": {"kind": "codes", "system": "icd10"}},
        {"age": {"kind": "numbers"}},
    ],
)
def test_what_names_people_is_never_generalized(quasi):
    with pytest.raises(ValidationError):
        Statistical.model_validate({"k": 2, "quasi_identifiers": quasi})
