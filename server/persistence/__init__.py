"""The catalogue database: people, keys, grants, datasets; one Alembic history."""
