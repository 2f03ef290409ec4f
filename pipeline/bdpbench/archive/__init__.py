"""Archives of results: a zip with equal bytes for equal results, how it is checked and compared."""
