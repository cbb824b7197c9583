"""A load that was taken back is compared with nobody: nothing would record it."""

import json

import pytest
from sqlalchemy import select

from budget.storage.tables import chain
from server.use_cases.loading import loading
from tests.support.installations.harness import STRANGERS, ImportingInstallation
from tests.support.installations.texts import OPERATOR, Texts


def actions(texts):
    with texts.services.databases.reader.connect() as connection:
        bodies = connection.scalars(select(chain.c.body)).all()
    return [json.loads(body).get("action") for body in bodies]


@pytest.mark.parametrize("shared", [0, 1])
def test_a_load_that_is_cancelled_before_its_slot_tells_nothing(
    tmp_path, monkeypatch, shared
):
    installation = ImportingInstallation(tmp_path).create()
    installation.load()
    known = ["7,F,30,north,2024-03-03,n"][:shared]
    path = installation.write_manifest(
        [*STRANGERS, *known], dataset="other", population="others"
    )
    with installation.services() as services:
        texts = Texts(installation, services)
        job = texts.submit("dataset.load", manifest=str(path))
        before = actions(texts)

        def cancelled_at_the_last(*_):
            texts.jobs.cancel(OPERATOR, job)

        monkeypatch.setattr(loading, "wait_for_slot", cancelled_at_the_last)
        texts.work()
        assert texts.jobs.show(OPERATOR, job)["state"] == "cancelled"
        told = [one for one in actions(texts)[len(before) :] if one != "job.cancel"]
    assert not any("overlap" in str(one) or "load" in str(one) for one in told)
