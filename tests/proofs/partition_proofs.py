"""Proves the partition's statements for every context length at once, at each segment count up to 64, by a solver of linear integer arithmetic.

With n = S_eff fixed, s * L, e * n and x * n are linear, and so is everything that the rule says of edges and segments: an edge is the integer e with
0 <= e * n - s * L < n, a token lies in the segment j with j * L <= x * n < (j + 1) * L. A context shorter than S has n = L, and the lengths
L >= n of that n include it.

Each statement is put to the solver as its negation over all L >= n: `unsat` proves it. So that a proof means something, the same encoding with a
fault in it must be refuted, by a counterexample that is then checked by plain arithmetic: edges rounded down, and segments without the clamp.

Usage: partition_proofs.py [--segments N]; exit status 0 proved, 1 not, 77 no solver here (z3 or cvc5).
"""

import argparse
import sys

from solver import NO_SOLVER, Solver


def any_of(terms):
    terms = list(terms)
    return terms[0] if len(terms) == 1 else f"(or {' '.join(terms)})"


def is_edge(edge, segment, n, rounds_down=False):
    """e = ceil(s * L / n), or floor for the control; `segment` is a number."""
    excess = f"(- (* {segment} len) (* {n} {edge}))" if rounds_down else f"(- (* {n} {edge}) (* {segment} len))"
    return f"(and (<= 0 {excess}) (< {excess} {n}))"


def lies_in(token, segment, n):
    """sigma(x) = j by its definition, without the clamp."""
    return f"(and (<= (* {segment} len) (* {n} {token})) (< (* {n} {token}) (* {segment + 1} len)))"


def marks(token, segment, n, clamps=True):
    """Whether the token marks the segment: sigma(x) clamped to S - 1, where n = S."""
    if clamps and segment == n - 1:
        return f"(<= (* {segment} len) (* {n} {token}))"
    return lies_in(token, segment, n)


def round_trip(n, rounds_down=False):
    """Broken: an edge that does not lie in its segment."""
    return any_of(f"(and {is_edge('e', s, n, rounds_down)} (not {lies_in('e', s, n)}))" for s in range(n))


def disjointness(n, rounds_down=False):
    """Broken: a token x of a row is the witness of a segment that it leaves unmarked."""
    return any_of(f"(and {is_edge('e', s, n, rounds_down)} (= x e) (not {marks('x', s, n)}))" for s in range(n))


def inverse(n, rounds_down=False):
    """Broken: a token on one side of an edge by its number and on the other by its segment: x >= e_s, but sigma(x) < s, or the reverse."""
    return any_of(f"(and {is_edge('e', s, n, rounds_down)} (<= 0 x) (distinct (>= x e) (>= (* {n} x) (* {s} len))))" for s in range(n))


def order_and_range(n, rounds_down=False):
    """Broken: neighbouring edges that do not ascend, or an edge outside of the context."""
    ascending = (f"(and {is_edge('e', s, n, rounds_down)} {is_edge('f', s + 1, n, rounds_down)} (<= f e))" for s in range(n - 1))
    outside = (f"(and {is_edge('e', s, n, rounds_down)} (or (< e 0) (>= e len)))" for s in range(n))
    return any_of([*ascending, *outside])


def past_the_end(n, clamps=True):
    """Broken: a token at or past the context's end that marks another segment than the last, or none."""
    return f"(and (>= x len) (not {marks('x', n - 1, n, clamps)}))"


STATEMENTS = {"round trip": round_trip, "disjointness": disjointness, "segments and edges are inverse": inverse,
              "edges ascend within the context": order_and_range, "past the end is the last segment": past_the_end}


def rounds_down_somewhere(length, edge, n):
    """Whether an edge rounded down is `edge` and lies outside of its segment, by plain arithmetic."""
    return any(edge == s * length // n and edge * n // length != s for s in range(n))


def counterexample(solver, n, broken):
    """The values of len, e and x for which the statement is broken; None where there are none."""
    return solver.model(f"(>= len {n})", broken, values=("len", "e", "x"))


def check_controls(solver, n):
    """The encoding must be able to fail."""
    for name in ("round trip", "disjointness", "segments and edges are inverse"):
        found = counterexample(solver, n, STATEMENTS[name](n, rounds_down=True))
        if n == 1:
            assert found is None, f"with one segment rounding down changes nothing, yet {name} is refuted"
            continue
        assert found is not None, f"{name}: edges rounded down are not refuted at n = {n}"
        length, edge, _ = found
        assert rounds_down_somewhere(length, edge, n) or name == "segments and edges are inverse", f"{name}: L = {length}, e = {edge} at n = {n}"
        if n == 2 and name == "round trip":
            print(f"control: with edges rounded down, {name} is refuted at n = {n} by L = {length}, where an edge is {edge} and lies in segment "
                  f"{edge * n // length}")
    found = counterexample(solver, n, past_the_end(n, clamps=False))
    assert found is not None and found[2] >= found[0], f"without the clamp, a token past the end is not refuted at n = {n}"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, default=64, metavar="N", help="the most segments (64)")
    options = parser.parse_args(arguments)
    solver = Solver.find("QF_LIA", ("len", "e", "f", "x"))
    if solver is None:
        return NO_SOLVER
    for n in range(1, options.segments + 1):
        check_controls(solver, n)
        for statement, broken in STATEMENTS.items():
            found = counterexample(solver, n, broken(n))
            if found is not None:
                print(f"FAIL {statement} at n = {n}: L = {found[0]}, e = {found[1]}, x = {found[2]}")
                return 1
    print(f"proved by {solver.name} for every L, at each S from 1 to {options.segments}: {', '.join(STATEMENTS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
