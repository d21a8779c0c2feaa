"""The checksum of a plan.json, for tests that change one in the way in which another machine would have written it."""

import ctypes

KEY = ',\n"checksum": '


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def with_checksum(text: str) -> str:
    """The text of a plan.json with the checksum of what stands before it (XXH3-128, its first 12 digits)."""
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_128bits.restype = Hash128
    library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    covered = text[:text.rindex(KEY)]
    found = library.XXH3_128bits(covered.encode(), len(covered.encode()))
    return f'{covered}{KEY}"{f"{found.high:016x}{found.low:016x}"[:12]}"\n}}\n'
