"""The tables of the store. Times are microseconds since 1970 in UTC, so that both databases hold and order them alike;
what has parts (groups, inputs, slices) is canonical JSON. Holds no text of notes and, where the plan says so, no id."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

# Constraints have names, so that a migration can take one away on either database.
METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
NAME = 200  # characters of a name or an id
# SQLite numbers rows by itself only where the key is called INTEGER.
_KEY = BigInteger().with_variant(Integer, "sqlite")

MODELS = Table(
    "models",
    METADATA,
    Column("id", _KEY, primary_key=True, autoincrement=True),
    Column("name", String(NAME), nullable=False, unique=True),
    Column("task", String(NAME), nullable=False),
    Column("created", BigInteger, nullable=False),
    # Batches are numbered here and not by a sequence: whoever adds one holds this row until it is committed, so that a
    # number that is seen means that all before it are.
    Column("batches", BigInteger, nullable=False, default=0, server_default="0"),
    Column("checked", BigInteger, nullable=False, default=0, server_default="0"),  # batches looked at for late rows
)

VERSIONS = Table(
    "versions",
    METADATA,
    Column("id", _KEY, primary_key=True, autoincrement=True),
    Column("model", ForeignKey("models.id"), nullable=False),
    Column("version", String(NAME), nullable=False),
    Column("created", BigInteger, nullable=False),
    # What its windows are compared with: "own" is a baseline of its own rows, otherwise that of an equivalent version.
    Column("baseline_of", String(NAME), nullable=False, default="", server_default=""),
    Column("equivalence", Text, nullable=False, default="{}", server_default="{}"),  # the paired comparison, as JSON
    Column("reference", Text, nullable=False, default="{}", server_default="{}"),  # figures of a report, as JSON
    UniqueConstraint("model", "version"),
)

PLANS = Table(
    "plans",
    METADATA,
    Column("id", _KEY, primary_key=True, autoincrement=True),
    Column("model", ForeignKey("models.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("content", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("who", String(NAME), nullable=False),
    UniqueConstraint("model", "number"),
)

BATCHES = Table(
    "batches",
    METADATA,
    Column("model", ForeignKey("models.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(20), nullable=False),  # predictions or outcomes
    Column("received", BigInteger, nullable=False),
    Column("new", Integer, nullable=False),
    Column("known", Integer, nullable=False),  # rows that were here before, with the same content
    Column("conflicts", Integer, nullable=False),
    Column("refused", Integer, nullable=False),
    Column("who", String(NAME), nullable=False),
)

PREDICTIONS = Table(
    "predictions",
    METADATA,
    Column("model", BigInteger, ForeignKey("models.id"), primary_key=True, autoincrement=False),
    Column("id", String(NAME), primary_key=True),
    Column("batch", BigInteger, nullable=False),
    Column("time", BigInteger, nullable=False),
    Column("version", String(NAME), nullable=False),
    Column("data_version", String(NAME), nullable=False),
    Column("patient", String(NAME), nullable=False),
    Column("site", String(NAME), nullable=False),
    Column("risk", Float(53)),
    Column("acted", SmallInteger),
    Column("groups", Text, nullable=False),
    Column("inputs", Text, nullable=False),
    Column("scores", Text, nullable=False),
    Index("ix_predictions_model_time", "model", "time"),
    Index("ix_predictions_model_batch", "model", "batch"),
)

OUTCOMES = Table(
    "outcomes",
    METADATA,
    Column("model", BigInteger, ForeignKey("models.id"), primary_key=True, autoincrement=False),
    Column("id", String(NAME), primary_key=True),
    Column("batch", BigInteger, nullable=False),
    Column("outcome", SmallInteger),
    Column("acted", SmallInteger),
    Column("known", BigInteger),  # when it was known, where the source says so
    Column("revision", Integer, nullable=False),
    Index("ix_outcomes_model_batch", "model", "batch"),
)

# What an outcome was before it was corrected.
CORRECTED = Table(
    "corrected_outcomes",
    METADATA,
    Column("model", BigInteger, ForeignKey("models.id"), primary_key=True, autoincrement=False),
    Column("id", String(NAME), primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("batch", BigInteger, nullable=False),
    Column("outcome", SmallInteger),
    Column("acted", SmallInteger),
    Column("known", BigInteger),
)

WINDOWS = Table(
    "windows",
    METADATA,
    Column("id", _KEY, primary_key=True, autoincrement=True),
    Column("version", ForeignKey("versions.id"), nullable=False),
    Column("cadence", String(20), nullable=False),
    Column("name", String(40), nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    Column("state", String(20), nullable=False),  # open, immature, mature, closed, restated
    Column("revision", Integer, nullable=False, default=0, server_default="0"),  # how often it was restated
    Column("stale", SmallInteger, nullable=False, default=0, server_default="0"),  # rows came after it was closed
    Column("through", BigInteger, nullable=False, default=0, server_default="0"),  # last batch that it was made from
    Column("checked", BigInteger),  # when its integrity was looked at
    Column("closed", BigInteger),
    Column("restated", BigInteger),
    Column("rows", BigInteger, nullable=False, default=0, server_default="0"),
    Column("labelled", BigInteger, nullable=False, default=0, server_default="0"),
    Column("events", BigInteger),
    Column("acted", BigInteger),
    Column("label_delay", Float(53)),  # median days until an outcome was known
    UniqueConstraint("version", "cadence", "start"),
)

# What the drift lens has frozen and seen so far, for each line of the plan.
WATCHES = Table(
    "watches",
    METADATA,
    Column("id", _KEY, primary_key=True, autoincrement=True),
    Column("version", ForeignKey("versions.id"), nullable=False),
    Column("key", String(64), nullable=False),  # of the line: what it watches and how
    Column("line", Text, nullable=False),
    Column("frozen", BigInteger, nullable=False),
    Column("windows", Integer, nullable=False),  # how many are in the state; whoever writes it must have read this many
    Column("state", Text, nullable=False),
    UniqueConstraint("version", "key"),
)

ESTIMATES = Table(
    "estimates",
    METADATA,
    Column("id", _KEY, primary_key=True, autoincrement=True),
    Column("window", ForeignKey("windows.id"), nullable=False),
    Column("watch", String(64), nullable=False),  # key of the line, empty for what no line asks for
    Column("kind", String(20), nullable=False),  # integrity, performance, fairness, impact
    Column("metric", String(NAME), nullable=False),
    Column("slice", Text, nullable=False),
    Column("part", String(20), nullable=False),  # all, or the rows that were not acted on
    Column("revision", Integer, nullable=False),
    Column("shown", BigInteger, nullable=False),
    Column("value", Float(53)),
    Column("low", Float(53)),
    Column("high", Float(53)),
    Column("n", Float(53)),
    Column("baseline", Float(53)),
    Column("chart", String(20), nullable=False),
    Column("statistic", Float(53)),
    Column("lower", Float(53)),
    Column("upper", Float(53)),
    Column("signal", SmallInteger),
    Column("status", String(20), nullable=False),
    Column("reason", Text, nullable=False),
    UniqueConstraint("window", "watch", "kind", "metric", "slice", "part", "chart", "revision"),
)

ALERTS = Table(
    "alerts",
    METADATA,
    Column("id", _KEY, primary_key=True, autoincrement=True),
    Column("version", ForeignKey("versions.id"), nullable=False),
    Column("watch", String(64), nullable=False),
    Column("cause", Text, nullable=False),
    Column("relapse", Integer, nullable=False),  # how often the same cause had been resolved before
    Column("kind", String(20), nullable=False),
    Column("metric", String(NAME), nullable=False),
    Column("slice", Text, nullable=False),
    Column("state", String(20), nullable=False),  # open, acknowledged, resolved
    Column("severity", String(20), nullable=False),
    Column("effect", Float(53)),
    Column("message", Text, nullable=False),
    Column("opened_window", String(40), nullable=False),
    Column("last_window", String(40), nullable=False),
    Column("quiet", Integer, nullable=False),
    Column("opened", BigInteger, nullable=False),
    Column("acknowledged", BigInteger),
    Column("acknowledged_by", String(NAME), nullable=False, default="", server_default=""),
    Column("resolved", BigInteger),
    Column("resolved_by", String(NAME), nullable=False, default="", server_default=""),
    Column("resolved_reason", Text, nullable=False, default="", server_default=""),
    Column("muted_until", BigInteger),
    Column("muted_by", String(NAME), nullable=False, default="", server_default=""),
    Column("mute_reason", Text, nullable=False, default="", server_default=""),
    Column("owner", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("escalation", Text, nullable=False),
    Column("plan", Integer, nullable=False),
    # The key that makes an alert one: a second worker, or the same one after a crash, cannot open it again.
    UniqueConstraint("version", "watch", "cause", "relapse"),
    Index("ix_alerts_state", "state"),
)

# What became of an alert, in order; what others are told of it is taken from here.
ALERT_EVENTS = Table(
    "alert_events",
    METADATA,
    Column("id", _KEY, primary_key=True, autoincrement=True),
    Column("alert", ForeignKey("alerts.id"), nullable=False),
    Column("what", String(20), nullable=False),  # opened, worse, acknowledged, muted, unmuted, resolved
    Column("at", BigInteger, nullable=False),
    Column("who", String(NAME), nullable=False),
    Column("window", String(40), nullable=False),
    Column("detail", Text, nullable=False),
    Column("delivered", BigInteger),
    Column("attempts", Integer, nullable=False, default=0, server_default="0"),
    Column("next_attempt", BigInteger),
    Index("ix_alert_events_alert", "alert"),
)

AUDIT = Table(
    "audit",
    METADATA,
    Column("id", _KEY, primary_key=True, autoincrement=True),
    Column("at", BigInteger, nullable=False),
    Column("who", String(NAME), nullable=False),
    Column("what", String(NAME), nullable=False),
    Column("object", String(NAME), nullable=False),
    Column("detail", Text, nullable=False),
)

TOKENS = Table(
    "tokens",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("name", String(NAME), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("scopes", String(NAME), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),
    Column("revoked", BigInteger),
)

LEASES = Table(
    "leases",
    METADATA,
    Column("name", String(NAME), primary_key=True),
    Column("holder", String(NAME), nullable=False),
    Column("until", BigInteger, nullable=False),
)
