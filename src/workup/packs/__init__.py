"""Site packs: the evidence of one hospital as aggregates that may leave it, small counts withheld."""

from workup.packs.compatible import check_together
from workup.packs.load import Pack, read_pack
from workup.packs.pack import PACK_VERSION, make_next_pack, make_pack, says_overlaps
from workup.packs.received_packs import Seen
from workup.packs.sent_packs import SiteLedger
from workup.packs.site_keys import SiteKeys
from workup.signing import make_key_pair, read_key

__all__ = [
    "PACK_VERSION",
    "Pack",
    "Seen",
    "SiteKeys",
    "SiteLedger",
    "check_together",
    "make_key_pair",
    "make_next_pack",
    "make_pack",
    "read_key",
    "read_pack",
    "says_overlaps",
]
