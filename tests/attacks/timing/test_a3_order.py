"""A3: when an answer was stored cannot be read off the order of anything, ever.

Another population's question is answered between the acts of one population, at each
moment in turn; custodian, auditor, admin and analyst read every document that they may
after each act. Whatever the moment, they must read the same bytes.
"""

import contextlib
import itertools
import json
import re

import pytest

from budget.chain.entries import entry_hash
from budget.ledger import ChargeRequest, Scope
from budget.reading.listing import IN_FLIGHT
from budget.storage.tables import chain
from privacy.losses import Loss
from server.persistence import tables
from server.use_cases.services.work_ends import RELEASE_ENDS
from server.web import Server
from tests.effort import gate_first
from tests.support.installations.arms import masked_text
from tests.support.installations.harness import (
    STRANGERS,
    Installation,
    ask,
    client,
    serving,
)
from tests.support.installations.two_persons import Two

pytestmark = pytest.mark.thorough

LATER = "2999-01-01T00:00:00.000000+00:00"
POPULATIONS = {"clinic": ("people", "study"), "school": ("pupils", "lessons")}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
_ID = re.compile(r"\b(q|job|rel)_\w{24}\b")
ACTS = 4
DOCUMENTS = {
    "ada": [
        "/v1/queries",
        "/v1/queries?limit=1",
        "/v1/budget",
        "/v1/datasets",
        "/v1/datasets/clinic",
        "/v1/releases",
        "/v1/announcements",
    ],
    "carol": [
        "/v1/admin/populations",
        "/v1/admin/populations/people",
        "/v1/admin/populations/people/statement",
        "/v1/admin/datasets",
        "/v1/admin/datasets/clinic",
        "/v1/admin/datasets/clinic/snapshots",
        "/v1/admin/projects",
        "/v1/admin/projects/study",
        "/v1/admin/projects/study/report",
        "/v1/admin/proposals",
        "/v1/admin/jobs",
        "/v1/admin/releases",
        "/v1/releases",
        "/v1/admin/announcements",
        "/v1/announcements",
        "/v1/admin/ledger?limit=200",
        "/v1/admin/ledger?limit=1",
    ],
    "olga": [
        "/v1/admin/populations/people/statement",
        "/v1/admin/populations/pupils/statement",
        "/v1/admin/projects/study/report",
        "/v1/admin/projects/lessons/report",
        "/v1/admin/ledger?limit=200",
        "/v1/admin/ledger?limit=3",
        "/v1/admin/ledger/verify",
    ],
    "root": ["/v1/admin/principals", "/v1/admin/keys"],
}


class House:
    """Two populations; one server, or two processes' servers of one ledger.

    Questions of ``asker`` are charged and stored by hand, at chosen moments; whoever
    reads does so at ``url``, from another process where there are two.
    """

    def __init__(self, stack, folder, url):
        self.installation = Installation(folder, url=url).create()
        self.installation.load()
        self.installation.load(STRANGERS, dataset="school", population="pupils")
        two = Two.make(self.installation, ("carol",))
        two.people(lambda service: service.add_custodian("people", "carol"))
        two.people(lambda service: service.create_principal("olga", "auditor"))
        self.keys = {
            **two.keys,
            "ada": self.installation.analyst(),
            "bob": self.installation.analyst("bob", "lessons", "school"),
            "olga": two.people(lambda service: service.create_key("olga"))["key"],
        }
        worker_ids = [None] if not url else ["one", "two"]
        servers = [
            Server(self.installation.settings, worker_id=worker_id)
            for worker_id in worker_ids
        ]
        urls = [stack.enter_context(serving(server)) for server in servers]
        self.asker = servers[0].services
        self.url = urls[-1]
        self.http = {
            name: stack.enter_context(client(self.url, key))
            for name, key in self.keys.items()
        }

    def read(self):
        """Return every document that somebody may read, but for times and ids."""
        return {
            (name, path): _shape(self.http[name].get(path))
            for name, paths in DOCUMENTS.items()
            for path in paths
        }

    def act(self, number):
        """Do the next thing that people do in the population of the readers."""
        if number == 0:
            assert ask(self.http["ada"], epsilon="1").status_code == 200
        elif number == 1:
            assert ask(self.http["ada"], epsilon="5", project="x").status_code == 404
            path = "/v1/admin/populations/people"
            cut = {"epsilon_cap": "99999", "reason": "less will do"}
            assert self.http["carol"].patch(path, json=cut).status_code == 200
        elif number == 2:
            again = ask(self.http["ada"], epsilon="1", options={})
            assert again.json()["charge"]["reused"]
        else:
            assert self.http["ada"].get("/v1/admin/ledger").status_code == 403
            assert ask(self.http["ada"], epsilon="0.5").status_code == 200

    def begin(self):
        """Charge what is to be answered: three questions and a release."""
        asked = {
            "answered": ("school", "bob"),
            "failed": ("school", "bob"),
            "own": ("clinic", "ada"),  # of the readers' population
        }
        paid = {}
        for how, (dataset, principal) in asked.items():
            request = self._request("q_" + how.rjust(24, "0"), dataset, principal)
            self.asker.unreleased.hold(request.query_id)
            paid[how] = self.asker.ledger.charge(request).charge
        for how in ("published", "unwritten"):
            paid[how] = self._begin_release(how)
        return paid

    def _request(self, query_id, dataset, principal):
        population, project = POPULATIONS[dataset]
        scopes = [Scope.population(population)]
        if query_id.startswith("q_"):
            scopes.append(Scope.project(project))
        else:
            project = ""
        with self.asker.databases.reader.connect() as connection:
            snapshot = connection.execute(
                tables.dataset.select().where(tables.dataset.c.name == dataset)
            ).one()
        return ChargeRequest(
            query_id=query_id,
            principal=principal,
            project=project,
            population=population,
            dataset=dataset,
            snapshot=snapshot.active_snapshot,
            scopes=tuple(scopes),
            loss=Loss.parse("2"),
            question="how many",
            private_history=False,
            idempotency_key=None,
            fingerprint=None,
            request_json=json.dumps({"sql": "SELECT COUNT(*) FROM visits"}),
        )

    def _begin_release(self, how):
        request = self._request(f"job_{_hexed(how)}", "school", "local:test")

        def begin(change):
            change.insert(
                tables.publication,
                {
                    "id": f"rel_{_hexed(how)}",
                    "name": how,
                    "population": "pupils",
                    "dataset": "school",
                    "snapshot": request.snapshot,
                    "job": request.query_id,
                    "spec": '{"epsilon":"2","kind":"cube","strategy":"cells"}',
                    "public": False,
                    "readers": "[]",
                    "state": "begun",
                    "created": "2026-01-01T00:00:00.000000+00:00",
                    "created_by": "local:test",
                    "manifest_sha256": None,
                    "visible": None,
                },
            )

        return self.asker.ledger.charge_work(request, "release.begin", begin)

    def end(self, paid):
        """Store how everything ends."""
        ledger = self.asker.ledger
        ledger.store_answer(paid["answered"], b'{"rows": []}')
        ledger.fail(paid["failed"].query_id)
        ledger.store_answer(paid["own"], b'{"rows": []}')
        published = self._ended("published", "published")
        ledger.store_work(
            paid["published"], b"{}", "release.publish", "local:test", published
        )
        failed = self._ended("unwritten", "failed")
        ledger.fail_work(
            paid["unwritten"].query_id, "release.fail", "local:test", failed
        )

    def _ended(self, how, state):
        values = {"state": state, "visible": LATER}
        return lambda change: change.update(
            tables.publication, {"id": f"rel_{_hexed(how)}"}, values
        )

    def release(self, paid):
        """Let the replies to the questions leave."""
        asked = [one.query_id for one in paid.values()]
        self.asker.release([name for name in asked if name.startswith("q_")])


def _hexed(text):
    return text.encode().hex().rjust(24, "0")[-24:]


def _shape(reply):
    """Return all that a reply shows but its time, ids and times, which are random."""
    assert reply.status_code == 200, reply.text
    headers = {name.lower(): text for name, text in reply.headers.items()}
    for name in ("date", "x-request-id"):
        headers.pop(name, None)
    text = _MOMENT.sub("MOMENT", _ID.sub(r"\1_ID", masked_text(reply.text)))
    return text, sorted(headers.items())


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def houses(request, tmp_path):
    """Return what builds a house; each is another one."""
    with contextlib.ExitStack() as stack:

        def build():
            url = ""
            if request.param == "postgresql":
                url = request.getfixturevalue("cluster").database()
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            return House(stack, folder, url)

        yield build


def read_along(house, moment):
    """Return what is read after each act, where all ends are stored after ``moment``.

    The last reading is from after the questions' replies have left.
    """
    paid = house.begin()
    seen = []
    for number in range(ACTS + 1):
        if number == moment:
            house.end(paid)
        if number < ACTS:
            house.act(number)
        seen.append(house.read())
    house.release(paid)
    return [*seen, house.read()]


def test_no_document_ever_tells_when_an_answer_was_stored(houses):
    first, *others = (read_along(houses(), moment) for moment in (0, 2, ACTS))
    for other in others:
        for before, after in zip(first, other, strict=True):
            for document, shown in before.items():
                assert after[document] == shown, document
    assert first[-1] != first[-2]
    lines = json.loads(first[-1]["olga", "/v1/admin/ledger?limit=200"][0])["items"]
    states = [line["state"] for line in lines if line["kind"] == "charge"]
    assert sorted(states) == sorted(
        ["answered"] * 4 + ["failed"] + [IN_FLIGHT] * 2  # the releases' time is to come
    )


_FINER = re.compile(r"\d\d:\d\d:\d\d\.\d")
OF_CHARGES = re.compile("ledger|queries|releases|statement|report")


def test_no_time_of_a_charge_is_finer_than_a_second(houses):
    """Finer digits tell how long the ledger, or a worker, was busy with others."""
    house = houses()
    paid = house.begin()
    house.act(0)
    house.end(paid)
    house.release(paid)
    read = {
        (name, path): house.http[name].get(path).text
        for name, paths in DOCUMENTS.items()
        for path in paths
        if OF_CHARGES.search(path)
    }
    assert [key for key, text in read.items() if _FINER.search(text)] == []


KINDS = ("answered", "failed", "free", "admin")


def test_whoever_knows_all_of_an_end_cannot_find_when_it_was_stored(houses):
    """Not even the right microsecond fits the hash: 128 bits are missing."""
    house = houses()
    house.end(house.begin())
    items = house.http["olga"].get("/v1/admin/ledger?limit=200").json()["items"]
    of_school = [one["number"] for one in items if one["population"] == "pupils"]
    assert of_school[:4] == [4, 3, 2, 1]
    assert {"seq", "hash"}.isdisjoint(name for one in items for name in one)
    assert ask(house.http["ada"], options={}).status_code == 200
    assert ask(house.http["ada"], options={}).json()["charge"]["reused"]
    with house.asker.databases.reader.connect() as connection:
        rows = connection.execute(chain.select().order_by(chain.c.seq)).all()
    found = []
    for before, row in itertools.pairwise(rows):
        body = json.loads(row.body)
        if row.kind not in KINDS or (
            row.kind == "admin" and body["action"] not in RELEASE_ENDS
        ):
            continue
        salt = body.pop("salt")
        found.append((row.kind, salt))
        known = json.dumps(body, sort_keys=True, separators=(",", ":"))
        assert row.hash != entry_hash(before.hash, row.seq, row.kind, row.time, known)
    assert {kind for kind, _ in found} == set(KINDS)
    assert len({salt for _, salt in found}) == len(found)
    assert {len(salt) for _, salt in found} == {32}
