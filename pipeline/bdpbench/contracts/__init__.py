"""What the rooms agree on: the documents that they hand to one another, and where these lie."""
