"""stub"""


def levels_of(domain, own):
    return ("chapter", "block", "category")


def level_values(domain, level, own):
    return ("I", "II")


def level_of(domain, level, code, own):
    return None


def level_sql(domain, level, operand, own):
    return f"(CASE WHEN {operand} LIKE 'A%' THEN 'I' ELSE NULL END)"
