"""Previews of copies: some documents beside what would be given out of them."""

from pathlib import Path

from server.use_cases.anonymization.work.files import Reading
from server.use_cases.anonymization.work.kinds import job_kind_of
from server.use_cases.anonymization.work.texts.declarations import TextCopy
from server.use_cases.anonymization.work.texts.jobs import (
    TextCopyJob,
    copier_of,
    given_of,
    read_beside,
)
from server.use_cases.extraction.declarations import found_in, import_folder
from server.use_cases.extraction.work import TextParts
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.private_files import write_page
from server.use_cases.services.services import Services
from upstream.anonymization.texts.preview import Previewed, preview_page
from upstream.manifests.yaml_nodes import read_yaml


class PreviewService:
    """Shows custodians on the host what a copy would be, beside the raw texts."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def write(
        self, file: Path, target: Path, *, most: int, only_left: bool
    ) -> Document:
        """Write a page of documents and their copies, readable by its owner alone.

        Args:
            file: What declares the copy.
            target: The page; it must not be there.
            most: How many documents, at most ``MOST_PREVIEWED``.
            only_left: Those alone in which identifiers were left that no span marked,
                whether they are tagged or stay.

        Raises:
            CuratorError: The file is wrong, or what it names is not there.
            CommandRefusedError: The page is there already, or cannot be written.
        """
        if target.exists():
            message = f"{target} exists: nothing was written"
            raise CommandRefusedError(message)
        if job_kind_of(file) != TextCopyJob.name:
            message = (
                "a preview shows texts beside their copies: of tables and codes, see "
                "'curator anonymize plan'; nothing was written"
            )
            raise CommandRefusedError(message)
        declared = found_in(TextCopy, file, read_yaml(file)).declared
        parts = TextParts(self._services)
        collection, finder, _ = given = given_of(parts, declared)
        copier = copier_of(self._services, declared, given)
        if declared.reads_beside:
            folder = import_folder(self._services.settings.import_)
            read_beside(copier, declared, Reading(folder))
        for _ in copier.gather(parts.annotated(collection.id, finder)):
            pass
        shown: list[Previewed] = []
        tags = declared.residues == "tag"
        for one in parts.annotated(collection.id, finder):
            if len(shown) == most:
                break
            copied = copier.copied(one)
            if copied.residues or not only_left:
                told = one.document
                left = copied.residues
                shown.append(Previewed(told.id, told.text, copied.made, left, tags))
        page = preview_page(shown, f"{declared.name}: {declared.profile}")
        write_page(target, page)
        return {"to": str(target), "documents": len(shown)}
