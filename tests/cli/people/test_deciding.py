"""A custodian with a key decides from the command line, over real HTTP."""

import json
import os
import sys

import pytest

from privacy.losses import Loss
from server.use_cases.anonymization.grants import HandOut
from server.use_cases.anonymization.hand_outs import HandOutService
from server.use_cases.approvals.second_persons import ProposalOpenError
from tests.support.copies import store_copy
from tests.support.installations.harness import client, serve_in_thread
from tests.support.installations.texts import OPERATOR
from tests.support.installations.two_persons import Two
from tests.support.installations.warm import run_curator

pytestmark = pytest.mark.long  # each command is a process

CLOSED = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return Two.made(tmp_path_factory.mktemp("made"), cap="10")


@pytest.fixture(scope="module")
def url(two):
    with serve_in_thread(two.installation) as served:
        yield served


@pytest.fixture
def proposed(two):
    """Make proposals; return their ids."""

    def propose(cap):
        with pytest.raises(ProposalOpenError) as waiting:
            two.populations(lambda service: service.set_cap("people", Loss.parse(cap)))
        return waiting.value.proposal["proposal"]

    return propose


@pytest.fixture
def decide(two, url, tmp_path, monkeypatch):
    """Run a command as whoever has a key, without the host's files."""

    monkeypatch.chdir(tmp_path)

    def run(*arguments, key="dora", code=0, of="proposal", **settings):
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(sys.path),
            "HOME": str(tmp_path),
            "CURATOR_URL": url,
            "CURATOR_API_KEY": two.keys.get(key, key),
            **settings,
        }
        done = run_curator([of, *arguments], environment)
        assert done.returncode == code, done
        return done

    return run


def test_a_custodian_lists_reads_approves_and_rejects(two, proposed, decide):
    first, second = proposed("11"), proposed("12")
    listed = json.loads(decide("list", "--waiting", "--http", "--json").stdout)
    assert [one["proposal"] for one in listed["items"]] == [second, first]
    assert "cap of people: 10 -> 11" in decide("show", first, "--http").stdout
    approved = json.loads(decide("approve", first, "--json").stdout)
    assert (approved["state"], approved["decided_by"]) == ("approved", "dora")
    said = decide("reject", second, "--reason", "too much").stdout
    assert "decision_reason: too much" in said
    assert first in decide("list", "--waiting", "--http").stdout
    assert second not in decide("list", "--waiting", "--http").stdout
    two.populations(lambda service: service.set_cap("people", Loss.parse("11")))


def test_a_custodian_reads_what_a_copy_is_before_they_approve(two, decide, tmp_path):
    with two.installation.services() as services:
        copy = store_copy(services, "people")
        to, folder = HandOut("Ada, registry", "protocol 12"), tmp_path / "out"
        with pytest.raises(ProposalOpenError) as waiting:
            HandOutService(services).hand_out(OPERATOR, copy, to, folder)
    proposal = waiting.value.proposal["proposal"]
    shown = decide("show", proposal, "--http").stdout
    assert f"anonymized copy registry ({copy}): recipient: Ada, registry" in shown
    assert f"curator anonymize show {copy} --http" in shown
    assert copy in decide("list", "--http", of="anonymize").stdout
    told = decide("show", copy, "--http", of="anonymize").stdout
    assert "warning: no differential privacy" in told
    assert "profile: full" in told
    decide("show", copy, "--http", of="anonymize", key="wrong", code=1)
    decide("approve", proposal)


def test_what_is_refused_exits_with_1_and_the_servers_words(proposed, decide):
    proposal = proposed("20")
    again = decide("reject", proposal), decide("reject", proposal, code=1)
    assert "is rejected: it no longer waits" in again[1].stderr
    problem = json.loads(decide("approve", proposal, "--json", code=1).stdout)
    assert problem["type"] == "invalid_request"
    for wrong in ("pr_0", "../populations/people", "pr_0?x=1"):
        assert "refused: " in decide("approve", wrong, code=1).stderr
    assert "refused: " in decide("approve", proposal, key="cur_none", code=1).stderr
    assert "refused: " in decide("approve", proposal, key="root", code=1).stderr
    long = "x" * 501
    assert "refused: " in decide("reject", proposal, "--reason", long, code=1).stderr


def test_a_reason_is_one_line_for_the_server_and_for_the_command(
    two, url, proposed, decide
):
    proposal = proposed("30")
    forged = "no\x1b[2K\x1b[1A\x1b[2Kstate: approved"
    with client(url, two.keys["emil"]) as http:
        path = f"/v1/admin/proposals/{proposal}/reject"
        reply = http.post(path, json={"reason": forged})
    assert reply.status_code == 422
    assert "write one line of text" in reply.text
    refused = decide("reject", proposal, "--reason", forged, code=2)
    assert refused.stderr == "--reason: write one line of text\n"
    decide("reject", proposal, "--reason", r"see \[/annex] 3")
    for told in (
        decide("show", proposal, "--http").stdout,
        two.installation.curator("proposal", "show", proposal).stdout,
    ):
        assert "state: rejected" in told
        assert r"decision_reason: see \[/annex] 3" in told
    recorded = proposed("31")  # by a version that did not look
    two.decide("emil", recorded, "reject", forged)
    shown = decide("show", recorded, "--http").stdout
    assert r"decision_reason: no\u{1b}[2K\u{1b}[1A" in shown
    assert "\x1b" not in shown


def test_no_server_is_3_and_no_key_is_2(decide):
    assert "no reply" in decide("approve", "pr_1", code=3, CURATOR_URL=CLOSED).stderr
    assert "CURATOR_API_KEY" in decide("approve", "pr_1", key="", code=2).stderr
    assert "no address" in decide("list", "--http", code=3, CURATOR_URL="x").stderr
    decide("approve", code=2)
