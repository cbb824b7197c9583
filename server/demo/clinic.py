"""A second hospital, of other patients, whose population counts rho.

Its cap amounts to the first one's at delta 0.000001, so that equal shares of both can
be compared.
"""

from typing import Final

from server.demo.manifest import MANIFEST as _OF_EPSILON

NAME: Final = "clinic"
CAP: Final = "1.539278757"
"""Rho that amounts to epsilon 10: ``python -m benchmarks.economy.measures``."""

ALLOTMENT: Final = "0.75"

_LOSSES: Final = """\
  epsilon_cap: "10"
  epsilon_per_query: {min: "0.001", max: "5"}
"""
_IN_RHO: Final = f"""\
  measure: zcdp
  delta: "0.000001"
  rho_cap: "{CAP}"
  rho_per_query: {{min: "0.000001", max: "0.5"}}
"""
MANIFEST: Final = (
    _OF_EPSILON.replace(_LOSSES, _IN_RHO)
    .replace("  id: hospital", f"  id: {NAME}")
    .replace("dataset: hospital", f"dataset: {NAME}")
)
