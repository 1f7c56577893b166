"""Outside sources: where each stands, and codes that nobody here knows."""

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
