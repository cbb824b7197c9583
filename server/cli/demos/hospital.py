"""The demo: a synthetic hospital over real HTTP, six paid answers, two releases."""

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from engines.processes.child_processes import child_command
from privacy.losses import Loss
from server.cli.demos.installing import (
    CONSOLE,
    DemoInstallation,
    print_question,
    require_client,
)
from server.cli.terminal.output import say
from server.cli.wiring import Wiring
from server.demo import clinic, cube, sequences
from server.demo.hospital import write_hospital
from server.demo.questions import QUESTIONS
from server.processes.ports import require_free
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.publishing.spec_files import read_spec_file
from server.use_cases.services.services import Services

if TYPE_CHECKING:
    from curator_client import Answer, Curator

FOLDER = Path(".demo")
PATIENTS = 20_000
_CAP = 10  # of the hospital, in epsilon
_HOW_TO_ASK = """\
Ask from another terminal (stop with Ctrl-C; another port: CURATOR_PORT=8001):
curl -s http://127.0.0.1:{port}/v1/datasets/hospital/queries \\
  -H 'Authorization: Bearer {key}' \\
  -d '{{"sql": "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "epsilon": "0.1"}}'

From Python or R (docs/client.md, docs/other-clients.md):
export CURATOR_URL=http://127.0.0.1:{port} CURATOR_API_KEY={key}

Its cube and its tree, for nothing (docs/querying-releases.md):
curl -s http://127.0.0.1:{port}/v1/releases -H 'Authorization: Bearer {key}'

Be its custodian there (docs/custodians.md):
export CURATOR_DATA='{data}' \\
  CURATOR_ANCHOR='{anchor}'
{curator} project show demo
"""


def run_demo(wiring: Wiring) -> None:
    """Make the installation anew, serve it on a free port, and ask."""
    require_client()
    made = DemoInstallation(FOLDER, wiring)
    with made.clients(*_build(made)) as (client, other):
        answers = _ask_for_a_price(client)
        _ask_in_rho(other, answers)
        _ask_for_nothing(client)
    CONSOLE.print(
        "\nThe true counts never left the server, and the budget is really spent."
        "\nTry next:"
        "\n  curator demo --serve            the same hospital, until you stop it"
        "\n  docs/quickstart.md              your own tables, your own key"
        "\n  docs/query-language.md          what can be asked"
        "\n  docs/releases.md                cubes and sequences, once paid, then free",
        markup=False,
    )


def _ask_for_a_price(client: "Curator") -> "list[Answer]":
    answers = []
    for question in QUESTIONS:
        print_question(question.text, question.sql)
        answer = client.query(
            question.sql,
            dataset="hospital",
            epsilon=question.epsilon,
            accuracy=question.accuracy,
        )
        CONSOLE.print(str(answer), markup=False)
        answers.append(answer)
    return answers


def _ask_in_rho(client: "Curator", answers: "list[Answer]") -> None:
    """Ask another hospital the same, each for the same share of its cap."""
    CONSOLE.print(
        "\nThe same six at a hospital that counts rho, whose cap amounts to the same "
        "epsilon at delta 0.000001:",
        markup=False,
    )
    rows: list[tuple[str, ...]] = [("share of the cap", "in epsilon", "in rho")]
    for question, answer in zip(QUESTIONS, answers, strict=True):
        share = Loss.parse(answer.charge["epsilon"]).epsilon / _CAP
        rho = Loss(int(share * Loss.parse(clinic.CAP).nano_epsilon))
        other = client.query(question.sql, rho=str(rho))
        widths = [f"± {each.noise[0]['half_width_95']}" for each in (answer, other)]
        rows.append((f"{float(share):.2%}", *widths))
    for cells in rows:
        line = f"  {cells[0]:>16}  {cells[1]:>10}  {cells[2]:>10}"
        CONSOLE.print(line, markup=False)


def _ask_for_nothing(client: "Curator") -> None:
    CONSOLE.print("\nFrom here on nothing is paid:", markup=False)
    for published in (cube, sequences):
        release = client.release(published.NAME)
        CONSOLE.print(f"\n{release}", markup=False)
        for text, sql in published.QUESTIONS:
            print_question(text, sql)
            CONSOLE.print(str(release.query(sql)), markup=False)


def serve_demo(wiring: Wiring) -> None:
    """Serve what the last demo made, and print how to ask."""
    made = DemoInstallation(FOLDER, wiring)
    require_free(made.settings.host, made.settings.port)
    if not made.key_file.exists():
        _build(made)
    environment = made.environment
    told = _HOW_TO_ASK.format(
        key=json.loads(made.key_file.read_text("utf-8"))["key"],
        port=made.settings.port,
        data=environment["CURATOR_DATA"],
        anchor=environment["CURATOR_ANCHOR"],
        curator=Path(sys.executable).with_name("curator"),
    )
    CONSOLE.print(told, markup=False)
    sys.stdout.flush()
    command = child_command("server.main", "serve")
    os.execve(command[0], command, environment)  # noqa: S606 - it gets our signals


def _build(made: DemoInstallation) -> tuple[str, str]:
    """Make the demo's installation from nothing, and return its analysts' keys."""
    made.empty()
    started = time.monotonic()
    say(f"Making a synthetic hospital of {PATIENTS:,} patients ...")
    manifest = write_hospital(FOLDER / "import", PATIENTS)
    services = made.begin()
    say("Loading it ...")
    loads = LoadService(services, made.wiring.actor())
    loads.load(manifest, LoadChoices(), None)
    say(f"Making and loading another one, a {clinic.NAME} that counts rho ...")
    other = write_hospital(
        FOLDER / "import" / clinic.NAME,
        PATIENTS,
        2,
        letter="Q",
        written=clinic.MANIFEST,
    )
    loads.load(other, LoadChoices(), None)
    for what, published in (("cube of its stays", cube), ("tree of ways", sequences)):
        say(f"Publishing a {what} ...")
        _publish(made, services, published.NAME, published.SPEC)
    key = made.issue_key(services, {"hospital": "5"})
    other_key = made.issue_other_key(services, "ben", {clinic.NAME: clinic.ALLOTMENT})
    services.databases.close()
    say(f"Ready after {time.monotonic() - started:.1f} s.")
    return key, str(other_key["key"])


def _publish(
    made: DemoInstallation, services: Services, name: str, content: str
) -> None:
    """Publish a release as ``curator release publish .demo/NAME.yaml`` would."""
    written = FOLDER / f"{name}.yaml"
    written.write_text(content, "utf-8")
    spec, _ = read_spec_file(written)
    told = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    made.run(services, "release.publish", {"release": told})
