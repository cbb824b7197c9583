"""Lines that people write: reasons, purposes, numbers of protocols."""


def one_line(text: str) -> str:
    """Return a text that is one line of what can be printed.

    Raises:
        ValueError: It is not: it could forge what a terminal shows, or a record.

    >>> one_line("a second cohort")
    'a second cohort'
    """
    if not text.isprintable():
        message = "write one line of text"
        raise ValueError(message)
    return text
