"""No route shows a time finer than the second: whatever is listed, whoever asks."""

import re
from datetime import UTC, datetime, timedelta
from functools import cached_property

import pytest

from privacy.losses import Loss
from server.api.app import openapi_document
from server.use_cases.approvals.second_persons import ProposalOpenError
from tests.support.copies import store_copy
from tests.support.installations.harness import ask, client, serve_in_thread
from tests.support.installations.publishing import Press, spec
from tests.support.installations.two_persons import Two
from tests.support.linking import store_linkage

FINER = re.compile(r"\d\d:\d\d:\d\d[.,]\d")
READERS = ("ada", "carol", "root", "audit")


class World:
    """One of everything that has a time, and who may read it."""

    def __init__(self, folder):
        self._two = Two.made(folder, cap="100")
        self.made, self.keys = self._two.installation, self._two.keys
        self.keys["ada"] = self.made.analyst(allotment="10")
        self._two.people(lambda service: service.create_principal("audit", "auditor"))
        key = self._two.people(lambda service: service.create_key("audit"))
        self.keys["audit"] = key["key"]

    @cached_property
    def named(self):
        """Return what stands for each parameter of a path."""
        press = Press(self.made)
        job = press.submit(spec(name="visitors", readers=[{"project": "study"}]))
        with pytest.raises(ProposalOpenError):
            self._two.populations(
                lambda o: o.set_cap("people", Loss.parse("200"), "why")
            )
        (proposal,) = (p["proposal"] for p in self._two.waiting())
        self._two.decide("carol", proposal)
        return {
            "dataset": "clinic",
            "population": "people",
            "project": "study",
            "proposal": proposal,
            "job": job,
            "release": press.run(job)["result"]["release"],
            **self._linkage(),
        }

    def _linkage(self):
        with self.made.services() as services:
            copy = store_copy(services, "people")
            return {"copy": copy, **store_linkage(services, "people")}


def test_no_route_shows_finer_times_than_seconds(tmp_path):
    world = World(tmp_path)
    named = world.named
    later = spec(name="later", readers=[{"project": "study"}])
    readable = {
        path: operations["get"]
        for path, operations in openapi_document()["paths"].items()
        if "get" in operations
    }
    seen = set()
    with serve_in_thread(world.made) as url, client(url, world.keys["ada"]) as ada:
        named["query_id"] = ask(ada).json()["query_id"]
        with client(url, world.keys["carol"]) as carol:
            told = {
                "release": later,
                "by": (datetime.now(UTC) + timedelta(days=9)).date().isoformat(),
            }
            made = carol.post("/v1/admin/announcements", json=told)
        named["announcement"] = made.json()["id"]
        for path in readable:
            for reader in READERS:
                with client(url, world.keys[reader]) as http:
                    reply = http.get(path.format(**named))
                if reply.status_code == 200:
                    seen.add(path)
                    assert not FINER.search(reply.text), (path, reader)
    left = {path for path in readable if path not in seen}
    assert left <= {"/v1/releases/{release}/tree", "/v1/releases/{release}/download"}
