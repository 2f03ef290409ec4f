"""Scenarios without a script of their own: what study.yaml says → what ``tcl/network.tcl`` gets.

``network`` resolves a run: its bottlenecks, flows, background and changes, with the values of its
parameters, the arguments and output files that follow, and which parameters were of any use.
"""

from bdpbench.studies.network.defaults import NETWORK_DEFAULTS
from bdpbench.studies.network.randomness import remarks
from bdpbench.studies.network.resolve import Network, network

__all__ = ["NETWORK_DEFAULTS", "Network", "network", "remarks"]
