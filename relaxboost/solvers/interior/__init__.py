"""An interior point method for games whose optimum uses many columns."""
