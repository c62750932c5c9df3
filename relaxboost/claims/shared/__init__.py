"""Mathematics that several sources share. The modules that run checks do not use it."""
