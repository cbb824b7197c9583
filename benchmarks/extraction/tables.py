"""The tables that the benchmarks of extraction print, in Markdown."""

from collections.abc import Mapping

from upstream.extraction.measures.counts import Counts
from upstream.extraction.measures.report import Judgement

HEAD = (
    "| {} | P | R | **F1** | tokens P | tokens R | char P | char R | chars leaked "
    "| spans unseen | documents clean |\n|---|---:|---:|---:|---:|---:|---:|---:|---:"
    "|---:|---:|"
)


def print_overview(title: str, judged: Mapping[str, Judgement]) -> None:
    """Print a line for each finder: spans, tokens and characters, all types together.

    P, R and F1 are of spans with both offsets and the type; characters are of any
    type, and those that are missed leak.
    """
    print("\n" + HEAD.format(title))
    for name, each in judged.items():
        print(overview_line(name, each))


def overview_line(name: str, found: Judgement) -> str:
    """Return one line of the overview."""
    strict, tokens, characters = found.strict(), found.tokens(), found.characters
    return (
        f"| {name} | {strict.precision:.4f} | {strict.recall:.4f} "
        f"| **{strict.f1:.4f}** | {tokens.precision:.4f} | {tokens.recall:.4f} "
        f"| {characters.precision:.4f} | {characters.recall:.4f} "
        f"| {characters.missed:,} | {found.unseen} "
        f"| {found.clean} of {len(found.documents)} |"
    )


def print_types(title: str, found: Judgement) -> None:
    """Print a line for each type: spans with both offsets and the type, then tokens."""
    print(
        f"\n| {title} | spans | P | R | F1 | tokens P | tokens R |\n"
        "|---|---:|---:|---:|---:|---:|---:|"
    )
    for kind in found.types:
        print(_type_line(kind, found.strict(kind), found.tokens(kind)))


def _type_line(kind: str, strict: Counts, tokens: Counts) -> str:
    return (
        f"| {kind} | {strict.right + strict.missed} | {strict.precision:.4f} "
        f"| {strict.recall:.4f} | {strict.f1:.4f} | {tokens.precision:.4f} "
        f"| {tokens.recall:.4f} |"
    )
