"""Bodies are opened by the key and in the row that they were closed with, or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.use_cases.services.text_cipher import (
    TextCipher,
    TextKeyError,
    read_text_key,
)

KEY, OTHER = bytes(32), bytes(range(32))


@given(st.binary(), st.sampled_from([None, KEY, OTHER]))
def test_a_body_is_what_was_put_into_it(content, key):
    cipher = TextCipher(key)
    assert cipher.decrypt(cipher.encrypt(content, "t", 1), "t", 1) == content


def test_a_body_that_is_encrypted_shows_nothing_and_never_twice_the_same():
    cipher = TextCipher(KEY)
    made = {cipher.encrypt(b"Ann Lee", "t", 1) for _ in range(100)}
    assert len(made) == 100
    assert not any(b"Ann" in body for body in made)


def test_a_body_that_was_written_without_a_key_is_read_with_one():
    assert (
        TextCipher(KEY).decrypt(TextCipher(None).encrypt(b"a", "t", 1), "t", 1) == b"a"
    )


@pytest.mark.parametrize(
    ("key", "said"), [(None, "set CURATOR_TEXT_KEY"), (OTHER, "another key")]
)
def test_without_its_key_a_body_is_refused_in_words(key, said):
    body = TextCipher(KEY).encrypt(b"a", "t", 1)
    with pytest.raises(TextKeyError, match=said):
        TextCipher(key).decrypt(body, "t", 1)


@pytest.mark.parametrize("place", [("t", 2), ("u", 1), ("t1",), ("t", "1", "")])
def test_a_body_that_was_moved_to_another_row_is_refused(place):
    body = TextCipher(KEY).encrypt(b"a", "t", 1)
    with pytest.raises(TextKeyError, match="was changed"):
        TextCipher(KEY).decrypt(body, *place)


@given(st.integers(min_value=9), st.integers(1, 255))
def test_a_body_that_was_changed_is_refused(at, by):
    body = bytearray(TextCipher(KEY).encrypt(b"a note", "t", 1))
    body[9 + at % (len(body) - 9)] ^= by
    with pytest.raises(TextKeyError, match="was changed"):
        TextCipher(KEY).decrypt(bytes(body), "t", 1)


@pytest.mark.parametrize("content", [None, b"", b"0" * 63, b"\xff" * 64])
def test_a_file_that_holds_no_key_is_refused_with_what_to_type(tmp_path, content):
    path = tmp_path / "text.key"
    if content is not None:
        path.write_bytes(content)
        path.chmod(0o600)
    with pytest.raises(TextKeyError, match="openssl rand -hex 32"):
        read_text_key(path)


def test_a_key_is_read_from_its_file(tmp_path):
    path = tmp_path / "text.key"
    path.write_text(KEY.hex() + "\n")
    path.chmod(0o600)
    body = TextCipher(KEY).encrypt(b"a", "t")
    assert read_text_key(path).decrypt(body, "t") == b"a"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622])
def test_a_key_that_others_may_read_is_refused_with_what_to_type(tmp_path, mode):
    path = tmp_path / "text.key"
    path.write_text(KEY.hex())
    path.chmod(mode)
    with pytest.raises(TextKeyError, match=f"'chmod 600 {path}'"):
        read_text_key(path)
