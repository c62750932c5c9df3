"""Compiled rounds of online learning, for the entropy, the squared norm and the named losses.

Each compiled function has an uncompiled counterpart in the classes of proxies, losses or learners.
"""
