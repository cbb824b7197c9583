"""The demo of linking: two exports and notes to one key a patient, counts, a copy."""

import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from server.cli.demos.installing import (
    CONSOLE,
    DemoInstallation,
    print_question,
    require_client,
)
from server.cli.linkage.charts import print_doubt
from server.cli.terminal.output import say
from server.cli.wiring import Wiring
from server.demo.linking import linkage
from server.demo.linking.hospital import PATIENTS, Truth
from server.demo.linking.writing import write_demo
from server.use_cases.anonymization.copies import CopyFolders
from server.use_cases.anonymization.work.texts.jobs import DOCUMENTS
from server.use_cases.extraction.training import spec_in
from server.use_cases.linkage.replies import DoubtDetail, Verdict
from server.use_cases.linkage.review import ReviewService
from server.use_cases.linkage.work.populations import population_of
from server.use_cases.linkage.work.service import LinkageService
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.services.documents import Document
from server.use_cases.services.services import Services

if TYPE_CHECKING:
    from curator_client import Curator

FOLDER = Path(".demo-linking")
_BOTH_WAYS: Document = {
    "override_overlap": True,
    "reason": "the demo counts made-up people by number and by linked patient",
}
_OTHERS, _OTHERS_SEED = 150, 7
"""Patients of another hospital, whose marked notes the model learns from."""


def run_linking_demo(wiring: Wiring) -> None:
    """Write a hospital of several ids, link it, let a clerk decide, serve and ask."""
    require_client()
    made = DemoInstallation(FOLDER, wiring)
    started = time.monotonic()
    made.empty()
    imported = FOLDER.absolute() / "import"
    say(f"Writing two exports and notes of {PATIENTS:,} made-up patients ...")
    truth = _write(imported)
    services = made.begin()
    actor = wiring.actor()
    loads = LoadService(services, actor)
    say("Loading the admissions with the ids that they have ...")
    loads.load(imported / "unlinked.yaml", LoadChoices(), None)
    file = imported / "patients.yaml"
    loads.create_population(file, population_of(file))
    say("Training a model on marked notes of another hospital ...")
    _learn(made, services, imported)
    say(
        "Linking: read, tag, score, settle, load (beside the same people by number) ..."
    )
    made.run(services, "linkage.link", {"linkage": str(file), **_BOTH_WAYS})
    decided = _decide(wiring, services, truth)
    say(f"A clerk decided {decided} doubtful pairs; linking again with them ...")
    of_linkage: Document = {"population": "people", "linkage": "patients"}
    loaded = made.run(services, "linkage.apply", {**of_linkage, **_BOTH_WAYS})
    _print_duplicates(cast("dict[str, Document]", loaded["linked"])["duplicates"])
    _copy(made, wiring, services, imported)
    key = made.issue_key(services, {"by_number": "5", "hospital": "5"})
    services.databases.close()
    say(f"Ready after {time.monotonic() - started:.1f} s.")
    with made.client(key) as client:
        _ask(client, truth)


def _write(imported: Path) -> Truth:
    truth = write_demo(imported)
    _convert(imported / "admissions.csv", imported / "admissions_utf8.csv")
    others = imported / "others"
    write_demo(others, _OTHERS, _OTHERS_SEED)
    (others / "truth" / "gold.jsonl").rename(imported / "gold.jsonl")
    for name, content in (
        ("unlinked.yaml", linkage.UNLINKED),
        ("gold.yaml", linkage.GOLD),
        ("names.yaml", linkage.SPEC),
        ("patients.yaml", linkage.LINKAGE),
        ("copy.yaml", linkage.COPY),
    ):
        (imported / name).write_text(content)
    return truth


def _convert(export: Path, target: Path) -> None:
    """Write an export as a load without a linkage reads it: UTF-8, commas."""
    with (
        export.open(encoding="cp1252", newline="") as read,
        target.open("w", newline="") as written,
    ):
        csv.writer(written).writerows(csv.reader(read, delimiter=";"))


def _learn(made: DemoInstallation, services: Services, imported: Path) -> None:
    made.run(services, "text.read", {"declaration": str(imported / "gold.yaml")})
    spec = spec_in(imported / "names.yaml")
    told: Document = {"population": "people", "model": "names", "gold": "gold"}
    made.run(services, "text.train", {**told, "spec": spec})


def _decide(wiring: Wiring, services: Services, truth: Truth) -> int:
    """Decide as a clerk does who knows these people; return how many pairs."""
    review, viewer = ReviewService(services), wiring.operator()
    count = 0
    for doubt in _open(wiring, services):
        if not count:
            say("One of the pairs that a clerk is asked about:")
            print_doubt(doubt)
        persons = {
            truth.records.get((one["source"], one["id"])) for one in doubt["records"]
        }
        verdict: Verdict = "match" if len(persons) == 1 else "no_match"
        pair = doubt["left"], doubt["right"]
        review.decide(viewer, "patients", pair, verdict)
        count += 1
    return count


def _open(wiring: Wiring, services: Services) -> Iterator[DoubtDetail]:
    review, viewer = ReviewService(services), wiring.operator()
    while (doubt := review.next_open(viewer, "patients")) is not None:
        yield doubt


def _print_duplicates(told: Document) -> None:
    CONSOLE.print(
        f"{told['records']:,} ids and notes are {told['patients']:,} patients; "
        f"{told['several']:,} of them have several ids in one source, the most "
        f"{told['most']}.",
        markup=False,
    )


def _copy(
    made: DemoInstallation, wiring: Wiring, services: Services, imported: Path
) -> None:
    """Make a de-identified copy of the notes, by the patients that were linked."""
    say("Making a de-identified copy of the notes, one surrogate a linked patient ...")
    linked = LinkageService(services, wiring.actor())
    linked.crosswalk("patients", imported / "crosswalk.csv")
    linked.export_view("patients", imported / "view.csv")
    told: Document = {"file": str(imported / "copy.yaml")}
    copied = made.run(services, "anonymize.texts", told)
    folder = CopyFolders(made.settings.anonymized).path(str(copied["copy"]))
    with (folder / DOCUMENTS).open(encoding="utf-8") as documents:
        first = json.loads(next(documents))
    left = cast("dict[str, int]", copied["left"])
    CONSOLE.print(
        f"{copied['documents']:,} notes of {copied['patients']:,} patients were "
        f"copied; {sum(left.values()):,} times something that the model had not found "
        f"was found again and tagged. One of them:\n\n{first['text'].strip()}\n\n"
        "It is no differential privacy, and the model looks for names and numbers "
        "alone: dates stay. It never goes to analysts; two persons hand it out.",
        markup=False,
    )


def _ask(client: "Curator", truth: Truth) -> None:
    people = len(truth.persons("admissions"))
    for text, dataset, unit in (
        ("How many patients were admitted, by hospital number?", "by_number", "no"),
        ("How many, once their records are linked?", "hospital", "key"),
    ):
        sql = linkage.IN_ADMISSIONS.format(unit=f"patient_{unit}")
        print_question(text, sql)
        CONSOLE.print(
            str(client.query(sql, dataset=dataset, epsilon="0.5")), markup=False
        )
    print_question(
        "Patients with an HbA1c in the laboratory whose notes say that they smoke? No "
        "number joins the two.",
        linkage.BOTH,
    )
    CONSOLE.print(
        str(client.query(linkage.BOTH, dataset="hospital", epsilon="0.5")), markup=False
    )
    CONSOLE.print(
        f"\nOf the made-up people {people:,} were admitted. Nobody's promise is halved "
        "by a second number now."
        f"\nSee {FOLDER}/import/patients.yaml for the linkage, and"
        "\n  docs/linking.md                 your own exports and notes",
        markup=False,
    )
