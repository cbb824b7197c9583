"""What commands print: our own lines as lines, people's words on one."""

from server.cli.terminal.output import show


def test_a_derivation_is_printed_line_by_line(capsys):
    show({"epsilon": "1", "derivation": "scan: 3 rows\ncount: 3\x1b[1m"}, as_json=False)
    said = capsys.readouterr().out.splitlines()
    assert said[1:] == ["derivation:", "  scan: 3 rows", r"  count: 3\u{1b}[1m"]


def test_a_reason_stays_on_its_line(capsys):
    show({"reason": "late\nepsilon: 5"}, as_json=False)
    assert capsys.readouterr().out == "reason: late\\u{a}epsilon: 5\n"
