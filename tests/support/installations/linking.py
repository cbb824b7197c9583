"""Linkages of a small made-up hospital, run in the test's own process."""

import csv
import re
from pathlib import Path

import yaml

from server.demo.linking.writing import write_demo
from server.use_cases.linkage.review import ReviewService
from server.use_cases.linkage.work.service import LinkageService
from server.use_cases.services.paging import Page
from tests.support.installations.texts import OPERATOR, Texts

PAGE = Path(__file__).parents[3] / "docs" / "linking.md"
PATIENTS = 300


def of_page(name):
    """Return a file that the page about linking shows, read."""
    found = re.search(rf"```yaml\n# {name}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return yaml.safe_load(found[1])


class Linking(Texts):
    """An installation with a hospital's exports in its folder, and a linkage's file."""

    def write(self, **changes):
        """Write the page's linkage with other keys, and its exports if they are not."""
        if not (self.folder / "admissions.csv").exists():
            write_demo(self.folder, PATIENTS)
        told = {**of_page("patients.yaml"), **changes}
        told["load"] = told["load"] and {
            **told["load"],
            "population": {
                **told["load"]["population"],
                "epsilon_cap": "100000",
            },
        }
        path = self.folder / "patients.yaml"
        path.write_text(
            yaml.safe_dump({k: v for k, v in told.items() if v is not None})
        )
        return path

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
