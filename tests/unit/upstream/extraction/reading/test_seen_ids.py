"""Ids that are remembered."""

from upstream.extraction.reading.outcomes import Position
from upstream.extraction.reading.seen_ids import SeenIds


def test_an_id_is_new_once_and_at_its_own_position_always(tmp_path):
    with SeenIds(tmp_path / "ids") as seen:
        assert seen.is_new("7", Position("a", 1))
        assert not seen.is_new("7", Position("a", 2))
        assert seen.is_new("7", Position("a", 1))
    with SeenIds(tmp_path / "ids") as seen:
        assert seen.is_new("7", Position("a", 1, offset=9))
        assert not seen.is_new("7", Position("b", 1))


def test_many_ids_are_kept_without_a_file():
    with SeenIds() as seen:
        assert all(seen.is_new(str(n), Position("a", n)) for n in range(2500))
        assert not any(seen.is_new(str(n), Position("b", n)) for n in range(2500))


def test_halves_of_characters_in_ids_are_no_error():
    with SeenIds() as seen:
        assert seen.is_new("\ud800", Position("\udc80"))
