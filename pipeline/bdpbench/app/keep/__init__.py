"""Keeping results: publish, archive, export, compare."""
