"""L3: the whole process group dies at a random point with eight questions in flight."""

import random
import time
from dataclasses import dataclass, field
from decimal import Decimal

from tests.crash.instruments.books import answers, outwait_leases, settle, spent
from tests.crash.instruments.processes import lines, question

IN_FLIGHT = 8
SCOPES = ("population:people", "project:study")


@dataclass
class KillFindings:
    """What all kills together showed; ``wrong`` must stay empty."""

    kills: int = 0
    seen: int = 0
    unseen: list = field(default_factory=list)
    recovered: int = 0
    wrong: list = field(default_factory=list)


@dataclass(frozen=True)
class _Round:
    """What clients held when the server died: the response to each key, or None."""

    responses: dict
    spent_before: tuple


def run_kills(nursery, installation, key, kills, *, seed=None):
    """Kill ``kills`` times at uniformly random points; return what was found."""
    dice = random.Random(seed)
    findings = KillFindings()
    server = nursery.start(installation)
    try:
        for number in range(kills):
            delay = dice.uniform(0, _latency(server, key))
            held = _die_in_flight(installation, server, key, number, delay)
            outwait_leases(installation)
            server = nursery.start(installation)
            findings.kills += 1
            _compare(findings, installation, server, key, held)
        _ask_the_unseen_again(findings, server, key)
    finally:
        server.kill()
    return findings


def _body(name):
    """Return the body of a key: a sixth may be answered for nothing."""
    return question("0.25", reuse="allow" if _may_refine(name) else "never")


def _may_refine(name):
    _, number, place = name.split("-")
    return int(place) % 3 == 0 and int(number) % 2


def _latency(server, key):
    """Return the seconds in which a warm server answers eight at once, and a bit."""
    with lines(server.port, key, IN_FLIGHT) as clients:
        assert clients[0].ask(question("0.001")).status == 200  # warm from here on
        for client in clients:
            client.hold(question("0.001"))
        start = time.monotonic()
        for client in clients:
            client.release()
        for client in clients:
            client.read()
        return (time.monotonic() - start) * 1.2


def _die_in_flight(installation, server, key, number, delay):
    before = tuple(spent(installation, scope) for scope in SCOPES)
    names = [f"kill-{number}-{place}" for place in range(IN_FLIGHT)]
    with lines(server.port, key, IN_FLIGHT) as clients:
        for client, name in zip(clients, names, strict=True):
            client.hold(_body(name), idempotency_key=name)
        for client in clients:
            client.release()
        time.sleep(delay)
        server.kill()
        responses = {
            name: client.read() for client, name in zip(clients, names, strict=True)
        }
    return _Round(responses, before)


def _compare(findings, installation, server, key, held):
    """Check the restarted server against what clients had seen."""
    charges = settle(installation)
    for scope, before in zip(SCOPES, held.spent_before, strict=True):
        if spent(installation, scope) < before:
            findings.wrong.append(f"what {scope} spent fell")
    stored = answers(installation)
    with lines(server.port, key, 1) as (client,):
        for name, response in held.responses.items():
            if response is None:
                findings.unseen.append(name)
                continue
            findings.seen += 1
            again = client.ask(_body(name), idempotency_key=name)
            findings.wrong += _seen_problems(name, response, again, charges, stored)


def _ask_the_unseen_again(findings, server, key):
    """Whatever no client saw comes now, from before its server's death or fresh."""
    with lines(server.port, key, 1) as (client,):
        for name in findings.unseen:
            again = client.insist(_body(name), idempotency_key=name)
            if again is None or again.status != 200:
                findings.wrong.append(f"{name}: after the restart {again}")
            elif again.headers.get("idempotency-replayed") == "true":
                findings.recovered += 1


def _seen_problems(name, response, again, charges, stored):
    """Return what is wrong about an answer that a client had in hand."""
    if response.status != 200:
        return [f"{name}: {response.status} {response.body!r}"]
    document = response.json()
    query_id, paid = document["query_id"], document["charge"]
    wrong = []
    if query_id not in charges or charges[query_id][0] != "answered":
        wrong.append(f"{name}: an answer that a client saw has no charge")
    elif charges[query_id][1] != 10**9 * Decimal(paid["epsilon"]):
        wrong.append(f"{name}: charged {charges[query_id][1]}")
    # What may be reused may add to an answer of 0.001, where the first one was killed.
    if not (paid["reused"] or paid["epsilon"] == "0.25" or _may_refine(name)):
        wrong.append(f"{name}: charged {paid['epsilon']} of 0.25")
    if stored.get(query_id) != response.body or again.body != response.body:
        wrong.append(f"{name}: the stored bytes are not those that a client saw")
    return wrong


def total_charged(installation):
    """Return the sum of all charges, in nano-epsilon: what each counter must hold."""
    return sum(nano for _, nano in settle(installation).values())
