"""``curator linkage``: link records, decide doubtful pairs, show what came of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from server.cli.linkage.charts import print_doubt
from server.cli.terminal.arguments import check_line
from server.cli.terminal.output import (
    Json,
    confirm,
    print_json,
    refusals,
    say,
    show,
    show_list,
)
from server.cli.texts.parts import Background, Limit, TextCommandParts
from server.use_cases.linkage.replies import DoubtDetail, Verdict
from server.use_cases.services.documents import Document
from server.use_cases.services.paging import Page

if TYPE_CHECKING:  # each command reads what it needs
    from server.use_cases.linkage.review import ReviewService
    from server.use_cases.linkage.work.service import LinkageService


Name = Annotated[str, typer.Argument(help="A linkage's name, or its id.")]
Record = Annotated[int, typer.Argument(min=1, help="A record's number.")]
Learn = Annotated[
    bool, typer.Option(help="Estimate match weights anew, also from decisions.")
]
DryRun = Annotated[bool, typer.Option(help="Report what would be; keep nothing.")]
Override = Annotated[bool, typer.Option(help="Let patients be in two populations.")]
Changes = Annotated[
    bool, typer.Option(help="Let declarations differ from the last snapshot's.")
]
Reason = Annotated[
    str | None,
    typer.Option(help="Why; recorded with an override.", callback=check_line),
]
_KEYS: dict[str, Verdict | None] = {
    "m": "match",
    "n": "no_match",
    "u": "unsure",
    "q": None,
}
_PAGE = 200


@dataclass(frozen=True, slots=True)
class LinkageCommandParts:
    """What the commands work with.

    Attributes:
        work: Has jobs done.
        service: Shows, exports, imports and deletes.
        review: What clerks see and say.
    """

    work: TextCommandParts
    service: Callable[[], "LinkageService"]
    review: Callable[[], "ReviewService"]


def linkage_commands(parts: LinkageCommandParts) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(help="Which records are one patient's: for custodians alone.")
    _add_runs(cli, parts)
    _add_lists(cli, parts)
    _add_review(cli, parts)
    _add_answers(cli, parts)
    _add_decisions(cli, parts)
    _add_sheets(cli, parts)
    _add_results(cli, parts)
    _add_files(cli, parts)
    return cli


def _add_runs(cli: typer.Typer, parts: LinkageCommandParts) -> None:
    @cli.command()
    def run(
        file: Path,
        *,
        learn: Learn = False,
        dry_run: DryRun = False,
        override_overlap: Override = False,
        accept_changes: Changes = False,
        reason: Reason = None,
        background: Background = False,
        json: Json = False,
    ) -> None:
        """Link the records that a file declares, and load their tables.

        The file and its sources lie under CURATOR_IMPORT; see docs/linking.md. The
        report counts raw records: it is for custodians alone.

        Example: curator linkage run patients.yaml
        """
        with refusals(as_json=json):
            told: Document = {
                "linkage": str(file.absolute()),
                "learn": learn,
                "dry_run": dry_run,
                "override_overlap": override_overlap,
                "accept_changes": accept_changes,
                "reason": reason,
            }
            parts.work.run("linkage.link", told, background=background, as_json=json)

    @cli.command()
    def apply(
        linkage: Name,
        *,
        learn: Learn = False,
        accept_changes: Changes = False,
        background: Background = False,
        json: Json = False,
    ) -> None:
        """Run a linkage again, with what clerks decided since.

        Example: curator linkage apply patients
        """
        with refusals(as_json=json):
            row = parts.service().row(linkage)
            told: Document = {
                "population": row.population,
                "linkage": row.name,
                "learn": learn,
                "accept_changes": accept_changes,
            }
            parts.work.run("linkage.apply", told, background=background, as_json=json)


def _add_lists(cli: typer.Typer, parts: LinkageCommandParts) -> None:
    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the linkages, and how many of their pairs are undecided.

        Example: curator linkage list
        """
        with refusals():
            page = parts.review().page(parts.service().viewer, Page(_PAGE))
            show_list(_documents(page["items"]), as_json=json)

    @cli.command("show")
    def show_one(linkage: Name, *, json: Json = False) -> None:
        """Show a linkage: its report, its duplicates, and its runs.

        Example: curator linkage show patients
        """
        with refusals():
            found = parts.review().show(parts.service().viewer, linkage)
            show(cast("Document", found), as_json=json)

    @cli.command()
    def doubts(
        linkage: Name,
        *,
        after: Annotated[
            int, typer.Option(min=0, help="List those behind this number.")
        ] = 0,
        limit: Limit = 50,
        json: Json = False,
    ) -> None:
        """List the doubtful pairs of the latest run, the surest first.

        Example: curator linkage doubts patients --limit 10
        """
        with refusals():
            page = Page(limit, str(after))
            found = parts.review().doubts(parts.service().viewer, linkage, page)
            show_list(_documents(found["items"]), as_json=json)


def _documents(items: object) -> list[Document]:
    return cast("list[Document]", items)


def _add_review(cli: typer.Typer, parts: LinkageCommandParts) -> None:
    @cli.command()
    def doubt(
        linkage: Name, left: Record, right: Record, *, json: Json = False
    ) -> None:
        """Show a doubtful pair: both records, and why they agree as they do.

        What differs stands in brackets; a bar is a field's match weight in bits.

        Example: curator linkage doubt patients 12 40
        """
        with refusals():
            found = parts.review().doubt(parts.service().viewer, linkage, left, right)
            _show(found, as_json=json)

    @cli.command()
    def decide(
        linkage: Name,
        left: Record,
        right: Record,
        verdict: Annotated[str, typer.Argument(help="match, no_match or unsure.")],
        *,
        json: Json = False,
    ) -> None:
        """Say whether two records are one patient's; the next run goes by it.

        Any two: 'curator linkage view' and 'crosswalk' tell the records of a patient.

        Example: curator linkage decide patients 12 40 match
        """
        with refusals():
            said = _verdict(verdict)
            viewer = parts.service().viewer
            made = parts.review().decide(viewer, linkage, (left, right), said)
            show(cast("Document", made), as_json=json)


def _add_answers(cli: typer.Typer, parts: LinkageCommandParts) -> None:
    @cli.command()
    def review(linkage: Name) -> None:
        """Decide doubtful pairs one by one, on a terminal, the surest first.

        Example: curator linkage review patients
        """
        with refusals():
            viewer, service = parts.service().viewer, parts.review()
            count = 0
            while (found := service.next_open(viewer, linkage)) is not None:
                print_doubt(found)
                said = _asked()
                if said is None:
                    break
                service.decide(viewer, linkage, (found["left"], found["right"]), said)
                count += 1
            else:
                say("no pair is left that you have not decided")
            say(
                f"{count} decided; 'curator linkage apply {linkage}' applies them, "
                "'curator linkage undo' takes one back"
            )

    @cli.command()
    def undo(
        linkage: Name,
        decision: Annotated[str, typer.Argument(help="A decision's id.")],
        *,
        json: Json = False,
    ) -> None:
        """Take a decision back; that it was made is kept.

        Example: curator linkage undo patients dec_0123456789abcdef01234567
        """
        with refusals():
            made = parts.review().undo(parts.service().viewer, linkage, decision)
            show(cast("Document", made), as_json=json)


def _add_decisions(cli: typer.Typer, parts: LinkageCommandParts) -> None:
    @cli.command()
    def decisions(
        linkage: Name,
        *,
        before: Annotated[
            int | None, typer.Option(min=1, help="List those before this number.")
        ] = None,
        limit: Limit = 50,
        json: Json = False,
    ) -> None:
        """List what clerks decided, the newest first, also what was taken back.

        Example: curator linkage decisions patients --limit 10
        """
        with refusals():
            page = Page(limit, None if before is None else str(before))
            viewer = parts.service().viewer
            found = parts.review().decisions(viewer, linkage, page)
            show_list(_documents(found["items"]), as_json=json)

    @cli.command()
    def agreement(linkage: Name, *, json: Json = False) -> None:
        """Say what each clerk decided, and how any two of them agree.

        Example: curator linkage agreement patients
        """
        with refusals():
            found = parts.review().agreement(parts.service().viewer, linkage)
            show(cast("Document", found), as_json=json)


def _show(found: DoubtDetail, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        print_doubt(found)


def _verdict(told: str) -> Verdict:
    said: Any = told
    if said not in {"match", "no_match", "unsure"}:
        message = "write match, no_match or unsure"
        raise typer.BadParameter(message)
    return cast("Verdict", said)


def _asked() -> Verdict | None:
    """Ask a person; None: they want to stop."""
    while True:
        said = typer.prompt("[m]atch, [n]o match, [u]nsure, [q]uit", err=True)
        key = said.strip().lower()[:1]
        if key in _KEYS:
            return _KEYS[key]


def _add_sheets(cli: typer.Typer, parts: LinkageCommandParts) -> None:
    @cli.command()
    def export(
        linkage: Name, *, background: Background = False, json: Json = False
    ) -> None:
        """Write the undecided pairs as a sheet (CSV) that a clerk fills in.

        The sheet holds names: keep it as the notes themselves.

        Example: curator linkage export patients
        """
        with refusals():
            row = parts.service().row(linkage)
            told: Document = {"population": row.population, "linkage": row.name}
            parts.work.run(
                "linkage.review_export", told, background=background, as_json=json
            )

    @cli.command("import")
    def import_sheet(linkage: Name, sheet: Path, *, json: Json = False) -> None:
        """Read the verdicts of a sheet as your decisions.

        Example: curator linkage import patients sheet.csv
        """
        with refusals():
            show(parts.service().import_sheet(linkage, sheet), as_json=json)


def _add_results(cli: typer.Typer, parts: LinkageCommandParts) -> None:
    @cli.command()
    def acts(
        linkage: Name,
        *,
        after: Annotated[
            str | None, typer.Option(help="Behind this run, or the one of a snapshot.")
        ] = None,
        upto: Annotated[
            str | None, typer.Option(help="Up to this run, or the one of a snapshot.")
        ] = None,
        json: Json = False,
    ) -> None:
        """List merges and splits of patients between two runs, or two snapshots.

        Example: curator linkage acts patients --after 1 --upto 2
        """
        with refusals():
            viewer = parts.service().viewer
            found = parts.review().acts(viewer, linkage, after=after, upto=upto)
            show_list(_documents(found), as_json=json)

    @cli.command()
    def view(
        linkage: Name,
        patient: Annotated[
            int | None, typer.Argument(min=1, help="A unit key; or say --to.")
        ] = None,
        *,
        to: Annotated[
            Path | None,
            typer.Option(help="Write all patients' to this new file."),
        ] = None,
        json: Json = False,
    ) -> None:
        """Show what is known of a patient, and where each value stands.

        Example: curator linkage view patients 5017000000012
        """
        with refusals():
            if (patient is None) == (to is None):
                message = "say one of a unit key and --to"
                raise typer.BadParameter(message)
            if patient is not None:
                show_list(parts.service().view(linkage, patient), as_json=json)
            elif to is not None:
                show(parts.service().export_view(linkage, to), as_json=json)


def _add_files(cli: typer.Typer, parts: LinkageCommandParts) -> None:
    @cli.command()
    def crosswalk(
        linkage: Name,
        to: Annotated[Path, typer.Argument(help="A CSV file, a new one.")],
        *,
        json: Json = False,
    ) -> None:
        """Write which unit key each id of each source has.

        Example: curator linkage crosswalk patients keys.csv
        """
        with refusals():
            show(parts.service().crosswalk(linkage, to), as_json=json)

    @cli.command()
    def delete(
        linkage: Name,
        *,
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
        json: Json = False,
    ) -> None:
        """Delete a linkage: its records, runs and decisions; what was loaded stays.

        Example: curator linkage delete patients --yes
        """
        with refusals():
            if not yes:
                confirm(
                    "the unit keys of this linkage are never made again: patients "
                    "that are linked later get others"
                )
            show(parts.service().delete(linkage), as_json=json)
