"""Which functions the language has, how each is called, and what to write instead."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import get_args

from query_lang.syntax import rules
from query_lang.syntax.hints.functions import BY_PLACE, FURTHER
from query_lang.syntax.nodes import AggregateName, FunctionName, SequenceFunctionName
from query_lang.syntax.rules import Rule

AGGREGATES: Mapping[str, AggregateName] = {
    name.upper(): name for name in get_args(AggregateName)
}
FUNCTIONS: Mapping[str, FunctionName] = {
    name.upper(): name for name in get_args(FunctionName)
}
SEQUENCE_FUNCTIONS: Mapping[str, SequenceFunctionName] = {
    name.upper(): name for name in get_args(SequenceFunctionName)
}
ORDERED = frozenset({"FIRST", "LAST"})  # aggregates that take ORDER BY
WINDOW_ONLY = frozenset(
    {
        *("ROW_NUMBER", "RANK", "DENSE_RANK", "LAG", "LEAD"),
        *("FIRST_VALUE", "LAST_VALUE"),
    }
)


@dataclass(frozen=True, slots=True)
class Form:
    """How many arguments a call has, and how it is written."""

    fewest: int
    most: int
    shape: str


_ANY_NUMBER = 2_000  # more than a text has tokens
FORMS: Mapping[str, Form] = {
    "ABS": Form(1, 1, "ABS(change)"),
    "ADDDATE": Form(2, 2, "ADDDATE(admitted, 90)"),
    "ADD_MONTHS": Form(2, 2, "ADD_MONTHS(admitted, 3)"),
    "AGE": Form(1, 2, "AGE(admitted, born)"),
    "AGE_BAND": Form(2, 2, "age_band(age, 10)"),
    "AGE_YEARS": Form(2, 2, "age_years(born, CURRENT_DATE)"),
    "AVG": Form(1, 1, "AVG(cost)"),
    "BOOL_AND": Form(1, 1, "BOOL_AND(smoker)"),
    "BOOL_OR": Form(1, 1, "BOOL_OR(smoker)"),
    "CEIL": Form(1, 1, "CEIL(value)"),
    "CEILING": Form(1, 1, "CEILING(value)"),
    "COALESCE": Form(2, _ANY_NUMBER, "COALESCE(a, b)"),
    "CONCAT": Form(2, _ANY_NUMBER, "CONCAT(ward, sex)"),
    "CONTAINS": Form(2, 2, "CONTAINS(code, 'E11')"),
    "CORR": Form(2, 2, "CORR(age, cost)"),
    "COUNT": Form(1, 1, "COUNT(*), COUNT(age) or COUNT(DISTINCT code)"),
    "COVAR_POP": Form(2, 2, "COVAR_POP(age, cost)"),
    "COVAR_SAMP": Form(2, 2, "COVAR_SAMP(age, cost)"),
    "CURRENT_DATE": Form(0, 0, "CURRENT_DATE"),
    "CURRENT_TIMESTAMP": Form(0, 0, "CURRENT_TIMESTAMP"),
    "DATE": Form(1, 3, "DATE(arrived) or DATE(2024, 1, 31)"),
    "DATEADD": Form(3, 3, "DATEADD(day, 90, admitted)"),
    "DATEDIFF": Form(2, 3, "DATEDIFF(day, admitted, discharged)"),
    "DATEFROMPARTS": Form(3, 3, "DATEFROMPARTS(2024, 1, 31)"),
    "DATEPART": Form(2, 2, "DATEPART(year, admitted)"),
    "DATETIME": Form(1, 1, "DATETIME(admitted)"),
    "DATETIME_ADD": Form(2, 2, "DATETIME_ADD(arrived, INTERVAL 6 HOUR)"),
    "DATETIME_DIFF": Form(3, 3, "DATETIME_DIFF(departed, arrived, HOUR)"),
    "DATETIME_SUB": Form(2, 2, "DATETIME_SUB(arrived, INTERVAL 6 HOUR)"),
    "DATETIME_TRUNC": Form(2, 2, "DATETIME_TRUNC(arrived, MONTH)"),
    "DATETRUNC": Form(2, 2, "DATETRUNC(month, admitted)"),
    "DATE_ADD": Form(2, 3, "DATE_ADD(admitted, INTERVAL 90 DAY)"),
    "DATE_DIFF": Form(3, 3, "DATE_DIFF('day', admitted, discharged)"),
    "DATE_FORMAT": Form(2, 2, "DATE_FORMAT(admitted, '%Y-%m')"),
    "DATE_PART": Form(2, 2, "DATE_PART('year', admitted)"),
    "DATE_SUB": Form(2, 2, "DATE_SUB(admitted, INTERVAL 90 DAY)"),
    "DATE_TRUNC": Form(2, 2, "DATE_TRUNC('month', admitted)"),
    "DAY": Form(1, 1, "DAY(admitted)"),
    "DAYOFMONTH": Form(1, 1, "DAYOFMONTH(admitted)"),
    "DAYOFWEEK": Form(1, 1, "DAYOFWEEK(admitted)"),
    "DAYOFYEAR": Form(1, 1, "DAYOFYEAR(admitted)"),
    "DENSE_RANK": Form(0, 0, "DENSE_RANK() OVER (ORDER BY COUNT(*) DESC)"),
    "DIV": Form(2, 2, "DIV(age, 10)"),
    "ENDS_WITH": Form(2, 2, "ENDS_WITH(code, '.9')"),
    "EXP": Form(1, 1, "EXP(AVG(log_dose))"),
    "FIRST": Form(1, 1, "FIRST(code ORDER BY admitted)"),
    "FIRST_VALUE": Form(1, 1, "FIRST_VALUE(code) OVER (...)"),
    "FLOOR": Form(1, 1, "FLOOR(value)"),
    "FORMAT_DATE": Form(2, 2, "FORMAT_DATE('%Y-%m', admitted)"),
    "GETDATE": Form(0, 0, "GETDATE()"),
    "GREATEST": Form(1, _ANY_NUMBER, "GREATEST(a, 0)"),
    "GROUPING": Form(1, 12, "GROUPING(ward)"),
    "HOUR": Form(1, 1, "HOUR(arrived)"),
    "ICD_BLOCK": Form(1, 1, "icd_block(code)"),
    "ICD_CATEGORY": Form(1, 1, "icd_category(code)"),
    "ICD_CHAPTER": Form(1, 1, "icd_chapter(code)"),
    "ISODOW": Form(1, 1, "ISODOW(admitted)"),
    "ISOWEEK": Form(1, 1, "ISOWEEK(admitted)"),
    "ISOYEAR": Form(1, 1, "ISOYEAR(admitted)"),
    "LAG": Form(
        1,
        2,
        "LAG(admitted) or LAG(admitted, 2); COALESCE(LAG(admitted) OVER (...), x) is x "
        "where there is none, and where it is NULL",
    ),
    "LAST": Form(1, 1, "LAST(code ORDER BY admitted)"),
    "LAST_DAY": Form(1, 1, "LAST_DAY(admitted)"),
    "LAST_VALUE": Form(1, 1, "LAST_VALUE(code) OVER (...)"),
    "LEAD": Form(1, 2, "LEAD(admitted) or LEAD(admitted, 2)"),
    "LEAST": Form(1, _ANY_NUMBER, "LEAST(a, 60)"),
    "LEFT": Form(2, 2, "LEFT(code, 3)"),
    "LENGTH": Form(1, 1, "LENGTH(code)"),
    "LEVEL": Form(2, 2, "level(code, 'group')"),
    "LN": Form(1, 1, "LN(COUNT(*))"),
    "LOCALTIMESTAMP": Form(0, 0, "LOCALTIMESTAMP"),
    "LOWER": Form(1, 1, "LOWER(ward)"),
    "LPAD": Form(2, 3, "LPAD(code, 5, '0')"),
    "LTRIM": Form(1, 1, "LTRIM(ward)"),
    "MAKE_DATE": Form(3, 3, "MAKE_DATE(2024, 1, 31)"),
    "MAX": Form(1, 1, "MAX(admitted)"),
    "MEDIAN": Form(1, 1, "MEDIAN(age)"),
    "MIN": Form(1, 1, "MIN(admitted)"),
    "MINUTE": Form(1, 1, "MINUTE(arrived)"),
    "MOD": Form(2, 2, "MOD(age, 10)"),
    "MONTH": Form(1, 1, "MONTH(admitted)"),
    "NOW": Form(0, 0, "NOW()"),
    "NULLIF": Form(2, 2, "NULLIF(a, 0)"),
    "POWER": Form(2, 2, "POWER(height, 2)"),
    "QUANTILE": Form(2, 3, "QUANTILE(age, 0.9) or QUANTILE(age, 0.9, 100)"),
    "QUARTER": Form(1, 1, "QUARTER(admitted)"),
    "RANK": Form(0, 0, "RANK() OVER (ORDER BY COUNT(*) DESC)"),
    "REGEXP_LIKE": Form(2, 3, "REGEXP_LIKE(code, '^E1[0-4]')"),
    "REGR_SLOPE": Form(2, 2, "REGR_SLOPE(cost, age)"),
    "REPLACE": Form(3, 3, "REPLACE(code, '.', '')"),
    "RIGHT": Form(2, 2, "RIGHT(code, 1)"),
    "ROUND": Form(1, 2, "ROUND(value) or ROUND(value, 1)"),
    "ROW_NUMBER": Form(0, 0, "ROW_NUMBER() OVER (...)"),
    "RPAD": Form(2, 3, "RPAD(code, 5, '0')"),
    "RTRIM": Form(1, 1, "RTRIM(ward)"),
    "SECOND": Form(1, 1, "SECOND(arrived)"),
    "SIGN": Form(1, 1, "SIGN(change)"),
    "SPLIT_PART": Form(3, 3, "SPLIT_PART(unit_code, '-', 2)"),
    "SQRT": Form(1, 1, "SQRT(COUNT(*))"),
    "STARTS_WITH": Form(2, 2, "STARTS_WITH(code, 'E11')"),
    "STDDEV_POP": Form(1, 1, "STDDEV_POP(age)"),
    "STDDEV_SAMP": Form(1, 1, "STDDEV_SAMP(age)"),
    "STRFTIME": Form(2, 2, "STRFTIME(admitted, '%Y-%m')"),
    "STRPOS": Form(2, 2, "STRPOS(code, '.')"),
    "SUBDATE": Form(2, 2, "SUBDATE(admitted, 90)"),
    "SUBSTRING": Form(2, 3, "SUBSTRING(code, 1, 3)"),
    "SUM": Form(1, 1, "SUM(cost)"),
    "TIMESTAMP": Form(1, 1, "TIMESTAMP(admitted)"),
    "TIMESTAMPDIFF": Form(3, 3, "TIMESTAMPDIFF(DAY, admitted, discharged)"),
    "TIMESTAMP_ADD": Form(2, 2, "TIMESTAMP_ADD(arrived, INTERVAL 6 HOUR)"),
    "TIMESTAMP_DIFF": Form(3, 3, "TIMESTAMP_DIFF(departed, arrived, HOUR)"),
    "TIMESTAMP_SUB": Form(2, 2, "TIMESTAMP_SUB(arrived, INTERVAL 6 HOUR)"),
    "TIMESTAMP_TRUNC": Form(2, 2, "TIMESTAMP_TRUNC(arrived, MONTH)"),
    "TODAY": Form(0, 0, "TODAY()"),
    "TO_CHAR": Form(2, 2, "TO_CHAR(admitted, 'YYYY-MM')"),
    "TO_DATE": Form(1, 2, "TO_DATE('2024-01-31', 'YYYY-MM-DD')"),
    "TRIM": Form(1, 1, "TRIM(ward)"),
    "TRUNC": Form(1, 2, "TRUNC(value) or TRUNC(value, 1)"),
    "UPPER": Form(1, 1, "UPPER(ward)"),
    "VAR_POP": Form(1, 1, "VAR_POP(age)"),
    "VAR_SAMP": Form(1, 1, "VAR_SAMP(age)"),
    "WEEK": Form(1, 1, "WEEK(admitted)"),
    "WEEKOFYEAR": Form(1, 1, "WEEKOFYEAR(admitted)"),
    "WIDTH_BUCKET": Form(4, 4, "WIDTH_BUCKET(value, 0, 100, 10)"),
    "YEAR": Form(1, 1, "YEAR(admitted)"),
}

SEQUENCE_FORMS: Mapping[str, Form] = {
    "ENDS_WITH": Form(1, _ANY_NUMBER, "ENDS_WITH('ICU', 'discharge')"),
    "FIRST_THEN": Form(2, _ANY_NUMBER, "FIRST_THEN('ICU', 'ward')"),
    "HAS_RUN": Form(1, _ANY_NUMBER, "HAS_RUN('ICU', 'ward')"),
    "LENGTH": Form(0, 0, "LENGTH()"),
    "OCCURRENCES": Form(1, _ANY_NUMBER, "OCCURRENCES('ICU', 'ward')"),
    "SLOPE": Form(0, 0, "SLOPE()"),
    "SLOPE_BAND": Form(1, 1, "SLOPE_BAND(0.5)"),
    "STARTS_WITH": Form(1, _ANY_NUMBER, "STARTS_WITH('triage', 'ICU')"),
    "SYMBOL_AT": Form(1, 1, "SYMBOL_AT(3)"),
    "TOP_RUNS": Form(3, 3, "TOP_RUNS(10, 2, 3)"),
}
"""What a question to a release of sequences has besides ``FORMS``."""

_IF = "(age >= 60, 'old', 'young')"
OTHER_FORMS: Mapping[str, Form] = {
    "APPROX_COUNT_DISTINCT": Form(1, 1, "COUNT(DISTINCT x)"),
    "COUNT_BIG": Form(1, 1, "COUNT_BIG(*)"),
    "RATIO_TO_REPORT": Form(1, 1, "RATIO_TO_REPORT(COUNT(*)) OVER ()"),
    "ANY_VALUE": Form(1, 1, "ANY_VALUE(sex) below the top"),
    "APPROX_DISTINCT": Form(1, 1, "COUNT(DISTINCT x)"),
    "APPROX_PERCENTILE": Form(2, 2, "APPROX_PERCENTILE(age, 0.9)"),
    "APPROX_QUANTILE": Form(2, 2, "APPROX_QUANTILE(age, 0.9)"),
    "AVERAGE": Form(1, 1, "AVG(age)"),
    "AVGIF": Form(2, 2, "AVGIF(cost, age >= 60)"),
    "AVG_IF": Form(2, 2, "AVG_IF(cost, age >= 60)"),
    "BOOLAND_AGG": Form(1, 1, "BOOL_AND(smoker)"),
    "BOOLOR_AGG": Form(1, 1, "BOOL_OR(smoker)"),
    "BTRIM": Form(1, 1, "TRIM(ward)"),
    "CHARACTER_LENGTH": Form(1, 1, "CHARACTER_LENGTH(code)"),
    "CHARINDEX": Form(2, 2, "CHARINDEX('.', code)"),
    "CHAR_LENGTH": Form(1, 1, "CHAR_LENGTH(code)"),
    "CONTAINS_SUBSTR": Form(2, 2, "CONTAINS_SUBSTR(code, 'e11')"),
    "COUNTIF": Form(1, 1, "COUNTIF(age >= 60)"),
    "COUNT_DISTINCT": Form(1, 1, "COUNT(DISTINCT x)"),
    "COUNT_IF": Form(1, 1, "COUNT_IF(age >= 60)"),
    "CURDATE": Form(0, 0, "CURRENT_DATE"),
    "DATEDIFF_BIG": Form(3, 3, "DATEDIFF(day, admitted, discharged)"),
    "DATE_FROM_PARTS": Form(3, 3, "DATE_FROM_PARTS(2024, 1, 31)"),
    "DAYOFWEEKISO": Form(1, 1, "ISODOW(admitted)"),
    "DAYOFWEEK_ISO": Form(1, 1, "ISODOW(admitted)"),
    "DECODE": Form(3, _ANY_NUMBER, "DECODE(sex, 'F', 'female', 'male')"),
    "EOMONTH": Form(1, 2, "EOMONTH(admitted, 1)"),
    "ENDSWITH": Form(2, 2, "ENDS_WITH(code, '.9')"),
    "EQUAL_NULL": Form(2, 2, "a IS NOT DISTINCT FROM b"),
    "EVERY": Form(1, 1, "BOOL_AND(smoker)"),
    "DATENAME": Form(2, 2, "DATENAME(weekday, admitted)"),
    "DAYNAME": Form(1, 1, "DAYNAME(admitted)"),
    "MONTHNAME": Form(1, 1, "MONTHNAME(admitted)"),
    "FORMAT": Form(2, 2, "FORMAT(admitted, 'yyyy-MM')"),
    "GROUPING_ID": Form(1, 12, "GROUPING(ward)"),
    "HLL": Form(1, 1, "COUNT(DISTINCT x)"),
    "IF": Form(2, 3, f"IF{_IF}"),
    "IFF": Form(3, 3, f"IFF{_IF}"),
    "IFNULL": Form(2, 2, "IFNULL(a, b)"),
    "IIF": Form(3, 3, f"IIF{_IF}"),
    "INSTR": Form(2, 2, "INSTR(code, '.')"),
    "ISNULL": Form(2, 2, "COALESCE(a, b), or a IS NULL"),
    "LCASE": Form(1, 1, "LOWER(ward)"),
    "LEN": Form(1, 1, "LENGTH(code)"),
    "LOCATE": Form(2, 2, "LOCATE('.', code)"),
    "LOGICAL_AND": Form(1, 1, "BOOL_AND(smoker)"),
    "LOGICAL_OR": Form(1, 1, "BOOL_OR(smoker)"),
    "MEAN": Form(1, 1, "AVG(age)"),
    "MID": Form(2, 3, "MID(code, 1, 3)"),
    "NULLIFZERO": Form(1, 1, "NULLIF(a, 0)"),
    "NVL": Form(2, 2, "NVL(a, b)"),
    "NVL2": Form(3, 3, "NVL2(a, b, c)"),
    "PERCENTILE": Form(2, 2, "PERCENTILE(age, 0.9)"),
    "PERCENTILE_APPROX": Form(2, 2, "PERCENTILE_APPROX(age, 0.9)"),
    "POSITION": Form(1, 2, "POSITION('.' IN code)"),
    "POW": Form(2, 2, "POWER(height, 2)"),
    "PREFIX": Form(2, 2, "STARTS_WITH(code, 'E11')"),
    "QUANTILE_CONT": Form(2, 2, "QUANTILE_CONT(age, 0.9)"),
    "QUANTILE_DISC": Form(2, 2, "QUANTILE_DISC(age, 0.9)"),
    "REGEXP_CONTAINS": Form(2, 2, "REGEXP_CONTAINS(code, '^E1[0-4]')"),
    "REGEXP_FULL_MATCH": Form(2, 2, "REGEXP_FULL_MATCH(code, 'E1[0-4].*')"),
    "REGEXP_MATCHES": Form(2, 3, "REGEXP_MATCHES(code, '^E1[0-4]')"),
    "SAFE_DIVIDE": Form(2, 2, "SAFE_DIVIDE(cost, days)"),
    "SQUARE": Form(1, 1, "POWER(height, 2)"),
    "STARTSWITH": Form(2, 2, "STARTS_WITH(code, 'E11')"),
    "STDDEV": Form(1, 1, "STDDEV(age)"),
    "STDEV": Form(1, 1, "STDEV(age)"),
    "STDEVP": Form(1, 1, "STDEVP(age)"),
    "SUBSTR": Form(2, 3, "SUBSTR(code, 1, 3)"),
    "SUMIF": Form(2, 2, "SUMIF(cost, age >= 60)"),
    "SUM_IF": Form(2, 2, "SUM_IF(cost, age >= 60)"),
    "SUFFIX": Form(2, 2, "ENDS_WITH(code, '.9')"),
    "SYSDATE": Form(0, 0, "CURRENT_DATE"),
    "SYSDATETIME": Form(0, 0, "CURRENT_DATE"),
    "SYSUTCDATETIME": Form(0, 0, "CURRENT_DATE"),
    "TIMESTAMPADD": Form(3, 3, "TIMESTAMPADD(DAY, 90, admitted)"),
    "TO_VARCHAR": Form(2, 2, "TO_CHAR(admitted, 'YYYY-MM')"),
    "TRUNCATE": Form(1, 2, "TRUNCATE(value, 1)"),
    "UCASE": Form(1, 1, "UPPER(ward)"),
    "VAR": Form(1, 1, "VAR(age)"),
    "VARIANCE": Form(1, 1, "VARIANCE(age)"),
    "VARP": Form(1, 1, "VARP(age)"),
    "ZEROIFNULL": Form(1, 1, "COALESCE(a, 0)"),
}
"""Calls of other dialects that ``query_lang.rewriting`` turns into the language's."""

WITHIN_GROUP = frozenset({"PERCENTILE_CONT", "PERCENTILE_DISC"})
"""What stands before ``WITHIN GROUP (ORDER BY x)``."""

_OTHERS: tuple[tuple[Rule, str, str], ...] = (
    # rule, names in capitals, what to write instead
    (rules.FUNCTION, "WEEKDAY", "write EXTRACT(ISODOW FROM admitted): Monday is 1"),
    (rules.FUNCTION, "YEARWEEK", "write TO_CHAR(admitted, 'IYYY-IW')"),
    (
        rules.FUNCTION,
        "MONTHS_BETWEEN",
        "write TIMESTAMPDIFF(MONTH, born, admitted): whole months",
    ),
    (
        rules.FUNCTION,
        "STRPTIME DATE_PARSE PARSE_DATE STR_TO_DATE PARSE_DATETIME",
        "write DATE '2024-01-31'; a column of days is declared as a date",
    ),
    (
        rules.FUNCTION,
        "DATETIMEFROMPARTS",
        "write arrived + INTERVAL '6 hours'",
    ),
    (rules.FUNCTION, "TIME_BUCKET DATE_BIN", "write DATE_TRUNC('month', admitted)"),
    (rules.FUNCTION, "EXISTS", "write EXISTS (SELECT * FROM ...)"),
    (
        rules.FUNCTION,
        "CURRENT_TIME LOCALTIME",
        "write CURRENT_DATE: the snapshot's declared date",
    ),
    (
        rules.CAST,
        "TRY CONVERT TRY_CONVERT",
        (
            "write CAST(admitted AS DATE), CAST(age AS TEXT); a date as a text is "
            "TO_CHAR(admitted, 'YYYY-MM')"
        ),
    ),
    (
        rules.RANK,
        "PERCENT_RANK CUME_DIST NTH_VALUE RANK_DENSE",
        "",
    ),
    (
        rules.RANK,
        "NTILE",
        (
            "ask for the limits, QUANTILE(age, 0.25) and so on, and group by CASE WHEN "
            "age < 41 THEN 1 WHEN age < 60 THEN 2 ... END"
        ),
    ),
    (rules.ANY_ALL, "ANY ALL SOME", ""),
    (rules.GROUPING_SETS, "ROLLUP CUBE", ""),
    (rules.FUNCTION, "CONCAT_WS", "write CONCAT(a, '-', b)"),
    (
        rules.AGGREGATE,
        "ANY_VALUE ARBITRARY ARG_MAX ARG_MIN MAX_BY MIN_BY ARGMAX ARGMIN",
        "write FIRST(code ORDER BY admitted) or LAST(code ORDER BY admitted)",
    ),
    (
        rules.AGGREGATE,
        "MODE",
        (
            "count each value and show the first: SELECT ward, COUNT(*) AS n ... "
            "GROUP BY ward ORDER BY n DESC LIMIT 1"
        ),
    ),
    (
        rules.AGGREGATE,
        "APPROX_QUANTILES",
        (
            "ask for each by itself: APPROX_QUANTILES(age, 4)[OFFSET(1)] AS q1, "
            "APPROX_QUANTILES(age, 4)[OFFSET(2)] AS q2, or QUANTILE(age, 0.25) AS q1"
        ),
    ),
    (
        rules.AGGREGATE,
        "PERCENTILE_CONT PERCENTILE_DISC",
        "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age), or QUANTILE(age, 0.9)",
    ),
    (rules.AGGREGATE, "AVERAGEIF", "write AVG(cost) FILTER (WHERE age >= 60)"),
    (
        rules.AGGREGATE,
        (
            "SKEWNESS KURTOSIS PRODUCT GEOMEAN HISTOGRAM HISTOGRAM_NUMERIC "
            "BIT_AND BIT_OR BIT_XOR FSUM FAVG MAD ENTROPY"
        ),
        "",
    ),
    (
        rules.AGGREGATE,
        "LIST ARRAY_AGG STRING_AGG GROUP_CONCAT LISTAGG",
        (
            "which of a few values a patient has is STRING_AGG(DISTINCT drug, '+') "
            "after WHERE drug IN ('a', 'b'), or flags: CASE WHEN BOOL_OR(drug = 'a') "
            "THEN 'A' ELSE '-' END || ...; the first is FIRST(drug ORDER BY started), "
            "the second MAX(CASE WHEN n = 2 THEN drug END) of rows that ROW_NUMBER() "
            "AS n numbers below; ways one after the other are of a release of sequences"
        ),
    ),
    (
        rules.FUNCTION,
        "REGEXP_EXTRACT REGEXP_SUBSTR REGEXP_REPLACE REGEXP_COUNT REGEXP_INSTR",
        (
            "ask whether it matches, REGEXP_LIKE(code, '^E1[0-4]'), or take a part by "
            "its place, LEFT(code, 3), SUBSTRING(code, 5, 1); as a key it needs its "
            "values, too: WHERE LEFT(code, 3) IN ('I10', 'I50')"
        ),
    ),
    (
        rules.FUNCTION,
        "SPLIT STRING_SPLIT STRTOK",
        BY_PLACE,
    ),
    (
        rules.FUNCTION,
        "INITCAP PROPER TITLE CAPITALIZE",
        "write UPPER(ward) or LOWER(ward)",
    ),
    (
        rules.FUNCTION,
        "RANDOM RAND RANDN NEWID UUID GEN_RANDOM_UUID SETSEED",
        "nothing is drawn at random: an answer is of all rows, with noise",
    ),
    (rules.FUNCTION, "TRANSLATE OVERLAY STUFF", "write REPLACE(code, '.', '')"),
    (rules.FUNCTION, "OCTET_LENGTH DATALENGTH", "write LENGTH(code): characters"),
    (
        rules.FUNCTION,
        "CBRT SIN COS TAN",
        "numbers are exact: compare squares or powers, or compute it of an answer",
    ),
    (
        rules.FUNCTION,
        "CBRT LOG LOG2 LOG10",
        (
            "of each row compare squares or powers; of results LN(AVG(age)), by base "
            "10 LN(AVG(age)) / LN(10)"
        ),
    ),
)
_OF_SEQUENCES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("CONTAINS", "STRPOS", "POSITION", "INSTR", "CHARINDEX", "LOCATE"),
            *("REGEXP_LIKE", "REGEXP_CONTAINS", "REGEXP_MATCHES"),
        ),
        "HAS_RUN",
    ),
    **dict.fromkeys(("PREFIX", "LEFT", "STARTSWITH"), "STARTS_WITH"),
    **dict.fromkeys(("SUFFIX", "RIGHT", "ENDSWITH"), "ENDS_WITH"),
    **dict.fromkeys(("MID", "SUBSTR", "SUBSTRING", "REGEXP_EXTRACT"), "SYMBOL_AT"),
    **dict.fromkeys(("LEN", "CHAR_LENGTH", "CHARACTER_LENGTH"), "LENGTH"),
}
"""Functions of texts, and what asks so of sequences."""
_OF_TEXTS = frozenset(
    {
        *_OF_SEQUENCES,
        *("BTRIM", "CONCAT", "LCASE", "LENGTH", "LOWER", "LPAD", "LTRIM", "REPLACE"),
        *("RPAD", "RTRIM", "SPLIT_PART", "TRIM", "UCASE", "UPPER"),
    }
)
FORMS_OF_SEQUENCES: Mapping[str, Form] = {
    **{name: form for name, form in FORMS.items() if name not in _OF_TEXTS},
    **SEQUENCE_FORMS,
}
OTHERS_OF_SEQUENCES: Mapping[str, Form] = {
    name: form for name, form in OTHER_FORMS.items() if name not in _OF_TEXTS
}
"""The calls that a question to a release of sequences may hold, and their idioms."""
_LONGEST_NAME = max(map(len, FORMS)) + 4  # of one that may be misspelt
_NEAR = 0.85  # how like another name is one that may be meant
_INSTEAD: Mapping[str, tuple[Rule, str | None]] = {
    name: (rule, hint or None)
    for rule, names, hint in (*_OTHERS, *FURTHER)
    for name in names.split()
}


def instead_of(name: str, known: Mapping[str, Form] = FORMS) -> tuple[Rule, str | None]:
    """Return the rule that refuses a function, and its hint where it has its own.

    Args:
        name: In capitals.
        known: The functions that the text may use.

    >>> instead_of("NTILE")[0].name
    'rank'
    """
    if name in _OF_SEQUENCES and _OF_SEQUENCES[name] in known:
        return rules.FUNCTION, f"write {known[_OF_SEQUENCES[name]].shape}"
    if name in FORMS or name in OTHER_FORMS:  # known, but not of sequences
        return rules.FUNCTION, "write code LIKE 'E11%'"
    return _INSTEAD.get(name) or (rules.FUNCTION, _meant(name, known))


def _is_short_for(name: str, long: str) -> bool:
    """Whether a name is another without up to two letters inside: CNT for COUNT.

    >>> _is_short_for("CNT", "COUNT"), _is_short_for("LOG", "LEAST")
    (True, False)
    """
    if len(name) < 3 or len(long) > len(name) + 2 or name[-1] != long[-1]:  # noqa: PLR2004 - a word of two letters is short for too many
        return False
    letters = iter(long[1:])
    return name[0] == long[0] and all(letter in letters for letter in name[1:])


def _meant(name: str, known: Mapping[str, Form]) -> str | None:
    """Return how the function is called whose name is nearest, if one is near."""
    looked_at = known if len(name) <= _LONGEST_NAME else ()
    near = get_close_matches(name, looked_at, n=1, cutoff=_NEAR)
    near = near or [long for long in looked_at if _is_short_for(name, long)]
    return f"did you mean {known[near[0]].shape}?" if near else None
