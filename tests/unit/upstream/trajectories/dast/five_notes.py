"""The five notes of figure 2: month, hospital, age, and their words."""

RECORDS = [
    ("2009-04", "Tufts", "88"),
    ("2009-03", "Mass General", "52"),
    ("2009-04", "Emory", "5"),
    ("2009-08", "UT Southwestern", "17"),
    ("2009-07", "Johns Hopkins", "64"),
]
CLUSTERS = [(0, 1, 2), (3, 4)]
MONTH, HOSPITAL, AGE = range(3)
TERMS = [
    ["fever", "sore throat", "headache", "runny nose"],
    ["joint pain", "sore throat", "fever"],
    ["runny nose", "headache", "vomiting"],
    ["pain on right side of abdomen", "fatigue", "dark urine"],
    ["abdomen pain", "sore muscles", "fatigue", "jaundice"],
]


def drilled(attributes, rows):
    """Return rows in which some attributes are exact for every record."""
    return [
        tuple(
            frozenset((record[at],)) if at in attributes else values
            for at, values in enumerate(row)
        )
        for record, row in zip(RECORDS, rows, strict=True)
    ]
