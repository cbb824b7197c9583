"""What a table lost: GCP, LM, discernibility, average class size.

Sources: Ghinita et al. 2007 (GCP, of the NCP of Xu et al. 2006); Iyengar 2002 (LM);
Bayardo and Agrawal 2005 (discernibility); LeFevre et al. 2006 (C_avg).
"""

from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Floats
from upstream.anonymization.columns.tables import AnonymizedTable


@dataclass(frozen=True, slots=True)
class Losses:
    """What a table lost; less is better.

    Attributes:
        gcp: The global certainty penalty: the mean NCP of values, from 0 to 1; a
            suppressed value counts 1.
        lm: Iyengar's loss: the mean loss of values, from 0 to 1; as above.
        discernibility: For each row the rows of its class, added up; a suppressed row
            counts all rows.
        published_discernibility: The same without the suppressed rows.
        average_class: C_avg: published rows by classes, over k; 1 is the best.
        classes: How many there are.
        suppressed: Rows that are not published.
    """

    gcp: float
    lm: float
    discernibility: int
    published_discernibility: int
    average_class: float
    classes: int
    suppressed: int


def losses_of(table: AnonymizedTable, k: int) -> Losses:
    """Return what a table lost.

    Args:
        table: With at least one row.
        k: What C_avg compares with: rows that a class had to have.
    """
    sizes = table.sizes
    rows = len(table.classes)
    published = int(sizes.sum())
    squares = int((sizes.astype(np.int64) ** 2).sum())
    return Losses(
        gcp=float(column_means(table, table.penalties).mean()),
        lm=float(column_means(table, table.losses).mean()),
        discernibility=squares + (rows - published) * rows,
        published_discernibility=squares,
        average_class=published / max(1, len(sizes)) / k,
        classes=len(sizes),
        suppressed=rows - published,
    )


def column_means(table: AnonymizedTable, by_class: Floats) -> Floats:
    """Return by column the mean over rows, a suppressed row counting 1.

    Args:
        table: With at least one row.
        by_class: Shape (columns, classes): its ``losses`` or ``penalties``.
    """
    rows = len(table.classes)
    lost: Floats = by_class @ table.sizes + (rows - table.sizes.sum())
    return lost / rows
