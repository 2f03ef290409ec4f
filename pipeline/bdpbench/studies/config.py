"""``config/config.yaml``: the settings of a run that the command line does not give."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.yaml_files import Strict, YamlFile

TierName = Literal["quick", "paper", "full"]
BackendName = Literal["auto", "docker", "native"]
VariantName = Literal["fast", "stock"]


class DockerConfig(Strict):
    """How the Docker backend builds and runs ns-2."""

    build_options: list[str] = Field(
        default_factory=list, description="Further options of docker build, one item each"
    )


class Config(Strict):
    """The content of ``config/config.yaml``."""

    schema_version: Literal[1]
    study: str = Field(description="Study that `bdpbench run` runs")
    tier: TierName = Field(description="Tier that it runs: quick, paper or full")
    backend: BackendName = Field(
        description="Where ns-2 runs; auto: what is built, else native, or docker where no "
        "compiler can be had"
    )
    ns2_variant: VariantName = Field(
        "fast",
        description="The ns-2 that runs use: fast, or stock, without what makes ns-2 faster. Both "
        "write the same bytes. Docker images contain only fast",
    )
    jobs: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(
        description="Simulations at once; auto: one for each core"
    )
    results: str = Field(
        description="Folder of runs and reports, relative to the checkout, or to the current "
        "folder if bdpbench was installed with pip"
    )
    docker: DockerConfig = Field(default_factory=DockerConfig)


def load_config() -> Config:
    """Read and check ``config/config.yaml``.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    file = YamlFile(config_dir() / "config.yaml")
    if isinstance(file.data, dict) and "slurm" in file.data:
        hint = "options of Slurm are keys of a Snakemake profile now, as docs/clusters.md says"
        raise file.error(("slurm",), "this key is gone", hint=hint)
    return file.validate(Config)
