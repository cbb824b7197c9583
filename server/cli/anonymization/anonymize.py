"""``curator anonymize``: copies for others that are no differential privacy."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privacy.wording import counted
from server.cli.anonymization.charts import choices_of, page_of, print_choices
from server.cli.terminal.output import Json, confirm, refusals, show, show_list
from server.cli.terminal.remote import Http, Remote
from server.cli.texts.parts import Background, Limit, TextCommandParts
from server.use_cases.anonymization.grants import HandOut
from server.use_cases.anonymization.hand_outs import HandOutService, checked_line
from server.use_cases.anonymization.work.kinds import MOST_PREVIEWED, has_k, job_kind_of
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.paging import Page
from server.use_cases.services.private_files import write_page

if TYPE_CHECKING:  # each command reads what it needs
    from server.use_cases.anonymization.service import CopyService
    from server.use_cases.anonymization.work.texts.previews import PreviewService


Name = Annotated[str, typer.Argument(help="A copy's name, or its id.")]
_COPIES = "anonymized"
CopyFile = Annotated[
    Path, typer.Argument(help="What declares the copy, under CURATOR_IMPORT.")
]


def _checked(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return checked_line(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


@dataclass(frozen=True, slots=True)
class CopyCommandParts:
    """What the commands work with.

    Attributes:
        work: Has jobs done.
        copies: Lists, shows and deletes.
        hand_outs: Hands copies out.
        previews: Shows what a copy would be.
    """

    work: TextCommandParts
    copies: Callable[[], "CopyService"]
    hand_outs: Callable[[], HandOutService]
    previews: Callable[[], "PreviewService"]


def anonymize_commands(parts: CopyCommandParts) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(
        help="Copies for others: no differential privacy; for custodians."
    )
    _add_making(cli, parts)
    _add_lists(cli, parts)
    _add_changes(cli, parts)
    return cli


def _add_making(cli: typer.Typer, parts: CopyCommandParts) -> None:
    def done(file: Path, *, is_plan: bool, background: bool, quiet: bool) -> Document:
        told: Document = {"file": str(file.absolute()), "dry_run": is_plan}
        kind = job_kind_of(file)
        return parts.work.done(kind, told, background=background, quiet=quiet)

    @cli.command()
    def plan(
        file: CopyFile,
        *,
        plot: Annotated[
            Path | None,
            typer.Option(help="A new page of HTML with loss and risk against k."),
        ] = None,
        background: Background = False,
        json: Json = False,
    ) -> None:
        """Say what a copy would keep, lose and risk; nothing is made.

        Of tables and codes it tries several k. It counts raw texts and rows: it is
        for custodians alone.

        Example: curator anonymize plan stays.yaml --plot stays.html
        """
        with refusals(as_json=json):
            if plot is not None:
                _require_plot(plot, file, background=background)
            told = done(file, is_plan=True, background=background, quiet=json)
            if plot is not None:
                write_page(plot, page_of(told))
            choices = [] if json else choices_of(told)
            shown = {k: v for k, v in told.items() if not (choices and k == "choices")}
            show(shown, as_json=json)
            if choices:
                print_choices(choices)

    @cli.command()
    def run(
        file: CopyFile, *, background: Background = False, json: Json = False
    ) -> None:
        """Make a copy; it stays here until it is handed out.

        Example: curator anonymize run registry.yaml
        """
        with refusals(as_json=json):
            told = done(file, is_plan=False, background=background, quiet=json)
            show(told, as_json=json)

    @cli.command()
    def preview(
        file: CopyFile,
        to: Annotated[Path, typer.Argument(help="A page of HTML; new.")],
        *,
        documents: Annotated[
            int, typer.Option(min=1, max=MOST_PREVIEWED, help="How many, at most.")
        ] = 20,
        left: Annotated[
            bool,
            typer.Option(
                help="Those alone in which identifiers were left, tagged or not."
            ),
        ] = False,
        json: Json = False,
    ) -> None:
        """Write texts beside their copies as a page: it holds raw texts.

        Example: curator anonymize preview registry.yaml preview.html --left
        """
        with refusals(as_json=json):
            service = parts.previews()
            told = service.write(file, to, most=documents, only_left=left)
            show(told, as_json=json)


def _require_plot(plot: Path, file: Path, *, background: bool) -> None:
    """Refuse a page that will not be written, before the work.

    Raises:
        CommandRefusedError: It is there already, or there will be nothing to plot.
    """
    message = ""
    if plot.exists():
        message = f"{plot} exists: nothing was written"
    elif background:
        message = "a job in the background writes no page: leave out --background"
    elif not has_k(file):
        message = "of these texts there is no k to plot: leave out --plot"
    if message:
        raise CommandRefusedError(message)


def _add_lists(cli: typer.Typer, parts: CopyCommandParts) -> None:
    @cli.command("list")
    def list_all(*, limit: Limit = 50, http: Http = False, json: Json = False) -> None:
        """List the copies, newest first, and to how many each was handed out.

        Example: curator anonymize list
        """
        if http:
            show_list(Remote(as_json=json).listed(_COPIES)[:limit], as_json=json)
            return
        with refusals(as_json=json):
            viewer = parts.work.viewer()
            found = parts.copies().page(viewer, Page(limit))["items"]
            show_list(found, as_json=json)

    @cli.command("show")
    def show_one(copy: Name, *, http: Http = False, json: Json = False) -> None:
        """Show a copy: its manifest, who got it, who got others of its people.

        Example: curator anonymize show registry
        """
        if http:
            show(Remote(as_json=json).get(_COPIES, copy), as_json=json)
            return
        with refusals(as_json=json):
            show(parts.copies().show(parts.work.viewer(), copy), as_json=json)


def _add_changes(cli: typer.Typer, parts: CopyCommandParts) -> None:
    @cli.command("hand-out")
    def hand_out(
        copy: Name,
        folder: Annotated[Path, typer.Argument(help="Where its files go; new.")],
        *,
        to: Annotated[str, typer.Option(callback=_checked, help="Who gets it.")],
        purpose: Annotated[str, typer.Option(callback=_checked, help="What for.")],
        json: Json = False,
    ) -> None:
        """Hand a copy out: another custodian approves, and the ledger keeps to whom.

        Repeat the command once it was approved.

        Example: curator anonymize hand-out registry out --to "Ada, registry"
        --purpose "protocol 12/2026"
        """
        with refusals(as_json=json):
            told = parts.hand_outs().hand_out(
                parts.work.viewer(), copy, HandOut(to, purpose), folder
            )
            show(told, as_json=json)

    @cli.command()
    def delete(
        copy: Name,
        *,
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
        json: Json = False,
    ) -> None:
        """Delete a copy here; what was handed out of it stays where it is.

        Example: curator anonymize delete registry
        """
        with refusals(as_json=json):
            viewer, copies = parts.work.viewer(), parts.copies()
            if not yes:
                held = copies.show(viewer, copy)["handed_out"]
                confirm(f"deletes the copy {copy}{_of_holders(held)}")
            show(copies.delete(viewer, copy), as_json=json)


def _of_holders(count: int) -> str:
    if not count:
        return ", which nobody got"
    held = counted(count, "hand-out")
    return f", of which there was {held}: what was handed out stays where it is"
