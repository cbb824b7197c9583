"""The demo of notes: from a folder of text and a gold standard to counts with noise."""

import csv
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

from server.cli.demos.installing import (
    CONSOLE,
    DemoInstallation,
    print_question,
    require_client,
)
from server.cli.terminal.output import say, show_list
from server.cli.texts.judgements import by_type
from server.cli.wiring import Wiring
from server.demo.notes import pipeline
from server.demo.notes.notes import PATIENTS, write_notes
from server.use_cases.extraction.training import spec_in
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.services.documents import Document
from server.use_cases.services.services import Services

if TYPE_CHECKING:
    from curator_client import Curator

FOLDER = Path(".demo-upstream")
GOLD = {"gold": (120, 2), "held_out": (60, 3)}
"""Collections of marked notes: of how many patients, drawn from which seed."""


def run_notes_demo(wiring: Wiring) -> None:
    """Write notes, learn from marked ones, tag, make a private table, serve and ask."""
    require_client()
    made = DemoInstallation(FOLDER, wiring)
    started = time.monotonic()
    made.empty()
    imported = FOLDER.absolute() / "import"
    _write(imported)
    services = made.begin()
    say("Loading the table of patients ...")
    registry = imported / "registry.yaml"
    LoadService(services, wiring.actor()).load(registry, LoadChoices(), None)
    _learn(made, services, imported)
    say("Running the pipeline: read, tag, make a private table, load it ...")
    told: Document = {"pipeline": str(imported / "pipeline.yaml")}
    loaded = cast("dict[str, Document]", made.run(services, "text.pipeline", told))
    say(f"{loaded['texts']['rows']:,} notes are rows of a private table.")
    key = made.issue_key(services, {"notes": "5"})
    services.databases.close()
    say(f"Ready after {time.monotonic() - started:.1f} s.")
    with made.client(key) as client:
        _ask(client)
    _print_truth(imported)


def _write(imported: Path) -> None:
    say(f"Writing notes of {PATIENTS:,} made-up patients ...")
    write_notes(imported)
    for name, (patients, seed) in GOLD.items():
        write_notes(imported / name, patients, seed)
        (imported / f"{name}.yaml").write_text(pipeline.GOLD.format(name=name))
    for file, content in (
        ("registry.yaml", pipeline.PATIENTS_TABLE),
        ("allergens.csv", pipeline.ALLERGEN_LIST),
        ("allergens.yaml", pipeline.TERMS),
        ("habits.yaml", pipeline.SPEC),
        ("pipeline.yaml", pipeline.PIPELINE),
    ):
        (imported / file).write_text(content)


def _learn(made: DemoInstallation, services: Services, imported: Path) -> None:
    """Train a model on marked notes, judge it on others, and take a list of terms."""
    for name, (patients, _) in GOLD.items():
        say(f"Reading marked notes of {patients} other patients ({name}) ...")
        told: Document = {"declaration": str(imported / f"{name}.yaml")}
        made.run(services, "text.read", told)
    say("Training a model of habits on them ...")
    spec = spec_in(imported / "habits.yaml")
    of_model: Document = {"population": "hospital", "model": "habits"}
    made.run(services, "text.train", {**of_model, "gold": "gold", "spec": spec})
    declared: Document = {"declaration": str(imported / "allergens.yaml")}
    made.run(services, "text.terms", declared)
    judging: Document = {"gold": "held_out", "models": ["habits"]}
    judged = made.run(services, "text.evaluate", {"population": "hospital", **judging})
    (model,) = cast("list[dict[str, Document]]", judged["models"])
    say("How well it finds what is marked in notes that it has not seen:")
    show_list(by_type(model["types"]), as_json=False)


def _ask(client: "Curator") -> None:
    for text, sql, epsilon in pipeline.QUESTIONS:
        print_question(text, sql)
        CONSOLE.print(
            str(client.query(sql, dataset="notes", epsilon=epsilon)), markup=False
        )


def _print_truth(imported: Path) -> None:
    """Print what only made-up patients can have known of them."""
    with (imported / "habits.csv").open(newline="") as file:
        smoke = sum(row["smokes"] == "true" for row in csv.DictReader(file))
    CONSOLE.print(
        f"\nOf the made-up patients {smoke} smoke. The noise is as its "
        "half-width says; what is further away is what the model missed, or what no "
        "note says."
        f"\nSee {FOLDER}/import/pipeline.yaml for what the table is made of, and"
        "\n  docs/text.md                    your own notes, your own gold standard",
        markup=False,
    )
