"""The values of a run's parameters, which remember which of them were used."""

from __future__ import annotations

from typing import TypeVar

from bdpbench.contracts.plan import Parameters, Scalar
from bdpbench.contracts.yaml_files import Location
from bdpbench.studies.flows import referenced, value_of
from bdpbench.studies.network.defaults import NETWORK_DEFAULTS
from bdpbench.studies.study import Study
from bdpbench.studies.vocabulary import Strict

Part = TypeVar("Part", bound=Strict)


class Values:
    """Parameters of a run.

    Attributes:
        study: the study of the run.
        scenario: key of its scenario.
        parameters: name → value.
        used: parameters that were looked up, so that they have an effect.
    """

    def __init__(self, study: Study, scenario: str, parameters: Parameters) -> None:
        self.study, self.scenario = study, scenario
        self.parameters = parameters
        self.used: set[str] = set()

    def has(self, name: str) -> bool:
        """Whether the run has a parameter; asking does not count as use."""
        return name in self.parameters

    def get(self, name: str) -> Scalar | None:
        """A parameter, or a fallback if the run does not have it."""
        self.used.add(name)
        return self.parameters.get(name, NETWORK_DEFAULTS.get(name))

    def number(self, name: str, meaning: str) -> float:
        """A parameter that is a number.

        Raises:
            BdpbenchError: when the run does not have it, saying where it could be set.
        """
        value = self.get(name)
        if value is None:
            topology = self.study.scenarios[self.scenario].topology
            raise self.study.error(
                ("scenarios", self.scenario, "topology"),
                f"{name}, {meaning}, has no value",
                hint=f"set it under topologies.{topology}.parameters, or in the scenario",
            )
        return float(value)

    def optional(self, name: str) -> float | None:
        """A numeric parameter; None if the run does not have it."""
        value = self.get(name)
        return None if value is None else float(value)

    def of(self, value: Scalar, location: Location) -> Scalar:
        """A value, or that of the parameter that it refers to.

        Raises:
            BdpbenchError: when the run has no such parameter.
        """
        name = referenced(value)
        if name is None:
            return value
        self.used.add(name)
        return value_of(self.study, value, self.parameters, location)

    def settled(self, part: Part, location: Location) -> Part:
        """A part of the study with values in place of the parameters that it names.

        Raises:
            BdpbenchError: when the run has no such parameter, or its value is out of range.
        """
        values = part.model_dump(exclude_unset=True)
        changed = {name: self._inside(value, (*location, name)) for name, value in values.items()}
        if changed == values:
            return part
        return self.study.settled(part, changed, location)

    def _inside(self, value: object, location: Location) -> object:
        if isinstance(value, dict):
            return {name: self._inside(each, (*location, name)) for name, each in value.items()}
        if isinstance(value, list):
            return [self._inside(each, (*location, i)) for i, each in enumerate(value)]
        if isinstance(value, str):
            found = self.of(value, location)
            whole = isinstance(found, float) and found.is_integer()
            return int(found) if whole else found
        return value
