"""L1: 64 clients want the last epsilon, again and again."""

from collections import Counter
from dataclasses import dataclass

from budget.ledger import Scope
from privacy.losses import Loss
from server.use_cases.custody.projects import NewProject, ProjectService
from tests.crash.instruments.processes import lines, question

CLIENTS = 64
PEOPLE = Scope.population("people")
ONE = Loss.parse("1")


@dataclass(frozen=True)
class Race:
    """What one round brought."""

    statuses: Counter
    refusals: frozenset
    limit: Loss
    spent: Loss

    @property
    def is_right(self):
        return (
            self.statuses == Counter({200: 1, 402: CLIENTS - 1})
            and len(self.refusals) == 1
            and self.spent == self.limit
        )


def run_races(nursery, installation, key, rounds):
    """Race ``rounds`` times; yield each round's outcome.

    By turns the last epsilon is a fresh project's, the population's cap, or the
    allotment of one principal inside a project.
    """
    with (
        nursery.serving(installation) as server,
        installation.services() as services,
        lines(server.port, key, CLIENTS) as clients,
    ):
        for client in clients:
            client.reconnects = True
        for number in range(rounds):
            project, scope = _leave_one(services, number)
            yield _race(services, clients, project, scope)


def _leave_one(services, number):
    ledger = services.ledger
    if number % 3 == 0:
        name = f"round{number}"
        ProjectService(services, "local:test").create_project(
            NewProject(name, ("clinic",), ("ada",), ONE)
        )
        scope = Scope.project(name)
    else:
        name = "study"
        scope = (PEOPLE, Scope.principal("study", "ada"))[number % 3 - 1]
    plenty = Loss.parse("900000")
    with ledger.recorded("race", "local:test") as change:
        for other in (PEOPLE, Scope.principal("study", "ada")):
            change.set_limit(other, plenty)
        change.set_limit(scope, ledger.spent(scope) + ONE)
    return name, scope


def _race(services, clients, project, scope):
    for client in clients:
        client.hold(question(project=project))
    for client in clients:
        client.release()
    responses = [client.read() for client in clients]
    refused = [r.body for r in responses if r is not None and r.status == 402]
    return Race(
        statuses=Counter(None if r is None else r.status for r in responses),
        refusals=frozenset(refused),
        limit=services.ledger.limit(scope),
        spent=services.ledger.spent(scope),
    )
