"""Names, texts and numbers as DuckDB writes them."""


def name_sql(name: str) -> str:
    """Return the name of a column or table, quoted."""
    return '"' + name.replace('"', '""') + '"'


def text_sql(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def number_sql(number: float) -> str:
    """Return a number as a literal of type DOUBLE, to its last bit."""
    return f"'{number!r}'::DOUBLE"
