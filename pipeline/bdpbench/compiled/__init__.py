"""The pipeline's C code: compiled at first use, loaded by ctypes, sharing columns with polars."""

from __future__ import annotations

from bdpbench.compiled.arrow import ArrowArray, chars, series_of, stream_of
from bdpbench.compiled.libraries import library_path, load_library

__all__ = ["ArrowArray", "chars", "library_path", "load_library", "series_of", "stream_of"]
