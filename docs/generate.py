"""Write what is generated from the code, in a checkout.

    PYTHONPATH=$PWD/pipeline:$PWD .bdpbench/venv/bin/python docs/generate.py

writes the references under ``docs/reference/``, from schemas, metrics and the command line, and the
JSON Schemas of the YAML files (``workflow/schemas/``), from the models.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import click
from pydantic import BaseModel

from bdpbench.app.evaluate.mirrored import League
from bdpbench.cli import cli
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.judged import direction, judged_of
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.runs import Definition
from bdpbench.metrics import DEFINITIONS
from bdpbench.metrics.packets import PACKET_DEFINITIONS
from bdpbench.pages.texts import read_errata
from bdpbench.studies.atlas import Catalogue, Membership
from bdpbench.studies.config import Config
from bdpbench.studies.evaluate import EvaluateFile
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.study import Study
from bdpbench.units import with_unit

_Node: TypeAlias = "Mapping[str, object]"

_GENERATED = "<!-- Made by docs/generate.py; edits are lost. -->"
_SHOWN_WORDS = 12
_LARGEST_SHOWN = 1e9
_TYPES = {"integer": "whole number", "boolean": "true or false"}
_SECTIONS = (
    ("run", "flow", "Of a flow"),
    ("run", "link", "Of a link"),
    ("run", "run", "Of a run"),
    ("group", "", "Of several runs"),
)


def main() -> None:
    """Write all of it."""
    root = repository_root()
    _write(root / "workflow" / "schemas", schema_texts())
    _write(root / "docs" / "reference", references())


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        write_text_atomically(folder / name, text)


def errata_page() -> str:
    """The known faults of laws in ns-2, as Markdown."""
    lines = [
        _GENERATED,
        "",
        "# Errata of ns-2's laws",
        "",
        "Some laws in ns-2 do not do what their papers say, because of faults that this project",
        "keeps: what was published with ns-2 has them. Reports name those that their protocols",
        "have. A mended module of TCP/Linux can be [a folder](../protocols.md#a-module-of-linux),",
        "and any module of Linux runs there without the bursts: CUBIC of 2.6.22 then sends 400",
        "packets again where TCP/Linux sends 7,279 (20 Mbit/s, an RTT of 60 ms, 60 s).",
    ]
    for each in read_errata():
        names = ", ".join(f"`{name}`" for name in each.modules) or "all of them"
        lines += [
            "",
            f"## {each.title}",
            "",
            f"{', '.join(f'`Agent/{agent}`' for agent in each.agents)}, {names}.",
            "",
            each.text.strip(),
            "",
            f"**Measured.** {each.effect.strip()}",
            "",
            f"Source: {each.source.strip()}",
        ]
    return "\n".join(lines) + "\n"


def references() -> dict[str, str]:
    """All pages of ``docs/reference/``: file name → Markdown."""
    return {
        "errata.md": errata_page(),
        "study.md": _keys_page(),
        "queues.md": _queues_page(),
        "metrics.md": _metrics_page(),
        "commands.md": _commands_page(cli),
    }


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; cells are one line each.

    >>> _table(["key", "unit"], [["rtt_ms", "ms"]])
    ['| key | unit |', '|---|---|', '| rtt_ms | ms |']
    """
    head = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    return [*head, *(f"| {' | '.join(map(_cell, row))} |" for row in rows)]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# --------------------------------------------------------------------- keys of study.yaml


def _keys_page() -> str:
    """Markdown of every key: type, default, whether it is required, and its meaning."""
    schema = cast("_Node", json.loads(schema_texts()["study.schema.json"]))
    parts = cast("Mapping[str, _Node]", schema["$defs"])
    lines = [
        _GENERATED,
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
    yield from _table(
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
        yield f"{_TYPES.get(str(node['type']), str(node['type']))}{_range(node)}"


def _values(node: _Node) -> str:
    """The type of the values of a mapping."""
    patterns = cast("Mapping[str, _Node]", node.get("patternProperties", {}))
    for each in (*patterns.values(), node.get("additionalProperties")):
        if isinstance(each, Mapping) and (kinds := _type(each)):
            return kinds
    return ""


def _range(node: _Node) -> str:
    """E.g. " from 1 to 500", without limits that only protect ns-2's arithmetic."""
    limits = [("minimum", "from"), ("exclusiveMinimum", "above")]
    limits += [("maximum", "to"), ("exclusiveMaximum", "below")]
    found = [(word, node.get(name)) for name, word in limits]
    return "".join(
        f" {word} {limit:g}"
        for word, limit in found
        if isinstance(limit, (int, float)) and abs(limit) < _LARGEST_SHOWN
    )


# ---------------------------------------------------------------------------------- queues


def _queues_page() -> str:
    """Markdown of every kind of queue: its settings, their defaults and ns-2's variables."""
    lines = [
        _GENERATED,
        "",
        "# Kinds of queues",
        "",
        "Settings of `queues:` in a study ([how to declare one](../scenarios.md#queues)).",
        "Lengths are in packets, probabilities are shares. A setting in bold is required;",
        '"as said" marks a default that follows from other values, as its meaning says.',
    ]
    for name, kind in QUEUE_KINDS.items():
        marks = ". With ECN it marks packets" if kind.ecn else ""
        rows = [
            (
                f"`{key}`" if each.default is not None else f"**`{key}`**",
                each.text,
                f"{each.default:g}"
                if isinstance(each.default, (int, float))
                else ("as said" if each.default else ""),
                f"`{each.variable} = 1/value`" if each.reciprocal else f"`{each.variable}`",
            )
            for key, each in kind.parameters.items()
        ]
        titles = ["setting", "meaning", "default", f"variable of Queue/{kind.ns2_class}"]
        lines += ["", f"## {name}", "", f"{name}: {kind.text}{marks}.", "", *_table(titles, rows)]
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------------------- metrics


def _metrics_page() -> str:
    """Markdown of every metric: those for studies, then those that `analyze` measures."""
    found = [each.as_document() for each in DEFINITIONS.values()]
    lines = [
        _GENERATED,
        "",
        "# Metrics",
        "",
        "`summary:` of a scenario, `published.csv` and `claims.yaml` name metrics by the words in",
        "code. A metric of a flow has subjects such as `flow:0`, one of a link such as",
        "`link:bottleneck`; those of a run and of several runs have the subject `run`. A study can",
        "add its own in `metrics.py`.",
    ]
    for level, subject, title in _SECTIONS:
        own = [
            each for each in found if each["level"] == level and subject in ("", each["subject"])
        ]
        lines += ["", f"## {title}", "", *_entries(own)]
    lines += ["", "## Of packet traces", ""]
    lines += ["What `./bdpbench analyze` and `trace: packets` measure.", ""]
    lines += [*_entries([each.as_document() for each in PACKET_DEFINITIONS.values()])]
    return "\n".join(lines).rstrip() + "\n"


def _entries(definitions: Sequence[Definition]) -> Iterator[str]:
    for each in sorted(definitions, key=lambda each: each["metric"]):
        unit = "" if each["unit"] in ("", "1") else f", {each['unit']}"
        title = f"{each['title']}. " if each["title"] else ""
        source = f" *Source: {each['source']}.*" if each["source"] else ""
        better = _better(each)
        yield f"**`{each['metric']}`**{unit}: {title}{each['text']}{better}{source}"
        yield ""


def _better(definition: Definition) -> str:
    """Which values are better, and from which difference on; "" where neither are."""
    words = direction(judged_of(definition, definition["unit"]))
    if not words:
        return ""
    apart = definition.get("apart", 0.0)
    is_share = definition["unit"] not in ("%", "1")
    least = f"{100 * apart:g} %" if is_share else with_unit(f"{apart:g}", definition["unit"])
    return f" {words[:1].upper()}{words[1:]}, from a difference of {least} on."


# -------------------------------------------------------------------------------- commands


def _commands_page(program: click.Group) -> str:
    """Markdown of all commands with their arguments and options."""
    context = click.Context(program, info_name="bdpbench")
    lines = [
        _GENERATED,
        "",
        "# Commands",
        "",
        "Each is called as `./bdpbench COMMAND`; `--help` says the same on a terminal.",
    ]
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        if command is not None:
            lines += _command(command, name, context, "##")
    return "\n".join(lines) + "\n"


def _command(command: click.Command, name: str, parent: click.Context, level: str) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ["", f"{level} {name}", "", f"`{context.command_path} {usage}`", ""]
    yield inspect.cleandoc(command.help or "").split("\f")[0].strip()
    options = [
        record
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts
        if (record := parameter.get_help_record(context)) is not None
    ]
    if options:
        yield ""
        yield from _table(["option", "what it does"], [(f"`{a}`", b) for a, b in options])
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None:
                yield from _command(below, each, context, level + "#")


# ---------------------------------------------------------------- JSON Schemas


def schema_texts() -> dict[str, str]:
    """File name → JSON Schema of every YAML file, for editors; generated from the models."""
    models: dict[str, type[BaseModel]] = {
        "study.schema.json": Study,
        "config.schema.json": Config,
        "atlas.schema.json": Catalogue,
        "study-atlas.schema.json": Membership,
        "evaluate.schema.json": EvaluateFile,
        "league.schema.json": League,
    }
    return {
        name: json.dumps(model.model_json_schema(), indent=2, sort_keys=True) + "\n"
        for name, model in models.items()
    }


if __name__ == "__main__":
    main()
