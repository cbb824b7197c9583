"""A text and its de-identified copy side by side, as one page for the custodian."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from string import Template

from upstream.anonymization.texts.deidentifying import DeidentifiedText
from upstream.anonymization.texts.residual import Residue
from upstream.extraction.text.covered import Covered

_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
td, th { border: 1px solid #bbb; padding: .6rem; vertical-align: top; }
td { white-space: pre-wrap; overflow-wrap: anywhere; }
mark.old { background: #fde2e2; } mark.new { background: #dff3e4; }
mark.tagged { background: #d6e4ff; outline: 2px solid #3b5bb5; }
mark.left { background: #ffd54d; outline: 2px solid #b35c00; }
p.warning { border-left: 4px solid #b35c00; padding-left: .8rem; }
</style></head><body>
<h1>$title</h1>
<p class="warning">$warning</p>
<p><mark class="old">what was found</mark> is
<mark class="new">what stands in its place</mark>;
<mark class="tagged">found in the copy again, and tagged there</mark>;
<mark class="left">an identifier, or perhaps one, that stays</mark>.</p>
<table><tr><th>document</th><th>as it is: for the custodian alone</th>
<th>de-identified</th></tr>
$rows</table>
</body></html>
""")
WARNING = (
    "This is no differential privacy: what a text still says may identify somebody "
    "to who knows them, or together with another copy."
)


@dataclass(frozen=True, slots=True)
class Previewed:
    """A document, its copy, and what of identifiers is left in that.

    Attributes:
        name: Its id.
        text: As it is.
        copy: What was done, before what was left was tagged.
        residues: What was left then.
        tags_residues: Whether those that are certain are tagged in what is given out.
    """

    name: str
    text: str
    copy: DeidentifiedText
    residues: tuple[Residue, ...] = ()
    tags_residues: bool = False


def preview_page(documents: Iterable[Previewed], title: str = "Preview") -> str:
    """Return a page of HTML that loads nothing and runs no script.

    Args:
        documents: What is shown, in order.
        title: Of the page.
    """
    rows = "".join(
        f"<tr><td>{escape(one.name)}</td><td>{_old(one)}</td><td>{_new(one)}</td></tr>\n"
        for one in documents
    )
    return _PAGE.substitute(title=escape(title), warning=escape(WARNING), rows=rows)


def _old(one: Previewed) -> str:
    marks = [
        (done.start, done.end, f'class="old" title="{escape(done.label)}"')
        for done in one.copy.replacements
    ]
    return _marked(one.text, marks)


def _new(one: Previewed) -> str:
    marks = [
        (start, end, f'class="new" title="{escape(done.label)}"')
        for start, end, done in one.copy.written()
    ]
    left = [
        (residue.start, residue.end, f'class="{how}" title="{residue.kind.value}"')
        for residue in one.residues
        for how in ["tagged" if one.tags_residues and residue.is_exact else "left"]
    ]
    return _marked(one.copy.text, [*left, *marks])


def _marked(text: str, marks: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with its marks; of two that overlap the one given first."""
    kept: list[tuple[int, int, str]] = []
    covered = Covered()
    for start, end, how in marks:
        if not covered.meets(start, end):
            covered.add(start, end)
            kept.append((start, end, how))
    parts, at = [], 0
    for start, end, how in sorted(kept):
        parts += [escape(text[at:start]), f"<mark {how}>", escape(text[start:end])]
        parts.append("</mark>")
        at = end
    return "".join([*parts, escape(text[at:])])
