"""Runs the migrations on the connection that the store hands over, inside its transaction."""
from alembic import context
from sqlalchemy import Connection

from sessionstore.storage.tables import metadata

connection = context.config.attributes["connection"]
assert isinstance(connection, Connection)
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True, render_as_batch=False)
with context.begin_transaction():
    context.run_migrations()
