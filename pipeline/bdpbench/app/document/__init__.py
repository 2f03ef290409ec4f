"""The references under ``docs/reference/``, made of what they describe, never by hand."""
