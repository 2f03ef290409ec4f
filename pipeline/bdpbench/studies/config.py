"""``config/config.yaml``: what a run does where the command line says nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.studies.study import TierName
from bdpbench.studies.vocabulary import Strict

BackendName = Literal["auto", "docker", "native"]


class DockerConfig(Strict):
    """How the Docker backend builds and runs ns-2."""

    build_options: list[str] = Field(
        default_factory=list, description="Further options of docker build, one item each"
    )


class Config(Strict):
    """The whole of ``config/config.yaml``."""

    schema_version: Literal[1]
    study: str = Field(description="Study that `bdpbench run` runs")
    tier: TierName = Field(description="Tier that it runs: quick, paper or full")
    backend: BackendName = Field(
        description="Where ns-2 runs; auto takes Docker where an engine answers"
    )
    jobs: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(
        description="Simulations at once; auto takes one a core"
    )
    results: str = Field(description="Folder of runs and reports, relative to the checkout")
    docker: DockerConfig = Field(default_factory=DockerConfig)


def load_config() -> Config:
    """Read and check ``config/config.yaml``.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    return YamlFile(config_dir() / "config.yaml").validate(Config)
