"""Two neighbouring installations, and how to compare what they say."""

import json
import re
import sqlite3
import threading
from contextlib import closing, contextmanager
from dataclasses import dataclass

import httpx

from mechanisms.samplers.queries import QuerySampler
from tests.support.installations.harness import Installation, ask, client
from tests.support.noise.samplers import ZeroSampler

SECRET = bytes(range(32))
TARGET = 730000007
_FIRST = 730000000
CANARY_PATIENTS = 50

# Only the target is in the north ward, 111 years old, or seen in December.
TARGET_ROWS = tuple(
    f"{TARGET},F,111,north,2024-12-2{visit},targetnote{visit}" for visit in range(8)
)
OTHER_ROWS = tuple(
    f"{_FIRST + 10 + unit},{'FM'[unit % 2]},{20 + unit},"
    f"{f'canaryward{unit:03}' if unit % 2 else 'south'},"
    f"2024-0{1 + unit % 9}-1{visit},canarynote{unit:03}x{visit}"
    for unit in range(CANARY_PATIENTS)
    for visit in range(1 + unit % 3)
)
ROWS = {
    "with": [*OTHER_ROWS[:20], *TARGET_ROWS, *OTHER_ROWS[20:]],
    "without": list(OTHER_ROWS),
    "empty": [],
}
CANARIES = (
    *(f"canarynote{unit:03}" for unit in range(CANARY_PATIENTS)),
    *(f"canaryward{unit:03}" for unit in range(1, CANARY_PATIENTS, 2)),
    *(str(_FIRST + 10 + unit) for unit in range(CANARY_PATIENTS)),
    "targetnote",
    str(TARGET),
)
CAP = "900000"
ZERO = ZeroSampler

_RANDOM_ID = re.compile(r"\b([a-z]{1,2})_[0-9a-f]{24}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:\+00:00|Z)?")


BOOT = 'INSERT INTO "boot"'


@dataclass
class Arm:
    """One installation that is being served, and its first analyst's client."""

    installation: Installation
    url: str
    http: httpx.Client

    def analyst(self, name, project, **more):
        """Make one more analyst with a project of its own; return a client."""
        key = self.installation.analyst(name=name, project=project, **more)
        return client(self.url, key)

    def dump(self):
        """Return the whole catalogue database as text, and the anchor's bytes.

        But for the server's sign of life, which is renewed with time.
        """
        path = self.installation.data / "curator.sqlite"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            lines = database.iterdump()
            text = "\n".join(x for x in lines if not x.startswith(BOOT))
        return text, self.installation.anchor.read_bytes()

    def sql(self, statement):
        """Change the catalogue behind the ledger's back, as time or a thief would."""
        path = self.installation.data / "curator.sqlite"
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(statement)

    def export(self):
        """Return the ledger's entries."""
        with self.installation.services() as services:
            return services.ledger.export()


def make_installation(folder, rows, kind=Installation, **more):
    """Make an installation with the shared secret and one loaded dataset."""
    folder.mkdir(parents=True, exist_ok=True)
    installation = kind(folder, **more).create(secret=SECRET)
    installation.load(rows, cap=CAP)
    return installation


class HeldSampler:
    """Draws real noise; while it is held, draws wait until it is opened."""

    def __init__(self):
        self._sampler = QuerySampler()
        self._changed = threading.Condition()
        self._open = True
        self._waiting = 0

    def discrete_laplace(self, values, scale):
        self._wait()
        return self._sampler.discrete_laplace(values, scale)

    def refined_laplace(self, values, shown, coarse, fine):
        self._wait()
        return self._sampler.refined_laplace(values, shown, coarse, fine)

    def _wait(self):
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            opened = self._changed.wait_for(lambda: self._open, 30)
            self._waiting -= 1
        if not opened:
            raise TimeoutError

    @contextmanager
    def held(self):
        """Hold every draw until ``open`` or the end of the block."""
        self._open = False
        try:
            yield self
        finally:
            self.open()

    def open(self):
        """Let the draws go on."""
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def wait_for(self, waiting):
        """Return once so many draws wait."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._waiting >= waiting, 30)


class FailingSampler:
    """Raises with the exact values in its message: a leak, were it ever shown."""

    def discrete_laplace(self, values, scale):
        message = f"canaryexact{list(values)}"
        raise RuntimeError(message)

    def refined_laplace(self, values, shown, coarse, fine):
        return self.discrete_laplace(values, fine)


def masked_text(text):
    """Hide random ids and times, which tell nothing of the data."""
    return _TIME.sub("TIME", _RANDOM_ID.sub(r"\1_ID", text))


def _without_noise(value):
    """Hide the noisy numbers of answers, wherever they stand."""
    if isinstance(value, list):
        return [_without_noise(item) for item in value]
    if not isinstance(value, dict):
        return value
    hidden = {name: _without_noise(item) for name, item in value.items()}
    if (
        isinstance(value.get("rows"), list)
        and "columns" in value
        and "made_up" not in value
    ):
        kinds = [column["kind"] for column in value["columns"]]
        hidden["rows"] = [
            [
                item if kind == "group" else type(item).__name__
                for item, kind in zip(row, kinds, strict=True)
            ]
            for row in value["rows"]
        ]
    return hidden


def shape(response):
    """Return all that a reply shows but noise, random ids and times.

    The length stays unless the body holds noise, whose digits it counts.
    """
    headers = {name.lower(): text for name, text in response.headers.items()}
    headers.pop("date", None)
    headers.pop("x-request-id", None)  # random, ours
    body = response.text
    if response.headers.get("content-type", "").endswith("json") and body:
        body = json.dumps(_without_noise(response.json()))
        if '"rows"' in body:
            headers.pop("content-length", None)
    return response.status_code, headers, masked_text(body)


def post(http, body, path="queries", dataset="clinic", headers=None):
    """POST raw bytes."""
    return http.post(
        f"/v1/datasets/{dataset}/{path}", content=body, headers=headers or {}
    )


def plan(http, sql="SELECT COUNT(*) FROM visits", epsilon="1", **more):
    """POST a question to plan."""
    return http.post(
        "/v1/datasets/clinic/plan", json={"sql": sql, "epsilon": epsilon, **more}
    )


def repeatable(http, sql="SELECT COUNT(*) FROM visits", epsilon="1", **more):
    """Ask where stored answers are welcome."""
    return ask(http, sql, epsilon, options={}, **more)
