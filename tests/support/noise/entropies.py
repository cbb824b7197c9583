"""Bits that a test has written down, in place of the operating system's."""


class Script:
    """Gives the bytes of these integers, little-endian, and no more.

    Args:
        parts: Pairs of a width in bytes and an integer.
    """

    def __init__(self, *parts):
        self._left = b"".join(value.to_bytes(width, "little") for width, value in parts)

    def __call__(self, size):
        given, self._left = self._left[:size], self._left[size:]
        assert len(given) == size, "more bits were read than the test wrote down"
        return given

    @property
    def is_used_up(self):
        return not self._left


def always(byte):
    """Return a source that gives one byte for ever."""
    return lambda size: bytes([byte]) * size
