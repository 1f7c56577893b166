"""Runs migrations on the connection, and in the transaction, that `doseflow.store.migrate` has opened."""

from alembic import context

from doseflow.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    compare_type=True,
    # The caller's transaction holds everything; on SQLite too, whose DDL alembic takes for untransactional.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
