"""Claims for readers: reports, the page of the documentation, pictures."""
