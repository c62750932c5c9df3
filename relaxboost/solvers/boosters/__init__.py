"""Published boosting algorithms. Each file is named after its algorithm, such as `adaboost.py`."""
