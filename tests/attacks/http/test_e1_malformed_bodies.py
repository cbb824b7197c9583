"""E1: malformed losses and bodies are 400 or 422; the ledger keeps every byte.

What is not strict JSON is 400 malformed_json, strict JSON of the wrong shape is 422
invalid_request, and a loss off grammar, grid or range is 422 epsilon_out_of_range.
"""

import json

import pytest

from tests.support.installations.arms import post

MALFORMED, INVALID, LOSS = (
    (400, "malformed_json"),
    (422, "invalid_request"),
    (422, "epsilon_out_of_range"),
)
_SQL = b'"sql": "SELECT COUNT(*) FROM visits"'

LOSS_STRINGS = (
    "", " ", "1 ", " 1", "+1", "-1", "-0", "0", "0.0", "000000", "0.0000000001",
    "1e-1", "1e0", "1E3", "NaN", "nan", "sNaN", "Infinity", "-Infinity", "inf", "1_0",
    "1__0", "0x1", "0b1", "0o7", "1,0", "1.", ".", ".5", "1.0.0", "1..0", "--1", "++1",
    "1-", "1+", "(1)", "[1]", "{}", "$1", "1/2", "1*1", "one", "1f", "1d", "1L", "1%",
    "1;", "1'", "true", "null", "None", "1 000", "1'000", "1\n", "\t1", "1\r", "\x001",
    "1\x00", "1\u00a0", "1\u200b", "\ufeff1", "\u22121", "\uff11", "\u0661",
    "\u0660.\u0661", "\u00b2", "\u00bd", "\u0be7", "\u221e", "\U0001d7cf", "\u0967",
    "0000001", "1000000", "9999999", "999999.999999999", "5.000000001", "6",
    "0.000999999", "0.0000000000", "1.0000000000", "1.1234567891", "1" * 400,
    "0." + "0" * 400 + "1",
)  # fmt: skip
LOSS_NUMBERS = (
    b"-1", b"-0", b"0", b"0.0", b"-0.0", b"0e0", b"0e999", b"1e-320", b"1e-10",
    b"0.1234567891", b"1e400", b"1e-400", b"-1e400", b"-1e-9", b"5.000000001", b"6",
    b"999999", b"1000000", b"1e6", b"1E+6", b"1e308", b"1e309", b"1e999999999",
    b"1e-999999999", b"1e99999999999999999999", b"-1e-99999999999999999999",
    b"0e99999999999999999999", b"0.0000000001", b"0.00099", b"4.9999999999",
    b"1.0000000001", b"9007199254740993", b"123456789012345678901234567890",
    b"0.1000000000000000055511151231257827", b"1" * 400,
)  # fmt: skip
NOT_JSON = (
    b"NaN", b"-NaN", b"Infinity", b"-Infinity", b"+1", b".5", b"1.", b"-", b"+", b"01",
    b"00", b"-01", b"0x1", b"0b1", b"1_0", b"1e", b"1e+", b"e1", b"1.e5", b"--1", b"1f",
    b"\xef\xbc\x91", b"\xd9\xa1", b"True", b"None", b"undefined", b"nan", b"inf",
    b"'1'",
    b"`1`", b"1 1", b"1,", b"", b"1/*c*/", b"1//c", b'"1', b'"\\ud800"', b'"\\udc001"',
    b'"\\x31"', b'"\\u31"', b'"\x01"', b'"1\n"', b"[1", b"{", b'"\xff"', b"\xc0\xb1",
    b"1" * 401, b"1." + b"0" * 400, b"1e" + b"0" * 400, b"[" * 65 + b"]" * 65,
    b"[" * 9000,
)  # fmt: skip
NOT_LOSSES = (b"true", b"false", b"null", b"[]", b"{}", b"[1]", b'{"a": 1}', b'["1"]')

MALFORMED_BODIES = (
    b"",
    b" ",
    b"{",
    b"{" + _SQL + b', "epsilon": "1"',
    b"{" + _SQL + b', "epsilon": "1"} {}',
    b"{" + _SQL + b', "epsilon": "1"}x',
    b"\xef\xbb\xbf{" + _SQL + b', "epsilon": "1"}',
    ("{" + _SQL.decode() + ', "epsilon": "1"}').encode("utf-16"),
    ("{" + _SQL.decode() + ', "epsilon": "1"}').encode("utf-16-le"),
    ("{" + _SQL.decode() + ', "epsilon": "1"}').encode("utf-32"),
    b'{"sql": "\xe9", "epsilon": "1"}',
    b"{" + _SQL + b', "epsilon": "1", "epsilon": "1"}',
    b"{" + _SQL + b', "epsilon": "5", "\\u0065psilon": "0.001"}',
    b"{" + _SQL + b', "epsilon": "1", "options": {"reuse": "never", "reuse": "never"}}',
    b"{" + _SQL + b', "epsilon": "1",}',
    b"{" + _SQL + b" 'epsilon': '1'}",
    b"{" + _SQL + b', "epsilon": "1", "project": "\\ud800"}',
    b"{" + _SQL + b', "epsilon": "1"}\x00',
    b"sql=SELECT&epsilon=1",
    b"<sql/>",
)
_BASE = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"}


def _with_options(**options):
    return {**_BASE, "options": options}


def _wish(**wish):
    return {"sql": _BASE["sql"], "accuracy": wish}


INVALID_BODIES = (
    [], "x", 1, None, True, {},
    {"sql": _BASE["sql"]},
    {"epsilon": "1"},
    {**_BASE, "sql": None},
    {**_BASE, "sql": 1},
    {**_BASE, "sql": [_BASE["sql"]]},
    {**_BASE, "cap": "1"},
    {**_BASE, "Epsilon": "1"},
    {**_BASE, "role": "admin"},
    {**_BASE, "delta": "0"},
    {**_BASE, "accuracy": {"within": 1, "confidence": 0.9}},
    {**_BASE, "accuracy": None},
    {**_BASE, "project": 1},
    {**_BASE, "project": None},
    {**_BASE, "options": None},
    {**_BASE, "options": []},
    {**_BASE, "options": "never"},
    _with_options(seed=1),
    _with_options(reuse=None),
    _with_options(reuse="NEVER"),
    _with_options(reuse=False),
    _with_options(prefer="data"),
    _with_options(prefer=None),
    _with_options(weights=None),
    _with_options(weights=[1]),
    _with_options(weights={"count": 0}),
    _with_options(weights={"count": -1}),
    _with_options(weights={"count": "1"}),
    _with_options(weights={"count": True}),
    _with_options(weights={"nothing": 1}),
    _with_options(bounds=None),
    _with_options(bounds=[]),
    _with_options(bounds={"rows": 1}),
    _with_options(bounds={"max_rows_per_unit": 0}),
    _with_options(bounds={"max_rows_per_unit": -1}),
    _with_options(bounds={"max_rows_per_unit": 1.0}),
    _with_options(bounds={"max_rows_per_unit": 1.5}),
    _with_options(bounds={"max_rows_per_unit": "1"}),
    _with_options(bounds={"max_rows_per_unit": True}),
    _with_options(bounds={"max_rows_per_unit": None}),
    _with_options(bounds={"max_groups_per_unit": 2**63}),
    _with_options(bounds={"tables": None}),
    _with_options(bounds={"tables": {"visits": 0}}),
    _with_options(bounds={"tables": {"visits": 2.0}}),
    _with_options(bounds={"tables": {"nowhere": 1}}),
    _wish(),
    _wish(within=1, relative="5%", at_least=1),
    _wish(relative="5%"),
    _wish(within=1, rows=0),
    _wish(within=1, rows=1.5),
    _wish(within=1, rows=10**30),
    _wish(relative="5%", at_least=1, rows=5),
    _wish(within=1, cells="0%"),
    _wish(confidence=0.9),
    _wish(within=0, confidence=0.9),
    _wish(within=-1, confidence=0.9),
    _wish(within="1", confidence=0.9),
    _wish(within=1, confidence=0),
    _wish(within=1, confidence=1),
    _wish(within=1, confidence=True),
    _wish(within=1, confidence=0.9, column="count"),
)  # fmt: skip


def _loss(token):
    return b"{" + _SQL + b', "epsilon": ' + token + b"}"


CASES = (
    *((_loss(json.dumps(text).encode()), LOSS) for text in LOSS_STRINGS),
    *((_loss(json.dumps(t, ensure_ascii=False).encode()), LOSS) for t in LOSS_STRINGS),
    *((_loss(token), LOSS) for token in LOSS_NUMBERS),
    *((_loss(token), MALFORMED) for token in NOT_JSON),
    *((_loss(token), INVALID) for token in NOT_LOSSES),
    *((body, MALFORMED) for body in MALFORMED_BODIES),
    *((json.dumps(body).encode(), INVALID) for body in INVALID_BODIES),
    (json.dumps(_wish(within=1e-9, confidence=0.9)).encode(), LOSS),
    (
        _loss(b"1").replace(
            b'"epsilon": 1',
            b'"accuracy": {"within": 1e99999999999999999999, "confidence": 0.5}',
        ),
        INVALID,
    ),
)


@pytest.mark.parametrize("path", ["queries", "plan"])
def test_no_malformed_body_passes_or_moves_a_byte_of_the_ledger(house, path):
    assert len({body for body, _ in CASES}) >= 200
    before = house.dump()
    wrong = []
    for body, expected in CASES:
        reply = post(house.http, body, path)
        got = (reply.status_code, reply.json()["type"])
        told = {"type", "title", "status", "detail"}
        if path == "plan" and got == LOSS:
            told.add("ways")  # of an accuracy that another question can have
        if got != expected or set(reply.json()) - told:
            wrong.append((body[:120], got, expected))
    assert wrong == []
    assert house.dump() == before


@pytest.mark.parametrize(
    ("token", "price"),
    [
        (b'"0.001"', "0.001"),
        (b'"000001"', "1"),
        (b'"0.010000000"', "0.01"),
        (b"0.001", "0.001"),
        (b"1e-3", "0.001"),
        (b"0.01E0", "0.01"),
        (b"10e-1", "1"),
        (b"0.1000000000000000000000", "0.1"),
        (b'"\\u0031"', "1"),
        (b"5", "5"),
    ],
)
def test_losses_on_the_grid_are_priced_by_the_exact_value_of_their_text(
    house, token, price
):
    reply = post(house.http, _loss(token), "plan")
    assert reply.status_code == 200
    assert reply.json()["epsilon"] == price
