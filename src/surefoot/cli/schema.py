"""``surefoot schema``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

Kind = Annotated[str | None, Parameter(help="a kind of file, or a command; left out, all kinds")]


def schema(kind: Kind = None, /) -> int:
    """Print the JSON Schema of a kind of file, or of what a command prints with --json.

    Without KIND, print the kinds. Files do not have other members; documents may
    get further ones in later versions.

    For example:
      surefoot schema
      surefoot schema fuzz
      surefoot schema finding > finding.schema.json
    """
    import json

    from surefoot.records.schemas import kinds, schema_of

    if kind is None:
        print("\n".join(kinds()))
    else:
        print(json.dumps(schema_of(kind), indent=2))
    return 0
