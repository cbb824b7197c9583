"""What people wrote shows as it stands on a terminal, and forges nothing there."""

import json
import re

import pytest

from server.cli.terminal import output

RAW = {
    "markup": "[/annex] [bold]x[/] [link=http://x]y[/link]",
    "backslash before a bracket": "see \\[/annex] \\\\[/b] 3\\",
    "escape sequence": "no\x1b[2K\x1b[1A\x1b[2Kstate: approved",
    "eight-bit escape": "no\x9b2Kstate: approved",
    "newline": "no\nstate: approved",
    "carriage return": "no\rstate: approved\r\nx",
    "line separator": "no\u2028state: approved",
    "direction": "1\u202e21 <- 01\u202c",
    "tag beyond the basic plane": "a\U000e0041b",
    "lone surrogate": "a\ud800b",
    "emoji code": "a:warning:b",
    "delete and tab": "a\x7fb\tc",
}
HIDDEN = re.compile("[^\n -~]")


def written_out(text):
    r"""Return a text with what does not show as ``\u{...}``."""
    text = text.replace("\r\n", "\n")
    return re.sub(r"[^ -~]", lambda found: f"\\u{{{ord(found[0]):x}}}", text)


@pytest.fixture(params=RAW.values(), ids=RAW.keys())
def raw(request):
    return request.param


def test_a_value_is_one_line_of_what_shows(raw, capsys):
    output.show({"reason": raw, raw: 1}, as_json=False)
    text = written_out(raw)
    assert capsys.readouterr().out == f"reason: {text}\n{text}: 1\n"


def test_a_list_of_values_is_one_line_of_what_shows(raw, capsys):
    output.show({"words": [raw]}, as_json=False)
    shown = capsys.readouterr().out
    assert shown.count("\n") == 1
    assert not HIDDEN.search(shown)


def test_things_inside_things_forge_no_line(raw, capsys):
    output.show({"change": {"facts": [{raw: raw}], "n": 3}}, as_json=False)
    shown = capsys.readouterr().out
    assert not HIDDEN.search(shown)
    assert shown.startswith("change:\n  facts:\n  - ")
    assert len(shown.splitlines()) == 4
    assert written_out(raw).replace("\\", "") in shown.replace("\\", "")


def test_a_row_of_a_table_is_one_line_of_what_shows(raw, capsys):
    output.show_list([{"name": "a", raw: raw}], as_json=False)
    text = written_out(raw)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(None, 1)[1].strip() for line in lines] == [text.strip()] * 2


def test_a_sentence_shows_no_control_character(raw, capsys):
    output.say(f"refused: {raw}")
    said = capsys.readouterr().err
    assert not HIDDEN.search(said)
    lines = raw.replace("\r\n", "\n").replace("\t", " ").split("\n")
    told = "\n".join(map(written_out, lines))
    assert re.sub(" +", " ", said) == f"refused: {told}\n"


def test_json_stays_json_and_shows_no_control_character(raw, capsys):
    output.print_json({"reason": raw, raw: [raw, "Größe"]})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"reason": raw, raw: [raw, "Größe"]}
    assert not HIDDEN.search(shown.replace("Größe", ""))


def test_the_client_is_installed_from_the_wheel_at_hand_or_the_source(tmp_path):
    assert "./clients/python" in output.install_client(tmp_path)
    (tmp_path / "its own folder").mkdir()
    wheel = tmp_path / "its own folder" / "curator_query_client-1-py3-none-any.whl"
    wheel.touch()
    assert output.install_client(wheel.parent) == f"type \"pip install '{wheel}'\""
