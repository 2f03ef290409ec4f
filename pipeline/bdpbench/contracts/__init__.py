"""The documents that the rooms exchange, and where they are stored."""
