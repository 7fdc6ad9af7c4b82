"""Proves by a solver of nonlinear integer arithmetic that every replacement of a division in segments.h is exact over the whole range that its
comment claims: all lengths, all segment counts, all tokens.

A floor is an integer with its remainder: M = floor(2^k * n / L) + 1 is M * L = 2^k * n + e with 1 <= e <= L, and the segment q of x is
x * n = q * L + r with 0 <= r < L. A claim is put to the solver as its negation; `unsat` proves it. The controls take one condition of a proof away
and must be refuted.

Usage: reciprocal_proofs.py; exit status 0 proved, 1 not, 77 no solver here (z3).
"""

import sys

from solver import NO_SOLVER, Solver

VARIABLES = ("L", "n", "x", "M", "e", "q", "r", "d", "E", "g")
SEGMENT_OF_X = ("(= (* x n) (+ (* q L) r))", "(<= 0 r)", "(< r L)", "(<= 0 q)")


def multiplier(k, most_excess="L"):
    return (f"(= (* M L) (+ (* {1 << k} n) e))", "(<= 1 e)", f"(<= e {most_excess})")


def lengths(limit_bits=31):
    return ("(<= 1 n)", "(<= n L)", f"(< L {1 << limit_bits})")


def differs(k):
    """floor(x * M / 2^k) is not q."""
    return f"(or (< (* x M) (* {1 << k} q)) (>= (* x M) (* {1 << k} (+ q 1))))"


def inside_the_partition(k):
    """A token that gets a number below n."""
    return f"(< (* x M) (* {1 << k} n))"


def wide_claims():
    yield "SegmentReciprocal is sigma below 2^31", (*lengths(), "(<= 0 x)", f"(< x {1 << 31})", *multiplier(62), *SEGMENT_OF_X, differs(62))
    yield "SegmentReciprocal takes a token past the end past the partition", (*lengths(), "(>= x L)", f"(< x {1 << 62})", *multiplier(62),
                                                                           inside_the_partition(62))


def claims_of_52_bits():
    common = (*lengths(), "(<= n 64)", "(< n L)", f"(<= L {1 << 26})", *multiplier(52))
    yield "SegmentReciprocal52's multiplier fits 52 bits", (*common, f"(>= M {1 << 52})")
    yield "SegmentReciprocal52 is sigma", (*common, "(<= 0 x)", "(< x L)", *SEGMENT_OF_X, differs(52))
    yield "SegmentReciprocal52 takes a token past the end past the partition", (*common, "(>= x L)", inside_the_partition(52))


def narrow_claims():
    # b = floor(log2(L / n)); k = 31 + b where L = n * 2^b, else 32 + b.
    for b in range(31):
        for k, ratio in ((31 + b, (f"(= L (* {1 << b} n))",)), (32 + b, (f"(> L (* {1 << b} n))", f"(< L (* {2 << b} n))"))):
            common = (*lengths(), "(<= n 64)", *ratio, *multiplier(k))
            yield f"NarrowSegmentReciprocal's multiplier fits 32 bits, b = {b}", (*common, f"(>= M {1 << 32})")
            yield f"NarrowSegmentReciprocal is exact where n * L <= 2^31, b = {b}", (*common, f"(<= (* n L) {1 << 31})",
                                                                                     f"(>= (* (- L 1) e) {1 << k})")
            yield f"NarrowSegmentReciprocal is sigma where it says so, b = {b}", (*common, "(<= 0 x)", "(< x L)", f"(< (* (- L 1) e) {1 << k})",
                                                                                  *SEGMENT_OF_X, differs(k))
            yield f"NarrowSegmentReciprocal takes a token past the end past the partition, b = {b}", (*common, "(>= x L)",
                                                                                                        inside_the_partition(k))


def newton_claims(most_excess="(* 6 L)"):
    # For the numbers of bits of n and L; M may be anything in (T, T + 6].
    for n_bits in range(1, 8):
        for len_bits in range(n_bits + 1, 32):
            longest = ((1 << 31) // 6) >> n_bits
            if longest < 1 << (len_bits - 1):
                break
            k = 31 + len_bits - n_bits
            common = (f"(<= {1 << (n_bits - 1)} n)", f"(< n {1 << n_bits})", f"(<= {1 << (len_bits - 1)} L)", f"(< L {1 << len_bits})",
                      f"(<= L {longest})", *multiplier(k, most_excess))
            yield f"NewtonSegmentReciprocal is sigma, bits {n_bits} and {len_bits}", (*common, "(<= 0 x)", "(< x L)", *SEGMENT_OF_X, differs(k))


def divisor_claims(token_bits=63):
    # M = floor((2^64 - 1) / d), x = q * d + r, E = floor(x * M / 2^64): E is q or q - 1.
    common = ("(<= 1 d)", f"(< d {1 << 64})", f"(= {(1 << 64) - 1} (+ (* M d) g))", "(<= 0 g)", "(< g d)", "(<= 0 x)", f"(< x {1 << token_bits})",
              "(= x (+ (* q d) r))", "(<= 0 r)", "(< r d)", f"(<= (* {1 << 64} E) (* x M))", f"(< (* x M) (* {1 << 64} (+ E 1)))")
    yield "FixedDivisor's estimate is the quotient or one less", (*common, "(or (> E q) (< E (- q 1)))")


def edge_claims():
    # L = q * n + r; the edge is s * q + floor((s * r + n - 1) * m / 2^18), linear for numbers n and s.
    for n in range(1, 65):
        m = (1 << 18) // n + 1
        wrong = []
        for s in range(n + 1):
            dividend = f"(* {m} (+ (* {s} r) {n - 1}))"
            floor = f"(and (<= (* {1 << 18} g) {dividend}) (< {dividend} (* {1 << 18} (+ g 1))))"
            excess = f"(- (* {n} (+ (* {s} q) g)) (* {s} L))"
            wrong.append(f"(and {floor} (or (< {excess} 0) (>= {excess} {n})))")
        yield f"SegmentEdges are the edges, n = {n}", (f"(>= L {n})", f"(= L (+ (* {n} q) r))", "(<= 0 r)", f"(< r {n})", f"(or {' '.join(wrong)})")


def controls():
    """Claims that are false: each is one of the above without something that its proof needs."""
    at = ("(= n 64)", "(= L 2628965051)", "(= x 2094956525)")
    yield "SegmentReciprocal beyond 2^31", (*at, *multiplier(62), *SEGMENT_OF_X, differs(62))
    yield "NarrowSegmentReciprocal where it does not say exact", ("(= n 64)", "(= L 47872575)", "(= x 47124566)", *multiplier(32 + 19), *SEGMENT_OF_X,
                                                                   differs(32 + 19))
    yield "NewtonSegmentReciprocal off by more than its slack", ("(= n 63)", "(= L 5592405)", *multiplier(31 + 23 - 6, "(* 4000 L)"), "(<= 0 x)",
                                                                  "(= x (- L 1))", *SEGMENT_OF_X, differs(31 + 23 - 6))


def main():
    solver = Solver.find("QF_NIA", VARIABLES, names=("z3",))
    if solver is None:
        return NO_SOLVER
    for name, assertions in controls():
        if solver.model(*assertions) is None:
            print(f"FAIL the control is not refuted: {name}")
            return 1
    proved = 0
    for claims in (wide_claims(), claims_of_52_bits(), narrow_claims(), newton_claims(), divisor_claims(), edge_claims()):
        for number, (name, assertions) in enumerate(claims):
            # What is claimed last is denied; what comes before it must be possible, or the proof is of nothing.
            if number < 4 and solver.model(*assertions[:-1]) is None:
                print(f"FAIL nothing satisfies the premises: {name}")
                return 1
            found = solver.model(*assertions, values=("L", "n", "x"))
            if found is not None:
                print(f"FAIL {name}: L, n, x = {found}")
                return 1
            proved += 1
    print(f"proved by {solver.name}: {proved} claims of SegmentReciprocal, SegmentReciprocal52, NarrowSegmentReciprocal, NewtonSegmentReciprocal, "
          "FixedDivisor and SegmentEdges")
    return 0


if __name__ == "__main__":
    sys.exit(main())
