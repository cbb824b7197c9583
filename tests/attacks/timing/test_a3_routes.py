"""A3: no route without slots is slower while a patient's rows are worked on.

A question that singles out one patient is asked again and again, about the patient or
about nobody; each time the routes without slots are asked in turn meanwhile.
"""

import threading
import time
from collections import defaultdict
from contextlib import ExitStack
from itertools import cycle
from statistics import mean

import pytest

from server.api.app import openapi_document
from server.use_cases.identity.roles import ROUTES
from tests.audit.instruments.bounds import area_under_curve
from tests.support.data.singled_out import (
    AGES,
    COSTLY,
    by_age,
    drawn_order,
    make_installation,
    most_at_random,
)
from tests.support.installations.harness import ask, client, serve_in_process
from tests.support.installations.two_persons import Two

pytestmark = pytest.mark.thorough

TURNS = 60
VISITS = 130_000
SIZES = {"patients": 60, "visits": 3, "of_the_patient": VISITS}
SETTINGS = {"slot_ms": 400, "permits": 2}
"""The fewer may ask at once, the more work may hang on one patient: here 100 ms."""
WORKING_SECONDS = 0.1
"""After a question was sent, for which other routes are timed: its work is then."""
SLOTTED = {
    "POST /v1/datasets/{dataset}/plan",
    "POST /v1/datasets/{dataset}/queries",
}
SEEN = {"dataset": "clinic", "population": "people", "project": "study"}
NOBODYS = {
    "dataset": "nowhere", "population": "nowhere", "project": "nowhere",
    "principal": "nobody", "key": "k_" + "0" * 24, "query_id": "q_" + "0" * 24,
    "proposal": "pr_" + "0" * 24, "job": "job_" + "0" * 24, "snapshot": "s_" + "0" * 24,
    "linkage": "lnk_" + "0" * 24, "pair": "7_8", "decision": "dec_" + "0" * 24,
    "copy": "anon_" + "0" * 24,
    "release": "rel_" + "0" * 24, "announcement": "ann_" + "0" * 24,
}  # fmt: skip
NAMES = {"analyst": "ada", "custodian": "carol", "auditor": "olga", "admin": "root"}


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("routes")
    return make_installation(folder, **SIZES, **SETTINGS)


@pytest.fixture(scope="module")
def keys(installation):
    """Return a key of each role."""
    two = Two.make(installation, ("carol",))
    two.people(lambda service: service.add_custodian("people", "carol"))
    two.people(lambda service: service.create_principal("olga", "auditor"))
    olga = two.people(lambda service: service.create_key("olga"))["key"]
    return {**two.keys, "ada": installation.analyst(), "olga": olga}


def routes_without_slots():
    """Return every route of the interface but plan and queries, as it is described."""
    described = openapi_document()["paths"]
    every = {f"{verb.upper()} {path}" for path in described for verb in described[path]}
    assert every >= SLOTTED
    return sorted(every - SLOTTED)


def sender(route, https):
    """Return what asks a route: by a role that has it, to read, or to be refused."""
    verb, template = route.split()
    role = min(ROUTES.get(route) or NAMES)
    path = template.format(**(NOBODYS | SEEN if verb == "GET" else NOBODYS))
    more = {} if verb == "GET" else {"json": {}}
    return lambda: https[NAMES[role]].request(verb, path, **more)


class Turn:
    """One question, the routes asked meanwhile, and the seconds that each took."""

    def __init__(self, http, senders):
        self._http, self._senders = http, senders
        self._reply, self.seconds = None, []

    def run(self, age):
        asked = threading.Thread(target=self._ask, args=(age,))
        asked.start()
        ends = time.monotonic() + WORKING_SECONDS
        while (started := time.monotonic()) < ends:
            route, send = next(self._senders)
            assert send().status_code < 500, route
            self.seconds.append((route, time.monotonic() - started))
        asked.join()
        assert self._reply.status_code == 200, self._reply.text
        return self.seconds

    def _ask(self, age):
        self._reply = ask(self._http, COSTLY.format(age=age), epsilon="0.01")


def scores(turns):
    """Return of each turn how slow its routes were: their mean place in order.

    Each is placed among the same route's in all turns, from 0 to 1.
    """
    by_route = defaultdict(list)
    for number, seconds in enumerate(turns):
        for route, taken in seconds:
            by_route[route].append((taken, number))
    places = defaultdict(list)
    for measured in by_route.values():
        for place, (_, number) in enumerate(sorted(measured)):
            places[number].append((place + 0.5) / len(measured))
    return [mean(places[number]) for number in range(len(turns))]


def test_no_route_tells_that_a_patients_rows_are_worked_on(installation, keys):
    order = drawn_order(TURNS)
    with serve_in_process(installation) as url, ExitStack() as stack:
        https = {
            name: stack.enter_context(client(url, key)) for name, key in keys.items()
        }
        asking = stack.enter_context(client(url, keys["ada"]))
        routes = routes_without_slots()
        senders = [(route, sender(route, https)) for route in routes]
        for route, send in senders:
            assert send().status_code < 500, route
        endless = cycle(senders)
        turns = [Turn(asking, endless).run(age) for age in (*AGES, *order)]
    asked = {route for seconds in turns for route, _ in seconds}
    assert asked == set(routes), asked ^ set(routes)
    area = area_under_curve(*by_age(scores(turns[len(AGES) :]), order))
    assert abs(area - 0.5) < most_at_random(TURNS)
