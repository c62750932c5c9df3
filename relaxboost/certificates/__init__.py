"""Certificates: brackets that anyone can check again, without this package."""

from relaxboost.certificates.certificate import Certificate, Verdict, check_certificate
from relaxboost.certificates.emit import certify

__all__ = ["Certificate", "Verdict", "certify", "check_certificate"]
