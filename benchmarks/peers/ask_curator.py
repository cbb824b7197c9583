"""Curator over HTTP: a durable charge and an anchored answer each time.

Every call has a constant of its own (``cost > -n``), so that no plan is remembered.
"""

import itertools
import sys
from pathlib import Path

from benchmarks.peers.serving import Installation, ask
from benchmarks.peers.timing import measure

tables, code, folder, url = sys.argv[1:]
numbers = itertools.count(1)
QUESTIONS = {
    "Q1": "SELECT COUNT(*) FROM diagnoses WHERE cost > -{n}",
    "Q2": "SELECT COUNT(*) FROM patients WHERE age >= 50 AND sex = 'F' AND cost > -{n}",
    "Q3": "SELECT COUNT(DISTINCT patient_id) FROM diagnoses"
    f" WHERE icd = '{code}' AND cost > -{{n}}",
    "Q4": "SELECT year, COUNT(*) FROM diagnoses WHERE cost > -{n} GROUP BY year",
    "Q5": "SELECT d.icd, p.sex, COUNT(*) FROM diagnoses d JOIN patients p"
    " ON d.patient_id = p.patient_id WHERE d.cost > -{n} GROUP BY d.icd, p.sex",
}
installation = Installation(Path(folder), Path(tables), url)
installation.make()
with installation.served() as client:
    for question, sql in QUESTIONS.items():
        measure(question, lambda sql=sql: ask(client, sql.format(n=next(numbers))))
