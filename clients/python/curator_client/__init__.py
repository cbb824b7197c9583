"""Ask a Curator server private questions from Python.

>>> from curator_client import Curator
>>> curator = Curator("https://curator.example.org", "cur_...")  # doctest: +SKIP
>>> curator.query("SELECT COUNT(*) FROM encounters", epsilon="0.1")  # doctest: +SKIP
"""

from curator_client.answer import Answer, Plan
from curator_client.client import Curator
from curator_client.refusals import (
    BudgetExceeded,
    CuratorError,
    CuratorRefusal,
    CuratorUnreachable,
    InvalidRequest,
    NotFound,
    QueryFailed,
    SqlRefused,
    TooBusy,
    Unauthenticated,
)

__all__ = [
    "Answer",
    "BudgetExceeded",
    "Curator",
    "CuratorError",
    "CuratorRefusal",
    "CuratorUnreachable",
    "InvalidRequest",
    "NotFound",
    "Plan",
    "QueryFailed",
    "SqlRefused",
    "TooBusy",
    "Unauthenticated",
]
