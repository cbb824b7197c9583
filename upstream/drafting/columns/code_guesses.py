"""Which published code system the texts of a column are of, told by whole codes.

A load keeps what begins with a category and goes on with a few letters or digits. So
codes of other systems pass for some that they are not (A10BA02 of ATC is in no
hierarchy, N02BE01 is), and become NULL or nonsense. A draft looks at the whole text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from query_lang.rendering.duckdb.levels import is_code_sql
from upstream.files.reading_sql import quoted, quoted_name
from upstream.files.usual_forms import WHITE_SPACE
from upstream.manifests.proposals import (
    PUBLISHED,
    SYSTEMS,
    Proposal,
    code_proposal,
)

_WHOLE = {
    "icd10": r"[A-Za-z][0-9]{2}(?:\.?[0-9]{1,2})?",
    "icd10cm": r"[A-Za-z][0-9][0-9ABab](?:\.?[0-9A-Za-z]{1,4})?",
    "icd9cm": r"(?:[0-9]{3}|[Vv][0-9]{2})(?:\.?[0-9]{1,2})?|[Ee][0-9]{3}(?:\.?[0-9])?",
}
"""How whole codes are written, from a category on: the fourth place is no letter but in
ICD-10-CM."""

_ATC = r"[A-Za-z][0-9]{2}[A-Za-z]{2}[0-9]{2}|[A-Z][0-9]{2}[A-Z]{1,2}"
_OTHERS = {
    "ATC": _ATC,
    "OPS": r"[1-9]-[0-9]{2}[0-9a-z](?:\.[0-9a-z]{1,2})?",
    "LOINC": r"[0-9]{2,5}-[0-9]",
}
"""Systems that no hierarchy is built in of, in the order in which they are told."""

_MARK = r"(?:\.?-)?[+*!†]?(?: ?[GVAZLRB])?"
_MARKED = rf"(?:{_WHOLE['icd10']}){_MARK}"
_NAMED_OTHERWISE = re.compile(
    r"(?:^|_)(?:atc|ops|loinc|pzn|plz|zip|post_?code|postal|postleitzahl|"
    r"wards?|stations?|rooms?|zimmer|raum|beds?|betten|bett|platz|places?|dept|"
    r"departments?|abteilung|fachabteilung|oe|unit|clinic|klinik|site|location|ort|"
    r"services?|salles?|chambre|lit|oddzial|sala|lozko|servis|oda|yatak|sektor|"
    r"municipalit(?:y|ies)|municipio|communes?|comune|kommuner?|gemeinden?|gmina|"
    r"district|landkreis|kreis|county|counties|fylke|powiat|regions?|regione|"
    r"province|provincia|bundesland|canton|kanton|departement|arrondissement|"
    r"insee|nuts[0-9]?|lau[0-9]?|ags|"
    r"machine|device|geraet|gerat|lot|lots|charge|batch|seria|parti|los|lotto|lote|kod_oddzialu|reparto|letto|afdeling|kamer)(?:_|$)"
)
"""Names of columns that hold other codes: of drugs, places, regions, machines."""

_NEARLY_ALL = 0.9
_MANY = 0.5
_LOST = "become NULL, or are taken for others"


@dataclass(frozen=True, slots=True)
class CodeGuess:
    """What codes a column seems to hold.

    Attributes:
        proposal: The hierarchy that nearly all its values are of; None: of none.
        said: What the custodian should look at first.
    """

    proposal: Proposal | None = None
    said: str | None = None


def code_guess(
    connection: duckdb.DuckDBPyConnection, rows: str, source: str, name: str
) -> CodeGuess:
    """Return what codes a column of texts seems to hold.

    Args:
        connection: Where it is looked at.
        rows: The relation of the rows.
        source: The column's name there.
        name: Its name in the manifest, which may say what it holds.
    """
    column = f"trim({quoted_name(source)}, {quoted(WHITE_SPACE)})"
    atc = f"regexp_full_match({column}, {quoted(_ATC)})"
    wanted = [
        f"{is_code_sql(system, column, {})} AND NOT {atc} AND "
        f"regexp_full_match({column}, {quoted(_WHOLE[system.name])})"
        for system in SYSTEMS
    ]
    others = (*_OTHERS.values(), _MARKED, _WHOLE["icd10"])
    wanted += [f"regexp_full_match({column}, {quoted(form)})" for form in others]
    counted = ", ".join(f"count(*) FILTER ({each})" for each in wanted)
    total, *counts = connection.execute(
        f"SELECT count(*), {counted} FROM {rows} WHERE nullif({column}, '?') <> ''"  # noqa: S608 - quoted names
    ).fetchone() or (0,)
    if not total:
        return CodeGuess()
    shares = [count / total for count in counts]
    of_systems, of_others = shares[: len(SYSTEMS)], shares[len(SYSTEMS) :]
    if _NAMED_OTHERWISE.search(name) is None:
        codes = dict(zip((s.name for s in SYSTEMS), of_systems, strict=True))
        if (found := _of_published(codes, *of_others[-2:])) is not None:
            return found
    return _of_others(of_others)


def _of_published(
    shares: dict[str, float], marked: float, plain: float
) -> CodeGuess | None:
    best = max(shares, key=lambda name: shares[name])
    proposal = code_proposal(shares, _NEARLY_ALL)
    if proposal is not None:
        rest = 1 - shares[best]
        said = f"{_percent(rest)} are no codes of {PUBLISHED[best]} as a whole, and "
        remedy = ": look at them before you take it"
        return CodeGuess(proposal, f"{said}{_LOST}{remedy}" if rest else None)
    if marked >= _NEARLY_ALL and marked > plain:
        rest = marked - plain
        return CodeGuess(
            said=f"codes of ICD-10, but {_percent(rest)} with a mark (+ * ! or - and "
            "letters behind them) that the hierarchies do not know: a text; export "
            "codes without, and declare domain: {hierarchy: icd10}"
        )
    if shares[best] >= _MANY:
        rest = 1 - shares[best]
        return CodeGuess(
            said=f"many are codes of {PUBLISHED[best]}, but {_percent(rest)} are none "
            f"as a whole, and would {_LOST}: a text, unless you declare a hierarchy of "
            "your own"
        )
    return None


def _of_others(shares: Sequence[float]) -> CodeGuess:
    for system, share in zip(_OTHERS, shares, strict=False):
        if share >= _NEARLY_ALL:
            return CodeGuess(
                said=f"codes of the form of {system}, of which no hierarchy is built "
                "in: a text, unless you declare one of your own under hierarchies"
            )
    return CodeGuess()


def _percent(share: float) -> str:
    return f"{max(1, round(100 * share))} %"
