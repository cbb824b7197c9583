"""What questions and releases may cost, from the installation's public settings."""

from engines.contract import Capacity
from query_lang.plans.costs import CostLimits, EngineSize, cost_limits, job_limits
from query_lang.rendering.dialect import Target
from server.configuration.settings import Settings
from server.use_cases.services.services import Services


def question_limits(settings: Settings, capacity: Capacity) -> CostLimits:
    """Return what one question may cost; executors share the engine's memory."""
    memory, seconds = capacity.question_memory_bytes, capacity.question_deadline_seconds
    return cost_limits(_size(settings, memory, seconds))


def release_target(services: Services) -> Target:
    """Return which engine counts a release that is not paid for, and for how much."""
    capacity = services.capacity
    memory, seconds = capacity.release_memory_bytes, capacity.release_deadline_seconds
    limits = job_limits(_size(services.settings, memory, seconds))
    return Target(services.dialect, limits)


def _size(settings: Settings, memory_bytes: int, deadline_seconds: float) -> EngineSize:
    return EngineSize(
        permits=settings.permits,
        executors=settings.executors,
        slot_ms=settings.slot_ms,
        memory_bytes=memory_bytes,
        deadline_seconds=deadline_seconds,
    )
