"""Names of people: titles dropped, words in an order that does not matter."""

from upstream.linkage.normalising.texts import squeezed_sql, words_sql

_TITLES = (
    "mr mrs ms miss mx dr prof professor sir dame lady lord rev hon herr frau sr sra "
    "srta don dona mme mlle"
)
_TITLE = f"\\b({'|'.join(_TITLES.split())})\\b"


def untitled_sql(text: str) -> str:
    """Return the words of a name, folded, without titles unless there is no more."""
    words = words_sql(text)
    bare = f"regexp_replace({words}, '{_TITLE}', '', 'g')"
    rest = f"trim(regexp_replace({bare}, ' +', ' ', 'g'))"
    return f"coalesce(nullif({rest}, ''), {words})"


def name_sql(text: str) -> str:
    """Return a given name or a surname as letters without blanks."""
    return squeezed_sql(untitled_sql(text))


def full_name_sql(text: str) -> str:
    """Return the words of a whole name in the order of the alphabet.

    So ``Smith, John`` and ``John Smith`` are one.
    """
    words = f"string_split({untitled_sql(text)}, ' ')"
    return f"array_to_string(list_sort({words}), ' ')"
