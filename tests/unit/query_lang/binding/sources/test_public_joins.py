"""A public table is joined by its key; who can declare one is told if it has none."""

import pytest

from privacy.errors import QueryError
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL


def test_a_join_to_a_table_without_a_key_says_who_declares_it():
    sql = "SELECT COUNT(*) FROM encounters JOIN wards USING (ward)"
    with pytest.raises(QueryError, match="ask the custodian to declare key"):
        compile_query(sql, HOSPITAL)
