"""Questions and recovery in tests without HTTP: by a clock of its own, at once."""

from query_lang.rendering.dialect import Target
from server.use_cases.questions.asking.service import QueryService
from server.use_cases.questions.questions import Compiler
from server.use_cases.questions.recovery import Pace, Recovery
from server.use_cases.releases.offers import ReleaseOffers
from server.use_cases.releases.opened import OpenReleases


def asking(services):
    """Return what compiles texts, and what asks them."""
    compiler = Compiler(services.parser, Target(services.dialect))
    offers = ReleaseOffers(services, OpenReleases(services))
    return compiler, QueryService(services, compiler, offers)


def execute_at_once(_compiled, execution):
    """Run what is queued here, now."""
    if execution is not None:
        execution()


def recovery_at_once(services, compiler, queries):
    """Return a recovery that shows what it took up at its next run."""
    pace = Pace(lambda _: 0.0, starting_seconds=0, count_late=lambda: None)
    return Recovery(services, compiler, queries, pace, execute_at_once)
