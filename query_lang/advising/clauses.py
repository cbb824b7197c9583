"""Where the clauses of a text's outermost SELECT begin and end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from query_lang.syntax.tokens import Token, TokenKind, lex

_CLAUSES = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT"}
    | {"OFFSET", "FETCH"}
)
_SETS = frozenset({"UNION", "INTERSECT", "EXCEPT"})


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a text that stands between two commas, or that is a clause.

    Attributes:
        start: Offset of its first character.
        end: Offset after its last one, blanks left out.
        tokens: In it.
    """

    start: int
    end: int
    tokens: tuple[Token, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Return what is equal for parts that are written alike."""
        return tuple(_written(token) for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Outermost:
    """The clauses of the one SELECT that stands in no brackets.

    Attributes:
        sql: The text.
        items: What it selects.
        keys: Of GROUP BY.
        clauses: By their first word, each with that word.
    """

    sql: str
    items: tuple[Part, ...]
    keys: tuple[Part, ...]
    clauses: dict[str, Part]


def outermost(sql: str) -> Outermost | None:
    """Return the clauses of a text; None where two SELECTs are combined.

    Raises:
        QueryError: It has characters that the language does not know.
    """
    tokens = lex(sql)
    depths = list(_depths(tokens))
    selects = [
        at
        for at, token in enumerate(tokens)
        if token.word == "SELECT" and not depths[at]
    ]
    if len(selects) != 1:
        return None
    clauses = _clauses(sql, tokens, depths, selects[0])
    if clauses is None or "FROM" not in clauses:
        return None
    select, group = clauses["SELECT"], clauses.get("GROUP")
    keys = () if group is None else tuple(_listed(sql, group, skipped=2))
    return Outermost(sql, tuple(_listed(sql, select, skipped=1)), keys, clauses)


def without(text: Outermost, parts: Sequence[Part]) -> str:
    """Return the text without some of its parts."""
    sql = text.sql
    for part in sorted(parts, key=lambda part: part.start, reverse=True):
        sql = f"{sql[: part.start].rstrip()} {sql[part.end :].lstrip()}"
    return sql.strip()


def with_list(sql: str, old: Sequence[Part], new: Sequence[Part]) -> str:
    """Return a text whose list ``old`` is ``new``, some of the same parts."""
    listed = ", ".join(sql[part.start : part.end] for part in new)
    return sql[: old[0].start] + listed + sql[old[-1].end :]


def is_of(item: Part, key: Part) -> bool:
    """Whether an item shows a key: by its own words, or by its name."""
    words = item.words
    named = len(words) > 2 and words[-2] == "as"  # noqa: PLR2004 - a word, AS, a name
    shown = {words, words[:-1], words[:-2] if named else words}
    return key.words in shown or (len(words) > 1 and key.words == words[-1:])


def _written(token: Token) -> str:
    quoted = token.kind is TokenKind.STRING
    return f"'{token.text}'" if quoted else token.text.lower()


def _depths(tokens: Sequence[Token]) -> Iterator[int]:
    depth = 0
    for token in tokens:
        depth -= token.is_sign(")")
        yield depth
        depth += token.is_sign("(")


def _clauses(
    sql: str, tokens: Sequence[Token], depths: Sequence[int], select: int
) -> dict[str, Part] | None:
    starts = [select]
    for at in range(select + 1, len(tokens)):
        if depths[at]:
            continue
        if tokens[at].word in _SETS and tokens[at - 1].word != "SELECT":
            return None
        if tokens[at].word in _CLAUSES:
            starts.append(at)
    ends = [*starts[1:], len(tokens)]
    parts = {
        tokens[start].word: _part(sql, tokens, start, end)
        for start, end in zip(starts, ends, strict=True)
    }
    return parts if len(parts) == len(starts) else None


def _part(sql: str, tokens: Sequence[Token], start: int, end: int) -> Part:
    after = tokens[end].start if end < len(tokens) else len(sql.rstrip().rstrip(";"))
    text = sql[tokens[start].start : after].rstrip()
    first = tokens[start].start
    return Part(first, first + len(text), tuple(tokens[start:end]))


def _listed(sql: str, clause: Part, skipped: int) -> Iterator[Part]:
    """Split a clause at its commas that stand in no brackets, its words left out."""
    tokens = clause.tokens
    commas = [
        at
        for at, depth in enumerate(_depths(tokens))
        if tokens[at].is_sign(",") and not depth
    ]
    for start, end in zip(
        [skipped, *(at + 1 for at in commas)], [*commas, len(tokens)], strict=True
    ):
        if start < end:
            after = tokens[end].start if end < len(tokens) else clause.end
            first = tokens[start].start
            text = sql[first:after].rstrip()
            yield Part(first, first + len(text), tokens[start:end])
