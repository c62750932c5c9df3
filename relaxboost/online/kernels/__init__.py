"""Compiled rounds of online learning, for the entropy, the squared norm and the named losses.

The classes of proxies, losses and learners contain an uncompiled counterpart of each function.
"""
