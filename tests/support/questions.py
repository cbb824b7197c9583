"""Questions as a server prices them, without one."""

import json

from privacy.losses import Loss
from privacy.measures import PURE
from privacy.schema_json import dataset_to_json
from query_lang.plans.costs import UNLIMITED
from query_lang.reading.parse import parse_query
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB
from server.use_cases.identity.access import Grant, Project
from server.use_cases.questions.questions import Compiler, prepare
from server.use_cases.questions.requests import read_request
from server.use_cases.questions.wishes.ranges import LossRange
from tests.support.data.hospital import HOSPITAL

LOSSES = LossRange(Loss.parse("0.001"), Loss.parse("5"), PURE)
COMPILER = Compiler(parse_query, Target(DUCKDB, UNLIMITED))
GRANT = Grant(
    project=Project("study", "people", None, False, ("clinic",)),
    dataset="clinic",
    snapshot="s_1",
    population="people",
    schema=json.dumps(dataset_to_json(HOSPITAL)),
    measure=PURE,
)


def priced_question(sql, epsilon):
    """Return a question of the small hospital at an epsilon."""
    request = read_request({"sql": sql, "epsilon": epsilon})
    return prepare(COMPILER, GRANT, LOSSES, request)
