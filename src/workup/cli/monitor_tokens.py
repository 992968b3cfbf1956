"""`workup monitor token`: tokens of those who send rows to the service or read from it."""

from __future__ import annotations

from typing import Annotated

import typer

from workup.cli.common import command, echo, say
from workup.errors import InputError

_STORE = "Store; as for the other commands of the monitor when absent"


def add_commands(group: typer.Typer) -> None:
    """Hang the commands on the tree."""
    tokens = typer.Typer(help="Make, list and revoke tokens.", no_args_is_help=True, rich_markup_mode=None)
    tokens.callback()(lambda: None)
    command(tokens, name="create", example="workup monitor token create feed --scope ingest --days 365")(create)
    command(tokens, name="list", example="workup monitor token list")(list_)
    command(tokens, name="revoke", example="workup monitor token revoke 0123456789abcdef")(revoke)
    group.add_typer(tokens, name="token")


def create(
    name: Annotated[str, typer.Argument(help="Who uses it, such as the name of the feed")],
    scope: Annotated[list[str], typer.Option(help="What it may do: ingest, read or admin; repeatable")],
    store: Annotated[str | None, typer.Option(help=_STORE)] = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=36_525, help="Days until it expires; never when absent")
    ] = None,
) -> None:
    """Make a token and print it, this once."""
    from workup.cli.monitor import person, store_url
    from workup.monitor.store.database import microseconds, open_store
    from workup.monitor.store.tokens import create_token

    if not 1 <= len(name.strip()) <= 200:
        raise InputError("a name of 1 to 200 characters was expected", got=f"{len(name.strip())} characters")
    opened, now = open_store(store_url(store)), microseconds()
    expires = None if days is None else now + days * 86_400_000_000
    text = create_token(opened, name.strip(), scope, now=now, expires=expires, who=person())
    opened.close()
    echo(text)
    say("Keep it as a secret: the store holds its hash alone, and it is not shown again.")


def list_(store: Annotated[str | None, typer.Option(help=_STORE)] = None) -> None:
    """List the tokens, without their secrets."""
    from workup.cli.monitor import store_url
    from workup.monitor.overview import moment
    from workup.monitor.store.database import open_store
    from workup.monitor.store.tokens import tokens

    opened = open_store(store_url(store))
    with opened.read() as connection:
        for one in tokens(connection):
            state = "revoked" if one["revoked"] is not None else f"until {moment(one['expires'])}"
            echo(f"{one['id']}  {one['scopes']}  {state}  {one['name']}")
    opened.close()


def revoke(
    id: Annotated[str, typer.Argument(help="Number of the token, as 'list' shows it")],
    store: Annotated[str | None, typer.Option(help=_STORE)] = None,
) -> None:
    """Make a token worthless."""
    from workup.cli.monitor import person, store_url
    from workup.monitor.store.database import microseconds, open_store
    from workup.monitor.store.tokens import revoke_token

    opened = open_store(store_url(store))
    revoke_token(opened, id, now=microseconds(), who=person())
    opened.close()
