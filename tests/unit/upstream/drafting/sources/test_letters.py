"""Which encoding a text of one byte a letter is in, in several languages."""

import pytest

from upstream.drafting.drafting import draft_manifest
from upstream.drafting.sources.letters import likely_encodings

TEXTS = (
    ("windows-1252", "Müller weiß über Größe; fünf Ärzte"),
    ("windows-1252", "élève, forêt, à Besançon, Noël, œuvre; Núñez y Peña, 38 °C"),
    ("windows-1252", "niño, ¿qué?, año, Núñez"),
    ("windows-1252", "sjukhus på Åland, läkare, öga"),
    ("windows-1252", "„so“ und 5 €"),
    ("windows-1252", "são José, coração, à mãe, três"),
    ("windows-1250", "Łódź, święto, wątroba, ciśnienie, zażółć"),
    ("windows-1250", "Příliš žluťoučký kůň, dítě, štěstí"),
    ("windows-1250", "hősugárzó, fűtő, kórház, születés"),
    ("windows-1254", "Çağlar, hasta, şişe, iğne, İstanbul"),
    ("windows-1251", "пациент, больница, диагноз; mg"),
    ("windows-1253", "νοσοκομείο, ασθενής, διάγνωση"),
    ("windows-1257", "ārsts, slimnīca, vārds, ģimene, šķēle"),
    ("cp850", "Müller, Größe, Ärzte, für"),
)


@pytest.mark.parametrize(("encoding", "text"), TEXTS)
def test_the_letters_of_a_language_tell_its_encoding(encoding, text):
    codec = encoding.replace("windows-", "cp")
    assert likely_encodings(text.encode(codec))[0] == encoding


def test_a_draft_of_polish_names_reads_them_right_and_says_that_it_guessed(tmp_path):
    rows = "".join(f"{n};łódzkie;Świętosława\n" for n in range(9))
    (tmp_path / "t.csv").write_bytes(f"pid;Województwo;Imię\n{rows}".encode("cp1250"))
    text = draft_manifest([tmp_path / "t.csv"], ["pid"])
    assert 'encoding: "windows-1250"' in text
    assert "if names read wrong, declare another" in text
    assert 'from: "Imię"' in text
