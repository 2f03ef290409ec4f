"""Scenarios without a script of their own: study.yaml → arguments of ``tcl/network.tcl``.

``network`` resolves a run: its bottlenecks, flows, background and changes with the values of its
parameters, the resulting arguments and output files, and which parameters had an effect.
"""

from bdpbench.studies.network.defaults import NETWORK_DEFAULTS
from bdpbench.studies.network.randomness import remarks
from bdpbench.studies.network.resolve import Network, network

__all__ = ["NETWORK_DEFAULTS", "Network", "network", "remarks"]
