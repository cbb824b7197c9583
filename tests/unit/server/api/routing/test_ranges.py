"""Range headers by RFC 9110, 14: invalid ones are ignored."""

import pytest

from server.api.routing.ranges import ranges_of

IGNORED = (
    "", "bytes", "bytes=", "bytes=,", "bytes=abc", "bytes=5-2", "bytes=-", "bytes=--1",
    "bytes=1", "bytes=0-1,5-2", "bytes=0-1,x", "bytes=0x1-2", "bytes=\u0661-2", "x=1",
    "lines=0-1", "bytes =0-1", "bytes=0 - 1", "=0-1",
)  # fmt: skip
NINES = "9" * 5_000


@pytest.mark.parametrize("header", IGNORED)
def test_what_is_invalid_or_of_another_unit_is_ignored(header):
    assert ranges_of(header, 10) is None


@pytest.mark.parametrize("header", ["10-", "10-20", "-0", f"{NINES}-", "10-,-0"])
def test_what_no_byte_fits_is_not_there(header):
    assert ranges_of(f"bytes={header}", 10) == []
    assert ranges_of("bytes=-1", 0) == []


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("0-", ["0-"]),
        ("9-9", ["9-9"]),
        ("007-8", ["7-8"]),
        ("-3", ["-3"]),
        ("-99", ["-99"]),
        (f"1-{NINES}", [f"1-{10**18}"]),
        (" 0-1 ,\t5-6,", ["0-1", "5-6"]),
        ("0-1,10-11", ["0-1"]),
    ],
)
def test_what_a_file_has_is_found(header, found):
    assert ranges_of(f"bytes={header}", 10) == found
    assert ranges_of(f"BYTES={header}", 10) == found
