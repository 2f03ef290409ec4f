"""Templates of pages: everything is escaped, and an unknown name is an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import jinja2

from bdpbench.pages.assets import assets_dir
from bdpbench.pages.embed import web_address
from bdpbench.pages.text import subscripts


class _Unindented(jinja2.FileSystemLoader):
    """Templates without their indentation: it is for their readers, and a tenth of a page."""

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        source, name, is_current = super().get_source(environment, template)
        return re.sub(r"^[ \t]+", "", source, flags=re.MULTILINE), name, is_current


def page_environment() -> jinja2.Environment:
    """Templates under ``reports/``; compiled once, and again when a file has changed."""
    return _environment(assets_dir() / "templates")


@cache
def _environment(folder: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=_Unindented(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        web_address=web_address,
        subscripts=subscripts,
        list_of_values=lambda mapping: list(mapping.values()),
    )
    return environment
