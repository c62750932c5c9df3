from .certificate import Certificate as Certificate
from .certificate import Verdict as Verdict
from .certificate import check_certificate as check_certificate
from .exact.optimum import ExactOptimum as ExactOptimum
from .exact.optimum import NotClosed as NotClosed
from .exact.optimum import exact_optimum as exact_optimum
from .exact.optimum import exact_value as exact_value
from .proof import certify as certify
