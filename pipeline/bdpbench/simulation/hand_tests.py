"""``test.yaml`` of a folder: values by hand, checked before anything is simulated.

A program made of the folder's code and a driver of ours reads what happens, line by line, and
answers in lines that begin with ``>``, the last of which is ``> end``.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, RootModel, model_validator

from bdpbench.contracts.files import sha256_of, write_text_atomically
from bdpbench.contracts.yaml_files import Location, Strict, VariableName, YamlFile, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import libraries_dir
from bdpbench.simulation.libraries import compile_code
from bdpbench.studies.component_folders import ComponentFolder

TEST_NAME = "test.yaml"
_TIMEOUT_S = 60.0


class HandTest(Strict):
    """What all tests have.

    Attributes:
        name: what is tested.
        parameters: values of the folder's parameters that differ from their defaults.
    """

    name: Annotated[str, Field(min_length=1)]
    parameters: dict[VariableName, float] = Field(default_factory=dict)


CheckT = TypeVar("CheckT", bound=HandTest)
TestsT = TypeVar("TestsT")


class Checks(RootModel[list[CheckT]]):
    """Content of ``test.yaml``."""

    @model_validator(mode="after")
    def _has_some(self) -> Checks[CheckT]:
        if not self.root:
            raise ValueError("expected at least one test")
        return self


def check_once(
    folder: ComponentFolder, read: Callable[[], TestsT], check: Callable[[TestsT], None]
) -> None:
    """Read the tests of a folder and check them, unless just these have passed with this code.

    The code is the folder's, by its name, and ours that checks it.
    """
    path = folder.path / TEST_NAME
    if not os.path.lexists(path):
        return
    tests = read()
    # Tests without a value of their own run with the defaults of the YAML file.
    defaults = sorted((key, each.default) for key, each in folder.file.variables.items())
    fixed = sorted(folder.fixed.items())
    checking = [sha256_of(each) for each in sorted(Path(__file__).parent.glob("*_tests.py"))]
    checking += [sha256_of(each) for each in sorted(Path(__file__).parent.glob("check_*"))]
    stated = f"{sha256_of(path)} {defaults} {fixed} {checking}"
    tested = hashlib.sha256(stated.encode()).hexdigest()
    passed = libraries_dir() / f"{folder.name}-{tested[:16]}.passed"
    if not passed.is_file():
        check(tests)
        write_text_atomically(passed, "")


def read_tests(
    folder: ComponentFolder, content: type[Checks[CheckT]]
) -> tuple[YamlFile, list[CheckT]]:
    """The tests of a folder, and the file that has their lines.

    Raises:
        BdpbenchError: naming file and line of an unknown name or a wrong value.
    """
    source = YamlFile(folder.path / TEST_NAME)
    tests = source.validate(content).root
    for index, each in enumerate(tests):
        _check_parameters(source, (index, "parameters"), each.parameters, folder)
    return source, tests


def _check_parameters(
    source: YamlFile, place: Location, given: Mapping[str, float], folder: ComponentFolder
) -> None:
    """Refuse values of parameters that a folder does not have, or outside their range."""
    variables = folder.file.variables
    for name, value in given.items():
        parameter = variables.get(name)
        if parameter is None:
            raise source.error((*place, name), "unknown parameter", hint=suggest(name, variables))
        if parameter.problem(value):
            raise source.error((*place, name), parameter.problem(value))


def sets(values: Mapping[str, float]) -> Iterator[str]:
    """The lines that give a driver values by their names."""
    return (f"set {name} {value!r}" for name, value in values.items())


def answers(folder: ComponentFolder, driver: str, lines: Sequence[str]) -> list[str]:
    """What a driver, a header beside this file, answers with the code of a folder.

    Raises:
        BdpbenchError: when the code does not compile with it, or when the program fails or does not
            end.
    """
    made_in = libraries_dir()
    made_in.resolve().mkdir(parents=True, exist_ok=True)
    # Programs in the system's folder for temporary files may not be executed.
    with tempfile.TemporaryDirectory(dir=made_in.resolve()) as scratch:
        main, program = Path(scratch, "check.cc"), Path(scratch, "check")
        included = (folder.path / folder.code_name, Path(__file__).with_name(driver))
        main.write_text("".join(f'#include "{each}"\n' for each in included))
        others = [
            each for each in folder.code if each.suffix == ".cc" and each.name != folder.code_name
        ]
        compile_code(folder, [main, *others], program, shared=False)
        try:
            done = subprocess.run(
                [str(program)],
                input="\n".join(lines),
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise _does_not_end(folder, "do not end within a minute") from None
    told = [line[2:] for line in done.stdout.splitlines() if line.startswith("> ")]
    if done.returncode != 0 or told[-1:] != ["end"]:
        raise _does_not_end(folder, f"end with status {done.returncode} before the last one")
    return told[:-1]


def _does_not_end(folder: ComponentFolder, how: str) -> BdpbenchError:
    said = f"the {folder.kind}'s tests {how}"
    return BdpbenchError(said, where=str(folder.path / TEST_NAME))
