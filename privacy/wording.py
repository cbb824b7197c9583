"""Words of messages that depend on a number."""


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the number's own form.

    Args:
        count: How many there are.
        noun: What there is one of.
        plural: What there are several of; None: the noun with an ``s``.

    >>> counted(1, "unit"), counted(1200, "unit"), counted(0, "entry", "entries")
    ('1 unit', '1,200 units', '0 entries')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
