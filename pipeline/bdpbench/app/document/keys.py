"""Reference of all keys of ``study.yaml``, generated from the JSON Schema that editors use."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

from bdpbench.app.document.tables import GENERATED, table
from bdpbench.studies.schema import schema_texts

_Node: TypeAlias = "Mapping[str, object]"

_SHOWN_WORDS = 12


def keys_page() -> str:
    """Markdown of every key: type, default, whether it is required, and its meaning."""
    schema = cast("_Node", json.loads(schema_texts()["study.schema.json"]))
    parts = cast("Mapping[str, _Node]", schema["$defs"])
    lines = [
        GENERATED,
        "",
        "# Keys of study.yaml",
        "",
        "Editors that know JSON Schema complete and check them: begin the file with",
        "`# yaml-language-server: $schema=…/workflow/schemas/study.schema.json`. A key in bold is",
        "required. Where a value can be a parameter of the run, `$name` stands for it.",
        "[Scenarios](../scenarios.md) explains the keys with examples.",
        "",
        "## The file",
        "",
        *_keys(schema),
    ]
    for name in sorted(parts):
        text = str(parts[name].get("description", "")).replace("``", "`")
        lines += ["", f"## {name}", "", text, "", *_keys(parts[name])]
    return "\n".join(lines).rstrip() + "\n"


def _keys(model: _Node) -> Iterator[str]:
    needed = cast("list[str]", model.get("required", []))
    properties = cast("Mapping[str, _Node]", model.get("properties", {}))
    if not properties:
        return
    yield from table(
        ["key", "type", "default", "meaning"],
        [
            (
                f"**`{name}`**" if name in needed else f"`{name}`",
                _type(node),
                _default(node),
                str(node.get("description", "")).replace("``", "`"),
            )
            for name, node in properties.items()
        ],
    )


def _default(node: _Node) -> str:
    default = node.get("default")
    return "" if default in (None, "", [], {}) else f"`{json.dumps(default)}`"


def _type(node: _Node) -> str:
    """The types of values that a key takes, in words."""
    return " or ".join(dict.fromkeys(each for each in _kinds(node) if each))


def _kinds(node: _Node) -> Iterator[str]:
    for name in ("anyOf", "oneOf"):
        for each in cast("list[_Node]", node.get(name, [])):
            yield from _kinds(each)
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[1]
        yield f"[{name}](#{name.lower()})"
    elif "const" in node:
        yield f"`{json.dumps(node['const'])}`"
    elif "enum" in node:
        yield ", ".join(f"`{each}`" for each in cast("list[object]", node["enum"])[:_SHOWN_WORDS])
    elif node.get("type") == "array":
        items = cast("_Node", node.get("items", {}))
        yield f"list of {_type(items) or 'values'}"
    elif node.get("type") == "object":
        yield f"mapping to {_values(node)}" if _values(node) else "mapping"
    elif node.get("type") == "string":
        yield "`$name`" if str(node.get("pattern", "")).startswith("^\\$") else "text"
    elif "type" in node and node["type"] != "null":
        yield f"{_WORDS.get(str(node['type']), str(node['type']))}{_range(node)}"


_WORDS = {"integer": "whole number", "boolean": "true or false"}


def _values(node: _Node) -> str:
    """The type of the values of a mapping."""
    patterns = cast("Mapping[str, _Node]", node.get("patternProperties", {}))
    for each in (*patterns.values(), node.get("additionalProperties")):
        if isinstance(each, Mapping) and (told := _type(each)):
            return told
    return ""


_LARGEST_TOLD = 1e9


def _range(node: _Node) -> str:
    """E.g. " from 1 to 500", without limits that only protect ns-2's arithmetic."""
    least, above = node.get("minimum"), node.get("exclusiveMinimum")
    most, below = node.get("maximum"), node.get("exclusiveMaximum")
    told = ""
    if isinstance(least, (int, float)) and abs(least) < _LARGEST_TOLD:
        told += f" from {least:g}"
    if isinstance(above, (int, float)):
        told += f" above {above:g}"
    if isinstance(most, (int, float)) and most < _LARGEST_TOLD:
        told += f" to {most:g}"
    if isinstance(below, (int, float)):
        told += f" below {below:g}"
    return told
