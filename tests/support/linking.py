"""Linkages of a small made-up hospital, run in the test's own process."""

import csv
import json
import re
import secrets
import shutil
from contextlib import contextmanager
from pathlib import Path

import yaml
from sqlalchemy import insert

from server.demo.linking.writing import write_demo
from server.persistence.linkage_tables import linkage, linkage_doubt, linkage_run
from server.use_cases.linkage.opinions import Opinion
from server.use_cases.linkage.review import ReviewService
from server.use_cases.linkage.store import LinkageStore, doubt_place
from server.use_cases.linkage.work.populations import population_of
from server.use_cases.linkage.work.service import LinkageService
from server.use_cases.loading.service import LoadService
from server.use_cases.services.paging import Page
from server.use_cases.services.services import now_text
from server.use_cases.services.text_cipher import TextCipher
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import OPERATOR, Texts

PAGE = Path(__file__).parents[2] / "docs" / "linking.md"
PATIENTS = 300


def of_page(name):
    """Return a file that the page about linking shows, read."""
    found = re.search(rf"```yaml\n# {name}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return yaml.safe_load(found[1])


def write_exports(folder, **changes):
    """Write the page's linkage with other keys, and its exports if they are not."""
    if not (folder / "admissions.csv").exists():
        write_demo(folder, PATIENTS)
    told = {"load": None, **of_page("patients.yaml"), **changes}
    if told["load"]:
        limits = {**told["load"]["population"], "epsilon_cap": "100000"}
        told["load"] = {**told["load"], "population": limits}
    path = folder / "patients.yaml"
    said = {name: value for name, value in told.items() if value is not None}
    path.write_text(yaml.safe_dump(said))
    return path


def write_unlinked(folder):
    """Make an installation with exports and a population; nothing was linked."""
    made = ImportingInstallation(folder).create()
    with made.services() as services:
        found = Linking(made, services)
        found.create_population(found.write())
    return folder


@contextmanager
def copied(folder, into):
    """Open a copy of an installation that a module's tests share."""
    shutil.copytree(folder, into, dirs_exist_ok=True)
    made = ImportingInstallation(into)
    with made.services() as services:
        yield Linking(made, services)


class Linking(Texts):
    """An installation with a hospital's exports in its folder, and a linkage's file."""

    def write(self, **changes):
        return write_exports(self.folder, **changes)

    def create_population(self, path):
        service = LoadService(self.services, "local:test")
        service.create_population(path, population_of(path))

    def link(self, **told):
        return self.done("linkage.link", linkage="patients.yaml", **told)

    def apply(self, **told):
        return self.done(
            "linkage.apply", population="people", linkage="patients", **told
        )

    @property
    def service(self):
        return LinkageService(self.services, "local:test")

    @property
    def review(self):
        return ReviewService(self.services)

    def crosswalk(self):
        """Return unit keys by source and id."""
        path = self.folder / "crosswalk.csv"
        path.unlink(missing_ok=True)
        self.service.crosswalk("patients", path)
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        return {(row["source"], row["id"]): int(row["key"]) for row in rows}

    def doubts(self, most=200):
        return self.review.doubts(OPERATOR, "patients", Page(most))["items"]


def store_linkage(services, population):
    """Write a linkage of one doubtful pair and one decision; return what names them."""
    suffix, pair = secrets.token_hex(12), (1, 2)
    own, job = f"lnk_{suffix}", f"job_{suffix}"
    said = {"created": now_text(), "created_by": "local:test"}
    body = {
        "records": [
            {"record": n, "source": "s", "id": str(n), "patient": n, "values": {}}
            for n in pair
        ],
        "prior": -1.0,
        "steps": [],
    }
    of_pair = {"left": pair[0], "right": pair[1]}
    cipher, store = TextCipher(None), LinkageStore()
    with services.databases.writer.begin() as connection:
        connection.execute(
            insert(linkage).values(
                id=own,
                population=population,
                name="patients",
                file="patients.yaml",
                opinions=1,
                job=job,
                **said,
            )
        )
        connection.execute(
            insert(linkage_run).values(
                job=job,
                linkage=own,
                number=1,
                file_sha256="",
                decisions=0,
                report=json.dumps({"records": {"in_all": 2}, "decisions": 0}),
                **said,
            )
        )
        connection.execute(
            insert(linkage_doubt).values(
                job=job,
                number=1,
                score=0.5,
                weight=0.0,
                reason="score",
                body=cipher.encrypt(json.dumps(body).encode(), *doubt_place(job, 1)),
                **of_pair,
            )
        )
        opinion = Opinion(pair, "local:test", "unsure")
        decision, _ = store.decide(connection, own, opinion)
    return {"linkage": own, "pair": "1_2", "decision": decision}
