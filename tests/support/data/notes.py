"""Made-up notes with a gold standard, in the folder that jobs may read."""

import json
import random
import re
from pathlib import Path

_NAMES = ["Ann Lee", "Bo Díaz", "Cy Young", "Di Prince", "Ed Wood", "Flo Hyman"]
_WARDS = ["north", "south"]


def made_note(number):
    """Return a note's text and its spans; the same at every call."""
    dice = random.Random(number)
    name, age = dice.choice(_NAMES), dice.randint(20, 95)
    day = f"{dice.randint(1, 12):02}/{dice.randint(13, 28)}/2024"
    parts = [
        ("Patient ", None),
        (name, "NAME"),
        (" is a ", None),
        (str(age), "AGE"),
        (" year old seen on ", None),
        (day, "DATE"),
        (f" on the {dice.choice(_WARDS)} ward. Weight ", None),
        (f"{dice.randint(50, 99)} kg", "WEIGHT"),
        (". Nothing else was noted.\n", None),
    ]
    text, spans = "", []
    for said, label in parts:
        if label:
            spans.append((len(text), len(text) + len(said), label))
        text += said
    return text, spans


def write_notes(folder, numbers, *, name="notes", population="people"):
    """Write notes as files, a patient each, and what declares them; return its path."""
    for number in numbers:
        text, _ = made_note(number)
        path = folder / name / f"p{number:04}-1.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return declare(
        folder,
        name,
        population,
        source={
            "kind": "text",
            "folder": name,
            "files": ["*.txt"],
            "id_pattern": r"p(?P<patient>\d+)-(?P<visit>\d)\.txt",
        },
    )


def write_gold(folder, numbers, *, name="gold", population="people"):
    """Write notes with their spans, one a line, and what declares them."""
    with (folder / f"{name}.jsonl").open("w") as file:
        for number in numbers:
            text, spans = made_note(number)
            item = {"id": f"g{number}", "text": text, "spans": spans}
            file.write(json.dumps(item) + "\n")
    gold = {"format": "json", "path": f"{name}.jsonl"}
    return declare(folder, name, population, gold=gold)


def declare(folder, name, population, **more):
    """Write a declaration of a collection; return its path."""
    path = folder / f"{name}.yaml"
    told = {"population": population, "collection": name, **more}
    path.write_text(json.dumps(told))
    return path


def write_pipeline(folder, **more):
    """Write the pipeline that the page about texts shows, with other keys.

    Where rules alone go over the notes, it has no column of weights: they find none.
    """
    page = Path(__file__).parents[3] / "docs" / "text.md"
    form = re.compile(r"```yaml\n# pipeline.yaml\n(.*?)```", re.DOTALL)
    shown = form.search(page.read_text("utf-8"))[1]
    for key, value in more.items():
        shown = re.sub(rf"(?m)^{key}: .*", f"{key}: {value}", shown)
    if more.get("models") == "[rules]":
        shown = re.sub(r"(?m)^.*weight.*\n", "", shown)
    path = folder / "pipeline.yaml"
    path.write_text(shown)
    return path
