"""The first tables of the store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("what", sa.String(length=200), nullable=False),
        sa.Column("object", sa.String(length=200), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("holder", sa.String(length=200), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "models",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("task", sa.String(length=200), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("batches", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("checked", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_models")),
        sa.UniqueConstraint("name", name=op.f("uq_models_name")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.String(length=200), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=True),
        sa.Column("revoked", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
    )
    op.create_table(
        "batches",
        sa.Column("model", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("received", sa.BigInteger(), nullable=False),
        sa.Column("new", sa.Integer(), nullable=False),
        sa.Column("known", sa.Integer(), nullable=False),
        sa.Column("conflicts", sa.Integer(), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["model"], ["models.id"], name=op.f("fk_batches_model_models")),
        sa.PrimaryKeyConstraint("model", "number", name=op.f("pk_batches")),
    )
    op.create_table(
        "corrected_outcomes",
        sa.Column("model", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("batch", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.SmallInteger(), nullable=True),
        sa.Column("acted", sa.SmallInteger(), nullable=True),
        sa.Column("known", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["model"], ["models.id"], name=op.f("fk_corrected_outcomes_model_models")),
        sa.PrimaryKeyConstraint("model", "id", "revision", name=op.f("pk_corrected_outcomes")),
    )
    op.create_table(
        "outcomes",
        sa.Column("model", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("batch", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.SmallInteger(), nullable=True),
        sa.Column("acted", sa.SmallInteger(), nullable=True),
        sa.Column("known", sa.BigInteger(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["model"], ["models.id"], name=op.f("fk_outcomes_model_models")),
        sa.PrimaryKeyConstraint("model", "id", name=op.f("pk_outcomes")),
    )
    op.create_index("ix_outcomes_model_batch", "outcomes", ["model", "batch"], unique=False)
    op.create_table(
        "plans",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("model", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["model"], ["models.id"], name=op.f("fk_plans_model_models")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plans")),
        sa.UniqueConstraint("model", "number", name=op.f("uq_plans_model_number")),
    )
    op.create_table(
        "predictions",
        sa.Column("model", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("batch", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.String(length=200), nullable=False),
        sa.Column("data_version", sa.String(length=200), nullable=False),
        sa.Column("patient", sa.String(length=200), nullable=False),
        sa.Column("site", sa.String(length=200), nullable=False),
        sa.Column("risk", sa.Float(precision=53), nullable=True),
        sa.Column("acted", sa.SmallInteger(), nullable=True),
        sa.Column("groups", sa.Text(), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("scores", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["model"], ["models.id"], name=op.f("fk_predictions_model_models")),
        sa.PrimaryKeyConstraint("model", "id", name=op.f("pk_predictions")),
    )
    op.create_index("ix_predictions_model_batch", "predictions", ["model", "batch"], unique=False)
    op.create_index("ix_predictions_model_time", "predictions", ["model", "time"], unique=False)
    op.create_table(
        "versions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("model", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("version", sa.String(length=200), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("baseline_of", sa.String(length=200), server_default="", nullable=False),
        sa.Column("equivalence", sa.Text(), server_default="{}", nullable=False),
        sa.Column("reference", sa.Text(), server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(["model"], ["models.id"], name=op.f("fk_versions_model_models")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("model", "version", name=op.f("uq_versions_model_version")),
    )
    op.create_table(
        "alerts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("watch", sa.String(length=64), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("relapse", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("metric", sa.String(length=200), nullable=False),
        sa.Column("slice", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("severity", sa.String(length=20), nullable=False),
        sa.Column("effect", sa.Float(precision=53), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("opened_window", sa.String(length=40), nullable=False),
        sa.Column("last_window", sa.String(length=40), nullable=False),
        sa.Column("quiet", sa.Integer(), nullable=False),
        sa.Column("opened", sa.BigInteger(), nullable=False),
        sa.Column("acknowledged", sa.BigInteger(), nullable=True),
        sa.Column("acknowledged_by", sa.String(length=200), server_default="", nullable=False),
        sa.Column("resolved", sa.BigInteger(), nullable=True),
        sa.Column("resolved_by", sa.String(length=200), server_default="", nullable=False),
        sa.Column("resolved_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("muted_until", sa.BigInteger(), nullable=True),
        sa.Column("muted_by", sa.String(length=200), server_default="", nullable=False),
        sa.Column("mute_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("escalation", sa.Text(), nullable=False),
        sa.Column("plan", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_alerts_version_versions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
        sa.UniqueConstraint("version", "watch", "cause", "relapse", name=op.f("uq_alerts_version_watch_cause_relapse")),
    )
    op.create_index("ix_alerts_state", "alerts", ["state"], unique=False)
    op.create_table(
        "watches",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("frozen", sa.BigInteger(), nullable=False),
        sa.Column("windows", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_watches_version_versions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watches")),
        sa.UniqueConstraint("version", "key", name=op.f("uq_watches_version_key")),
    )
    op.create_table(
        "windows",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cadence", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("revision", sa.Integer(), server_default="0", nullable=False),
        sa.Column("stale", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("through", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("checked", sa.BigInteger(), nullable=True),
        sa.Column("closed", sa.BigInteger(), nullable=True),
        sa.Column("restated", sa.BigInteger(), nullable=True),
        sa.Column("rows", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("labelled", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("events", sa.BigInteger(), nullable=True),
        sa.Column("acted", sa.BigInteger(), nullable=True),
        sa.Column("label_delay", sa.Float(precision=53), nullable=True),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_windows_version_versions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_windows")),
        sa.UniqueConstraint("version", "cadence", "start", name=op.f("uq_windows_version_cadence_start")),
    )
    op.create_table(
        "alert_events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("alert", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("what", sa.String(length=20), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("window", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("delivered", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_attempt", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["alert"], ["alerts.id"], name=op.f("fk_alert_events_alert_alerts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_events")),
    )
    op.create_index("ix_alert_events_alert", "alert_events", ["alert"], unique=False)
    op.create_table(
        "estimates",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("window", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("watch", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("metric", sa.String(length=200), nullable=False),
        sa.Column("slice", sa.Text(), nullable=False),
        sa.Column("part", sa.String(length=20), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("shown", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.Float(precision=53), nullable=True),
        sa.Column("low", sa.Float(precision=53), nullable=True),
        sa.Column("high", sa.Float(precision=53), nullable=True),
        sa.Column("n", sa.Float(precision=53), nullable=True),
        sa.Column("baseline", sa.Float(precision=53), nullable=True),
        sa.Column("chart", sa.String(length=20), nullable=False),
        sa.Column("statistic", sa.Float(precision=53), nullable=True),
        sa.Column("lower", sa.Float(precision=53), nullable=True),
        sa.Column("upper", sa.Float(precision=53), nullable=True),
        sa.Column("signal", sa.SmallInteger(), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["window"], ["windows.id"], name=op.f("fk_estimates_window_windows")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_estimates")),
        sa.UniqueConstraint(
            "window",
            "watch",
            "kind",
            "metric",
            "slice",
            "part",
            "chart",
            "revision",
            name=op.f("uq_estimates_window_watch_kind_metric_slice_part_chart_revision"),
        ),
    )


def downgrade() -> None:
    op.drop_table("estimates")
    op.drop_index("ix_alert_events_alert", table_name="alert_events")
    op.drop_table("alert_events")
    op.drop_table("windows")
    op.drop_table("watches")
    op.drop_index("ix_alerts_state", table_name="alerts")
    op.drop_table("alerts")
    op.drop_table("versions")
    op.drop_index("ix_predictions_model_time", table_name="predictions")
    op.drop_index("ix_predictions_model_batch", table_name="predictions")
    op.drop_table("predictions")
    op.drop_table("plans")
    op.drop_index("ix_outcomes_model_batch", table_name="outcomes")
    op.drop_table("outcomes")
    op.drop_table("corrected_outcomes")
    op.drop_table("batches")
    op.drop_table("tokens")
    op.drop_table("models")
    op.drop_table("leases")
    op.drop_table("audit")
