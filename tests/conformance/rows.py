"""The rows of the suite: at least one text for each construct of the language.

Conditions are counted; values are counted beside every kind of neighbour. A text that
is wrong for the language fails its test, so a row cannot rot.
"""

# ruff: noqa: E501, ISC004 - a text is one string, to be read

from privacy.contributions import NO_BOUNDS, ContributionBounds

COUNT = "SELECT COUNT(*) AS n FROM marks WHERE "

CONDITIONS = {  # of the table marks
    "equality of integers": "a = 1",
    "inequality at the least integer": "a <> -9223372036854775808",
    "order beyond every integer": "a < 9223372036854775807 AND b > -9223372036854775808",
    "integers beside decimals": "a <= raw AND a >= cost",
    "decimals of different scales": "raw = cost OR raw < cost",
    "decimals beside a number between their steps": "raw > 0.00005 AND cost <> 1.005",
    "decimals at both ends": (
        "cost = 92233720368547758.07 OR cost = -92233720368547758.08"
        " OR raw >= 922337203685477.5807 OR raw < -922337203685477.5807"
    ),
    "between two integers": "a BETWEEN -1 AND 10",
    "between the wrong way round": "a NOT BETWEEN 10 AND -1",
    "between, of what is computed": (
        "a + b NOT BETWEEN age AND 10 OR day + a BETWEEN day AND until"
        " OR COALESCE(text, code) BETWEEN '' AND 'Z'"
    ),
    "between columns": "a BETWEEN age AND b",
    "in a list of integers": "a IN (0, 1, 9223372036854775807)",
    "not in a list of one": "age NOT IN (60) AND raw NOT IN (0.0001, 922337203685477)",
    "in a list of text": "text IN ('', 'NaN', 'null', 'é', '東京', '''')",
    "null and not null": "a IS NULL OR text IS NOT NULL",
    "null of a condition": "(a = 1) IS NULL",
    "and, or, not of unknowns": "NOT (flag AND a > 0) OR (flag OR sure)",
    "a boolean by itself": "flag",
    "booleans compared": "flag = sure AND flag <> FALSE",
    "equal text": "text = 'nan'",
    "order of text": "text < 'e' OR text >= '東京'",
    "text of two columns": "text = code OR text <> local",
    "text that begins": "text LIKE 'E11%'",
    "text that ends": "text LIKE '%1'",
    "text that holds": "text LIKE '%11%'",
    "text that does not begin": "text NOT LIKE 'n%'",
    "text that begins outside ASCII": "text LIKE '\U0001f600%' OR text LIKE 'é%'",
    "text that ends outside ASCII": "text LIKE '%\u0301' OR text LIKE '%京'",
    "text that holds a quote": "text LIKE '%''%' OR text LIKE '% %'",
    "text of any pattern": (
        "text LIKE '_11%' OR text LIKE 'E%9' OR text LIKE '%1%.%' OR text LIKE '___'"
        " OR text LIKE '%' AND text NOT LIKE '_' OR text LIKE ''"
    ),
    "text with signs of patterns": (
        "text LIKE '\\%%' OR text LIKE 'a!%b' ESCAPE '!' OR text LIKE '\\_'"
        " OR text LIKE '%\\\\%' OR text NOT LIKE 'a%%b' ESCAPE ''"
    ),
    "text in any case": (
        "text ILIKE 'e11%' OR text NOT ILIKE 'NAN' OR text ILIKE '%É' OR text ILIKE 'i_%'"
    ),
    "text of an SQL pattern": (
        "text SIMILAR TO 'E(11|12)%' OR text NOT SIMILAR TO '%(1|é)+_?'"
        " OR text SIMILAR TO '[0-9.$]+'"
    ),
    "text of a regular expression": (
        "text ~ '^E1[0-4]$' OR text !~ 'a.b' OR text ~* '^NAN|null$' OR text RLIKE '[^ -~]'"
        " OR text REGEXP '^(-?[0-9]+|0x[A-F\\d]{2})$' OR text !~* '(?i)E|N'"
        " OR text ~ '東.?$' OR text ~ '^.$' OR text ~ '\\s'"
    ),
    "calls of regular expressions": (
        "REGEXP_LIKE(text, 'e1+', 'i') OR REGEXP_CONTAINS(text, '^\\w+$')"
        " OR REGEXP_MATCHES(code, '^[A-Z]\\d{2}(\\.\\d)?$') OR REGEXP_LIKE(ward, '^$', 'c')"
    ),
    "letters made capital and small": (
        "UPPER(text) = 'E11' OR LOWER(text) <> text OR LCASE(text) = 'nan'"
        " OR UPPER(code) = UCASE(local) OR LOWER(UPPER(text)) = 'ß'"
    ),
    "parts of text": (
        "LEFT(text, 2) = 'E1' OR RIGHT(text, 2) = '.9' OR SUBSTRING(text, 2, 1) = '1'"
        " OR SUBSTRING(text FROM 2) = '11' OR SUBSTRING(text FROM 2 FOR 1) = '\U0001f600'"
        " OR SUBSTR(text, 10000) = 'ä' OR MID(text, 1, 10000) < 'b' OR RIGHT(text, 1) = '\u0301'"
    ),
    "parts of codes": (
        "LEFT(code, 3) = 'E11' OR SUBSTRING(code, 2, 2) = '99' OR LEFT(code, 5) = 'E11.9'"
        " OR LEFT(LOWER(code), 1) = 'A' OR LEFT(local, 1) = 'x' OR RIGHT(code, 1) = '9'"
    ),
    "blanks cut": (
        "TRIM(text) = 'E11' OR LTRIM(text) = text OR RTRIM(text) <> text OR BTRIM(text) = ''"
    ),
    "lengths of text": (
        "LENGTH(text) = 3 OR CHAR_LENGTH(text) > 1000 OR LEN(ward) = 1"
        " OR CHARACTER_LENGTH(code) - LENGTH(local) = 1"
    ),
    "places in text": (
        "STRPOS(text, '1') = 2 OR POSITION('b' IN text) = 3 OR INSTR(text, '\u0301') = 2"
        " OR CHARINDEX('.', text) > LOCATE('E', text) OR STRPOS(ward, 'r') = 0"
    ),
    "text put for other text": (
        "REPLACE(text, '1', '') = 'E' OR REPLACE(text, '''', '\"') = '\"\"'"
        " OR REPLACE(text, 'ä', 'aä') = text OR icd_category(REPLACE(code, '.', '')) = 'E11'"
    ),
    "texts in a row": (
        "CONCAT(text, '-', ward) = 'nan-icu' OR text || code = 'E11E11.9'"
        " OR (ward || text) IS NULL OR CONCAT(text, code) = '' OR 'a' || 'b' || ward = 'aber'"
    ),
    "whole numbers in a row with text": (
        "CONCAT(ward, a) = 'er0' OR code || a = 'E11.960' OR CONCAT(a, b) LIKE '%-%'"
        " OR (text || b) IS NULL"
    ),
    "a day of a computed year": (
        "MAKE_DATE(a, 7, 1) > day OR DATE(EXTRACT(YEAR FROM day) + b, 2, 28) IS NULL"
    ),
    "how text begins and ends, by calls": (
        "STARTS_WITH(text, 'E1') OR ENDS_WITH(text, '9') OR CONTAINS(text, '東')"
        " OR STARTSWITH(code, 'E') AND SUFFIX(code, '9')"
    ),
    "text that holds signs of other patterns": "text LIKE '%?%' OR text LIKE '$%'",
    "sums": "a + b > 0 OR a + 9223372036854775807 = 9223372036854775807",
    "differences": "a - b < 0 OR -9223372036854775808 - a = -9223372036854775808",
    "products": "a * b >= 0 OR a * -9223372036854775808 = 9223372036854775807",
    "quotients": "a / NULLIF(b, 0) = 0 OR a / NULLIF(-1, 0) = 9223372036854775807",
    "a quotient by nothing": "(a / NULLIF(b - b, 0)) IS NULL",
    "negatives": "-a = 9223372036854775807 OR -b < a",
    "quotients by a column": "a / b = 0 OR b / 10 = -922337203685477580",
    "remainders": "a % b = -1 OR MOD(b, 7) = 1 OR raw % cost = 0.0001",
    "sums of decimals": "raw + cost > 0 OR cost - 92233720368547758.07 = 0",
    "products of decimals": "raw * cost < 0 OR cost * 0.5 = 0 OR a * raw = 0.0099",
    "quotients of decimals": "a / raw > 0.000001 OR cost / 3.0 = 0 OR a / 10.0 = -0.1",
    "a quotient of decimals by nothing": "(cost / (raw - raw)) IS NULL",
    "negative decimals": "-cost = 92233720368547758.07 OR -raw < cost",
    "sizes and signs": (
        "ABS(a) = 9223372036854775807 OR ABS(cost) = 0.01 OR SIGN(raw) = -1"
        " OR SIGN(b) = 0"
    ),
    "whole numbers of decimals": (
        "FLOOR(cost) = -1 OR CEIL(raw) = 1 OR CEILING(raw) = 0 OR TRUNC(cost) = 0"
        " OR ROUND(raw) = 922337203685478"
    ),
    "decimals of fewer places": (
        "ROUND(raw, 2) = 0.01 OR TRUNC(raw, 3) = 0.009 OR ROUND(cost, 1) = 1"
    ),
    "tens and more": (
        "ROUND(a, -1) = 9223372036854775807 OR TRUNC(b, -18) = 9000000000000000000"
        " OR ROUND(cost, -2) = 0 OR ROUND(a, -18) = -9000000000000000000"
    ),
    "powers": "POWER(a, 2) = 100 OR POWER(raw, 4) = 0",
    "buckets of equal widths": (
        "WIDTH_BUCKET(a, 0, 100, 10) IN (0, 10, 11)"
        " OR WIDTH_BUCKET(cost, -1, 1.5, 1000) = 400"
        " OR WIDTH_BUCKET(b, -9223372036854775808, 9223372036854775807, 1000) = 1001"
    ),
    "the least and the greatest": (
        "LEAST(a, b, 3) = 3 OR GREATEST(raw, cost) = raw OR LEAST(a, cost) < a"
        " OR GREATEST(day, until) = day OR LEAST(stamp, stamp) = stamp"
    ),
    "the least of what statistics prove null": (
        "LEAST(CASE WHEN a = 5 THEN b END, CASE WHEN b = 5 THEN a END) IS NULL"
        " OR GREATEST(CASE WHEN a = 5 THEN day END, until) < day"
    ),
    "arithmetic in arithmetic": "(a * a) - (b * b) + (a / NULLIF(b - a, 0)) <> 0",
    "days later": "day + a > day OR day + 1 = DATE '0001-01-02'",
    "days earlier": "day - a < day OR until - 1 = DATE '9999-12-30'",
    "days after the end of time": "(day + b) IS NULL AND (day - b) IS NOT NULL",
    "days between": "day - until > 0 OR until - day = 3652058",
    "days crossed": "DATE_DIFF('day', day, until) > 100",
    "months crossed": "DATE_DIFF('month', day, until) < -12",
    "years crossed": "DATE_DIFF('year', until, day) = 0",
    "completed years": "age_years(day, until) >= 18",
    "completed years at the snapshot's date": "age_years(day, CURRENT_DATE) = 20",
    "parts of dates": (
        "EXTRACT(YEAR FROM day) = 9999 OR EXTRACT(QUARTER FROM day) = 1"
        " OR EXTRACT(MONTH FROM until) = 2 OR EXTRACT(DAY FROM day) = 29"
        " OR EXTRACT(ISODOW FROM until) = 7"
    ),
    "parts of moments": (
        "EXTRACT(YEAR FROM stamp) = 1 OR EXTRACT(QUARTER FROM stamp) = 4"
        " OR EXTRACT(MONTH FROM stamp) = 2 OR EXTRACT(DAY FROM stamp) = 29"
        " OR EXTRACT(ISODOW FROM stamp) = 1 OR EXTRACT(HOUR FROM stamp) = 23"
    ),
    "the day of a moment": "CAST(stamp AS DATE) = day OR CAST(stamp AS DATE) > until",
    "a condition as a number": "flag::int = 1 OR CAST(sure AS INTEGER) = 0 OR (a > b)::int = 1",
    "a condition as a decimal": "flag::numeric(3, 1) < 0.5",
    "a condition as text": "flag::text = 'true' OR CAST(sure AS VARCHAR) = 'false'",
    "a number as a condition": "a::bool OR cost::boolean OR age::bool",
    "integers as decimals": (
        "a::numeric(10, 2) > cost OR b::numeric(38, 18) IS NULL OR age::numeric = raw"
        " OR days::decimal(5, 1) > 0.5"
    ),
    "decimals as integers": "raw::int = 1 OR cost::bigint > a OR CAST(raw AS INT64) = 0",
    "decimals of fewer and of more places": (
        "raw::numeric(20, 1) = cost OR cost::numeric(20, 6) IS NULL OR cost::numeric(9, 1) > 0"
    ),
    "decimals as they are": "cost::numeric = raw::float AND cost::numeric(20, 2) = cost",
    "days as moments": "day::timestamp <= stamp OR until::timestamp = stamp",
    "numbers as text": "a::text = '10' OR b::text < '1' OR days::text = '-3'",
    "decimals as text": "raw::text = '0.0001' OR cost::text LIKE '-%' OR cost::text = '0.00'",
    "days and moments as text": (
        "day::text < '1' OR until::text LIKE '%-12-31' OR stamp::text LIKE '%.000001'"
        " OR stamp::text > '2020'"
    ),
    "text as numbers": (
        "text::int = 0 OR TRY_CAST(text AS BIGINT) > 0 OR ward::numeric IS NULL"
        " OR CAST(ward AS DECIMAL(5, 1)) > 0"
    ),
    "text as days and moments": (
        "text::date = DATE '2020-02-29' OR SAFE_CAST(text AS TIMESTAMP) < stamp"
        " OR text::timestamp IS NULL"
    ),
    "text as conditions": "text::bool OR ward::boolean",
    "text as text": "code::text = text AND CAST(text AS STRING) <> local::varchar",
    "days beside literals": "day < '0001-01-02' OR until >= DATE '9999-12-31'",
    "moments beside literals": (
        "stamp > TIMESTAMP '2020-02-29 23:59:59.999998'"
        " OR stamp <= '0001-01-01 00:00:00.000001'"
    ),
    "the snapshot's date": "day <= CURRENT_DATE AND until > CURRENT_DATE - 365",
    "periods of days": (
        "DATE_TRUNC('year', day) > until OR DATE_TRUNC(day, QUARTER) = DATE '2020-01-01'"
        " OR DATE_TRUNC('month', stamp) = day OR DATETRUNC(week, until) = until"
        " OR DATE_TRUNC(until, WEEK) = until OR DATE_TRUNC(day, WEEK(MONDAY)) = day"
        " OR TIMESTAMP_TRUNC(stamp, ISOWEEK) = day OR DATE_TRUNC('day', stamp) = until"
    ),
    "texts of days": (
        "TO_CHAR(day, 'YYYY-MM-DD') LIKE '%-02-29' OR FORMAT_DATE('%G-%V', until) = '0001-01'"
        " OR TO_CHAR(stamp, 'YYYY-\"Q\"Q') = '2020-Q1' OR STRFTIME(day, '%F') > '9'"
        " OR DATE_FORMAT(until, '%d.%m.%Y') = '31.12.9999'"
    ),
    "names of days and months": (
        "TO_CHAR(day, 'Day, DD Mon YYYY') > 'S' OR TO_CHAR(stamp, 'MONTH-FMDAY') LIKE '%-M%'"
        " OR TO_CHAR(day, 'mon day') < 'k' OR FORMAT_DATE('%A %a %B %b', until) > 'M'"
        " OR TO_CHAR(until, 'Dy') = 'Sun' OR TO_CHAR(day, 'FMMonth') = 'May'"
    ),
    "more parts of dates": (
        "EXTRACT(DOW FROM day) = 0 OR EXTRACT(DAYOFWEEK FROM until) = 1 OR DAYOFYEAR(day) = 366"
        " OR EXTRACT(WEEK FROM day) = 53 OR ISOYEAR(until) = 2019 OR YEAR(day) = 9999"
        " OR DATE_PART('isoyear', stamp) = 1 OR MONTH(until) = QUARTER(until) OR DAY(day) = 31"
        " OR DATEPART(doy, until) = 1 OR EXTRACT(EPOCH FROM day) < -62135000000"
    ),
    "more parts of moments": (
        "EXTRACT(MINUTE FROM stamp) = 59 OR SECOND(stamp) = 59 OR EXTRACT(EPOCH FROM stamp) > 1.5"
        " OR HOUR(stamp) = 0 OR DATE_PART('week', stamp) = 1"
    ),
    "months later": (
        "day + INTERVAL '1 month' > until OR until - INTERVAL '1 year 2 months 3 days' = day"
        " OR ADD_MONTHS(day, a) > day OR DATE_ADD(day, INTERVAL b MONTH) IS NOT NULL"
        " OR DATEADD(year, 1, until) = CURRENT_DATE OR day + 3 * INTERVAL '1 quarter' < day"
    ),
    "intervals of days": (
        "day + INTERVAL '90 days' > until OR DATE_SUB(day, INTERVAL 2 WEEK) < until"
        " OR day + age * INTERVAL '1 day' = until OR until + INTERVAL (a) DAY < day"
        " OR INTERVAL '1 day' - INTERVAL '3 days' + day < until OR DATE_ADD(day, 30) = until"
    ),
    "moments later": (
        "stamp + INTERVAL '6 hours' > stamp OR stamp - INTERVAL '1 month' < day"
        " OR day + INTERVAL '90 minutes' <= stamp OR TIMESTAMP_ADD(stamp, INTERVAL a SECOND)"
        " IS NULL OR stamp + b * INTERVAL '1 week' IS NOT NULL OR stamp - INTERVAL 1 YEAR < stamp"
    ),
    "time between beside intervals": (
        "day - until <= INTERVAL '30 days' OR stamp - day > INTERVAL '1 day 2 hours'"
        " OR INTERVAL '1 week' > until - day OR stamp - day BETWEEN INTERVAL '0 days'"
        " AND INTERVAL '12 hours' OR until BETWEEN day AND day + INTERVAL '30 days'"
    ),
    "time between": (
        "EXTRACT(EPOCH FROM stamp - day) > 3600 OR EXTRACT(DAY FROM stamp - until) = -3"
        " OR stamp - TIMESTAMP '2000-01-01 00:00:00' = 0.5 OR EXTRACT(DAY FROM until - day) > 9"
        " OR EXTRACT(EPOCH FROM until - day) = 86400"
    ),
    "units crossed": (
        "DATE_DIFF('week', day, until) = 1 OR DATEDIFF(quarter, day, until) < 0"
        " OR DATE_DIFF(until, day, MONTH) > 5 OR DATE_DIFF(day, until, WEEK) = 0"
        " OR DATE_DIFF('hour', day, stamp) > 100 OR DATEDIFF(until, day) = 366"
        " OR DATETIME_DIFF(stamp, day, MINUTE) < 0 OR DATE_DIFF('year', stamp, day) = 0"
    ),
    "units elapsed": (
        "TIMESTAMPDIFF(HOUR, day, stamp) = 23 OR TIMESTAMP_DIFF(stamp, day, DAY) < 0"
        " OR TIMESTAMPDIFF(YEAR, day, until) >= 18 OR TIMESTAMPDIFF(MONTH, stamp, until) = 11"
        " OR TIMESTAMPDIFF(QUARTER, day, until) = 3 OR TIMESTAMPDIFF(WEEK, day, stamp) = 2"
    ),
    "ages": (
        "EXTRACT(YEAR FROM AGE(until, day)) >= 18 OR DATE_PART('month', AGE(day)) = 11"
        " OR AGE(until, day) >= INTERVAL '18 years' OR AGE(day) < INTERVAL '6 months'"
    ),
    "ages before birth": (
        "NOT AGE(until, day) >= INTERVAL '1 year' OR AGE(until, stamp) < INTERVAL '0 months'"
    ),
    "ends of months": "LAST_DAY(day) = day OR LAST_DAY(stamp) < until",
    "days beside moments": (
        "day <= stamp OR stamp = until OR day > TIMESTAMP '2020-02-29 10:00:00'"
        " OR stamp >= DATE '2020-02-29' OR DATE(stamp) = day OR TIMESTAMP(day) = stamp"
    ),
    "today in other words": (
        "NOW()::date = until OR day < CURRENT_TIMESTAMP - INTERVAL '1 year'"
        " OR until = MAKE_DATE(9999, 12, 31) OR day >= TODAY() OR day = DATE(2020, 2, 29)"
        " OR until = DATE_TRUNC('month', GETDATE()) OR day = TO_DATE('0001-01-01', 'YYYY-MM-DD')"
    ),
    "a chapter": "icd_chapter(code) IN ('I', 'IV')",
    "a block": "icd_block(code) = 'E10-E14'",
    "a category": "icd_category(code) <> 'Z99'",
    "a level of one's own": "level(local, 'kind') = 'drug' OR level(local, 'place') IS NULL",
    "a band of ages": "age_band(age, 10) IN ('0-9', '120-129')",
    "a case": "CASE WHEN a > 0 THEN b WHEN flag THEN a ELSE 0 END > 0",
    "a case without else": "(CASE WHEN flag THEN a END) IS NULL",
    "a case that never divides": "CASE WHEN b <> 0 THEN a / NULLIF(b, 0) ELSE a END = 0",
    "a case of numbers of different places": (
        "CASE WHEN flag THEN a WHEN sure THEN cost ELSE raw END = 0"
        " OR COALESCE(a, cost, raw, 1.5) > 0"
    ),
    "a case that never leaves the calendar": (
        "CASE WHEN a BETWEEN 0 AND 9 THEN day + a ELSE day END > DATE '2000-01-01'"
    ),
    "a case of text beside text": "CASE WHEN a = 5 THEN 'a' WHEN flag THEN text END = code",
    "a case that statistics prove null": "CASE WHEN a = 5 THEN 'a' END = code",
    "a case that statistics prove null, of days": (
        "day + CASE WHEN a = 5 THEN 1 END > until"
        " OR CASE WHEN age = 5 THEN until END < day"
    ),
    "a case that statistics prove null, of numbers": (
        "CASE WHEN a = 5 THEN b END * b > CASE WHEN b = 5 THEN raw END"
    ),
    "a first value that statistics prove": (
        "COALESCE(CASE WHEN a = 5 THEN text END, code) LIKE 'E%'"
    ),
    "a switch": "CASE a WHEN 0 THEN 'x' WHEN b THEN 'y' ELSE text END = 'x'",
    "a switch without else": "(CASE text WHEN 'NaN' THEN 1 WHEN '' THEN 2 END) = 1",
    "the first that is there": "COALESCE(a, b, 0) = 0 OR COALESCE(text, code, '') = ''",
    "the first day that is there": "COALESCE(day, until, CURRENT_DATE) < CURRENT_DATE",
    "in public rows": "ward IN (SELECT ward FROM wards WHERE floor > 0)",
    "not in public rows with a null": "seq NOT IN (SELECT seq FROM grades)",
    "there are public rows": (
        "EXISTS (SELECT * FROM grades AS g WHERE g.seq = marks.seq AND g.points > a)"
    ),
    "there are no public rows": (
        "NOT EXISTS (SELECT * FROM wards AS w WHERE w.ward = marks.ward)"
    ),
    "in private rows": "person IN (SELECT person FROM events WHERE drug = 'met')",
    "not in private rows": "person NOT IN (SELECT person FROM events WHERE dose > 0)",
    "there are private rows": (
        "EXISTS (SELECT * FROM events AS e WHERE e.person = marks.person"
        " AND e.at BETWEEN marks.day AND marks.day + 90)"
    ),
    "there are no private rows": (
        "NOT EXISTS (SELECT * FROM events AS e WHERE e.person = marks.person"
        " AND e.dose = marks.a)"
    ),
    "known to be true, false or unknown": (
        "(a > 0) IS TRUE OR (flag AND sure) IS NOT FALSE AND sure IS UNKNOWN"
        " OR (b = a) IS NOT UNKNOWN AND NOT flag IS NOT TRUE"
    ),
    "distinct, NULL a value": (
        "a IS DISTINCT FROM b AND text IS NOT DISTINCT FROM code"
        " OR NOT day IS DISTINCT FROM until OR a IS DISTINCT FROM NULL"
    ),
    "distinct from a literal": (
        "a IS DISTINCT FROM 0 AND NOT text IS NOT DISTINCT FROM 'NaN'"
        " OR raw IS NOT DISTINCT FROM cost AND 0.0001 IS DISTINCT FROM raw"
    ),
    "nothing where two are equal": (
        "NULLIF(a, b) IS NULL AND NULLIF(text, '') = 'NaN'"
        " OR NULLIF(NULLIF(raw, cost), 0) > 0 OR NULLIF(day, until) < CURRENT_DATE"
    ),
    "if one, then the other": (
        "IF(a > 0, b, 0) > 1 OR IF(flag, text) = '' OR IIF(sure, a, age) IS NULL"
    ),
    "the first that is there, in other words": (
        "IFNULL(a, 0) = 0 OR NVL(text, 'none') = 'none' AND ISNULL(b, a) > 1"
        " OR NVL2(day, age, a) = 60 OR DECODE(a, 0, 'x', 1, 'y', text) = 'x'"
    ),
    "between either way round": (
        "a BETWEEN SYMMETRIC 10 AND -1 OR day NOT BETWEEN SYMMETRIC until AND CURRENT_DATE"
    ),
    "a row among rows": (
        "(a, text) IN ((0, ''), (1, 'NaN')) OR (a, b) NOT IN ((1, 2), (0, 3))"
    ),
    "any of public rows": (
        "ward = ANY (SELECT ward FROM wards) OR ward <> ALL (SELECT ward FROM wards)"
        " OR person = SOME (SELECT person FROM events WHERE dose > 0)"
    ),
    "a boolean beside a truth": "flag = TRUE OR sure <> TRUE AND flag <> FALSE OR FALSE = sure",
    "there are rows within rows": (
        "EXISTS (SELECT * FROM events AS e WHERE e.person = marks.person AND EXISTS"
        " (SELECT * FROM people AS p WHERE p.person = e.person AND p.born < marks.day))"
    ),
}

ROLLUPS = {  # name: what is computed, and how it is read
    "count of rows": ("COUNT(*)", "x >= 2"),
    "count of values": ("COUNT(a)", "x = 3"),
    "count of different values": ("COUNT(DISTINCT text)", "x > 1"),
    "sum of integers": ("SUM(b)", "x = 9223372036854775807"),
    "sum of decimals": ("SUM(cost)", "x > 0"),
    "least integer": ("MIN(a)", "x < 0"),
    "least text": ("MIN(text)", "x = ''"),
    "greatest day": ("MAX(day)", "x = DATE '9999-12-31'"),
    "greatest moment": ("MAX(stamp)", "x IS NOT NULL"),
    "greatest decimal": ("MAX(raw)", "x >= 0"),
    "average of integers": ("AVG(a)", "x > 0.5"),
    "average of decimals": ("AVG(cost)", "x <= 0.000000001"),
    "sum of conditions": ("SUM(flag)", "x > 1"),
    "average of conditions": ("AVG(sure)", "x >= 0.5"),
    "all": ("BOOL_AND(flag)", "x"),
    "any": ("BOOL_OR(flag)", "NOT x"),
    "first text": ("FIRST(text ORDER BY day)", "x IS NULL"),
    "first integer, nulls first": (
        "FIRST(a ORDER BY until DESC NULLS FIRST, text)",
        "x > 0",
    ),
    "last day": ("LAST(day ORDER BY a DESC)", "x > DATE '1970-01-01'"),
    "count of some rows": ("COUNT(*) FILTER (WHERE a > 0)", "x = 0"),
    "count of persons in some rows": (
        "COUNT(DISTINCT person) FILTER (WHERE flag)",
        "x = 0",
    ),
    "sum of some rows": ("SUM(b) FILTER (WHERE sure)", "x IS NULL"),
    "first of some rows": ("FIRST(a ORDER BY day) FILTER (WHERE flag)", "x IS NULL"),
    "last of some rows": (
        "LAST(text ORDER BY a DESC NULLS FIRST) FILTER (WHERE sure)",
        "x <> ''",
    ),
    "average of some rows": ("AVG(a) FILTER (WHERE text IS NOT NULL)", "x > 0.5"),
    "count of what holds": ("COUNTIF(a > 0)", "x > 1"),
}

_BY = "PARTITION BY person"
WINDOWS = {
    "number of a row": (f"ROW_NUMBER() OVER ({_BY} ORDER BY day DESC)", "x = 1"),
    "number of a row, unordered": (f"ROW_NUMBER() OVER ({_BY})", "x <= 2"),
    "row before": (f"LAG(day) OVER ({_BY} ORDER BY a)", "x < DATE '2000-01-01'"),
    "row after": (f"LEAD(a, 2) OVER ({_BY} ORDER BY text NULLS FIRST)", "x IS NULL"),
    "first value": (f"FIRST_VALUE(text) OVER ({_BY} ORDER BY stamp)", "x = ''"),
    "last value of a frame": (
        f"LAST_VALUE(a) OVER ({_BY} ORDER BY a ROWS BETWEEN 1 FOLLOWING"
        " AND 2 FOLLOWING)",
        "x > 0",
    ),
    "count of rows of a frame": (
        f"COUNT(*) OVER ({_BY} ORDER BY day ROWS 1 PRECEDING)",
        "x = 2",
    ),
    "count of values": (f"COUNT(a) OVER ({_BY}, sure)", "x > 1"),
    "sum up to here": (f"SUM(b) OVER ({_BY} ORDER BY seq)", "x < 0"),
    "sum of decimals around here": (
        f"SUM(cost) OVER ({_BY} ORDER BY seq ROWS BETWEEN 1 PRECEDING"
        " AND UNBOUNDED FOLLOWING)",
        "x >= 0",
    ),
    "average": (f"AVG(a) OVER ({_BY})", "x < 0.5"),
    "sum of conditions": (f"SUM(flag) OVER ({_BY} ORDER BY seq)", "x > 1"),
    "least": (f"MIN(text) OVER ({_BY})", "x <> ''"),
    "greatest": (f"MAX(stamp) OVER ({_BY} ORDER BY day)", "x = stamp"),
    "all": (f"BOOL_AND(flag) OVER ({_BY})", "x"),
    "any": (f"BOOL_OR(sure) OVER ({_BY} ORDER BY a ROWS 1 PRECEDING)", "x"),
    "count of some rows": (
        f"COUNT(*) FILTER (WHERE a > 0) OVER ({_BY} ORDER BY day)",
        "x = 0",
    ),
    "least of some rows": (f"MIN(text) FILTER (WHERE flag) OVER ({_BY})", "x <> ''"),
    "of no rows": (
        f"SUM(a) OVER ({_BY} ORDER BY a ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING)",
        "x IS NULL",
    ),
}

FROMS = {  # after FROM; counted
    "inner join on the unit key": "marks JOIN events ON marks.person = events.person",
    "inner join using the unit key": "marks JOIN people USING (person)",
    "inner join with conditions": (
        "marks AS m JOIN events AS e ON e.person = m.person"
        " AND e.at BETWEEN m.day AND m.day + 90 AND e.dose > m.a"
    ),
    "left join": "people LEFT JOIN marks USING (person)",
    "left join with conditions": (
        "marks AS m LEFT JOIN events AS e ON e.person = m.person AND e.dose = m.a"
    ),
    "left join and its missing rows": (
        "people AS p LEFT JOIN events AS e ON e.person = p.person AND e.at > p.born"
        " WHERE e.at IS NULL"
    ),
    "unit keys equal beside a join": (
        "marks AS m JOIN events AS e ON e.person = m.person AND m.person = e.person"
        " WHERE m.person = e.person"
    ),
    "three tables": (
        "people AS p JOIN marks AS m ON m.person = p.person"
        " LEFT JOIN events AS e ON e.person = p.person AND e.at < m.day"
    ),
    "self join by a key": (
        "marks AS m JOIN marks AS o ON o.person = m.person AND o.seq = m.seq + 1"
    ),
    "public rows by a key": "marks AS m JOIN wards AS w ON w.ward = m.ward",
    "public rows by a key, kept": (
        "marks AS m LEFT JOIN wards AS w ON w.ward = m.ward AND w.floor > 0"
    ),
    "public rows by a fan-out": (
        "marks AS m JOIN grades AS g ON g.seq = m.seq WHERE g.points > m.a"
    ),
    "public rows by a fan-out, kept": (
        "marks AS m LEFT JOIN grades AS g ON g.seq = m.seq"
    ),
    "both parts of a union": (
        "(SELECT person, day, a FROM marks UNION ALL"
        " SELECT person, at, dose FROM events) AS u WHERE u.a > 0"
    ),
    "a union of joins": (
        "(SELECT m.person, e.dose FROM marks AS m JOIN events AS e"
        " ON e.person = m.person UNION ALL SELECT person, a FROM marks) AS u"
        " WHERE u.dose IS NOT NULL"
    ),
    "a union of public rows": (
        "(SELECT m.person, w.floor FROM marks AS m JOIN wards AS w ON w.ward = m.ward"
        " UNION ALL SELECT person, a FROM marks) AS u WHERE u.floor > 0"
    ),
    "different rows": "(SELECT DISTINCT person, ward, a FROM marks) AS d WHERE d.a > 0",
    "groups within a person": (
        "(SELECT person, ward, COUNT(*) AS n, MAX(a) AS x FROM marks"
        " GROUP BY person, ward HAVING COUNT(*) >= 2) AS d WHERE d.x IS NULL"
    ),
    "groups by a value": (
        "(SELECT person, EXTRACT(YEAR FROM day) AS y, MIN(b) AS x FROM marks"
        " GROUP BY person, EXTRACT(YEAR FROM day)) AS d WHERE d.x < 0"
    ),
    "the first row of a person": (
        "(SELECT person, day, ROW_NUMBER() OVER (PARTITION BY person"
        " ORDER BY day, seq) AS r FROM marks) AS d WHERE d.r = 1"
    ),
    "the first two rows of a person": (
        "(SELECT person, day, ROW_NUMBER() OVER (PARTITION BY person"
        " ORDER BY day DESC NULLS FIRST) AS r FROM marks) AS d WHERE d.r <= 2"
    ),
    "a roll-up of a window of a union": (
        "(SELECT d.person, SUM(d.gap) AS gaps FROM (SELECT u.person, u.day"
        " - LAG(u.day) OVER (PARTITION BY u.person ORDER BY u.day) AS gap FROM"
        " (SELECT person, day FROM marks UNION ALL SELECT person, at FROM events)"
        " AS u) AS d GROUP BY d.person) AS s WHERE s.gaps > 1000000"
    ),
}

TOPS = {
    "count of rows": "SELECT COUNT(*) FROM marks",
    "count of values": "SELECT COUNT(a), COUNT(text), COUNT(stamp) FROM marks",
    "count of persons": "SELECT COUNT(DISTINCT person) FROM marks",
    "count of persons behind a left join": (
        "SELECT COUNT(DISTINCT e.person) FROM people AS p LEFT JOIN events AS e"
        " ON e.person = p.person AND e.dose > 0"
    ),
    "count of different values": (
        "SELECT COUNT(DISTINCT ward), COUNT(DISTINCT age), COUNT(DISTINCT flag)"
        " FROM marks"
    ),
    "count of different chapters": "SELECT COUNT(DISTINCT icd_chapter(code)) FROM marks",
    "sum of small integers": "SELECT SUM(days), SUM(age * 2 - days) FROM marks",
    "sum of vast integers": "SELECT ward, SUM(b) AS s FROM marks GROUP BY ward",
    "sum of vast decimals": "SELECT SUM(cost) FROM marks",
    "sum of a case": "SELECT SUM(CASE WHEN flag THEN days ELSE 0 END) AS s FROM marks",
    "sum and average of conditions": (
        "SELECT SUM(flag) AS f, AVG(sure) AS s, SUM(age > 60) AS old FROM marks"
    ),
    "sum of whole numbers of decimals": (
        "SELECT SUM(cost::int) AS c, AVG(days::numeric(6, 2)) AS d FROM marks"
    ),
    "by a condition as a number": (
        "SELECT flag::int AS f, sure::text AS s, COUNT(*) AS n FROM marks GROUP BY f, s"
    ),
    "by numbers as text": (
        "SELECT age::text AS age_text, ward::int AS w, COUNT(*) AS n FROM marks GROUP BY 1, 2"
    ),
    "average": "SELECT AVG(age), AVG(cost), AVG(b) FROM marks",
    "variances and standard deviations": (
        "SELECT VAR_POP(days), VAR_SAMP(age), STDDEV_POP(LEAST(ABS(raw), 99.5)),"
        " STDDEV_SAMP(CASE WHEN a > 60 THEN 60 WHEN a < 0 THEN 0 ELSE a END),"
        " AVG(days), COUNT(age) FROM marks"
    ),
    "variances in other words, of some rows": (
        "SELECT VARIANCE(days), VAR(age), VARP(days), STDDEV(age), STDEV(days) AS s,"
        " STDEVP(days) AS t, VAR_POP(days) FILTER (WHERE flag) FROM marks"
    ),
    "covariances, correlation and slope": (
        "SELECT COVAR_POP(days, age), COVAR_SAMP(age, LEAST(ABS(raw), 99.5)),"
        " CORR(days, age) AS r, REGR_SLOPE(age, days) AS b,"
        " CORR(days, days) AS one FROM marks"
    ),
    "a variance by group, and its order": (
        "SELECT sure, STDDEV_POP(days) AS s FROM marks GROUP BY sure"
        " HAVING VAR_POP(days) >= 0 ORDER BY VAR_POP(days) DESC"
    ),
    "sum and average within bounds of its own": (
        "SELECT SUM(LEAST(GREATEST(a, -9), 9)), AVG(GREATEST(LEAST(until - day, 60), 0)),"
        " SUM(CASE WHEN a > 60 THEN 60 WHEN a < 0 THEN 0 ELSE a END),"
        " SUM(CASE WHEN NOT (raw > 1.5 OR raw < -0.25) THEN raw END) FROM marks"
    ),
    "sum of what is computed of decimals": (
        "SELECT SUM(cost / 7.0), SUM(a % 100), SUM(LEAST(ABS(raw), 99.5)),"
        " SUM(ROUND(cost, -3)), SUM(days * 0.5 - 1) FROM marks"
    ),
    "median within bounds of its own": (
        "SELECT MEDIAN(GREATEST(LEAST(a, 9), 0)), MEDIAN(LEAST(ABS(raw), 5)) FROM marks"
    ),
    "median of a few values": "SELECT MEDIAN(days), MEDIAN(age) FROM marks",
    "quantile of vast integers": "SELECT QUANTILE(b, 0.9, 100) FROM marks",
    "quantile of vast decimals": "SELECT QUANTILE(cost, 0.01, 7) FROM marks",
    "quantile of days": "SELECT QUANTILE(day, 0.5, 365), MEDIAN(day) FROM marks",
    "quantile by group": "SELECT sure, MEDIAN(days) AS m FROM marks GROUP BY sure",
    "counts of some rows": (
        "SELECT COUNT(*) FILTER (WHERE flag), COUNT(a) FILTER (WHERE sure),"
        " COUNT(CASE WHEN a > 0 THEN 1 END), COUNTIF(a < 0), COUNT(1) FROM marks"
    ),
    "counts of persons with some row": (
        "SELECT ward, COUNT(DISTINCT person) FILTER (WHERE flag),"
        " COUNT(DISTINCT CASE WHEN a > 0 THEN person ELSE NULL END) AS some"
        " FROM marks GROUP BY ward"
    ),
    "counts of persons by a switch": (
        "SELECT COUNT(DISTINCT CASE ward WHEN 'er' THEN person END) AS er FROM marks"
    ),
    "counts of persons of one row each": (
        "SELECT COUNT(DISTINCT person) FILTER (WHERE sex = 'f') FROM people"
    ),
    "counts of persons behind a left join, with some row": (
        "SELECT COUNT(DISTINCT e.person) FILTER (WHERE p.sex = 'f') FROM people AS p"
        " LEFT JOIN events AS e ON e.person = p.person AND e.dose > 0"
    ),
    "sums, averages and quantiles of some rows": (
        "SELECT SUM(days) FILTER (WHERE flag), AVG(cost) FILTER (WHERE sure),"
        " MEDIAN(days) FILTER (WHERE a > 0), COUNT(DISTINCT ward) FILTER (WHERE flag)"
        " FROM marks"
    ),
    "quantiles in other words": (
        "SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY days),"
        " PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY cost DESC) AS high,"
        " APPROX_QUANTILE(day, 0.5) AS middle,"
        " APPROX_QUANTILES(days, 10)[OFFSET(3)] AS low,"
        " APPROX_QUANTILES(days, 8)[SAFE_ORDINAL(4)] AS lower,"
        " PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY days) FILTER (WHERE flag) AS some,"
        " MEAN(days), APPROX_COUNT_DISTINCT(ward) FROM marks"
    ),
    "by a column with other and null": (
        "SELECT ward, COUNT(*), COUNT(DISTINCT person) FROM marks GROUP BY ward"
    ),
    "by two booleans": "SELECT flag, sure, COUNT(*) FROM marks GROUP BY flag, sure",
    "by a constant of a person": (
        "SELECT p.sex, COUNT(DISTINCT m.person) AS n FROM marks AS m JOIN people AS p"
        " ON p.person = m.person GROUP BY p.sex"
    ),
    "by a case": (
        "SELECT CASE WHEN a > 0 THEN 'more' WHEN a < 0 THEN 'less' END AS side,"
        " COUNT(*) AS n FROM marks GROUP BY side"
    ),
    "by the first that is there": (
        "SELECT COALESCE(ward, 'none') AS w, COUNT(*) AS n FROM marks GROUP BY w"
    ),
    "by a part of a date": (
        "SELECT EXTRACT(MONTH FROM day) AS m, COUNT(*) AS n FROM marks GROUP BY m"
    ),
    "by a year of ten thousand": (
        "SELECT EXTRACT(YEAR FROM stamp) AS y, COUNT(*) AS n FROM marks GROUP BY y"
    ),
    "by a chapter": (
        "SELECT icd_chapter(code) AS c, COUNT(*) AS n FROM marks GROUP BY c"
    ),
    "by a category": (
        "SELECT icd_category(code) AS c, COUNT(*) AS n FROM marks GROUP BY c"
    ),
    "by a level of one's own": (
        "SELECT level(local, 'place') AS p, COUNT(*) AS n FROM marks GROUP BY p"
    ),
    "by a band of ages": (
        "SELECT age_band(age, 10) AS band, COUNT(*) AS n FROM marks GROUP BY band"
    ),
    "by parts of a code": (
        "SELECT SUBSTRING(code, 1, 1) AS letter, COUNT(*) AS n FROM marks"
        " WHERE LEFT(code, 3) <> 'Z99' GROUP BY letter"
    ),
    "by parts of texts": (
        "SELECT LEFT(ward, 1) || RIGHT(ward, 1) AS w, UPPER(ward) AS l, COUNT(*) AS n"
        " FROM marks GROUP BY w, l"
    ),
    "by texts in a row": (
        "SELECT CONCAT(UPPER(ward), '/', sure::text) AS w, LENGTH(ward) AS l, COUNT(*) AS n"
        " FROM marks GROUP BY 1, 2"
    ),
    "by some of the codes": (
        "SELECT CASE WHEN code IN ('E11.9', 'A00') AND code NOT LIKE 'A%' THEN code"
        " WHEN ward = 'er' OR ward LIKE 'i%' THEN ward ELSE 'rest' END AS c, COUNT(*) AS n"
        " FROM marks GROUP BY c"
    ),
    "average length": (
        "SELECT AVG(LENGTH(RIGHT(text, 50))) AS a, SUM(STRPOS(TRIM(ward), 'r')) AS s FROM marks"
    ),
    "by arithmetic": ("SELECT days * 2 - 1 AS d, COUNT(*) AS n FROM marks GROUP BY d"),
    "by a quotient": (
        "SELECT age / NULLIF(days, 0) AS q, COUNT(*) AS n FROM marks GROUP BY q"
    ),
    "by tens": (
        "SELECT FLOOR(age / 10) * 10 AS d, COUNT(*) AS n FROM marks GROUP BY d"
    ),
    "by tens of decimals": (
        "SELECT FLOOR(age / 10.0) * 10 AS d, ROUND(days, -1) AS e, COUNT(*) AS n"
        " FROM marks GROUP BY d, e"
    ),
    "by buckets of equal widths": (
        "SELECT WIDTH_BUCKET(raw, 0, 1, 4) AS w, COUNT(*) AS n FROM marks GROUP BY w"
    ),
    "by a remainder": (
        "SELECT a % 7 AS r, SIGN(raw) AS s, COUNT(*) AS n FROM marks GROUP BY r, s"
    ),
    "by a roll-up": (
        "SELECT d.n, COUNT(*) AS persons FROM (SELECT person, COUNT(*) AS n"
        " FROM marks GROUP BY person) AS d GROUP BY d.n"
    ),
    "by a column of a public table": (
        "SELECT w.floor, COUNT(*) AS n FROM marks AS m LEFT JOIN wards AS w"
        " ON w.ward = m.ward GROUP BY w.floor"
    ),
    "by position, with all that follows": (
        "SELECT ward, COUNT(*) AS n, AVG(days) AS d FROM marks GROUP BY 1"
        " HAVING n > 3 AND ward <> 'er' ORDER BY d DESC NULLS FIRST, 1 LIMIT 2"
    ),
    "by a window": (
        "SELECT d.x, COUNT(*) AS n FROM (SELECT person, COUNT(*) OVER"
        " (PARTITION BY person) AS x FROM marks) AS d GROUP BY d.x"
    ),
    "a table of its own name": (
        "WITH met AS (SELECT person, MIN(at) AS first FROM events"
        " WHERE drug = 'met' GROUP BY person),"
        " late AS (SELECT person FROM met WHERE first > DATE '2000-01-01')"
        " SELECT COUNT(*) AS n FROM marks AS m JOIN met ON met.person = m.person"
        " WHERE m.day >= met.first AND m.person IN (SELECT person FROM late)"
    ),
}

BOUNDED = {  # name: text and bounds
    "rows of a table": (
        "SELECT COUNT(*), SUM(days) FROM marks WHERE sure",
        ContributionBounds((("marks", 2),)),
    ),
    "rows after filters": (
        "SELECT ward, COUNT(*) FROM marks WHERE flag GROUP BY ward",
        ContributionBounds(max_rows_per_unit=1),
    ),
    "groups, then rows": (
        "SELECT ward, flag, COUNT(*) FROM marks GROUP BY ward, flag",
        ContributionBounds(max_rows_per_unit=2, max_groups_per_unit=1),
    ),
    "rows of a join": (
        "SELECT COUNT(*) FROM people AS p LEFT JOIN marks AS m"
        " ON m.person = p.person LEFT JOIN grades AS g ON g.seq = m.seq",
        ContributionBounds(max_rows_per_unit=3),
    ),
    "rows of a union": (
        "SELECT COUNT(*) FROM (SELECT person, day FROM marks UNION ALL"
        " SELECT person, at FROM events) AS u",
        ContributionBounds((("events", 1),), max_rows_per_unit=3),
    ),
}


def _rows():
    for name, condition in CONDITIONS.items():
        yield f"condition: {name}", COUNT + condition, NO_BOUNDS
    for name, (made, read) in ROLLUPS.items():
        yield f"roll-up: {name}", _of(f"SELECT person, {made} AS x", "GROUP BY", read)
    for name, (made, read) in WINDOWS.items():
        yield f"window: {name}", _of(f"SELECT person, stamp, {made} AS x", None, read)
    for name, source in FROMS.items():
        yield f"from: {name}", f"SELECT COUNT(*) AS n FROM {source}", NO_BOUNDS
    for name, sql in TOPS.items():
        yield f"top: {name}", sql, NO_BOUNDS
    for name, (sql, bounds) in BOUNDED.items():
        yield f"bound: {name}", sql, bounds


def _of(made, grouping, read):
    tail = " GROUP BY person" if grouping else ""
    return f"SELECT COUNT(*) AS n FROM ({made} FROM marks{tail}) AS d WHERE {read}"


ROWS = {name: (sql, *(bounds or (NO_BOUNDS,))) for name, sql, *bounds in _rows()}
"""Each row's name to its text and the bounds that its request asks for."""
