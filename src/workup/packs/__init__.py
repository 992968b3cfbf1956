"""Site packs: the evidence of one hospital as aggregates that may leave it, small counts kept back. Knows no rows."""

from workup.packs.pack import PACK_VERSION, make_pack
from workup.packs.reading import Pack, check_together, read_pack
from workup.packs.signing import read_key

__all__ = ["PACK_VERSION", "Pack", "check_together", "make_pack", "read_key", "read_pack"]
