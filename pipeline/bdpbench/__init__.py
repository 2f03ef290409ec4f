"""bdpbench reproduces the classic studies of TCP on high bandwidth-delay-product paths.

For scripts and notebooks (``docs/python.md``):

>>> import bdpbench
>>> tier = bdpbench.study("mystudy").tier("quick")                               # doctest: +SKIP
>>> tier.simulate()                                                           # doctest: +SKIP
>>> tier.metrics().filter(metric="goodput")                                   # doctest: +SKIP
"""

from __future__ import annotations

__version__ = "0.3.0"

__all__ = ["BdpbenchError", "Study", "Tier", "__version__", "list_studies", "published", "study"]

# Type checkers treat this name as typing.TYPE_CHECKING; importing typing would take longer than
# everything else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from bdpbench.errors import BdpbenchError
    from bdpbench.interface import Study, Tier, list_studies, published, study
else:

    def __getattr__(name):
        """Import a name when it is first used, so that the command line starts without polars."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        room = "errors" if name == "BdpbenchError" else "interface"
        return getattr(import_module(f"{__name__}.{room}"), name)

    def __dir__():
        return __all__
