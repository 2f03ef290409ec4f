"""The report of an evaluation, which answers first, and its tables and figures as files."""
