"""Clerks decide, and runs count, on PostgreSQL as on SQLite."""

import pytest

from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import OPERATOR
from tests.support.linking import Linking


@pytest.mark.long
def test_a_decision_is_made_applied_and_taken_back(tmp_path, empty_database):
    made = ImportingInstallation(tmp_path, url=empty_database).create()
    with made.services() as services:
        linking = Linking(made, services)
        linking.create_population(linking.write())
        linking.link()
        before = linking.crosswalk()
        one, two = linking.doubts()[:2]
        for doubt, verdict in ((one, "match"), (two, "no_match")):
            pair = doubt["left"], doubt["right"]
            made = linking.review.decide(OPERATOR, "patients", pair, verdict)
        linking.apply()
        assert len(set(linking.crosswalk().values())) < len(set(before.values()))
        assert linking.review.acts(OPERATOR, "patients", after=None, upto=None)
        linking.review.undo(OPERATOR, "patients", made["decision"])
        linking.service.delete("patients")
