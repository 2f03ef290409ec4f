"""The references under ``docs/reference/``, generated from what they describe."""
