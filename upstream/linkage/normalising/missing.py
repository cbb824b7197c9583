"""What is written where nothing is known."""

from upstream.linkage.tables import text_sql

_WORDS = (
    "n/a n.a. n.a #n/a n/k unknown unk unkn none null nil nan missing tbd tba "
    "anonymous unbekannt desconocido desconocida inconnu inconnue xx xxx xxxx"
)
_PHRASES = (
    "not known",
    "not available",
    "not applicable",
    "not given",
    "not stated",
    "not recorded",
    "no name",
    "no data",
)
_MISSING = ", ".join(map(text_sql, [*_WORDS.split(), *_PHRASES]))


def present_sql(text: str) -> str:
    """Return a trimmed text in small letters, NULL where it says that nothing is known.

    So does any text without a letter or digit. ``na`` is a surname as well: it is a
    mark in capitals alone, which the caller has to tell before.

    Args:
        text: An expression.
    """
    says = f"regexp_matches({text}, '[\\p{{L}}\\p{{N}}]')"
    return f"CASE WHEN {says} AND {text} NOT IN ({_MISSING}) THEN {text} END"
