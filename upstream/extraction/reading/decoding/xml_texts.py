"""The text of a whole XML document, such as a CDA document in an attachment."""

from collections.abc import Mapping

from upstream.extraction.reading.decoding.breaks import Breaker
from upstream.extraction.reading.decoding.encodings import (
    refuse_other_formats,
)
from upstream.extraction.reading.decoding.rewriting import Joiner
from upstream.extraction.reading.decoding.xml_reader import XmlReader
from upstream.extraction.reading.outcomes import Written
from upstream.manifests.file_specs import Encoding


def xml_text(raw: bytes, declared: Encoding | None = None) -> Written:
    """Return the text of all elements, each character with its place in the bytes.

    Args:
        raw: The document.
        declared: Its encoding, or None to go by its header.

    Raises:
        FlawError: It is no XML, or defines entities.
    """
    refuse_other_formats(raw)
    collector = XmlCollector()
    XmlReader(collector, declared).feed(raw, is_last=True)
    return collector.written()


class XmlCollector:
    """Collects the text of what it is told, with the breaks that elements make."""

    def __init__(self, most_characters: int | None = None) -> None:
        """Begin.

        Args:
            most_characters: What is said behind so many is dropped; ``length`` is more
                than them then.
        """
        self.most_characters = most_characters
        self.joiner = Joiner()
        self.breaker = Breaker()

    @property
    def length(self) -> int:
        """How many characters were collected."""
        return self.joiner.length

    def opens(self, name: str, _attributes: Mapping[str, str]) -> None:
        """Note that an element begins."""
        self.breaker.passes(name)

    def closes(self, name: str) -> None:
        """Note that an element ends."""
        self.breaker.passes(name)

    def says(self, run: Written) -> None:
        """Add a stretch of text."""
        if not self.length:
            self.joiner = Joiner(run.encoding, run.encoding_from)
        if self.most_characters is None or self.length <= self.most_characters:
            self.breaker.before(run.text, self.joiner)
            self.joiner.add(run)

    def written(self) -> Written:
        """Return the text so far."""
        return self.joiner.written()
