from .comparator import Comparator as Comparator
from .comparator import hindsight as hindsight

__all__: list[str]
