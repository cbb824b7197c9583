"""What commands are handed: they cannot reach bootstrap themselves."""

from threading import Event

from server.bootstrap import make_jobs, make_runner, make_services
from server.cli.commands import Wiring
from server.cli.terminal.arguments import settings_or_exit
from server.installing import actor, initialise
from server.use_cases.jobs.running import JobRunner
from server.use_cases.services.services import Services

WIRING = Wiring(make_services, initialise, actor, make_jobs, make_runner)


def services() -> Services:
    """Open the installation of the settings."""
    return make_services(settings_or_exit())


def runner(stop: Event) -> JobRunner:
    """Return what runs one's own job in this process."""
    return make_runner(services(), stop)
