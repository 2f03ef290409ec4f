"""Which rows of a trace a query wants, and the parser in C told of it as it is found out."""

from __future__ import annotations

import polars as pl

from bdpbench.trace.native import KIND_COLUMNS, MOST_KINDS, Kinds


class RowFilter:
    """A predicate over the values of a row, which polars alone decides.

    A kind of rows is what they have in the columns that the predicate looks at. What it says of a
    kind is remembered, so that the parser leaves out such rows of later chunks as it does not want:
    there are few links, flows and events, and many rows.

    Args:
        predicate: an expression over the values of a row; true for the rows that are wanted.
    """

    def __init__(self, predicate: pl.Expr) -> None:
        self._predicate = predicate
        names = set(predicate.meta.root_names())
        self._columns = [name for name in KIND_COLUMNS if name in names]
        self._learns = bool(names) and names <= set(KIND_COLUMNS)
        self._known: dict[tuple[int, ...], bool] = {}
        self.kinds: Kinds | None = None
        """What the parser can be told; None where it can be told nothing."""

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a frame that are wanted."""
        return frame.filter(self._predicate)

    def learn(self, frame: pl.DataFrame) -> None:
        """Find out which kinds of rows of wired lines are wanted."""
        if not self._learns or frame.is_empty():
            return
        found = frame.select(self._columns).unique().with_columns(_wanted=self._predicate)
        codes = found.select(
            pl.col("event").to_physical().cast(pl.Int32) if name == "event" else name
            for name in self._columns
        )
        wanted = found["_wanted"].fill_null(value=False)
        known = self._known | dict(zip(codes.iter_rows(), wanted, strict=True))
        if len(known) > MOST_KINDS:
            self._learns = False
            return
        # Threads may learn at the same time: what one does not keep it is told again.
        self._known, self.kinds = known, Kinds(self._columns, known)
