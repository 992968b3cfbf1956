"""Models, their versions, and the plans that they were watched by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from workup.errors import InputError, near
from workup.monitor.store.audit import audit
from workup.monitor.store.database import Store
from workup.monitor.store.tables import MODELS, OUTCOMES, PLANS, PREDICTIONS, VERSIONS
from workup.report import canonical


def register_model(store: Store, name: str, *, task: str, now: int, who: str) -> int:
    """The number of a model, which is made where it is new."""
    with store.write() as connection:
        held = connection.execute(select(MODELS.c.id, MODELS.c.task).where(MODELS.c.name == name)).first()
        if held is None:
            audit(connection, at=now, who=who, what="register model", object=name, detail={"task": task})
            made = insert(MODELS).values(name=name, task=task, created=now)
            return int(connection.execute(made).inserted_primary_key[0])  # type: ignore[index]
        if held.task != task:
            raise InputError("a model keeps its task", where=name, got=f"'{task}' where it was '{held.task}'")
        return int(held.id)


def model_number(connection: Connection, name: str) -> int:
    """The number of a model that is registered."""
    found = connection.execute(select(MODELS.c.id).where(MODELS.c.name == name)).scalar()
    if found is None:
        known = connection.execute(select(MODELS.c.name)).scalars()
        raise InputError("a model that is registered was expected", got=near(name, known))
    return int(found)


def models(connection: Connection) -> list[dict[str, Any]]:
    """All models by name."""
    return [dict(row) for row in connection.execute(select(MODELS).order_by(MODELS.c.name)).mappings()]


def register_version(connection: Connection, model: int, version: str, *, now: int, who: str) -> int:
    """The number of a version of a model, which is made where it is new."""
    asked = select(VERSIONS.c.id).where((VERSIONS.c.model == model) & (VERSIONS.c.version == version))
    held = connection.execute(asked).scalar()
    if held is None:  # of two that find it new, the second waits for the first at the model's row, and finds it made
        connection.execute(select(MODELS.c.id).where(MODELS.c.id == model).with_for_update())
        held = connection.execute(asked).scalar()
    if held is not None:
        return int(held)
    audit(connection, at=now, who=who, what="new version", object=version, detail={"model": model})
    made = insert(VERSIONS).values(model=model, version=version, created=now)
    return int(connection.execute(made).inserted_primary_key[0])  # type: ignore[index]


def versions(connection: Connection, model: int) -> list[dict[str, Any]]:
    """The versions of a model in the order in which they came."""
    asked = select(VERSIONS).where(VERSIONS.c.model == model).order_by(VERSIONS.c.id)
    found = [dict(row) for row in connection.execute(asked).mappings()]
    return [
        {**row, "equivalence": json.loads(row["equivalence"]), "reference": json.loads(row["reference"])}
        for row in found
    ]


def set_equivalence(
    connection: Connection, version: int, *, of: str, found: Mapping[str, Any], now: int, who: str
) -> None:
    """A version is judged by the baseline of another, for it was shown to be equivalent."""
    values = {"baseline_of": of, "equivalence": canonical(dict(found))}
    connection.execute(update(VERSIONS).where(VERSIONS.c.id == version).values(**values))
    audit(connection, at=now, who=who, what="equivalent version", object=of, detail={"version": version, **found})


def set_reference(connection: Connection, version: int, *, figures: Mapping[str, Any], now: int, who: str) -> None:
    """Figures of a report of this version, to be shown beside those of its windows."""
    values = {"reference": canonical(dict(figures))}
    connection.execute(update(VERSIONS).where(VERSIONS.c.id == version).values(**values))
    audit(connection, at=now, who=who, what="reference report", object=str(version))


def versions_by_data(connection: Connection, model: int) -> list[dict[str, Any]]:
    """Version of the model × version of the data: rows, outcomes, and from when to when."""
    p, o = PREDICTIONS.c, OUTCOMES.c
    joined = PREDICTIONS.outerjoin(OUTCOMES, (p.model == o.model) & (p.id == o.id))
    asked = (
        select(
            p.version,
            p.data_version,
            func.count().label("rows"),
            func.count(o.outcome).label("labelled"),
            func.min(p.time).label("first"),
            func.max(p.time).label("last"),
        )
        .select_from(joined)
        .where(p.model == model)
        .group_by(p.version, p.data_version)
        .order_by(p.version, p.data_version)
    )
    return [dict(row) for row in connection.execute(asked).mappings()]


# ---- plans -----------------------------------------------------------------------------------------------------------


def keep_plan(store: Store, model: int, *, content: Mapping[str, Any], sha256: str, now: int, who: str) -> int:
    """The number of a plan: the last one where it is the same, a new one otherwise. No plan is ever changed."""
    with store.write() as connection:
        asked = select(PLANS.c.number, PLANS.c.sha256).where(PLANS.c.model == model).order_by(PLANS.c.number.desc())
        last = connection.execute(asked.limit(1)).first()
        if last is not None and last.sha256 == sha256:
            return int(last.number)
        number = 1 if last is None else int(last.number) + 1
        connection.execute(
            insert(PLANS).values(
                model=model, number=number, sha256=sha256, content=canonical(dict(content)), created=now, who=who
            )
        )
        audit(
            connection, at=now, who=who, what="new plan", object=str(number), detail={"model": model, "sha256": sha256}
        )
        return number


def last_plan(connection: Connection, model: int) -> dict[str, Any] | None:
    """The plan in force, with its number; None where there is none."""
    asked = select(PLANS).where(PLANS.c.model == model).order_by(PLANS.c.number.desc()).limit(1)
    found = connection.execute(asked).mappings().first()
    return None if found is None else {**found, "content": json.loads(found["content"])}
