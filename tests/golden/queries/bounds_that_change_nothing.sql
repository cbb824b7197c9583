-- bound tables.encounters 9
-- bound max_rows 4
-- bound max_groups 4
SELECT COUNT(*) FROM encounters
