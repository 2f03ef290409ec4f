"""Which rows of a trace a query wants; the parser in C learns it on the way."""

from __future__ import annotations

import polars as pl

from bdpbench.trace.native import KIND_COLUMNS, MOST_KINDS, Kinds


class RowFilter:
    """A predicate over the values of a row, which only polars evaluates.

    Rows with the same values in the columns of the predicate are of one kind. The result for a kind
    is remembered, so that the parser can drop unwanted rows of later chunks: there are few links,
    flows and events, but many rows.

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
        """What is passed to the parser; None if the predicate needs other columns."""

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The wanted rows of a frame."""
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
        # Threads may learn at the same time: a result that is lost is found again.
        self._known, self.kinds = known, Kinds(self._columns, known)
