"""Notes of a few sentences, with names and dates whose places are known."""

import random

from upstream.extraction.text.documents import Place, TextDocument, pieces_of
from upstream.extraction.text.spans import AnnotatedDocument, Span

FIRST = ["Ann", "Bob", "Carla", "Dan", "Eve", "Frank", "Grace", "Hugo", "Iris", "Jack"]
LAST = ["Lee", "Moss", "Reed", "Stone", "Vance", "Webb", "York", "Zane", "Hale", "Cole"]
PLAIN = [
    "The patient denies fever.",
    "Lungs are clear to auscultation.",
    "Plan: continue aspirin 81 mg daily.",
    "No acute distress.",
    "Blood pressure 120/80, pulse 72.",
]


def small_notes(count, seed=1):
    """Return so many notes; each names a patient, a doctor and days."""
    draws = random.Random(seed)
    return [_note(number, draws) for number in range(count)]


def _note(number, draws):
    text, spans = "", []

    def say(plain):
        nonlocal text
        text += plain

    def mark(marked, label):
        nonlocal text
        spans.append(Span(len(text), len(text) + len(marked), label))
        text += marked

    say("Name: ")
    mark(f"{draws.choice(FIRST)} {draws.choice(LAST)}", "NAME")
    say("\nSeen on ")
    mark(_day(draws), "DATE")
    say(" by Dr. ")
    mark(draws.choice(LAST), "NAME")
    say(".\n")
    for sentence in draws.sample(PLAIN, 3):
        say(sentence + " ")
    if draws.random() < 0.5:
        say("Next visit ")
        mark(_day(draws), "DATE")
        say(".")
    document = TextDocument(
        f"note-{number}", text, Place(f"{number}.txt"), pieces_of(text, "utf-8")
    )
    return AnnotatedDocument(document, tuple(spans))


def _day(draws):
    return f"{draws.randint(1, 12)}/{draws.randint(1, 28)}/20{draws.randint(10, 25)}"
