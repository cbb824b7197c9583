"""Functions of one row as DuckDB SQL, of types that have no other room."""
