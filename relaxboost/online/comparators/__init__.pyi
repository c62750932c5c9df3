from .hindsight import Comparator as Comparator
from .hindsight import hindsight as hindsight

__all__: list[str]
