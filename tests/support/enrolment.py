"""A population that is divided by the site at which a patient was enrolled."""

import time
from dataclasses import dataclass

from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from tests.support.installations.harness import Installation

MANIFEST = """\
version: 1
population:
  id: people
  unit: patient
  unit_type: text
  {cap}
  max_units: 50000
{blocks}
  source: test protocol
dataset: {dataset}
snapshot_date: 2024-12-31
tables:
- name: patients
  files: ["{files}-patients.csv"]
  unit_column: patient_id
  max_rows_per_unit: 2
  source: test protocol
  columns:
  - {{name: patient_id, type: text, nullable: false}}
  - name: site
    type: text
    nullable: false
    constant_in_unit: true
    domain: {{values: [{values}]}}
    source: list of sites
  - {{name: sex, type: text, domain: {{values: [F, M]}}, source: form}}
- name: visits
  files: ["{files}-visits.csv"]
  unit_column: patient_id
  max_rows_per_unit: 3
  source: test protocol
  columns:
  - {{name: patient_id, type: text, nullable: false}}
  - {{name: day, type: integer, domain: {{min: 1, max: 9}}, source: protocol}}
  derived:
  - name: site
    type: text
    expression: patients.site
    constant_in_unit: true
    domain: {{values: [{values}]}}
    source: list of sites
"""
PURE = 'epsilon_cap: "1"\n  epsilon_per_query: {min: "0.001", max: "5"}'
RHO = (
    'measure: zcdp\n  delta: "0.000001"\n  rho_cap: "0.5"\n'
    '  rho_per_query: {min: "0.000001", max: "0.5"}'
)
SITES = ("north", "south")
PATIENTS = tuple(
    (f"p{unit}", SITES[unit % 2], "FM"[unit % 3 == 0]) for unit in range(1, 101)
)
"""Fifty patients of each site."""
VISITS = tuple((unit, day) for unit, _, _ in PATIENTS for day in (1, 2))


@dataclass
class Enrolment:
    """What is loaded: patients, visits, and what the manifest says of the blocks."""

    patients: tuple = PATIENTS
    visits: tuple = VISITS
    sites: tuple = SITES
    dataset: str = "clinic"
    cap: str = PURE
    tables: str = "[patients, visits]"
    blocks: str | None = None
    more: str = ""

    def write(self, folder):
        """Write files and manifest; return the manifest's path."""
        files = f"{self.dataset}-{time.monotonic_ns()}"
        _write(folder / f"{files}-patients.csv", "patient_id,site,sex", self.patients)
        _write(folder / f"{files}-visits.csv", "patient_id,day", self.visits)
        values = ", ".join(self.sites)
        blocks = self.blocks
        if blocks is None:
            blocks = (
                f"  blocks: {{column: site, tables: {self.tables}, values: [{values}]}}"
            )
        text = MANIFEST.format(
            cap=self.cap,
            blocks=f"{blocks}{self.more}",
            dataset=self.dataset,
            files=files,
            values=values,
        )
        path = folder / f"{files}.yaml"
        path.write_text(text)
        return path


def _write(path, header, rows):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def load(installation, enrolment=None, **choices):
    """Load patients and visits; return what the load returns."""
    path = (enrolment or Enrolment()).write(installation.folder)
    with installation.services() as services:
        service = LoadService(services, "local:test")
        return service.load(path, LoadChoices(**choices), None)


def divided(folder, enrolment=None, url=""):
    """Return an installation whose population has blocks."""
    installation = Installation(folder, url=url).create()
    load(installation, enrolment)
    return installation
