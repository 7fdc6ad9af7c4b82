"""The C ABI by ctypes. usage: consumer.py libkvwitness.so"""

import ctypes
import sys
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64

library = ctypes.CDLL(sys.argv[1])
library.kvw_apply.argtypes = [POINTER(c_int32), c_int64, c_int64, POINTER(c_int32), c_int64, c_int64, c_int64, c_int64, POINTER(c_int32)]
library.kvw_apply.restype = c_int
library.kvw_last_error.restype = c_char_p

learned = (c_int32 * 4)(0, 5, 9, -1)
context_lens = (c_int32 * 1)(16)
merged = (c_int32 * 4)()
# Over 16 tokens in 4 segments the row misses the last one, whose witness is 12.
assert library.kvw_apply(learned, 4, 4, context_lens, 1, 2, 4, 2, merged) == 0, library.kvw_last_error()
assert list(merged) == [0, 5, 12, -1], list(merged)
assert library.kvw_apply(learned, 3, 4, context_lens, 1, 2, 4, 2, merged) != 0
assert b"learned_len" in library.kvw_last_error(), library.kvw_last_error()
