"""Which encoding of one byte a character a text is in, told by the letters it gives.

Nothing in such a file says it: a byte is a letter of one alphabet in one encoding and
of another in the next. A language has few letters beyond ASCII; that of which nearly
all bytes are letters is the one that was written, most likely.
"""

from collections import Counter
from collections.abc import Iterator

from upstream.manifests.file_specs import Encoding

_ALPHABETS: dict[Encoding, tuple[str, ...]] = {
    "windows-1252": (
        "äöüßÄÖÜ",
        "àâçèéêëîïôùûœÀÇÈÉÊŒ«»",
        "áéíóúñüÁÉÍÓÚÑ¿¡",
        "àèéìòùÀÈÉÌÒÙ",
        "áâãàçéêíóôõúÁÂÃÇÉÓÕ",
        "åäöæøéÅÄÖÆØ",
        "áðéíóúýþæöÐÞÆÖ",
    ),
    "windows-1250": (
        "ąćęłńóśźżĄĆĘŁŃÓŚŹŻ",
        "áčďéěíňóřšťúůýžÁČĎÉĚÍŇŘŠŤÚŮÝŽ",
        "áäčďéíĺľňóôŕšťúýžČĎĽŇŠŤŽ",
        "áéíóöőúüűÁÉÍÓÖŐÚÜŰ",
        "čćđšžČĆĐŠŽ",
        "ăâîşţĂÂÎŞŢ",
    ),
    "windows-1254": ("çğıöşüÇĞİÖŞÜâ",),
    "windows-1251": ("абвгдежзийклмнопрстуфхцчшщъыьэюяАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЭЮЯ",),
    "windows-1253": ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ",),
    "windows-1257": ("āčēģīķļņšūžĀČĒĪŠŪŽ", "ąčęėįšųūžĄČĘĖĮŠŲŪŽ", "äõöüšžÄÕÖÜ"),
    "cp850": ("äöüßÄÖÜé",),
}
"""The letters beyond ASCII of languages, by the encoding that systems write them in.

Of two that a text fits as well, the first is taken.
"""

_SIGNS = "°²³µ·±§€„“”‘’–—…½¼¾×%‰™®©«»\xa0¹"  # noqa: RUF001 - signs of any language
_MANY = 50  # letters of an alphabet that nearly any byte belongs to
_OF_MANY = 0.7  # what the share of such an alphabet counts
_SIGNS_ALONE = 0.5  # the share where no byte is a letter
_HIGH = 0x80  # the first byte that is not ASCII


def likely_encodings(block: bytes) -> list[Encoding]:
    """Return the encodings that fit a text's bytes beyond ASCII best, best first.

    >>> likely_encodings("Łódź, święto".encode("cp1250"))[0]
    'windows-1250'
    >>> likely_encodings("Çağ, şişe".encode("cp1254"))[0]
    'windows-1254'
    """
    high = Counter(byte for byte in block if byte >= _HIGH)
    found = dict(_fits(high))
    return sorted(found, key=lambda one: -found[one])


def _fits(high: Counter[int]) -> Iterator[tuple[Encoding, float]]:
    """Yield what part of the letters each encoding's best language has."""
    for encoding, alphabets in _ALPHABETS.items():
        signs = set(_SIGNS.encode(_codec(encoding), "ignore"))
        yield encoding, max(_share(high, one, encoding, signs) for one in alphabets)


def _share(
    high: Counter[int], alphabet: str, encoding: Encoding, signs: set[int]
) -> float:
    letters = set(alphabet.encode(_codec(encoding)))
    told = sum(n for byte, n in high.items() if byte in letters or byte not in signs)
    if not told:
        return _SIGNS_ALONE
    share = sum(high[byte] for byte in letters) / told
    return share * (_OF_MANY if len(letters) > _MANY else 1)


def _codec(encoding: str) -> str:
    return encoding.replace("windows-", "cp")
