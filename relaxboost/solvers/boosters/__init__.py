"""Published boosting algorithms, one file each, such as `adaboost.py`."""
