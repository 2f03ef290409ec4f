"""Checks: ns-2's own suite, a tier's scorecard, bdpbench's tests."""
