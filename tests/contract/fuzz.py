"""Made-up requests from the OpenAPI document, against a real server.

Every reply must be one that the document describes (status, media type, headers, body),
and none a server error. The long run: ``python -m tests.contract.fuzz --cases 20000``.
"""

import argparse
import contextlib
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from server.api.app import openapi_document
from tests.support.data.wards import publish
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
SQL = (
    "SELECT COUNT(*) FROM visits",
    "SELECT sex, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY sex",
    "SELECT ward, AVG(age), MEDIAN(age) FROM visits WHERE age > 30 GROUP BY ward",
    "SELECT MAX(age) FROM visits",
    "SELECT nothing FROM visits",
    "SELECT",
)
_OPTIONS = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


@dataclass
class Findings:
    """What the replies were, and what was wrong with them."""

    cases: int = 0
    statuses: Counter = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)  # the first of each kind


@dataclass(frozen=True)
class Target:
    """A server, a key of its analyst, and a query that was answered."""

    url: str
    key: str
    query_id: str


@contextlib.contextmanager
def serve_target(folder, *, publishes=False):
    """Serve an installation with one analyst who can pay for everything.

    Args:
        publishes: Whether it has a release.
    """
    installation = Installation(folder).create()
    installation.load()
    key = installation.analyst()
    if publishes:
        publish(installation)
    with serve_in_thread(installation) as url, client(url, key) as http:
        yield Target(url, key, ask(http).json()["query_id"])


def fuzz(target, cases, seeded=0):
    """Send made-up requests to each operation in turn; return what was found."""
    findings = Findings()
    schema = schemathesis.openapi.from_dict(openapi_document())
    operations = [found.ok() for found in schema.get_all_operations()]
    whole = sum(_weight(operation) for operation in operations)
    with requests.Session() as session:
        for operation in operations:
            share = -(-cases * _weight(operation) // (2 * whole))
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                _fuzz_operation(
                    operation, mode, share, seeded, (target, session, findings)
                )
    return findings


def _weight(operation):
    """Say how much there is to make up about a request."""
    return 1 + 2 * len(list(_parameters(operation))) + 6 * len(list(operation.body))


def _parameters(operation):
    yield from operation.path_parameters
    yield from operation.query


def _fuzz_operation(operation, mode, share, seeded, where):
    if mode is GenerationMode.NEGATIVE and not _can_be_wrong(operation):
        mode = GenerationMode.POSITIVE

    @seed(seeded)
    @settings(_OPTIONS, max_examples=share)
    @given(case=operation.as_strategy(generation_mode=mode), steering=_STEERING)
    def send(case, steering):
        _send(case, steering, *where)

    send()


def _can_be_wrong(operation):
    """Whether there is something about a request that a schema could refuse."""
    return _weight(operation) > 1


_STEERING = st.fixed_dictionaries(
    {
        "known": st.integers(0, 3),  # 0: the made-up name stays
        "sql": st.sampled_from((None, *SQL)),
        "keyed": st.integers(0, 9),  # 0: no key
    }
)


def _send(case, steering, target, session, findings):
    known = {"dataset": "clinic", "query_id": target.query_id}
    if steering["known"]:
        for name in set(case.path_parameters or {}) & set(known):
            case.path_parameters[name] = known[name]
    if steering["sql"] is not None and isinstance(case.body, dict):
        case.body = {**case.body, "sql": steering["sql"]}
    headers = {"Authorization": f"Bearer {target.key}"} if steering["keyed"] else {}
    label = case.operation.label
    try:
        reply = case.call(base_url=target.url, session=session, headers=headers)
        findings.cases += 1
        findings.statuses[reply.status_code] += 1
        case.validate_response(reply, checks=_checks(case.body), headers=headers)
    except FailureGroup as failures:
        for failure in failures.exceptions:
            findings.faults.setdefault(f"{label}: {failure.title}", str(failure))


def _checks(body):
    """Leave out that wrong bodies are refused where a loss is a number.

    The server reads one by the exact value of its text; the document has texts alone,
    since clients read JSON's numbers as floating-point ones.
    """
    body = body if isinstance(body, dict) else {}
    wish = body.get("accuracy")
    losses = [body.get("epsilon"), wish.get("at_most") if isinstance(wish, dict) else 0]
    if any(isinstance(loss, int | float) and loss for loss in losses):
        return [check for check in CHECKS if check is not negative_data_rejection]
    return CHECKS


def main():
    """Run the long count, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    arguments = parser.parse_args()
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_target(Path(folder)) as target,
    ):
        findings = fuzz(target, arguments.cases, arguments.seed)
    seconds = time.monotonic() - started
    print(f"{findings.cases} cases in {seconds:.0f} s, seed {arguments.seed}")
    print(dict(sorted(findings.statuses.items())))
    for name, fault in findings.faults.items():
        print(f"\n{name}\n{fault}")
    raise SystemExit(bool(findings.faults))


if __name__ == "__main__":
    main()
