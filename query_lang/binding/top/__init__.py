"""The top of a query: its keys, measured vectors, output columns, HAVING, ORDER BY."""
