"""Where ns-2 runs: on this machine, or in a container of the image that the Dockerfile builds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bdpbench.contracts.paths import repository_root, tcl_dir
from bdpbench.contracts.runs import BuildFacts
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run
from bdpbench.simulation.build import (
    NS2_LOCALE,
    can_be_built,
    check_binary,
    find_build,
    libraries_dir,
    link_libraries,
    loads_libraries,
    require_build,
    run_build_script,
    variant_of_runs,
)

ENGINE_TIMEOUT_S = 10
# Time limit, s: a storage driver without layers copies the whole image to start a container.
CONTAINER_TIMEOUT_S = 120.0
IMAGE_NAME = "bdpbench-ns2"
IMAGE_VARIANT = "fast"
# Paths inside the image; the Dockerfile's stage `ns2` puts the build there.
IMAGE_NS = "/opt/bdpbench/.bdpbench/ns2/current/ns"
IMAGE_INFO = "/opt/bdpbench/.bdpbench/ns2/current/ns-bdpbench.json"
IMAGE_TCL = "/opt/bdpbench/tcl"
IMAGE_STUDY_TCL = "/opt/bdpbench/study/tcl"
IMAGE_RUN = "/run/bdpbench"
ISOLATION = ("--network", "none", "--read-only", "--tmpfs", "/tmp")  # noqa: S108
IMAGE_LIBRARIES = "/opt/bdpbench/libraries"
TCL_VARIABLE = "BDPBENCH_TCL"
"""Environment variable by which a script finds the checkout's ``tcl/``."""

# Many distributions give large pages on request alone.
_TUNING, _LARGE_PAGES = "GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"


@dataclass(frozen=True)
class Command:
    """How to start ns-2: the words of the command, and additional environment variables."""

    words: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NativeBackend:
    """ns-2 built on this machine by ``ns2/build.sh``.

    ``build_id`` is that of the variant; None is the variant that runs use.
    """

    build_id: str
    variant: str | None = None
    name: str = "native"

    def build(self, source: Path | None = None) -> None:
        """Build the ns-2 of this checkout, or find the existing build."""
        with suppress(BdpbenchError):  # a damaged build is made again
            if self.is_built():
                return
        given = ["--source", str(source)] if source is not None else []
        variant = self.variant or variant_of_runs()
        run_build_script(["--variant", variant, "--install-deps", *given])

    def is_built(self) -> bool:
        """Whether the build of this checkout exists.

        Raises:
            BdpbenchError: when its binary is not the one that was built.
        """
        return find_build(self.build_id) is not None

    def command(self, run_dir: Path, script: Path, argv: Sequence[str]) -> Command:
        """How to run ``script``, an absolute path, with ``run_dir`` as its working directory.

        The script may source files of the ``tcl`` folder that contains it, and of the checkout's,
        which ``BDPBENCH_TCL`` names.
        """
        binary = require_build(self.build_id).binary
        tuning = {_TUNING: os.environ.get(_TUNING, _LARGE_PAGES)}
        variables = {TCL_VARIABLE: str(tcl_dir()), **tuning, **NS2_LOCALE}
        if names := loads_libraries(argv):
            variables |= link_libraries(names, run_dir)
        return Command((str(binary), str(script), *argv), variables)

    def info(self) -> BuildFacts:
        """The facts that the build recorded."""
        return require_build(self.build_id).info


@dataclass(frozen=True)
class DockerBackend:
    """The same in a container, without network, as the user who started the run."""

    build_id: str
    build_options: tuple[str, ...] = ()
    name: str = "docker"

    @property
    def image(self) -> str:
        return f"{IMAGE_NAME}:{self.build_id}"

    def build(self, source: Path | None = None) -> None:
        if source is not None:
            raise BdpbenchError(
                "an archive of your own goes into the image by a build option",
                where="--source",
                hint="use --backend native, or copy it into ns2/ before docker build",
            )
        if self.is_built():
            return
        label = f"org.opencontainers.image.version={self.build_id}"
        command = ["docker", "build", "--target", "ns2", "--label", label, "-t", self.image]
        done = subprocess.run([*command, *self.build_options, str(repository_root())], check=False)
        if done.returncode != 0:
            raise BdpbenchError(
                "the image of ns-2 could not be built, see the message above",
                where="docker build",
                hint="`--backend native` builds ns-2 on this machine instead",
            )

    def is_built(self) -> bool:
        return _docker(["image", "inspect", self.image]) is not None

    def command(self, run_dir: Path, script: Path, argv: Sequence[str]) -> Command:
        mounts = [f"{run_dir}:{IMAGE_RUN}", f"{tcl_dir()}:{IMAGE_TCL}:ro"]
        if script.is_relative_to(tcl_dir()):
            inside = Path(IMAGE_TCL, script.relative_to(tcl_dir()))
        else:
            folder = next((each for each in script.parents if each.name == "tcl"), script.parent)
            mounts.append(f"{folder}:{IMAGE_STUDY_TCL}:ro")
            inside = Path(IMAGE_STUDY_TCL, script.relative_to(folder))
        variables = {TCL_VARIABLE: IMAGE_TCL, _TUNING: os.environ.get(_TUNING, _LARGE_PAGES)}
        if names := loads_libraries(argv):
            mounts.append(f"{libraries_dir()}:{IMAGE_LIBRARIES}:ro")
            variables |= link_libraries(names, run_dir, IMAGE_LIBRARIES)
        return Command(
            (
                *("docker", "run", "--rm", "--init", *ISOLATION),
                *("--user", f"{os.getuid()}:{os.getgid()}", "--workdir", IMAGE_RUN),
                *(word for mount in mounts for word in ("--volume", mount)),
                *(word for each in variables.items() for word in ("--env", "=".join(each))),
                *(self.info()["image_id"], IMAGE_NS, str(inside), *argv),
            )
        )

    def info(self) -> BuildFacts:
        return _facts_of(self.image)


@cache
def _facts_of(image: str) -> BuildFacts:
    """The facts of the build in an image, whose binary is checked.

    They contain the id of the image, a checksum of its content, by which it is run.
    """
    found = _docker(["image", "inspect", "--format", "{{.Id}}", image])
    if found is None:
        hint = "run `./bdpbench ns2 build --backend docker` first"
        raise BdpbenchError(f"image {image} is not there", hint=hint)
    asked = [*("run", "--rm", *ISOLATION, found.strip(), "sh", "-c"), 'sha256sum "$0"; cat "$1"']
    text = _docker([*asked, IMAGE_NS, IMAGE_INFO], CONTAINER_TIMEOUT_S)
    if text is None:
        raise BdpbenchError(f"image {image} does not answer", where="docker run")
    checksum, _, facts = text.partition("\n")
    info: BuildFacts = json.loads(facts)
    check_binary(checksum.split()[0], info, f"image {image}")
    return {**info, "image_id": found.strip()}


Backend = NativeBackend | DockerBackend
"""A place where ns-2 can be built and run."""


def named_backend(name: str, build_id: str) -> Backend:
    """The backend ``docker`` or ``native`` with a build of this checkout that runs use."""
    return DockerBackend(build_id) if name == "docker" else NativeBackend(build_id)


def choose_backend(
    wanted: str, build_id: str, build_options: Sequence[str] = (), variant: str = IMAGE_VARIANT
) -> Backend:
    """The backend that ``auto``, ``docker`` or ``native`` means on this machine.

    ``build_id`` is that of ``variant``. Images contain only ``fast``, so ``auto`` means ``native``
    for other variants; else it means what is ready, or ``docker`` if ns-2 cannot be built here.

    Raises:
        BdpbenchError: when Docker is requested and no engine answers, when its image does not
            contain the variant, or when a binary is not the one that was built.
    """
    native, docker = NativeBackend(build_id, variant), DockerBackend(build_id, tuple(build_options))
    if wanted == "docker":
        if variant != IMAGE_VARIANT:
            raise BdpbenchError(
                f"the image of ns-2 contains the variant {IMAGE_VARIANT}, not {variant}",
                where="backend: docker",
                hint=f"use `--backend native`, or the variant {IMAGE_VARIANT}",
            )
        if not docker_answers():
            raise BdpbenchError(
                "no Docker engine answers",
                where="backend: docker",
                hint="start Docker, or use `--backend native`",
            )
        return docker
    if wanted == "native" or variant != IMAGE_VARIANT or native.is_built():
        return native
    if docker.is_built() or (not can_be_built() and docker_answers()):
        return docker
    return native


def docker_answers() -> bool:
    """Whether there is a Docker client here whose engine answers."""
    return shutil.which("docker") is not None and _docker(["version"]) is not None


def _docker(arguments: Sequence[str], timeout_s: float = ENGINE_TIMEOUT_S) -> str | None:
    """Standard output of a docker command, or None if it fails or does not answer."""
    try:
        done = run(["docker", *arguments], timeout_s)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
