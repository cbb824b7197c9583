"""L13: nothing is shown or acted on before its entry is anchored, by any process."""

import re
import shutil
from dataclasses import dataclass, field

import httpx
import pytest
from sqlalchemy import make_url

from budget.chain.anchor import HeldAnchor
from budget.ledger import Scope
from privacy.errors import AnchorMismatchError, LedgerUnavailableError
from privacy.losses import Loss
from server.persistence.schema import RECORDED_TABLES
from server.use_cases.custody.people import PeopleService
from server.use_cases.identity.access import Caller, authenticate, find_grant
from server.use_cases.releases.catalogue import Download, ReleaseCatalogue
from server.use_cases.services.paging import Page
from tests.crash.instruments.job_submitter import OPERATOR
from tests.crash.instruments.traces import failing, require_strace
from tests.crash.instruments.unanchored import ACTOR, HOW, QUERY, fails
from tests.effort import gate_first, in_the_audits
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.publishing import Press, spec
from tests.support.installations.warm import run_module

pytestmark = pytest.mark.thorough

ADA = Caller("ada", "analyst")
CARA = Caller("cara", "custodian")


@dataclass
class Ward:
    """An installation on either database, with an earlier copy of its ledger."""

    installation: ImportingInstallation
    key: str
    cluster: object = None
    job: str = ""
    _copy: object = field(default=None)

    def spoil(self, what, how):
        """Change something in another process; it is committed, and not anchored."""
        where = str(self.installation.folder), self.installation.url
        done = run_module("tests.crash.instruments.unanchored", *where, what, how)
        assert done.returncode == {"fails": 3, "dies": 9}[how], done.stderr

    def keep(self):
        """Copy the ledger, as a backup does."""
        if self.cluster is None:
            self._copy = self.installation.folder / "copy.sqlite"
            shutil.copy(self._database, self._copy)
        else:
            name = make_url(self.installation.url).database
            self._copy = self.cluster.database(template=name)

    def bring_back(self):
        """Put the copy in the ledger's place."""
        if self.cluster is None:
            for suffix in ("", "-wal", "-shm"):
                self._database.with_name(f"curator.sqlite{suffix}").unlink(True)
            shutil.copy(self._copy, self._database)
        else:
            self.installation.url = self._copy

    @property
    def _database(self):
        return self.installation.data / "curator.sqlite"


DATABASES = ("sqlite", "postgresql")


@pytest.fixture(params=gate_first(1, DATABASES))
def ward(request, tmp_path):
    shared = request.param == "postgresql"
    cluster = request.getfixturevalue("cluster") if shared else None
    url = cluster.database() if shared else ""
    made = ImportingInstallation(tmp_path, url=url).create()
    made.load()
    made.load(dataset="second")
    key = made.analyst()
    with made.services() as services:
        service = PeopleService(services, ACTOR)
        service.create_principal("bob", "analyst")
        service.create_principal("eva", "analyst")
        service.disable_principal("eva")
        service.create_principal("cara", "custodian", ["people"])
    told = spec(readers=[{"project": "study"}])
    return Ward(made, key, cluster, Press(made).submit(told, OPERATOR))


def see_grant(services, ward):
    with services.databases.reader.connect() as connection:
        return find_grant(connection, ADA, "second", None).dataset == "second"


def see_key(services, ward):
    held = PeopleService(services, ACTOR).keys()
    return [one["principal"] for one in held] == ["ada", "bob"]


def see_cap(services, ward):
    return services.ledger.limit(Scope.population("people")) == Loss.parse("200000")


def see_revocation(services, ward):
    """Whoever was disabled is not let in, shown or not."""
    with services.databases.reader.connect() as connection:
        try:
            authenticate(connection, f"Bearer {ward.key}")
        except LedgerUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - that of a wrong key
            return type(error).__name__ == "UnauthenticatedError"
    return False


def see_enabling(services, ward):
    held = {
        one["name"]: one["disabled"]
        for one in PeopleService(services, ACTOR).principals()
    }
    return not held["eva"]


def see_answer(services, ward):
    return services.ledger.query(QUERY).body == b'{"rows": []}'


def see_release(services, ward):
    """As custodian and as reader: listed, opened, downloaded."""
    catalogue = ReleaseCatalogue(services)
    ids = []
    for caller in (CARA, ADA):
        (item,) = catalogue.page(caller, Page(10, None))["items"]
        ids.append(item["id"])
        assert catalogue.opened(catalogue.row(caller, item["id"]))
        assert catalogue.file(caller, item["id"], Download("json")).path.is_file()
    return len(set(ids)) == 1


SEEN = {
    "grant": see_grant,
    "key": see_key,
    "cap": see_cap,
    "revocation": see_revocation,
    "enabling": see_enabling,
    "answer": see_answer,
    "release": see_release,
}


CASES = [
    (what, how, database) for what in SEEN for how in HOW for database in DATABASES
]
IN_THE_GATE = {
    ("grant", "fails", "sqlite"),
    ("key", "dies", "sqlite"),
    ("cap", "dies", "postgresql"),
    ("revocation", "fails", "postgresql"),
    ("enabling", "fails", "sqlite"),
    ("answer", "dies", "sqlite"),
    ("answer", "fails", "postgresql"),
    ("release", "dies", "postgresql"),
}
"""Each change on one database, both ways to end, and an answer on both."""


@pytest.mark.parametrize(
    ("what", "how", "ward"),
    [case if case in IN_THE_GATE else in_the_audits(case) for case in CASES],
    indirect=["ward"],
)
def test_a_change_is_seen_only_once_no_older_copy_can_be_served(ward, what, how):
    ward.keep()
    ward.spoil(what, how)
    with ward.installation.services() as services:
        before = services.ledger.position()
        assert before.unanchored > 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(HeldAnchor, "write", fails)
            if not is_held(services, what):
                with pytest.raises(LedgerUnavailableError):
                    SEEN[what](services, ward)
        assert services.ledger.position() == before
        assert SEEN[what](services, ward)
        services.ledger.catch_up()  # what a reply holds back needs no reader
        assert services.ledger.position().unanchored == 0
    ward.bring_back()
    with (
        ward.installation.services() as services,
        pytest.raises(AnchorMismatchError),
    ):
        services.ledger.open(RECORDED_TABLES)


def is_held(services, what):
    """Whether it is the end of a question whose reply some process still has."""
    return what == "answer" and services.databases.is_shared


def test_over_http_a_release_waits_for_its_anchor_and_is_then_there(ward, nursery):
    require_strace()
    installation = ward.installation
    headers = {"Authorization": f"Bearer {ward.key}"}
    with (
        nursery.serving(installation) as server,
        httpx.Client(base_url=server.url, headers=headers, timeout=60) as http,
    ):
        assert http.get("/v1/releases").json()["items"] == []
        with failing(server.pid, "pwrite64", "ENOSPC", path=installation.anchor):
            ward.spoil("release", "dies")  # before a check of its own mends it
            for path in ("/v1/releases", "/v1/datasets", "/v1/queries"):
                refused = http.get(path)
                assert refused.status_code == 503, path
                assert refused.json()["type"] == "ledger_unavailable"
        (item,) = http.get("/v1/releases").json()["items"]
        shown = http.get(f"/v1/releases/{item['id']}/download?format=json")
        assert shown.status_code == 200
        assert re.fullmatch("rel_[0-9a-f]+", item["id"])
    with installation.services() as services:
        assert services.ledger.position().unanchored == 0
