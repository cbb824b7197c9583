from decimal import Decimal

import pytest

from server.use_cases.services.strict_json import MalformedJsonError, read_json


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"nul", b"{}x", b"{} {}", b"[1,]", b"{'a':1}", b"01", b"+1", b".5",
        b"NaN", b"[Infinity]", b"[-Infinity]", b'{"a":1,"a":1}', b'{"a":{"b":1,"b":2}}',
        b"\xef\xbb\xbf{}", b'"\xff"', '{"a":"é"}'.encode("utf-16"), b'"\\ud800"',
        b'{"\\udfff":1}', b"[" * 65 + b"]" * 65, b"[" * 5000, b"1" * 401,
        b"0." + b"1" * 400, "[٣]".encode(), b'"\n"', b"1e", b"--1",
    ],
)  # fmt: skip
def test_what_is_not_strict_json_is_refused(body):
    with pytest.raises(MalformedJsonError):
        read_json(body)


@pytest.mark.parametrize("body", [b'"' + b'\\"' * 300_000, b'["' + b'\\"' * 300_000])
def test_a_string_that_nothing_closes_is_read_once(body):
    """From each of its quotes anew, it took minutes."""
    with pytest.raises(MalformedJsonError):
        read_json(body)


def test_numbers_keep_their_exact_value():
    assert read_json(b"[0.1, 1e-1, 7]") == [Decimal("0.1"), Decimal("0.1"), 7]


def test_strings_may_hold_brackets_escapes_and_paired_surrogates():
    nested = b'{"a":"[[[[{{{{\\"", "b":"\\ud83d\\ude00"}'
    assert read_json(nested) == {"a": '[[[[{{{{"', "b": "😀"}


def test_depth_64_is_read():
    assert read_json(b"[" * 64 + b"]" * 64) is not None


def test_exponents_beyond_decimal_stay_numbers_without_meaning():
    """JSON has no limit to exponents; a crash here would be a 500."""
    vast = read_json(b"1e99999999999999999999")
    tiny = read_json(b"-2.5E-99999999999999999999")
    assert vast.adjusted() > 100_000
    assert tiny.adjusted() < -100_000
    assert read_json(b"0e99999999999999999999") == 0
