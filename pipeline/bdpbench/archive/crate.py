"""``ro-crate-metadata.json``: the contents of an archive and their origin, for other programs.

It follows RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) and the Workflow RO-Crate profile 1.0
(https://w3id.org/workflowhub/workflow-ro-crate/1.0). Checksums are terms of schema.org.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from bdpbench.studies.study import Citation

Entity: TypeAlias = dict[str, Any]
"""A node of the JSON-LD graph, with terms of RO-Crate."""

Files: TypeAlias = Mapping[str, tuple[str, int]]
"""Path → SHA-256 and size in bytes."""

METADATA_NAME = "ro-crate-metadata.json"
CRATE_VERSION = "https://w3id.org/ro/crate/1.1"
WORKFLOW_PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
SHA256_TERM = "http://schema.org/sha256"

_SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
LICENCES = {"MIT": ("https://spdx.org/licenses/MIT", "MIT License")}
"""SPDX key → address and name."""

# File extension → media type; of all others, it is text/plain.
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
    ".yaml": "application/yaml",
}
_CODE = (".cc", ".h", ".js", ".patch", ".py", ".sh", ".smk", ".tcl")


class Author(NamedTuple):
    """The author of an archive; a name may be that of one person or of several."""

    name: str
    is_person: bool


class Software(NamedTuple):
    """A program that was used."""

    name: str
    version: str
    url: str


@dataclass(frozen=True)
class Crate:
    """What the metadata contains beyond the files themselves.

    Attributes:
        name, description: name and description of the archive.
        started, ended: start of the first and end of the last simulation, ISO 8601.
        authors: from ``CITATION.cff``.
        licence: SPDX key.
        title: title of the study that is reproduced.
        citation: the paper that the study cites, if it cites one.
        workflow: path of the Snakefile in the archive.
        software: what was used, bdpbench and ns-2 first.
        inputs, outputs: paths of what the workflow reads and writes.
        descriptions: path → description, for files that need one.
    """

    name: str
    description: str
    started: str
    ended: str
    authors: Sequence[Author]
    licence: str
    title: str
    citation: Citation | None
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
    address, name = LICENCES.get(crate.licence, (f"#{crate.licence}", crate.licence))
    licence: Entity = {"@id": address, "@type": "CreativeWork", "name": name, "url": address}
    authors = [_author(index, each) for index, each in enumerate(crate.authors, start=1)]
    software = [_software(each) for each in crate.software]
    study = _study(crate)
    descriptor = {
        "@id": METADATA_NAME,
        "@type": "CreativeWork",
        "about": _ref("./"),
        "conformsTo": [_ref(CRATE_VERSION), _ref(WORKFLOW_PROFILE)],
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": crate.name,
        "description": crate.description,
        "datePublished": crate.ended[:10],
        "license": _ref(address),
        "author": _refs(authors),
        "citation": _ref(study[0]["@id"]),
        "mainEntity": _ref(crate.workflow),
        "hasPart": [_ref(path) for path in sorted(files)],
        "mentions": _ref("#reproduction"),
    }
    entities = {path: _file(path, *files[path], crate.descriptions) for path in sorted(files)}
    entities[crate.workflow] |= {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "build ns-2, simulate, parse, measure, score, report",
        "programmingLanguage": _ref(_SNAKEMAKE),
        "softwareRequirements": _refs(software),
        "author": _refs(authors),
        "license": _ref(address),
    }
    about = [licence, *authors, *software, _language(), *study, _action(crate)]
    graph = [descriptor, root, *entities.values(), *about]
    content = {"@context": [f"{CRATE_VERSION}/context", {"sha256": SHA256_TERM}], "@graph": graph}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _ref(identifier: str) -> Entity:
    return {"@id": identifier}


def _refs(entities: Sequence[Entity]) -> Entity | list[Entity]:
    """References; a single one is not a list (RO-Crate 1.1, appendix on JSON-LD)."""
    found = [_ref(each["@id"]) for each in entities]
    return found[0] if len(found) == 1 else found


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
    kind = "Person" if author.is_person else "Organization"
    return {"@id": f"#author-{index}", "@type": kind, "name": author.name}


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


def _study(crate: Crate) -> list[Entity]:
    """The paper that is reproduced and its authors, or the study by its own title."""
    paper = crate.citation
    if paper is None:
        return [{"@id": "#study", "@type": "ScholarlyArticle", "name": crate.title or "the study"}]
    identifier = f"https://doi.org/{paper.doi}" if paper.doi else paper.url or "#study"
    article: Entity = {"@id": identifier, "@type": "ScholarlyArticle"}
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


def crate_problems(
    crate: object, actual: Mapping[str, str], sizes: Mapping[str, int]
) -> Iterator[str]:
    """Disagreements between the metadata and the files of an archive.

    Args:
        crate: content of ``ro-crate-metadata.json``.
        actual: path → SHA-256 of the files that can be read.
        sizes: path → bytes of all files.
    """
    if not isinstance(crate, dict) or not isinstance(crate.get("@graph"), list):
        yield f"altered: {METADATA_NAME} has no @graph"
        return
    entities: dict[str, Entity] = {
        str(each.get("@id")): each for each in crate["@graph"] if isinstance(each, dict)
    }
    described = {name: each for name, each in entities.items() if "sha256" in each}
    for name in sorted(described.keys() - sizes.keys()):
        yield f"missing, but described in {METADATA_NAME}: {name}"
    for name in sorted(described.keys() & actual.keys()):
        each = described[name]
        if (each["sha256"], each.get("contentSize")) != (actual[name], str(sizes[name])):
            yield f"described differently in {METADATA_NAME}: {name}"
    about = entities.get(METADATA_NAME, {}).get("conformsTo")
    if _ref(CRATE_VERSION) not in (about if isinstance(about, list) else [about]):
        yield f"altered: {METADATA_NAME} does not conform to {CRATE_VERSION}"
