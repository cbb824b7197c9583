"""The HTTP library: httpx, or where only its maintained fork is installed, httpx2.

Both have the names that are used here; what is passed as ``transport`` is of the one
that is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx
else:
    try:
        import httpx
    except ModuleNotFoundError:
        import httpx2 as httpx

__all__ = ["httpx"]
