"""The one ``Wiring``: what makes the parts that commands need."""

from server.bootstrap import make_jobs, make_runner, make_services
from server.cli.wiring import Wiring
from server.installing import actor, initialise

WIRING = Wiring(make_services, initialise, actor, make_jobs, make_runner)
