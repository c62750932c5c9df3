"""Compiled rounds of online learning.

Each compiled function has an uncompiled counterpart in the proxies, losses or learners.
"""
