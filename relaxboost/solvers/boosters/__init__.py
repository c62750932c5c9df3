"""Published boosting algorithms. A file has the name of its algorithm, such as `adaboost.py`."""
