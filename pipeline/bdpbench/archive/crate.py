"""The metadata of an archive: contents and origin, for other programs and for repositories.

``ro-crate-metadata.json`` follows RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) and the Workflow
RO-Crate profile 1.0 (https://w3id.org/workflowhub/workflow-ro-crate/1.0). Checksums are terms of
schema.org.

``datacite.json`` is what a repository asks for that gives an archive a DOI. It follows the DataCite
Metadata Schema 4.5 (https://doi.org/10.14454/g8e5-6293). Its mandatory properties that only the
deposit decides are the DOI, which the repository adds, and the publisher, for which the appendix 3
of the schema has the value ``(:tba)``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

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


# ----------------------------------------------------------------------------------- datacite.json


DEPOSIT_NAME = "datacite.json"


class _Part(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, validate_by_name=True
    )


class _Creator(_Part):
    name: str = Field(min_length=1)
    name_type: Literal["Organizational", "Personal"]


class _Title(_Part):
    title: str = Field(min_length=1)


class _Publisher(_Part):
    name: str = Field(min_length=1)


class _Types(_Part):
    resource_type_general: Literal["Dataset"]
    resource_type: str = Field(min_length=1)


class _Subject(_Part):
    subject: str = Field(min_length=1)


class _Date(_Part):
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}/\d{4}-\d{2}-\d{2}$")
    date_type: Literal["Created"]


class _Rights(_Part):
    rights: str
    rights_uri: str | None = None
    rights_identifier: str
    rights_identifier_scheme: Literal["SPDX"]


class _Description(_Part):
    description: str
    description_type: Literal["Abstract", "TechnicalInfo"]


class _Related(_Part):
    related_identifier: str
    related_identifier_type: Literal["DOI", "URL"]
    relation_type: Literal["References"]


class _Deposit(_Part):
    """The mandatory properties have no default."""

    creators: tuple[_Creator, ...] = Field(min_length=1)
    titles: tuple[_Title, ...] = Field(min_length=1)
    publisher: _Publisher
    publication_year: str = Field(pattern=r"^\d{4}$")
    types: _Types
    schema_version: Literal["http://datacite.org/schema/kernel-4"]
    subjects: tuple[_Subject, ...] = ()
    dates: tuple[_Date, ...] = ()
    language: Literal["en"] = "en"
    related_identifiers: tuple[_Related, ...] = ()
    formats: tuple[str, ...] = ()
    version: str = ""
    rights_list: tuple[_Rights, ...] = ()
    descriptions: tuple[_Description, ...] = ()


def deposit_json(crate: Crate) -> str:
    """The metadata as text."""
    address, licence = LICENCES.get(crate.licence, (None, crate.licence))
    used = "; ".join(f"{each.name} {each.version}" for each in crate.software)
    deposit = _Deposit(
        creators=tuple(
            _Creator(name=each.name, name_type="Personal" if each.is_person else "Organizational")
            for each in crate.authors
        ),
        titles=(_Title(title=crate.name),),
        publisher=_Publisher(name="(:tba)"),
        publication_year=crate.ended[:4],
        types=_Types(resource_type_general="Dataset", resource_type="Simulation results"),
        schema_version="http://datacite.org/schema/kernel-4",
        subjects=tuple(
            _Subject(subject=each)
            for each in ("TCP", "congestion control", "ns-2", "reproducibility")
        ),
        dates=(_Date(date=f"{crate.started[:10]}/{crate.ended[:10]}", date_type="Created"),),
        related_identifiers=tuple(_paper(crate)),
        formats=("application/zip",),
        version=crate.software[0].version,
        rights_list=(
            _Rights(
                rights=licence,
                rights_uri=address,
                rights_identifier=crate.licence,
                rights_identifier_scheme="SPDX",
            ),
        ),
        descriptions=(
            _Description(description=crate.description, description_type="Abstract"),
            _Description(description=f"Made with {used}.", description_type="TechnicalInfo"),
        ),
    )
    return deposit.model_dump_json(by_alias=True, exclude_none=True, indent=1) + "\n"


def _paper(crate: Crate) -> Iterator[_Related]:
    """The paper that is reproduced, if it can be found by a DOI or an address."""
    paper = crate.citation
    if paper is not None and (paper.doi or paper.url):
        kind: Literal["DOI", "URL"] = "DOI" if paper.doi else "URL"
        yield _Related(
            related_identifier=paper.doi or paper.url or "",
            related_identifier_type=kind,
            relation_type="References",
        )


def deposit_problems(content: bytes) -> Iterator[str]:
    """What a repository would refuse, and what this module does not write."""
    try:
        _Deposit.model_validate_json(content)
    except ValidationError as error:
        for each in error.errors():
            place = ".".join(map(str, each["loc"])) or "content"
            yield f"altered: {DEPOSIT_NAME}: {place}: {each['msg']}"
