"""Compiled rounds of online learning, for the entropy, the squared norm and the named losses.

`vectors` contains loops over the entries of a vector. `entropy` and `squared` contain the mirror
maps of the two proxies, `slopes` contains the losses, and `rounds` contains the rounds. Each
compiled function has an uncompiled counterpart in the class of the proxy, loss or learner.
"""
