"""The boosters of the literature, one file each, under the name that the literature uses."""
