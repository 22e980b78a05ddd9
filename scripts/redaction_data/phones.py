"""What a national number is, by region."""

from __future__ import annotations

from typing import Any


def build() -> dict[str, Any]:
    """``regions``: calling code, trunk prefix and pattern of each; ``calling``: regions by code,
    the main one first.
    """
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, SUPPORTED_REGIONS, PhoneMetadata

    regions = {}
    for name in sorted(SUPPORTED_REGIONS):
        metadata: Any = PhoneMetadata.metadata_for_region(name)
        regions[name] = {
            "code": str(metadata.country_code),
            "trunk": metadata.national_prefix or "",
            "number": metadata.general_desc.national_number_pattern,
        }
    calling = {
        str(code): [name for name in names if name in regions]
        for code, names in sorted(COUNTRY_CODE_TO_REGION_CODE.items())
    }
    return {"format": "gatelink.redaction.phones", "regions": regions, "calling": calling}
