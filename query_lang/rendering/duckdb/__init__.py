"""The one home of DuckDB's dialect."""
