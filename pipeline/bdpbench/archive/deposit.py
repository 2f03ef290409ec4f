"""``datacite.json``: what a repository that gives an archive a DOI asks for.

It follows the DataCite Metadata Schema 4.5 (https://doi.org/10.14454/g8e5-6293). Its mandatory
properties that only the deposit decides are the DOI, which the repository adds, and the publisher,
for which the schema's appendix 3 has the value ``(:tba)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from bdpbench.archive.crate import LICENCES, Crate

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
