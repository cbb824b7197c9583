"""What a database gives is told apart to the hour, whatever its sessions are set to."""

from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from sqlalchemy import CHAR, VARCHAR

from upstream.files.exports.database_tables import (
    padded_columns,
    value_text,
)
from upstream.files.exports.databases import _only_read

_BERLIN = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime(2024, 1, 1, tzinfo=_BERLIN), "2024-01-01 00:00:00+01:00"),
        (datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01 00:00:00+00:00"),
        (datetime(2024, 1, 1, 5, tzinfo=_BERLIN), "2024-01-01 05:00:00+01:00"),
        (datetime(2024, 1, 1), "2024-01-01"),  # noqa: DTZ001 - without a zone
    ],
)
def test_midnight_with_an_offset_keeps_its_time(value, text):
    assert value_text(value) == text


def test_a_session_of_postgresql_has_no_zone_and_no_form_of_days_of_its_own():
    said = []
    _only_read(
        SimpleNamespace(
            dialect=SimpleNamespace(name="postgresql"),
            execution_options=lambda **options: said.append(options),
            exec_driver_sql=said.append,
        )
    )
    assert {"SET TIME ZONE 'UTC'", "SET DateStyle TO ISO"} <= set(said[1:])


def test_texts_of_a_fixed_length_are_known():
    told = [{"name": "code", "type": CHAR(8)}, {"name": "ward", "type": VARCHAR(8)}]
    assert padded_columns("postgresql", told) == {"code"}
    assert padded_columns("sqlite", told) == frozenset()
