"""Make a bank of detectors from a name, settings or a detector."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from river import base

from marlene._common.errors import MarleneError
from marlene.drift._adwin import ADWINBank
from marlene.drift._balanced import BalancedBank
from marlene.drift._bank import ArrayBank, DetectorBank
from marlene.drift._ddm import DDMBank
from marlene.drift._ddm_oci import DDMOCIBank
from marlene.drift._policies import NoneBank, OracleBank
from marlene.drift._river import RiverBank
from marlene.drift._single import SingleDetector

if TYPE_CHECKING:
    DetectorSpec = str | DetectorBank | Mapping[str, Any] | base.DriftDetector | base.BinaryDriftDetector | None

DETECTOR_BANKS: dict[str, type[ArrayBank[Any, Any]]] = {
    bank.name: bank for bank in (BalancedBank, DDMOCIBank, DDMBank, ADWINBank, NoneBank, OracleBank)
}
"""The banks that have a name and can be saved, by name."""


def make_bank(spec: DetectorSpec) -> DetectorBank:
    """Return an empty bank of drift detectors.

    Parameters
    ----------
    spec
        One of:

        - a name in `DETECTOR_BANKS` ("balanced", "ddm-oci", "ddm", "adwin", "none", "oracle"; None is "none");
        - the `settings` of a bank;
        - a bank, whose settings are taken over;
        - a drift detector of River or of this package.

    Examples
    --------
    >>> make_bank("adwin")
    <ADWINBank(delta=0.002) of 0 detectors>
    >>> make_bank({"name": "ddm", "drift": 4})
    <DDMBank(minimum=30, warning=2.0, drift=4.0) of 0 detectors>
    >>> make_bank(DDMOCIBank(strict=False)).settings()["strict"]
    False
    >>> make_bank("dmm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: no drift detector is called 'dmm'; there are balanced, ddm-oci, ...
    """
    if spec is None:
        return NoneBank()
    if isinstance(spec, DetectorBank):
        return spec.clone()
    if isinstance(spec, str):
        return _named(spec, {})
    if isinstance(spec, Mapping):
        return _named(spec.get("name"), {name: value for name, value in spec.items() if name != "name"})
    if isinstance(spec, SingleDetector):
        return spec.bank()
    if isinstance(spec, base.DriftDetector | base.BinaryDriftDetector):
        return RiverBank(spec)
    raise MarleneError(f"expected the name of a drift detector, a bank or a drift detector of River, not {spec!r}")


def _named(name: object, settings: Mapping[str, Any]) -> DetectorBank:
    if not isinstance(name, str) or name not in DETECTOR_BANKS:
        raise MarleneError(f"no drift detector is called {name!r}; there are {', '.join(DETECTOR_BANKS)}")
    bank_type = DETECTOR_BANKS[name]
    known = inspect.signature(bank_type).parameters
    for setting in settings:
        if setting not in known:
            raise MarleneError(f"{name} has no setting {setting!r}; it has {', '.join(known) or 'none'}")
    return bank_type(**settings)
