"""A drafted table as YAML, with what is asked of it."""

from collections.abc import Iterator

from privacy.schema import DEFAULT_MAX_LENGTH, DEFAULT_MAX_ROWS, ColumnType
from upstream.drafting.columns.column_names import Drafted, family_of
from upstream.drafting.tables.column_facts import questions_of
from upstream.drafting.tables.privacy_lines import privacy_lines
from upstream.drafting.tables.table_drafts import TableDraft
from upstream.drafting.tables.table_questions import LEFT_OUT
from upstream.drafting.tables.written_words import column_words, written_lines
from upstream.drafting.yaml_words import in_yaml
from upstream.manifests.proposals import rung_above
from upstream.manifests.rules.manifest_rules import TODO
from upstream.staging.raw_rows import unread_type

_COPY = (
    "the same rows as table {table}: is the file a copy? Then take this table out, or "
    "what is asked of both counts twice"
)
_DEFAULT_SCALE = 2  # of decimals that no text shows
_LEAST_ROWS = 10_000
"""That are proposed as ``max_rows`` of a small table."""


def written_table(draft: TableDraft, name: str, copied: str | None) -> str:
    """Return the table's YAML; ``copied``: an earlier table of the same rows."""
    lines = [f"- name: {name}"]
    if copied is not None:
        lines.append(f"  # {_COPY.format(table=copied)}")
    lines += [f"  # {said}." for said in draft.source.said]
    lines += written_lines(draft.source, draft.columns, draft.guesses)
    lines += privacy_lines(draft)
    lines += _most_rows(draft)
    if any(c.kind is ColumnType.TEXT for c in draft.columns):
        most = f"{DEFAULT_MAX_LENGTH} unless declared; longer ones become NULL"
        lines.append(f"  # max_length of a text column, in bytes: {most}")
    lines.append("  columns:")
    kept = [column for column in draft.columns if column.source not in draft.people]
    others = [c for c in kept if c.source not in {draft.unit, *draft.identities}]
    asked = questions_of(draft, others)
    lines += [f"  # {said}" for said in asked]
    lines += _left_out(draft)
    for column in kept:
        guess = draft.guesses.get(column.source)
        if guess is not None and guess.question is not None:
            lines.append(f"  # {guess.question}")
        if column.source in draft.identities:
            lines.append(f"  # {column.name} is {LEFT_OUT}")
            lines += [f"  # {one.strip()}" for one in _column(draft, column)]
        else:
            lines += _column(draft, column)
    return "\n".join(lines) + "\n"


def _left_out(draft: TableDraft) -> Iterator[str]:
    """Yield which columns of the file a load cannot read, and why."""
    for name, said in draft.source.left_out:
        yield f"  # left out: {in_yaml(name)} {said}"
    for name, type_ in draft.unread:
        yield (
            f"  # left out: {in_yaml(name)} has the type {family_of(type_)}, which "
            f"is not read: {unread_type(type_)}"
        )


def _column(draft: TableDraft, column: Drafted) -> Iterator[str]:
    said, proposal = draft.domain_of(column)
    if said is not None:
        yield f"  # {said}"
    keys = [f"name: {column.name}"]
    if column.name != column.source:
        keys.append(f"from: {in_yaml(column.source)}")
    keys.append(f"type: {column.kind}")
    if column.kind is ColumnType.DECIMAL:
        keys.append(f"scale: {_scale(draft, column)}")
    if column.source in draft.source.lacking:
        keys.append("optional: true")
    if column.source != draft.unit:
        keys += column_words(column, draft.columns, draft.guesses, draft.source.nulls)
        keys += ["trim: true"] if draft.domains.are_padded(column) else []
    if proposal is not None:
        keys.append(f"domain: {proposal.domain}")
        keys.append(f'source: "{TODO} proposed: {proposal.ladder}"')
    yield f"  - {{{', '.join(keys)}}}"


def _scale(draft: TableDraft, column: Drafted) -> int:
    """Return the decimals that were seen, one at least."""
    guess = draft.guesses.get(column.source)
    return _DEFAULT_SCALE if guess is None or not guess.scale else guess.scale


def _most_rows(draft: TableDraft) -> list[str]:
    """Propose how large the table is declared: it is what a question costs.

    A rung of a public ladder, ten times beyond what was seen: for years to come.
    """
    (seen,) = draft.one("count(*)")
    most = max(_LEAST_ROWS, rung_above(10 * int(str(seen))))
    if most >= DEFAULT_MAX_ROWS:
        return [f"  # max_rows: {DEFAULT_MAX_ROWS} unless you declare otherwise"]
    return [
        f"  # max_rows: {DEFAULT_MAX_ROWS} unless you declare otherwise; questions",
        "  # cost what is declared (too_costly). If it never has more, write:",
        f"  # max_rows: {most}",
    ]
