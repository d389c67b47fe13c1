"""Drift detectors, many at a time: banks, and single ones in River's interface."""

from marlene.drift._adwin import ADWIN, ADWINBank
from marlene.drift._balanced import Balanced, BalancedBank
from marlene.drift._bank import DRIFT, IN_CONTROL, WARNING, DetectorBank
from marlene.drift._ddm import DDM, DDMBank
from marlene.drift._ddm_oci import DDMOCI, DDMOCIBank
from marlene.drift._make import DETECTOR_BANKS, make_bank
from marlene.drift._policies import NoneBank, OracleBank
from marlene.drift._river import RiverBank

__all__ = [
    "ADWIN",
    "DDM",
    "DDMOCI",
    "DETECTOR_BANKS",
    "DRIFT",
    "IN_CONTROL",
    "WARNING",
    "ADWINBank",
    "Balanced",
    "BalancedBank",
    "DDMBank",
    "DDMOCIBank",
    "DetectorBank",
    "NoneBank",
    "OracleBank",
    "RiverBank",
    "make_bank",
]
