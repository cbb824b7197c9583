"""What questions and releases may cost, from the installation's public settings."""

from engines.duckdb.engine import DEADLINE_SECONDS, LONG_DEADLINE_SECONDS
from engines.duckdb.snapshots import TOTAL_MEMORY_BYTES, memory_per_executor
from query_lang.plans.costs import CostLimits, EngineSize, cost_limits, job_limits
from query_lang.rendering.dialect import Target
from server.configuration.settings import Settings
from server.use_cases.services.services import Services


def question_limits(settings: Settings) -> CostLimits:
    """Return what one question may cost; executors share the engine's memory."""
    memory = memory_per_executor(settings.executors)
    return cost_limits(_size(settings, memory, DEADLINE_SECONDS))


def release_limits(settings: Settings) -> CostLimits:
    """Return what the counting of one release may cost."""
    return job_limits(_size(settings, TOTAL_MEMORY_BYTES, LONG_DEADLINE_SECONDS))


def release_target(services: Services) -> Target:
    """Return which engine counts a release that is not paid for, and for how much."""
    return Target(services.dialect, release_limits(services.settings))


def _size(settings: Settings, memory_bytes: int, deadline_seconds: float) -> EngineSize:
    return EngineSize(
        permits=settings.permits,
        executors=settings.executors,
        slot_ms=settings.slot_ms,
        memory_bytes=memory_bytes,
        deadline_seconds=deadline_seconds,
    )
