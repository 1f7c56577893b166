"""
The data elements of WHO PQS E006/DS01 as cce-interop 0.8.1 lists them: which are read, within which bounds, and which
are known and left alone.
"""

from __future__ import annotations

from collections.abc import Mapping

SYSTEM = "WHO PQS E006/DS01"
"""Name under which codes that nobody knows are kept."""
ALARM_SYSTEM = f"{SYSTEM} ALRM"

CODE_TO_BOUNDS: Mapping[str, tuple[float, float]] = {
    "TVC": (-55.0, 60.0),
    "TFRZ": (-99.9, 60.0),
    "TAMB": (-55.0, 60.0),
    "DORV": (0.0, 900.0),
    "DORF": (0.0, 900.0),
    "IDRV": (0.0, 10_000_000.0),
    "IDRF": (0.0, 10_000_000.0),
    "CMPR": (0.0, 900.0),
    "SVA": (0.0, 900.0),
    "HOLD": (0.0, 999.9),
    "DCSV": (0.0, 999.9),
}
"""Numbers that are read: degrees, seconds of the period of 15 minutes, days (HOLD) and volts (DCSV)."""

LOGGER_ID_CODES = ("LSER", "ESER", "AMID", "LID", "EID", "AID", "ASER")
"""What a logger may be called, the most lasting first; the mapping table may name any of them."""

KNOWN_CODES = frozenset(
    (
        *CODE_TO_BOUNDS,
        *LOGGER_ID_CODES,
        *["ABST", "ALRM", "EERR", "LERR", "MSW", "records", "DLST", "meta", "data"],
        *[
            "ACAT",
            "ACCD",
            "ACSV",
            "ADOP",
            "AMFR",
            "AMOD",
            "APQS",
            "BEMD",
            "BLOG",
            "CDAT",
            "CDAT2",
            "CID",
            "CMPR2",
            "CMPS",
            "CMPS2",
            "CNAM",
            "CNAM2",
            "CSER",
            "CSER2",
        ],
        *[
            "CSOF",
            "CSOF2",
            "DCCD",
            "DNAM",
            "DRCF",
            "DRCV",
            "EDOP",
            "EMFR",
            "EMOD",
            "EMSV",
            "EPQS",
            "FANS",
            "FID",
            "FNAM",
            "HAMB",
            "HCOM",
            "LACC",
            "LAT",
            "LDOP",
        ],
        *["LMFR", "LMOD", "LNG", "LPQS", "LSV", "RNAM", "SIGN", "TCON", "TCON2", "TPCB", "TPCB2"],
    )
)
"""Every element of the schema; another one is kept as unknown and shown."""

KNOWN_ALARMS = frozenset({"HEAT", "FRZE", "DOOR", "POWR"})
"""Alarms whose meaning is plain; others are kept and shown all the same, and also as unknown codes."""
