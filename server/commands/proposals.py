"""``curator proposal``: changes that need two persons."""

import typer

from server.cli.people.proposals import proposal_commands
from server.commands.wired import WIRING
from server.use_cases.approvals.proposals import ProposalService

cli = typer.Typer()
cli.add_typer(
    proposal_commands(lambda: ProposalService(WIRING.services())), name="proposal"
)
