"""``ro-crate-metadata.json``: the contents of an archive and their origin, for other programs.

It follows RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) and the Workflow RO-Crate profile 1.0
(https://w3id.org/workflowhub/workflow-ro-crate/1.0). Checksums are terms of schema.org.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeAlias

Entity: TypeAlias = dict[str, Any]
"""A node of the JSON-LD graph, with terms of RO-Crate."""

Files: TypeAlias = Mapping[str, tuple[str, int]]
"""Path → SHA-256 and size in bytes."""

METADATA_NAME = "ro-crate-metadata.json"
CRATE_VERSION = "https://w3id.org/ro/crate/1.1"
WORKFLOW_PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
SHA256_TERM = "http://schema.org/sha256"

_SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
_LICENCES = {"MIT": ("https://spdx.org/licenses/MIT", "MIT License")}

# File extension → (description, media type).
_FORMATS = {
    ".cc": "text/x-c",
    ".cff": "application/yaml",
    ".css": "text/css",
    ".csv": "text/csv",
    ".h": "text/x-c",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".patch": "text/x-diff",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".sh": "application/x-sh",
    ".svg": "image/svg+xml",
    ".tcl": "text/x-tcl",
    ".tex": "application/x-tex",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
}
_CODE = (".cc", ".h", ".js", ".patch", ".py", ".sh", ".smk", ".tcl")


@dataclass(frozen=True)
class Author:
    """The author of an archive; a name may be that of one person or of several."""

    name: str
    is_person: bool


@dataclass(frozen=True)
class Software:
    """A program that was used."""

    name: str
    version: str
    url: str


@dataclass(frozen=True)
class Paper:
    """The study that is reproduced; "" and None if unknown."""

    title: str
    authors: str = ""
    year: int | None = None
    doi: str = ""
    url: str = ""

    @property
    def identifier(self) -> str:
        """Its address, or else an identifier inside the metadata."""
        return f"https://doi.org/{self.doi}" if self.doi else self.url or "#study"


@dataclass(frozen=True)
class Crate:
    """What the metadata contains beyond the files themselves.

    Attributes:
        name, description: name and description of the archive.
        date: ISO 8601, the day of the last simulation.
        started, ended: start of the first and end of the last simulation, ISO 8601.
        authors: from ``CITATION.cff``.
        licence: SPDX key.
        study: what is reproduced.
        workflow: path of the Snakefile in the archive.
        software: what was used, bdpbench and ns-2 first.
        inputs, outputs: paths of what the workflow reads and writes.
        descriptions: path → description, for files that need one.
    """

    name: str
    description: str
    date: str
    started: str
    ended: str
    authors: Sequence[Author]
    licence: str
    study: Paper
    workflow: str
    software: Sequence[Software]
    inputs: Sequence[str]
    outputs: Sequence[str]
    descriptions: Mapping[str, str]


def crate_json(crate: Crate, files: Files) -> str:
    """The metadata as text.

    Args:
        crate: what the metadata is to contain.
        files: path → SHA-256 and size in bytes, of every file except the metadata and the manifest.
    """
    licence, licence_name = _LICENCES.get(crate.licence, (f"#{crate.licence}", crate.licence))
    authors = [_author(index, each) for index, each in enumerate(crate.authors, start=1)]
    software = [_software(each) for each in crate.software]
    graph: list[Entity] = [
        _descriptor(),
        _root(crate, files, licence, authors),
        *(_file(path, *files[path], crate.descriptions) for path in sorted(files)),
        {"@id": licence, "@type": "CreativeWork", "name": licence_name, "url": licence},
        *authors,
        *software,
        _language(),
        *_study(crate.study),
        _action(crate),
    ]
    _describe_workflow(graph, crate, software, authors, licence)
    content = {"@context": [f"{CRATE_VERSION}/context", {"sha256": SHA256_TERM}], "@graph": graph}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _ref(identifier: str) -> Entity:
    return {"@id": identifier}


def _refs(entities: Sequence[Entity]) -> Entity | list[Entity]:
    """References; a single one is not a list (RO-Crate 1.1, appendix on JSON-LD)."""
    found = [_ref(each["@id"]) for each in entities]
    return found[0] if len(found) == 1 else found


def _descriptor() -> Entity:
    return {
        "@id": METADATA_NAME,
        "@type": "CreativeWork",
        "about": _ref("./"),
        "conformsTo": [_ref(CRATE_VERSION), _ref(WORKFLOW_PROFILE)],
    }


def _root(crate: Crate, files: Files, licence: str, authors: Sequence[Entity]) -> Entity:
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": crate.name,
        "description": crate.description,
        "datePublished": crate.date,
        "license": _ref(licence),
        "author": _refs(authors),
        "citation": _ref(crate.study.identifier),
        "mainEntity": _ref(crate.workflow),
        "hasPart": [_ref(path) for path in sorted(files)],
        "mentions": _ref("#reproduction"),
    }


def _file(path: str, sha256: str, size: int, descriptions: Mapping[str, str]) -> Entity:
    suffix = PurePosixPath(path).suffix
    entity: Entity = {
        "@id": path,
        "@type": ["File", "SoftwareSourceCode"] if suffix in _CODE else "File",
        "name": PurePosixPath(path).name,
        "encodingFormat": _FORMATS.get(suffix, "text/plain"),
        "contentSize": str(size),
        "sha256": sha256,
    }
    if path == "README.md":
        entity["about"] = _ref("./")
    if path in descriptions:
        entity["description"] = descriptions[path]
    return entity


def _author(index: int, author: Author) -> Entity:
    return {
        "@id": f"#author-{index}",
        "@type": "Person" if author.is_person else "Organization",
        "name": author.name,
    }


def _software(software: Software) -> Entity:
    return {
        "@id": f"#{software.name}",
        "@type": "SoftwareApplication",
        "name": software.name,
        "softwareVersion": software.version,
        "url": software.url,
    }


def _language() -> Entity:
    return {
        "@id": _SNAKEMAKE,
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "identifier": _ref("https://doi.org/10.1093/bioinformatics/bts480"),
        "url": _ref("https://snakemake.readthedocs.io"),
    }


def _study(paper: Paper) -> list[Entity]:
    """The paper that is reproduced, and its authors."""
    article: Entity = {"@id": paper.identifier, "@type": "ScholarlyArticle"}
    article["name"] = paper.title or "the study"
    found = [article]
    if paper.authors:
        article["author"] = _ref("#study-authors")
        found.append({"@id": "#study-authors", "@type": "Person", "name": paper.authors})
    if paper.year:
        article["datePublished"] = str(paper.year)
    return found


def _action(crate: Crate) -> Entity:
    return {
        "@id": "#reproduction",
        "@type": "CreateAction",
        "name": crate.name,
        "instrument": _ref(crate.workflow),
        "object": [_ref(path) for path in crate.inputs],
        "result": [_ref(path) for path in crate.outputs],
        "startTime": crate.started,
        "endTime": crate.ended,
    }


def _describe_workflow(
    graph: Sequence[Entity],
    crate: Crate,
    software: Sequence[Entity],
    authors: Sequence[Entity],
    licence: str,
) -> None:
    """Describe the Snakefile as the workflow."""
    entity = next(each for each in graph if each["@id"] == crate.workflow)
    entity |= {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "build ns-2, simulate, parse, measure, score, report",
        "programmingLanguage": _ref(_SNAKEMAKE),
        "softwareRequirements": _refs(software),
        "author": _refs(authors),
        "license": _ref(licence),
    }


def crate_problems(
    crate: object,
    actual: Mapping[str, str],
    sizes: Mapping[str, int],
    damaged: Collection[str],
) -> Iterator[str]:
    """Disagreements between the metadata and the files of an archive.

    Args:
        crate: content of ``ro-crate-metadata.json``.
        actual: path → SHA-256 of the existing files.
        sizes: path → bytes.
        damaged: paths of files that cannot be read.
    """
    if not isinstance(crate, dict) or not isinstance(crate.get("@graph"), list):
        yield f"altered: {METADATA_NAME} has no @graph"
        return
    entities: dict[str, Entity] = {
        str(each.get("@id")): each for each in crate["@graph"] if isinstance(each, dict)
    }
    told = {name: each for name, each in entities.items() if "sha256" in each}
    for name in sorted(set(told) - {*actual, *damaged}):
        yield f"missing, but described in {METADATA_NAME}: {name}"
    for name in sorted(set(told) & set(actual)):
        each = told[name]
        if (each["sha256"], each.get("contentSize")) != (actual[name], str(sizes[name])):
            yield f"described differently in {METADATA_NAME}: {name}"
    about = entities.get(METADATA_NAME, {}).get("conformsTo")
    if _ref(CRATE_VERSION) not in (about if isinstance(about, list) else [about]):
        yield f"altered: {METADATA_NAME} does not conform to {CRATE_VERSION}"
