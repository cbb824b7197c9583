"""Values that Safe Harbor keeps a part of: ages up to 89, three digits of a ZIP code.

Source: 45 CFR 164.514(b)(2)(i)(B) and (C).
"""

import re
from collections.abc import Collection
from typing import Final

from upstream.extraction.normalising.ages import normal_age

OLDEST = 89
"""Years; all above are one group."""
OLDER = "90 or older"
_SPARSE = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
SPARSE_ZIP3: Final = frozenset(_SPARSE.split())
"""First digits that 20,000 people or fewer share, by the census of 2000.

Source: Office for Civil Rights, Guidance Regarding Methods for De-identification of
Protected Health Information, 2012, 2.2. Newer censuses have others: it is a setting.
"""
NOWHERE = "000"
_ZIP: Final = re.compile(r"\s*([0-9]{3})[0-9]{2}(?:[-\s]?[0-9]{4})?\s*")


def top_coded_age(text: str) -> str | None:
    """Return an age as it is written, or that it is above 89; None: it is not sure.

    >>> top_coded_age("56 y/o"), top_coded_age("93-year-old"), top_coded_age("aged")
    ('56 y/o', '90 or older', None)
    """
    told = normal_age(text).value
    if told is not None:
        return text if int(told) <= OLDEST else OLDER
    numbers = [int(number) for number in re.findall(r"[0-9]+", text)]
    if not numbers:
        return None
    return text if max(numbers) <= OLDEST else OLDER


def zip3(text: str, sparse: Collection[str] = SPARSE_ZIP3) -> str | None:
    """Return the first three digits of a ZIP code, of which few people share zeros.

    None where it is no ZIP code of the United States.

    >>> zip3("30322-1007"), zip3("03601"), zip3("EC1A 1BB")
    ('303', '000', None)
    """
    found = _ZIP.fullmatch(text)
    if found is None:
        return None
    return NOWHERE if found[1] in sparse else found[1]
