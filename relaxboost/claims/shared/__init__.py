"""Mathematics that several sources use. The modules that run the checks do not use this folder."""
