"""Two servers with one secret: one holds what the other lacks, else they are equal."""

import contextlib
import http.client
import json
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from privacy.losses import Loss
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.projects import NewProject, ProjectService
from tests.support.installations.harness import (
    Installation,
    serve_in_process,
    serve_in_thread,
)

SECRET = bytes(range(32))
CAP = "900000"
PERMITS = 16  # few, as what may hang on one unit is shared by all
THREADS = 4  # an arm; the server is one process, more would only wait


def rows_of(unit, ages):
    """Return rows of one patient, one an age."""
    return [
        f"{unit},{'FM'[unit % 2]},{age},north,2024-03-0{1 + visit % 9},v{visit}"
        for visit, age in enumerate(ages)
    ]


@dataclass(frozen=True)
class Table:
    """A dataset of one visits table: rows of both arms, and those of one alone."""

    dataset: str
    max_rows: int
    shared: tuple[str, ...]
    added: tuple[str, ...]

    def load(self, installation, *, added):
        """Load the shared rows, and those of one arm alone if asked."""
        installation.load(
            [*self.shared, *(self.added if added else ())],
            dataset=self.dataset,
            max_rows=self.max_rows,
            cap=CAP,
        )


@dataclass(frozen=True)
class Arm:
    """One installation and a key that may ask all its datasets."""

    installation: Installation
    key: str

    def projects(self, count, allotment, dataset):
        """Make projects of one new analyst each, sharing nothing; return their keys."""
        with self.installation.services() as services:
            return [
                _analyst(
                    services,
                    f"a{secrets.token_hex(8)}",
                    (dataset,),
                    allotment,
                    private_history=True,
                )
                for _ in range(count)
            ]


@dataclass(frozen=True)
class Arms:
    """A neighbour with the patients in question, and one without."""

    present: Arm
    absent: Arm

    @contextlib.contextmanager
    def served(self, sampler_factory=None, *, slot_ms=0):
        """Serve both; from processes of their own unless a sampler is injected."""
        for arm in (self.present, self.absent):
            arm.installation.slot_ms = slot_ms
        with contextlib.ExitStack() as stack:
            yield [
                stack.enter_context(_serve(arm.installation, sampler_factory))
                for arm in (self.present, self.absent)
            ]

    def ask(self, urls, question, count):
        """Ask both arms ``count`` times; return the bodies, present arm first."""
        with ThreadPoolExecutor(2) as pool:
            present, absent = pool.map(
                lambda arm, url: ask_many(arm, url, question, count),
                (self.present, self.absent),
                urls,
            )
        return present, absent


@dataclass(frozen=True)
class Question:
    """A text asked of a dataset for a loss."""

    dataset: str
    sql: str
    epsilon: str = "1"
    reuse: str = "never"
    prefer: str | None = None
    word: str = "epsilon"  # or rho, of which it is asked for as much

    @property
    def path(self):
        return f"/v1/datasets/{self.dataset}/queries"

    @property
    def body(self):
        return json.dumps(
            {
                "sql": self.sql,
                self.word: self.epsilon,
                "options": {"reuse": self.reuse, **self._preferred},
            }
        )

    @property
    def _preferred(self):
        return {} if self.prefer is None else {"prefer": self.prefer}


def make_arms(folder, tables, permits=PERMITS):
    """Build both installations with the same secret, without slots."""
    return Arms(
        _make_arm(folder / "present", tables, permits, added=True),
        _make_arm(folder / "absent", tables, permits, added=False),
    )


def _make_arm(folder, tables, permits, *, added):
    folder.mkdir(parents=True)
    installation = Installation(folder, permits=permits).create(SECRET)
    for table in tables:
        table.load(installation, added=added)
    with installation.services() as services:
        key = _analyst(services, "auditor", [table.dataset for table in tables], CAP)
    return Arm(installation, key)


def _analyst(services, name, datasets, allotment, *, private_history=False):
    people = PeopleService(services, "local:test")
    people.create_principal(name, "analyst")
    ProjectService(services, "local:test").create_project(
        NewProject(
            f"of_{name}",
            tuple(datasets),
            (name,),
            Loss.parse(allotment),
            private_history=private_history,
        )
    )
    return people.create_key(name)["key"]


def _serve(installation, sampler_factory):
    if sampler_factory is None:
        return serve_in_process(installation)
    return serve_in_thread(installation, sampler_factory)


IDLE = 2  # seconds; a server closes what is idle for five


class Line:
    """One kept-alive connection of one key; a new one where it was long idle."""

    def __init__(self, url, key):
        host, port = url.removeprefix("http://").split(":")
        self._connection = http.client.HTTPConnection(host, int(port), timeout=60)
        self._last = time.monotonic()
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._connection.close()

    def post(self, question):
        """Return status and parsed body."""
        if time.monotonic() > self._last + IDLE:
            self._connection.close()
        self._connection.request("POST", question.path, question.body, self._headers)
        response = self._connection.getresponse()
        body = response.read()
        self._last = time.monotonic()
        return response.status, json.loads(body)

    def answer(self, question):
        """Return the body of an answer that must come."""
        status, body = self.post(question)
        assert status == 200, body
        return body


def ask_many(arm, url, question, count):
    """Ask one server ``count`` times over a few connections; return the bodies."""
    bodies, lock, left = [], threading.Lock(), iter(range(count))
    threads = min(THREADS, arm.installation.permits)

    def ask_until_done():
        with Line(url, arm.key) as line:
            while True:
                with lock:
                    if next(left, None) is None:
                        return
                body = line.answer(question)
                with lock:
                    bodies.append(body)

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(ask_until_done) for _ in range(threads)]:
            done.result()
    return bodies
