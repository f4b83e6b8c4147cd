"""`busproof adapters`: list available adapters."""

import json
from typing import Final

from busproof.cli.frame import FORMAT, Command, Options

__all__ = ["COMMAND", "run"]


def run(args: Options) -> int:
    """Print the available adapters."""
    import attrs  # other commands start faster without it

    from busproof.adapters.finding import available

    adapters = available()
    if args.format == "json":
        print(json.dumps([attrs.asdict(adapter) for adapter in adapters], indent=2))
        return 0
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("--adapter", "kind", "what it is", box=box.SIMPLE_HEAD)
    for adapter in adapters:
        # Use `Text`, because rich would take `busproof[amqp]` for markup.
        table.add_row(*map(Text, (adapter.name, adapter.kind, adapter.summary)))
    Console().print(table)
    return 0


COMMAND: Final = Command(
    "adapters",
    run,
    description="List available adapters: the built-in ones and those of installed packages.",
    parameters=[FORMAT],
    examples=[
        ("busproof adapters", "Values for --adapter:"),
        ("busproof adapters --format json", "As JSON:"),
    ],
)
