"""How the ids of releases are written; no name of a release is."""

import re
from typing import Final

_ID: Final = re.compile(r"rel_[0-9a-f]{24}")


def is_release_id(text: str) -> bool:
    """Return whether a text is written as the ids of releases are.

    >>> is_release_id("rel_0123456789abcdef01234567"), is_release_id("rel_2024")
    (True, False)
    """
    return _ID.fullmatch(text) is not None
