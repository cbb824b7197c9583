"""Names in a text: how they are written, and when they are meant."""

import pytest

from tests.unit.upstream.linkage.loop.patients import known, said
from upstream.linkage.loop.known import known_spans

ONE = known(given="José", last=("Muñoz", "Kowalski"))


@pytest.mark.parametrize(
    "text",
    [
        *("Jose Munoz", "JOSÉ MUÑOZ", "jose munoz", "Muñoz, José", "Muñoz,\nJosé"),
        *("José\nMuñoz", "J. Muñoz", "J Muñoz", "Muñoz, J", "José B. Muñoz"),
        *(
            "José Luis Muñoz",
            "Muñoz-Kowalski, José B",
            "José de la Muñoz",
            "Mun\u0303oz",
        ),
        *("Jose Kowlaski", "José Kowalsky", "José Kowaalski", "José Kowaski"),
        *("Kowal-\nski", "Muñoz\u2013Kowalski", "Muñoz Kowalski"),
    ],
)
def test_a_name_is_found_however_it_is_written(text):
    assert said(f"Seen: {text} was here.", ONE) == [text]
    assert said(text, ONE) == [text]


@pytest.mark.parametrize("text", ["Jose Munoz", "MUÑOZ", "J. Muñoz", "Muñoz, José"])
@pytest.mark.parametrize("possessive", ["'s", "\u2019s", "'"])
def test_a_possessive_does_not_belong_to_it(text, possessive):
    assert said(f"Seen: {text}{possessive} wife was here.", ONE) == [text]


@pytest.mark.parametrize(
    "text",
    [
        *("Munozx came", "Dr. Munoz came", "Dr. Susan Muñoz came", "Munoz, M.D. came"),
        *(
            "Muñoz Memorial Hospital was full",
            "a Kowalski test",
            "Munoz's disease is it",
        ),
        *(
            "Kowlaski came",
            "Joe came",
            "San José is far",
            "Nurse Munoz said",
            "J. came",
        ),
        *("Jos came", "Munoz MD, signed", "Kowalski Street is closed"),
    ],
)
def test_what_is_somebody_elses_or_doubtful_is_not_found(text):
    assert said(f"Then {text}.", ONE) == []


def test_a_title_makes_up_for_a_wrong_letter():
    assert said("Then Mrs. Kowlaski came", ONE) == ["Kowlaski"]
    assert said("Patient: Kowlaski", ONE) == ["Kowlaski"]


def test_a_word_with_one_wrong_letter_must_have_five_of_them_at_least():
    assert said("Then Mr. Munz came", ONE) == ["Munz"]
    assert said("Then Mr. Jse came", known(last="Jose")) == []


WILL = known(given="Will", last="Young")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("He will grow young.", []),
        ("Young man, Will power.", []),
        ("Will is here.", []),
        ("Will Young will go.", ["Will Young"]),
        ("Young, Will", ["Young, Will"]),
        ("Then W. Young came.", ["W. Young"]),
        ("Then Mr. Young came.", ["Young"]),
        ("mr. young came", ["young"]),
        ("WILL YOUNG WAS SEEN", ["WILL YOUNG"]),
        ("THE YOUNG MAN WILL GO", []),
        ("they will young and Old", []),
    ],
)
def test_a_name_that_is_a_word_has_a_capital_and_company(text, found):
    assert said(text, WILL) == found


def test_short_names_need_company():
    ng = known(given="Wei", last="Ng")
    assert said("Give 3 Ng of it. Ng here.", ng) == []
    assert said("Mr. Ng. Then Wei Ng or Ng, W", ng) == ["Ng", "Wei Ng", "Ng, W"]


@pytest.mark.parametrize("text", ["O'Brien", "O\u2019Brien", "OBrien", "O'BRIEN"])
def test_signs_inside_a_name_do_not_matter(text):
    assert said(f"Then Mr. {text} came", known(last="O'Brien")) == [text]
    assert said(f"Then Mr. {text} came", known(last="OBrien")) == [text]


@pytest.mark.parametrize(
    "text", ["De La Cruz", "de la Cruz", "Delacruz", "De  La\nCruz", "de-la-Cruz"]
)
def test_names_of_several_words_are_found_whole(text):
    assert said(f"Seen: {text} came.", known(last="De La Cruz")) == [text]


def test_a_whole_name_is_one_of_parts():
    facts = known(whole=("Lee, Mary B.", "Mr. John St. Clair Jr."))
    assert said("Mary Lee, then John Clair", facts) == ["Mary Lee", "John Clair"]
    assert said("Seen: Mr. Jr. B.", facts) == []


def test_parts_of_two_types_are_two_spans():
    types = {"given": "FIRST", "last": "LAST"}
    spans = known_spans("Seen J. Muñoz and José B. Muñoz", ONE, types)
    assert [(span.start, span.end, span.label) for span in spans] == [
        (5, 13, "LAST"),
        (18, 22, "FIRST"),
        (26, 31, "LAST"),
    ]


def test_more_words_can_be_said_to_be_common():
    text = "Then Kowalski came"
    assert len(known_spans(text, ONE, {"last": "NAME"})) == 1
    assert known_spans(text, ONE, {"last": "NAME"}, frozenset(["kowalski"])) == ()


def test_an_initial_before_another_surname_is_no_part_of_it():
    jason = known(given="Jason", last="Hill")
    assert said("Seen: Jason H. Black, Jason H", jason) == ["Jason", "Jason H"]
    assert said("Dr. Jason H. Black", jason) == []


def test_names_on_both_sides_of_a_blank_line_are_two():
    assert said("Seen: José\n\n\nMuñoz came", ONE) == ["José", "Muñoz"]
    assert said("He saw José. Muñoz came", ONE) == ["José", "Muñoz"]
