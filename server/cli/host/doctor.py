"""The command ``curator doctor``."""

from collections.abc import Callable

import typer

from server.cli.terminal.output import (
    REFUSED,
    Json,
    print_json,
    say,
    write,
)
from server.configuration.settings import Settings
from server.configuration.sources import describe_settings
from server.use_cases.operations.doctor import Doctor, Instruments


def add_doctor(
    cli: typer.Typer, read: Callable[[], Settings], instruments: Instruments
) -> None:
    """Add ``curator doctor``."""

    @cli.command()
    def doctor(*, json: Json = False) -> None:
        """Look at settings, files, ledger and data; exit 1 where something is wrong.

        Example: curator doctor
        """
        settings = read()
        lines = describe_settings(settings)
        findings = Doctor(settings, instruments).examine()
        failed = any(finding.state == "fail" for finding in findings)
        if json:
            print_json(
                {
                    "ok": not failed,
                    "settings": [
                        {"name": s.name, "value": s.value, "source": s.source}
                        for s in lines
                    ],
                    "findings": [
                        {"check": f.check, "state": f.state, "detail": f.detail}
                        for f in findings
                    ],
                }
            )
        else:
            for line in lines:
                write(f"      {line.name} = {line.value} ({line.source})")
            for finding in findings:
                write(f"{finding.state:<5} {finding.check}: {finding.detail}")
        if failed:
            say("something is wrong: see the lines that begin with 'fail'")
            raise typer.Exit(REFUSED)
