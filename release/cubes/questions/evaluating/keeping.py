"""What is kept of earlier work, bounded in bytes."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Keeper(Generic[K, T]):
    """Keeps what was used last, while its bytes are few; safe for many threads."""

    def __init__(self, most_bytes: int, most_each: int) -> None:
        """Keep at most ``most_bytes``, and nothing of more than ``most_each``."""
        self._most = most_bytes
        self._each = most_each
        self._lock = Lock()
        self._found: OrderedDict[K, tuple[T, int]] = OrderedDict()
        self._bytes = 0

    @property
    def held_bytes(self) -> int:
        """How many bytes are kept just now, by what their keepers said."""
        return self._bytes

    def get(self, key: K) -> T | None:
        """Return what is kept under a key, if anything is."""
        with self._lock:
            kept = self._found.get(key)
            if kept is None:
                return None
            self._found.move_to_end(key)
            return kept[0]

    def put(self, key: K, value: T, size: int) -> None:
        """Keep a value of ``size`` bytes, its key counted; what is too large is not."""
        if size > self._each:
            return
        with self._lock:
            if key in self._found:
                self._bytes -= self._found.pop(key)[1]
            self._found[key] = (value, size)
            self._bytes += size
            while self._bytes > self._most:
                _, (_, freed) = self._found.popitem(last=False)
                self._bytes -= freed
