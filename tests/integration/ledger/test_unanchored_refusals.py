"""What a reply says of a charge is true, also where the anchor fails behind it."""

import errno
import os

import httpx
import pytest

from tests.support.installations.harness import Installation, serve_in_thread

QUESTION = "SELECT COUNT(*) AS n FROM visits"


def failing(_):
    raise OSError(errno.EIO, "a made-up failure of a disk")


@pytest.mark.parametrize(("epsilon", "charged"), [("1", False), ("0.1", True)])
def test_a_charge_is_named_where_there_is_one(tmp_path, monkeypatch, epsilon, charged):
    """A question that was refused for its price is refused, not charged."""
    made = Installation(tmp_path).create()
    made.load()
    key = made.analyst(allotment="0.5")
    with serve_in_thread(made) as url:
        headers = {"authorization": f"Bearer {key}", "idempotency-key": "k"}

        def ask():
            return httpx.post(
                f"{url}/v1/datasets/clinic/queries",
                json={"sql": QUESTION, "epsilon": epsilon},
                headers=headers,
                timeout=30,
            )

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", failing)
            told = ask()
        assert (told.status_code, told.json()["type"]) == (503, "ledger_unavailable")
        assert ("query_id" in told.json()) is charged
        assert ("charged" in told.json()["detail"]) is charged
        if not charged:
            assert ask().status_code == 402
