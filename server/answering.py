"""What reads, executes and answers questions: DuckDB, OpenDP and the parser.

Most commands ask nothing, and start in half the time without these.
"""

from collections.abc import Callable
from dataclasses import dataclass

from engines.duckdb.engine import capacity
from engines.duckdb.executors import ExecutorEngine, Shares
from mechanisms.samplers import gaussian, geometric_numbers
from mechanisms.samplers.laplace import Sampler
from mechanisms.samplers.queries import QuerySampler
from mechanisms.samplers.vectors import OsVectorSampler, VectorSampler
from query_lang.reading.parse import parse_query
from query_lang.rendering.duckdb.dialect import DUCKDB
from server.configuration.settings import Settings
from server.use_cases.services.services import Answering, Parser

SamplerFactory = Callable[[], Sampler]
VectorSamplerFactory = Callable[[], VectorSampler]


@dataclass(frozen=True, slots=True)
class Replaced:
    """Parts that a caller may bring; None: what a server has, or a command."""

    parser: Parser | None = None
    sampler: SamplerFactory | None = None
    vector_sampler: VectorSamplerFactory | None = None


def make_answering(
    settings: Settings, replaced: Replaced, row_processors: frozenset[int]
) -> Answering:
    """Return the parts. No executor runs before the first question, or ``start``."""
    if replaced.sampler is None:
        gaussian.make_tables()  # now, and not while an answer waits for its slot
        geometric_numbers.make_tables()
    return Answering(
        engine=ExecutorEngine(
            settings.snapshots,
            shares=Shares(settings.executors, settings.workers, row_processors),
        ),
        capacity=capacity(settings.executors),
        dialect=DUCKDB,
        sampler=(replaced.sampler or QuerySampler)(),
        vector_sampler=(replaced.vector_sampler or OsVectorSampler)(),
        parser=replaced.parser or parse_query,
    )
