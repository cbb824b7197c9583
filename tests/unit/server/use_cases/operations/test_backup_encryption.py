"""What is encrypted to several people, each of them opens, and nobody else."""

import io

import pytest

from server.use_cases.operations.backup_encryption import (
    decrypting,
    encrypting,
    is_encrypted,
    read_identities,
    read_recipients,
)
from server.use_cases.services.errors import CommandRefusedError

age = pytest.importorskip("pyrage")
PLAIN = bytes(range(256)) * 1_200  # five pieces of the format


@pytest.fixture
def keys():
    return [age.x25519.Identity.generate() for _ in range(3)]


@pytest.fixture
def sealed(keys, tmp_path):
    """Return a file for the first two."""
    path = tmp_path / "b.tar.age"
    with (
        path.open("wb") as file,
        encrypting(file, [key.to_public() for key in keys[:2]]) as plain,
    ):
        plain.write(PLAIN)
    return path


def opened(path, identities):
    with decrypting(path, identities) as plain:
        return plain.read()


def test_each_recipient_opens_it_and_nobody_else(sealed, keys):
    assert is_encrypted(sealed)
    assert PLAIN[:64] not in sealed.read_bytes()
    assert opened(sealed, [keys[0]]) == opened(sealed, [keys[2], keys[1]]) == PLAIN
    with pytest.raises(CommandRefusedError, match="for other keys"):
        opened(sealed, [keys[2]])


@pytest.mark.parametrize("size", [10, 150, 70_000, -1])
def test_a_file_that_was_cut_is_refused_at_any_length(sealed, keys, size):
    sealed.write_bytes(sealed.read_bytes()[:size])
    with pytest.raises(CommandRefusedError, match="cut or changed"):
        opened(sealed, keys)


@pytest.mark.parametrize("place", [200, 100_000, -1])
def test_a_changed_byte_is_refused(sealed, keys, place):
    content = bytearray(sealed.read_bytes())
    content[place] ^= 1
    sealed.write_bytes(content)
    with pytest.raises(CommandRefusedError, match="cut or changed"):
        opened(sealed, keys)


def test_a_reader_who_stops_early_hears_of_a_change_that_it_did_not_read(sealed, keys):
    sealed.write_bytes(sealed.read_bytes()[:-1])
    with (
        pytest.raises(CommandRefusedError, match="cut or changed"),
        decrypting(sealed, keys) as plain,
    ):
        plain.read(1)


def test_what_a_reader_refuses_is_not_taken_for_a_wrong_key(sealed, keys):
    with pytest.raises(IndexError), decrypting(sealed, keys) as plain:
        assert plain.read(1)[9]


def test_a_full_disk_is_told_as_what_it_is(keys):
    class Full(io.RawIOBase):
        def writable(self):
            return True

        def write(self, _):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write(Full(), keys[0], (PLAIN for _ in range(100)))


def test_an_error_of_the_writer_is_its_own(keys):
    with pytest.raises(ZeroDivisionError):
        write(io.BytesIO(), keys[0], (PLAIN[: 1 // n] for n in (1, 0)))


def write(file, key, blocks):
    with encrypting(file, [key.to_public()]) as plain:
        for block in blocks:
            plain.write(block)


def test_recipients_come_from_the_command_line_and_from_a_file(keys, tmp_path):
    file = tmp_path / "recipients.txt"
    file.write_text(f"# the vault\n{keys[0].to_public()}\n\n  {keys[1].to_public()}\n")
    assert len(read_recipients([str(keys[2].to_public())], file)) == 3
    assert read_recipients([], None) == []


def test_what_is_no_recipient_is_told_by_its_place_and_never_shown(keys, tmp_path):
    file = tmp_path / "recipients.txt"
    file.write_text(f"{keys[0].to_public()}\n{keys[1]}\n")
    with pytest.raises(CommandRefusedError, match=r"line 2 of .* secret key") as told:
        read_recipients([], file)
    assert str(keys[1])[15:] not in str(told.value)
    with pytest.raises(CommandRefusedError, match="recipient 1 is no public key"):
        read_recipients(["age1none"], None)
    file.write_text("# nobody yet\n")
    with pytest.raises(CommandRefusedError, match="names no recipient"):
        read_recipients([], file)
    with pytest.raises(CommandRefusedError, match="cannot be read"):
        read_recipients([], tmp_path / "none")


def test_identities_are_read_from_a_private_file_alone(keys, tmp_path):
    file = tmp_path / "key.txt"
    file.write_text(f"# created: 2027\n{keys[0]}\n{keys[1]}\n")
    file.chmod(0o640)
    with pytest.raises(CommandRefusedError, match="chmod 600"):
        read_identities(file)
    file.chmod(0o600)
    assert len(read_identities(file)) == 2
    file.write_text("age1nothing\n")
    with pytest.raises(CommandRefusedError, match="holds no secret key"):
        read_identities(file)
