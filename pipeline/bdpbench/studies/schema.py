"""JSON Schemas of the YAML files, for editors; generated from the models, never edited by hand."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel

from bdpbench.contracts.files import write_text_atomically
from bdpbench.studies.atlas import Catalogue, Membership
from bdpbench.studies.config import Config
from bdpbench.studies.study import Study


def schema_texts() -> dict[str, str]:
    """File name → JSON Schema text, for every configuration file."""
    models: dict[str, type[BaseModel]] = {
        "study.schema.json": Study,
        "config.schema.json": Config,
        "atlas.schema.json": Catalogue,
        "study-atlas.schema.json": Membership,
    }
    return {
        name: json.dumps(model.model_json_schema(), indent=2, sort_keys=True) + "\n"
        for name, model in models.items()
    }


def write_schemas(folder: Path) -> list[Path]:
    """Write the schemas into ``folder`` and return their paths."""
    paths = []
    for name, text in schema_texts().items():
        write_text_atomically(folder / name, text)
        paths.append(folder / name)
    return paths
