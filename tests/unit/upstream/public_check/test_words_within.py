"""Ids of letters alone among other words: found on purpose, not by accident."""

import itertools

import pytest

from tests.unit.upstream.public_check.test_published_ids import known, publish
from upstream.errors import IngestionError
from upstream.public_check.public_watch import Surroundings

LETTERS = "bcdfghjklmnpqrst"
CODES = ["kjx" + "".join(four) for four in itertools.product(LETTERS[:5], repeat=4)]
MAILS = [f"{code[3:]}.{code}@uni.org" for code in CODES]
SURNAMES = """
baker black brown clark cooke grant green james jones lewis moore price scott
smith stone white woods young
"""
ORDINARY = """
about acute adult after again blood brain bowel chest chief cough daily death
delay doses drain drugs early elbow emerg fetal fever first floor fluid fresh
front given grade graft group heart hours house human humid index input joint
large later level light limit local lower lungs major manic medic metal micro
minor month motor mouth nasal nerve never night north nurse often onset organ
other ovary oxide pains panel phase place plain plane plate point pouch prior
pulse quick radio rapid rates ratio relax renal right river rural scale scans
score screw sense serum seven sharp shift short since sinus skull sleep slice
small smear south spine spray staff stage start state steps stent still stool
study sugar super surge table tests third throb tibia times tissu total touch
toxic trace track trial tumor twice ulcer under units upper urban urine usual
vague valve virus visit vital voice water watch weeks women wound wrist x-ray
"""
GUISES = {
    "sentence": "seen by dr {} today",
    "path": "/scans/{}/1.dcm",
    "capitals": "Contact: {}!",
    "file": "scan_{}.dcm",
}
MAIL_GUISES = {
    "link": "mailto:{}",
    "brackets": "Anna S. <{}>",
    "sentence": "to {}, now",
}


@pytest.fixture
def house(hospital):
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    return hospital


def has_patients(hospital, ids):
    hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in ids)


def quoted(texts):
    return [f'"{text}"' for text in texts]


@pytest.mark.long
@pytest.mark.parametrize("when", ["in this load", "in an earlier load"])
def test_ids_of_letters_alone_are_found_in_sentences(house, when):
    has_patients(house, CODES if when == "in this load" else ["nobody"])
    if when == "in an earlier load":
        house.surroundings = Surroundings(own=known(CODES))
    for how, guise in GUISES.items():
        ids = [code.upper() if how == "capitals" else code for code in CODES[:40]]
        publish(house, quoted(map(guise.format, ids)))
        with pytest.raises(IngestionError, match=r"column marks\.code holds ids"):
            house.load()


@pytest.mark.sampled
@pytest.mark.parametrize("guise", MAIL_GUISES.values())
def test_addresses_are_found_among_other_characters(house, guise):
    has_patients(house, MAILS)
    publish(house, quoted(map(guise.format, MAILS[:40])))
    with pytest.raises(IngestionError, match=r"column marks\.code holds ids"):
        house.load()


def test_a_handful_of_words_is_none_too_many(house):
    has_patients(house, CODES)
    publish(house, quoted(f"seen by dr {code} today" for code in CODES[:5]))
    assert house.publishes()


def test_ordinary_words_that_are_some_peoples_ids_refuse_nothing(house):
    has_patients(house, SURNAMES.split())
    texts = [
        f"see {word} {more}" for word, more in itertools.pairwise(ORDINARY.split())
    ]
    texts += [f"ward {name} north" for name in SURNAMES.split()]
    publish(house, quoted(texts))
    assert house.publishes()


def test_words_that_are_a_whole_cell_count_one_by_one_as_before(house):
    has_patients(house, SURNAMES.split())
    publish(house, SURNAMES.split())
    with pytest.raises(IngestionError, match=r"column marks\.code holds ids"):
        house.load()
