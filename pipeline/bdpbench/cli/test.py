"""`bdpbench test`: the project's own tests."""

from __future__ import annotations

import click


@click.command("test", context_settings={"ignore_unknown_options": True})
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def command(pytest_arguments: tuple[str, ...]) -> None:
    """Run the tests; further arguments go to pytest."""
    from bdpbench.app.validate import run_tests

    raise SystemExit(run_tests(pytest_arguments))
