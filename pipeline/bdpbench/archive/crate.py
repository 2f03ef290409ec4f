"""``ro-crate-metadata.json``: contents and origin of an archive, for other programs.

It follows RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) and the Workflow RO-Crate profile 1.0
(https://w3id.org/workflowhub/workflow-ro-crate/1.0).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.yaml_files import YamlFile

if TYPE_CHECKING:
    from bdpbench.studies.study import Citation

METADATA_NAME = "ro-crate-metadata.json"
WORKFLOW = "source/Snakefile"
"""Its rules simulate and measure."""

_Entity: TypeAlias = dict[str, object]
"""A node of the graph, with terms of RO-Crate."""

_CRATE = "https://w3id.org/ro/crate/1.1"
_PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
_SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"


def crate_json(
    entries: Mapping[str, bytes],
    *,
    name: str,
    description: str,
    date: str,
    paper: Citation | None = None,
) -> bytes:
    """Content of the file; authors and licence are those of ``CITATION.cff``.

    Args:
        entries: path → content, of every file except this one and the manifest.
        name: name of the archive.
        description: what it shows.
        date: day on which the last simulation ended, ISO 8601.
        paper: the paper that is reproduced.
    """
    cited = YamlFile(repository_root() / "CITATION.cff").data
    licence = f"https://spdx.org/licenses/{cited['license']}"
    authors: list[_Entity] = [
        {"@id": f"#author-{number}", "@type": "Organization", "name": each["name"]}
        if "name" in each
        else {
            "@id": f"#author-{number}",
            "@type": "Person",
            "name": f"{each['given-names']} {each['family-names']}",
        }
        for number, each in enumerate(cited["authors"], start=1)
    ]
    files: dict[str, _Entity] = {
        path: {"@id": path, "@type": "File", "contentSize": str(len(entries[path]))}
        for path in sorted(entries)
    }
    files[WORKFLOW] |= {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "build ns-2, simulate, parse, measure, score, report",
        "programmingLanguage": {"@id": _SNAKEMAKE},
    }
    root: _Entity = {
        "@id": "./",
        "@type": "Dataset",
        "name": name,
        "description": description,
        "datePublished": date,
        "license": {"@id": licence},
        "author": [{"@id": each["@id"]} for each in authors],
        "mainEntity": {"@id": WORKFLOW},
        "hasPart": [{"@id": path} for path in files],
    }
    descriptor = {
        "@id": METADATA_NAME,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": [{"@id": _CRATE}, {"@id": _PROFILE}],
    }
    others: list[_Entity] = [
        {"@id": licence, "@type": "CreativeWork", "name": cited["license"]},
        {
            "@id": _SNAKEMAKE,
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
            "url": {"@id": "https://snakemake.readthedocs.io"},
        },
    ]
    if paper is not None:
        article = f"https://doi.org/{paper.doi}" if paper.doi else paper.url or "#paper"
        others.append({"@id": article, "@type": "ScholarlyArticle", "name": paper.title})
        root["citation"] = {"@id": article}
    graph = [descriptor, root, *files.values(), *authors, *others]
    content = {"@context": f"{_CRATE}/context", "@graph": graph}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
