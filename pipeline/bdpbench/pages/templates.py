"""Templates of pages: everything is escaped, and an unknown name is an error."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from bdpbench.contracts.files import write_atomically
from bdpbench.contracts.paths import home_dir
from bdpbench.pages.assets import assets_dir
from bdpbench.pages.embed import web_address
from bdpbench.pages.text import subscripts


class _Unindented(jinja2.FileSystemLoader):
    """Templates without indentation, which is only for their readers and a tenth of a page."""

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        source, name, is_current = super().get_source(environment, template)
        return re.sub(r"^[ \t]+", "", source, flags=re.MULTILINE), name, is_current


class _Compiled(jinja2.BytecodeCache):
    """Cache of compiled templates, by their content: compiling takes longer than filling them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, bucket: Bucket) -> Path:
        return self._folder / f"{bucket.key[:16]}-{bucket.checksum[:16]}.jinja"

    def load_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError), self._path(bucket).open("rb") as kept:
            bucket.load_bytecode(kept)

    def dump_bytecode(self, bucket: Bucket) -> None:
        def write(path: Path) -> None:
            with path.open("wb") as file:
                bucket.write_bytecode(file)

        with contextlib.suppress(OSError):  # if it cannot be stored, the next call takes longer
            write_atomically(self._path(bucket), write)


def page_environment() -> jinja2.Environment:
    """Templates under ``reports/``; compiled once, and again after a file has changed."""
    return _environment(assets_dir() / "templates", home_dir() / "cache" / "templates")


@cache
def _environment(folder: Path, compiled: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=_Unindented(folder),
        bytecode_cache=_Compiled(compiled),
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
