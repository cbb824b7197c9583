"""Custodians whom the host did not make, and what they decide, without HTTP."""

import json
import shutil
from dataclasses import dataclass, replace

import pytest
from sqlalchemy import select

from budget.storage.tables import chain
from server.installing import initialise
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.custody.projects import ProjectService
from server.use_cases.identity.access import Caller
from server.use_cases.loading.service import LoadService
from tests.support.installations.harness import Installation
from tests.support.installations.remembered import remembered

CUSTODIANS = ("carol", "dora")


def initialise_for_two(installation):
    """Initialise where some changes need two persons."""

    def initialised():
        initialise(installation.settings, single_custodian=False)

    remembered(installation, ("for two",), initialised)


def _keys(installation, custodians):
    """Make an admin, as the host, and custodians, as the admin; return their keys."""
    with installation.services() as services:
        host, admin = (PeopleService(services, who) for who in ("local:test", "root"))
        host.create_principal("root", "admin")
        keys = {"root": host.create_key("root")["key"]}
        for name in custodians:
            admin.create_principal(name, "custodian")
            keys[name] = admin.create_key(name)["key"]
    return keys


@dataclass
class Two:
    """An admin of the host's, and custodians of the admin's, with their keys."""

    installation: Installation
    keys: dict

    @classmethod
    def make(cls, installation, custodians=CUSTODIANS):
        """Make them."""
        act = ("custodians", custodians)
        keys = remembered(installation, act, lambda: _keys(installation, custodians))
        return cls(installation, keys)

    @classmethod
    def made(cls, folder, *, cap):
        """Make a population ``people`` of carol, dora and emil, whom an admin made."""
        installation = Installation(folder)
        act = ("population of three", cap)
        keys = remembered(installation, act, lambda: cls._begun(installation, cap).keys)
        return cls(installation, keys)

    @classmethod
    def _begun(cls, installation, cap):
        initialise_for_two(installation)
        two = cls.make(installation, ("carol", "dora", "emil"))
        manifest = installation.write_manifest(cap=cap)
        with pytest.raises(ProposalOpenError):
            installation.load_manifest(manifest)
        two.approve_all("carol")
        installation.load_manifest(manifest)
        for name in ("dora", "emil"):
            two.people(lambda service, name=name: service.add_custodian("people", name))
        return two

    def copied(self, folder):
        """Return a copy: loading takes seconds."""
        shutil.copytree(self.installation.folder, folder)
        return replace(self, installation=Installation(folder))

    def people(self, work, actor="local:test"):
        """Return what work returns, given the service for principals and keys."""
        return self._given(PeopleService, work, actor)

    def projects(self, work, actor="local:test"):
        """Return what work returns, given the service for projects."""
        return self._given(ProjectService, work, actor)

    def populations(self, work, actor="local:test"):
        """Return what work returns, given the service for populations."""
        return self._given(PopulationService, work, actor)

    def loads(self, work, actor="local:test"):
        """Return what work returns, given the service for manifests."""
        return self._given(LoadService, work, actor)

    def _given(self, service, work, actor):
        with self.installation.services() as services:
            return work(service(services, actor))

    def waiting(self):
        with self.installation.services() as services:
            return ProposalService(services).listed(waiting=True)

    def decide(self, name, proposal, what="approve", *reason):
        with self.installation.services() as services:
            service = ProposalService(services)
            return getattr(service, what)(Caller(name, "custodian"), proposal, *reason)

    def approve_all(self, name):
        for proposal in self.waiting():
            if proposal["state"] == "open":
                self.decide(name, proposal["proposal"])

    def entries(self, action):
        """Return the bodies of the entries of one action."""
        with (
            self.installation.services() as services,
            services.databases.reader.connect() as connection,
        ):
            rows = connection.execute(select(chain.c.body).order_by(chain.c.seq))
            bodies = [json.loads(row.body) for row in rows]
        return [body for body in bodies if body.get("action") == action]
