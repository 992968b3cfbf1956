"""Runs migrations on the connection that the store gives; there is no other way to run them."""

from alembic import context

from workup.monitor.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,  # SQLite changes a table by making it anew
)
with context.begin_transaction():
    context.run_migrations()
