"""Functions and patterns of texts by their other names, to the evaluator's tree."""

from tests.semantics.meaning import tree

NAMES = {
    "BTRIM": "trim",
    "CHARACTER_LENGTH": "length",
    "CHAR_LENGTH": "length",
    "CHARINDEX": "strpos",
    "ENDSWITH": "ends_with",
    "INSTR": "strpos",
    "LCASE": "lower",
    "LEN": "length",
    "LOCATE": "strpos",
    "MID": "substring",
    "POSITION": "strpos",
    "PREFIX": "starts_with",
    "REGEXP_CONTAINS": "regexp_like",
    "REGEXP_MATCHES": "regexp_like",
    "STARTSWITH": "starts_with",
    "SUBSTR": "substring",
    "SUFFIX": "ends_with",
    "UCASE": "upper",
}
PART_FIRST = {"CHARINDEX", "LOCATE", "POSITION"}


def call(node, argument):
    """Read a call by another name, None where it is none of texts."""
    if node.name not in NAMES:
        return None
    arguments = [argument(each) for each in node.arguments]
    if node.name in PART_FIRST:
        arguments.reverse()
    return tree.Call(NAMES[node.name], tuple(arguments))


def pattern(read):
    """Return what reads ILIKE, ESCAPE, SIMILAR TO and ``~``."""

    def found(node):
        value, text = read(node.value), node.pattern.text
        if node.word in {"LIKE", "ILIKE"}:
            if node.escape is not None:
                text = _with_backslashes(text, node.escape.text)
            return tree.Like(value, text, node.negated, node.word == "ILIKE")
        flags = "i" if node.word == "~*" else ""
        if node.word == "SIMILAR":
            text = f"^(?:{_similar(text)})$"
        matches = tree.Call("regexp_like", (value, text, flags))
        return tree.Not(matches) if node.negated else matches

    return found


def _with_backslashes(text, sign):
    plain = text.replace("\\", "\\\\")
    return plain.replace(sign, "\\") if sign else plain


def _similar(text):
    signs = {"%": ".*", "_": ".", ".": "\\.", "^": "\\^", "$": "\\$"}
    return "".join(signs.get(sign, sign) for sign in text)
