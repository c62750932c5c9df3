"""The best weights in hindsight, which minimise the cumulative loss over a domain."""
