"""Mathematics that several sources share. The modules that check claims do not use this folder."""
