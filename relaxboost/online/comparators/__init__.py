"""The best fixed weights in hindsight."""
