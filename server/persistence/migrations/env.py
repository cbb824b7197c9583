"""Alembic's entry: runs on the connection that ``upgrade`` hands in."""

from alembic import context

from server.persistence.schema import all_metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=all_metadata())
with context.begin_transaction():
    context.run_migrations()
