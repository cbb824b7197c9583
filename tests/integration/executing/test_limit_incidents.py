"""Executions that met a limit are counted apart, and told in the log."""

import logging

import pytest

from engines.incidents import Incidents
from server.use_cases.oversight.odometers import Odometers
from tests.support.installations.harness import Installation


@pytest.mark.parametrize(
    ("kind", "is_limit"),
    [
        ("OutOfMemoryException", True),
        ("InterruptException", True),
        ("Killed", True),
        ("ConversionException", False),
    ],
)
def test_what_meets_a_limit_is_an_alarm_of_its_own(kind, is_limit, caplog):
    incidents = Incidents()
    with caplog.at_level(logging.ERROR):
        incidents.count(kind)
    assert (incidents.failed, incidents.at_limit) == (1, int(is_limit))
    (record,) = caplog.records
    words = "execution met a limit" if is_limit else "execution failed"
    assert (record.message, record.error) == (words, kind)


def test_the_operators_facts_have_them(tmp_path):
    installation = Installation(tmp_path).create()
    with installation.services() as services:
        services.ledger.open()
        services.engine._incidents.count("Killed")
        services.engine._incidents.count("ConversionException")
        facts = Odometers(services).read(late=0)
    assert (facts.incidents, facts.limit_incidents) == (2, 1)
