"""Alerts, runbook and dashboard speak of series and commands that there are."""

import json
import re
from dataclasses import fields
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from prometheus_client import generate_latest
from typer.main import get_command

from server.main import cli
from server.telemetry.metrics import Metrics, Readings

FOLDER = Path(__file__).parents[3] / "docs/operations"
GROUPS = yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))["groups"]
RULES = [rule for group in GROUPS for rule in group["rules"]]
RUNBOOK = (FOLDER / "runbook.md").read_text("utf-8")
PANELS = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))["panels"]
SERIES = re.compile(r"\bcurator_\w+")
OF_PROMETHEUS = {"up"}


def shown_series():
    """Return the names of all series that the listener shows."""
    block = "people", "2026"
    by_label = {"spent": "people", "caps": "people", "jobs": "failed"}
    by_label |= {"block_spent": block, "block_caps": block}
    readings = Readings(
        **{
            field.name: {by_label[field.name]: Decimal(1)}
            if field.name in by_label
            else 0
            for field in fields(Readings)
        }
    )
    metrics = Metrics(lambda: readings, 64, lambda: 0, lambda: {"x": 0})
    metrics.observe(
        {"method": "GET", "route": "/", "status": 200, "code": "x", "outcome": "free"}
    )
    text = generate_latest(metrics.registry).decode()
    return {
        line.split("{")[0].split()[0] for line in text.splitlines() if line[0] != "#"
    }


SHOWN = shown_series()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_is_of_series_that_there_are_and_has_its_page(rule):
    names = set(SERIES.findall(rule["expr"]))
    assert names or rule["expr"].split("{")[0] in OF_PROMETHEUS
    assert names <= SHOWN
    assert rule["labels"]["severity"] in {"page", "ticket", "info"}
    page = f"docs/operations/runbook.md#{rule['alert'].lower()}"
    assert rule["annotations"]["runbook"] == page
    assert f"\n## {rule['alert']}\n" in RUNBOOK


def test_each_incident_has_an_alert_and_each_page_too():
    alerted = {name for rule in RULES for name in SERIES.findall(rule["expr"])}
    told = (FOLDER.parent / "operations.md").read_text("utf-8")
    incidents = re.findall(r"^\| `(curator_\w+)`.*an incident", told, re.MULTILINE)
    assert len(incidents) >= 3
    assert set(incidents) <= alerted
    pages = re.findall(r"^## (\w+)$", RUNBOOK, re.MULTILINE)
    assert sorted(pages) == sorted(rule["alert"] for rule in RULES)


def test_the_dashboard_shows_series_that_there_are():
    shown = [target["expr"] for panel in PANELS for target in panel["targets"]]
    assert {name for each in shown for name in SERIES.findall(each)} <= SHOWN
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)


def test_the_runbook_names_commands_that_there_are():
    root = get_command(cli)
    known = {*root.list_commands(None)}
    named = [
        words.split() for words in re.findall(r"curator ([a-z]+ ?[a-z]*)", RUNBOOK)
    ]
    commands = [words for words in named if words and words[0] in known]
    assert len(commands) >= 6
    for group, *rest in commands:
        found = root.get_command(None, group)
        if rest and hasattr(found, "list_commands"):
            assert rest[0] in found.list_commands(None), (group, rest)
