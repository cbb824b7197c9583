"""How often tests repeat what is random: a quarter in the gate, all in the audits."""

import os

IS_LONG = os.environ.get("CURATOR_LONG") == "1"
"""Whether ``make audit-long`` runs."""


def rounds(number):
    """Return ``number`` in the long audits, a quarter of it in the gate.

    For repetitions whose number no bound rests on: a smaller one finds less, and never
    finds anything wrongly.
    """
    return number if IS_LONG else number // 4
