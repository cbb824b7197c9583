"""The embedded engine: DuckDB, in executors of their own."""
