import hashlib
import hmac

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.ingestion.secrets import derive_keys
from upstream.staging.row_hash import (
    field_sql,
    first_64_bits,
    first_64_bits_sql,
    hmac_hex_sql,
    message,
    padded_keys,
    population_id,
    row_hash,
    unit_key,
)

FIELDS = st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])))


@settings(deadline=None)
@given(FIELDS, FIELDS)
def test_no_two_runs_of_fields_share_a_message(some, others):
    assert (message(some) == message(others)) == (some == others)


def test_null_is_apart_from_empty_and_fields_do_not_run_together():
    assert message([None]) != message([""])
    assert message(["ab", "c"]) != message(["a", "bc"])


@pytest.fixture(scope="module")
def connection():
    connection = duckdb.connect()
    for side, block in zip(("inner", "outer"), padded_keys(b"k" * 32), strict=True):
        connection.execute(f"SET VARIABLE row_{side} = ?", [block])
    yield connection
    connection.close()


@settings(deadline=None)
@given(
    st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), min_size=1)
)
def test_duckdb_computes_the_hmac_of_pythons_library(connection, fields):
    names = [f"f{i}" for i in range(len(fields))]
    text = " || ".join(field_sql(name) for name in names)
    digest = hmac_hex_sql("row", text)
    columns = ", ".join(f"?::VARCHAR AS {name}" for name in names)
    row = connection.execute(
        f"SELECT {digest}, {first_64_bits_sql(digest)} FROM (SELECT {columns})", fields
    ).fetchone()
    expected = hmac.new(b"k" * 32, message(fields), hashlib.sha256)
    assert row == (expected.hexdigest(), first_64_bits(b"k" * 32, fields))


def test_a_row_hash_is_the_first_64_signed_bits_of_the_hmac_of_its_fields():
    text = b"V3:encV1:7V2:07NV0:V1:2"
    digest = hmac.new(b"key", text, hashlib.sha256).digest()
    expected = int.from_bytes(digest[:8], "big", signed=True)
    assert row_hash(b"key", "enc", "7", ["07", None, ""], 2) == expected


def test_unit_keys_and_population_ids_are_keyed_and_of_their_widths():
    assert -(2**63) <= unit_key(b"a", "7") < 2**63
    assert unit_key(b"a", "7") != unit_key(b"b", "7")
    assert len(population_id(b"a", "7")) == 16


def test_the_three_keys_differ_and_are_never_shown():
    keys = derive_keys(b"s" * 32)
    assert len({keys.row, keys.unit, keys.population}) == 3
    assert repr(keys) == "IngestionKeys()"
    assert derive_keys(b"s" * 32) == keys != derive_keys(b"t" * 32)


def test_a_secret_of_another_length_is_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        derive_keys(b"short")
