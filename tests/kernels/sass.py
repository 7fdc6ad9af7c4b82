"""Executes the machine code of one kernel (SASS, as cuobjdump lists it) for one block, without a GPU, and counts.

The instructions are those that ptxas chose for this project's kernels on sm_80 to sm_120; any other is an error that names it. Whoever uses the
counts checks the memory that the code leaves, so that a wrong reading of an instruction shows as a wrong answer.

Each lane has its own program counter and the lanes with the lowest one run, which brings them together again where the code does. A warp runs up to
a block barrier, then the next warp does.

A model of time goes along: an instruction is issued one cycle after the one before it, or when its operands are there (LATENCIES). It knows no
contention of the execution units and no instruction cache.
"""

import functools
import re
import struct

LANES = 32
ALL_LANES = list(range(LANES))
MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1

INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
PREDICATE = re.compile(r"^!?U?P(\d|T)$")
REGISTER = re.compile(r"^(U?)R(\d+|Z)$")

# Where a kernel finds its grid and its arguments in constant bank 0.
GRID_AND_ARGUMENTS = {"sm_80": (0xC, 0x160), "sm_90": (0xC, 0x210), "sm_100": (0x370, 0x380), "sm_120": (0x370, 0x380)}

WITHOUT_RESULT = ("STG", "ST", "STS", "BRA", "EXIT", "BSSY", "BSYNC", "BAR", "CALL", "RET", "WARPSYNC", "NOP")

# Cycles until a result may be used: round numbers of the kind that microbenchmarks of these architectures give.
LATENCIES = {"LDG": 700, "LDS": 30, "LDC": 30, "ULDC": 12, "LDCU": 12, "S2R": 20, "S2UR": 20, "R2UR": 12, "REDUX": 20, "POPC": 12, "FLO": 12, "BAR": 20}
LATENCY, UNIFORM_LATENCY = 4, 7


class Unknown(Exception):
    """An instruction that this program cannot execute."""


@functools.lru_cache(maxsize=None)
def parse(operand):
    """(what is done to it, what it is, its number): "-" or "~" or "", and "R", "UR", "c" for a constant's offset or "n" for a number."""
    change = operand[0] if operand[0] in "-~" and not operand[1:2].isdigit() else ""
    rest = operand[len(change):]
    if match := REGISTER.match(rest):
        return (change, "n", 0) if match.group(2) == "Z" else (change, match.group(1) + "R", int(match.group(2)))
    if match := re.match(r"^c\[0x0\]\[(0x[0-9a-f]+)\]$", rest):
        return change, "c", int(match.group(1), 16)
    if re.match(r"^-?(0x[0-9a-f]+|\d+)$", rest):
        return change, "n", int(rest, 0)
    raise Unknown(operand)


@functools.lru_cache(maxsize=None)
def terms(operand):
    """(name, bits, factor) of each term of an address."""
    found = []
    for term in re.match(r"^(?:desc\[UR\d+\])?\[(.*)\]$", operand).group(1).replace("+-", "+ -").split("+"):
        name, _, form = term.strip().partition(".")
        if form not in ("", "U32", "64") and not re.match(r"^X\d+$", form):
            raise Unknown(operand)
        found.append((name, 32 if REGISTER.match(name) and form != "64" else 64, int(form[1:]) if form.startswith("X") else 1))
    return found


@functools.lru_cache(maxsize=None)
def minterms(table):
    return [i for i in range(8) if table >> i & 1]


def kernels(listing):
    """(mangled name, {address: text}) of each kernel in a cuobjdump listing."""
    for part in listing.split("Function : ")[1:]:
        lines = part.splitlines()
        yield lines[0].strip(), {int(m.group(1), 16): m.group(2) for m in map(INSTRUCTION.match, lines) if m}


def signed(value, bits=32):
    return value - (1 << bits) if value >> (bits - 1) else value


class Memory:
    """Words of 32 bits by address. Only what is allocated may be read or written."""

    def __init__(self):
        self.words = {}

    def allocate(self, address, words):
        for i, word in enumerate(words):
            self.words[address + 4 * i] = word & MASK32

    def load(self, address, count):
        if address % (4 * count):
            raise ValueError(f"misaligned read of {4 * count} bytes at {address:#x}")
        return [self.words[address + 4 * i] for i in range(count)]

    def store(self, address, values):
        if address % (4 * len(values)):
            raise ValueError(f"misaligned write of {4 * len(values)} bytes at {address:#x}")
        for i, value in enumerate(values):
            if address + 4 * i not in self.words:
                raise KeyError(f"write to {address + 4 * i:#x}")
            self.words[address + 4 * i] = value

    def read(self, address, count):
        return [signed(self.words[address + 4 * i]) for i in range(count)]


class Instruction:
    """One instruction, taken apart."""

    def __init__(self, address, text):
        self.next = address + 16
        self.text = text
        words = text.split(None, 1)
        self.guard = "PT"
        if words[0].startswith("@"):
            self.guard = words[0][1:]
            words = words[1].split(None, 1)
        parts = words[0].split(".")
        self.op, self.mods = parts[0], parts[1:]
        tail = words[1] if len(words) > 1 else ""
        self.operands = [self.clean(o) for o in re.split(r",\s*", tail)] if tail else []
        self.uniform = self.op.startswith("U") or self.op in ("LDCU", "S2UR", "R2UR", "REDUX", "VOTEU")

        self.reads, self.writes = self.dependences()
        self.latency = LATENCIES.get(self.op, LATENCIES.get(self.op[1:], UNIFORM_LATENCY) if self.uniform else LATENCY)

    def dependences(self):
        """The names of the registers and predicates that it reads, and that it writes."""
        wide = any(self.has(mod) for mod in ("64", "WIDE", "S64", "U64"))
        predicates, results = 0, 0 if self.op in WITHOUT_RESULT else 1
        if self.op in ("ISETP", "UISETP", "PLOP3", "UPLOP3"):
            predicates, results = 2, 0
        elif results:
            while predicates < len(self.operands) and PREDICATE.match(self.operands[predicates]):
                predicates += 1
        read = self.operands[predicates + results:] + [self.guard]
        written = self.operands[:predicates + results]
        width = 4 if self.has("128") else 2 if wide else 1
        return ([name for operand in read for name in self.names(operand, 4 if self.op in ("STG", "ST", "STS") and self.has("128") else 2 if wide else 1)],
                [name for operand in written for name in self.names(operand, width)])

    @staticmethod
    def names(operand, count):
        """The registers that an operand names, `count` from each on."""
        found = []
        for prefix, number, wide in re.findall(r"(?<![A-Za-z])(U?R)(\d+)(\.64)?", operand):
            found += [f"{prefix}{int(number) + i}" for i in range(2 if wide else count)]
        return found + re.findall(r"(?<![A-Za-z])U?P\d", operand)

    @staticmethod
    def clean(operand):
        return operand.replace(".reuse", "").strip()

    def has(self, mod):
        return mod in self.mods


class Warp:
    def __init__(self, block, index):
        self.block = block
        self.index = index
        self.registers = {}
        self.uniform = {}
        self.predicates = {}
        self.uniform_predicates = {}
        self.pc = [0] * LANES  # None: has ended
        self.issued = 0
        self.trace = []  # (instruction, whether a lane executed it)
        self.clock = 0
        self.ready = {}
        self.wide_loads = 0
        self.returns = 0
        self.wide_loads_in_flight = None  # when one was first used
        self.wide_loads_before_use = None  # when a length was first used
        self.wide_destinations = set()
        self.length_destinations = set()

    # --- operands ---

    def value(self, operand, lane, bits=32):
        """What an operand is for a lane, with its sign and complement applied, as an unsigned number; -x as ~x + 1, which may be 2^bits."""
        change, kind, number = parse(operand)
        if kind == "R":
            bank = self.registers
            value = bank[number][lane] if number in bank else 0
            if bits == 64:
                value |= (bank[number + 1][lane] if number + 1 in bank else 0) << 32
        elif kind == "UR":
            value = self.uniform.get(number, 0)
            if bits == 64:
                value |= self.uniform.get(number + 1, 0) << 32
        elif kind == "c":
            value = self.block.constant(number, bits // 8)
        else:
            value = number & (1 << bits) - 1
        if change == "~":
            return ~value & (1 << bits) - 1
        if change == "-":
            return (~value & (1 << bits) - 1) + 1
        return value

    def set(self, operand, lane, value, bits=32):
        _, kind, number = parse(operand)
        if kind == "n":  # RZ
            return
        for i in range(bits // 32):
            word = value >> (32 * i) & MASK32
            if kind == "UR":
                self.uniform[number + i] = word
            else:
                if number + i not in self.registers:
                    self.registers[number + i] = [0] * LANES
                self.registers[number + i][lane] = word

    def predicate(self, operand, lane):
        negated = operand.startswith("!")
        name = operand.lstrip("!")
        if name in ("PT", "UPT"):
            value = True
        elif name.startswith("UP"):
            value = self.uniform_predicates.get(name, False)
        else:
            value = self.predicates[name][lane] if name in self.predicates else False
        return value != negated

    def set_predicate(self, name, lane, value):
        if name in ("PT", "UPT"):
            return
        if name.startswith("UP"):
            self.uniform_predicates[name] = value
        else:
            self.predicates.setdefault(name, [False] * LANES)[lane] = value

    def address(self, operand, lane):
        """[R2.64+0x10], desc[UR4][R2.64+UR6+0x10], [R5.X16+UR4], [R5+UR11]: the sum."""
        return sum(self.value(name, lane, bits) * scale for name, bits, scale in terms(operand)) & MASK64

    # --- time and order ---

    def account(self, code, address):
        """Issues an instruction, `address` being that of a load by its first active lane: its cycle, and what the order of loads is about."""
        self.issued += 1
        ready = self.ready
        self.clock = start = max([self.clock + 1] + [ready[name] for name in code.reads if name in ready])
        is_wide_load = code.op == "LDG" and code.has("128")
        if is_wide_load and address is not None:
            self.wide_loads += 1
        if self.wide_loads_in_flight is None and not self.wide_destinations.isdisjoint(code.reads):
            self.wide_loads_in_flight = self.wide_loads
        if self.wide_loads_before_use is None and not self.length_destinations.isdisjoint(code.reads):
            self.wide_loads_before_use = self.wide_loads
        for name in code.writes:
            ready[name] = start + code.latency
            self.length_destinations.discard(name)
            self.wide_destinations.discard(name)
            if is_wide_load:
                self.wide_destinations.add(name)
            elif code.op == "LDG" and self.block.is_length(address):
                self.length_destinations.add(name)

    # --- execution ---

    def run(self):
        """To the next block barrier; False where all lanes have ended."""
        while True:
            if self.pc.count(self.pc[0]) == LANES:
                at, lanes = self.pc[0], ALL_LANES
                if at is None:
                    return False
            else:
                at = min(pc for pc in self.pc if pc is not None)
                lanes = [lane for lane in range(LANES) if self.pc[lane] == at]
            code = self.block.code[at]
            active = lanes if code.guard == "PT" else [lane for lane in lanes if self.predicate(code.guard, lane)]
            self.trace.append((code, bool(active)))
            self.account(code, self.address(code.operands[-1], active[0]) if code.op == "LDG" and active else None)
            for lane in lanes:
                self.pc[lane] = code.next
            if code.op == "BAR":
                if len(lanes) != LANES:
                    raise ValueError("a block barrier in divergent code")
                return True
            if active or code.uniform:
                self.execute(code, active, lanes)

    def execute(self, code, active, lanes):
        if code.op in ("BSSY", "BSYNC", "NOP", "WARPSYNC", "ENDCOLLECTIVE"):
            if code.has("COLLECTIVE") or code.has("EXCLUSIVE"):
                raise Unknown(code.text)
            return
        if code.op == "EXIT":
            for lane in active:
                self.pc[lane] = None
            return
        if code.op in ("BRA", "CALL", "RET"):
            self.branch(code, active, lanes)
            return
        if code.op == "REDUX":
            total = 0
            for lane in active:
                total |= self.value(code.operands[1], lane)
            self.set(code.operands[0], 0, total)
            return
        if code.op == "VOTEU":
            self.set_predicate(code.operands[0], 0, all(self.predicate(code.operands[1], lane) for lane in lanes))
            return
        method = getattr(self, "do_" + (code.op[1:] if code.op.startswith("U") else code.op).lower(), None)
        if method is None:
            raise Unknown(code.text)
        if code.uniform:
            if active:
                method(code, active[0])
            return
        for lane in active:
            method(code, lane)

    def branch(self, code, active, lanes):
        if code.op == "RET":
            self.returns += len(active) > 0
            for lane in active:
                self.pc[lane] = self.value(code.operands[0].split()[0], lane)
            return
        target = int(re.search(r"0x([0-9a-f]+)", code.operands[-1]).group(1), 16)
        if code.has("DIV") or code.has("CONV"):
            together = len(lanes) == LANES - self.pc.count(None)
            if together == code.has("CONV"):
                for lane in active:
                    self.pc[lane] = target
            return
        conditions = [o for o in code.operands[:-1] if PREDICATE.match(o)]
        for lane in active:
            if all(self.predicate(condition, lane) for condition in conditions):
                self.pc[lane] = target

    @staticmethod
    def split(operands):
        """Predicates written, the result, the sources, predicates read."""
        i = 0
        while PREDICATE.match(operands[i]):
            i += 1
        outs, result, rest = operands[:i], operands[i], operands[i + 1:]
        j = len(rest)
        while j > 0 and PREDICATE.match(rest[j - 1]):
            j -= 1
        return outs, result, rest[:j], rest[j:]

    def outs(self, operands):
        """As split(), for instructions that write their predicates behind the result."""
        result, rest = operands[0], operands[1:]
        if PREDICATE.match(result):
            return self.split(operands)
        i = 0
        while PREDICATE.match(rest[i]):
            i += 1
        j = len(rest)
        while j > i and PREDICATE.match(rest[j - 1]):
            j -= 1
        return rest[:i], result, rest[i:j], rest[j:]

    def carry_out(self, names, lane, total, bits=32):
        for i, name in enumerate(names):
            self.set_predicate(name, lane, total >> bits > i)

    def do_mov(self, code, lane):
        bits = 64 if code.has("64") else 32
        self.set(code.operands[0], lane, self.value(code.operands[1], lane, bits), bits)

    do_r2ur = do_mov

    def do_hfma2(self, code, lane):
        if code.operands[1:3] != ["-RZ", "RZ"]:
            raise Unknown(code.text)
        low, high = (struct.unpack("<H", struct.pack("<e", float(o)))[0] for o in (code.operands[4], code.operands[3]))
        self.set(code.operands[0], lane, high << 16 | low)

    def do_cs2r(self, code, lane):
        if code.operands[1] != "SRZ":
            raise Unknown(code.text)
        self.set(code.operands[0], lane, 0, 32 if code.has("32") else 64)

    def do_s2r(self, code, lane):
        special = {"SR_TID.X": self.index * LANES + lane, "SR_LANEID": lane, "SR_CTAID.X": self.block.number, "SR_CgaCtaId": 0}
        self.set(code.operands[0], lane, special[code.operands[1]])

    def do_2ur(self, code, lane):
        self.do_s2r(code, lane)

    do_s2ur = do_s2r

    def do_ldc(self, code, lane):
        bits = 128 if code.has("128") else 64 if code.has("64") else 32
        offset = int(re.match(r"^c\[0x0\]\[(0x[0-9a-f]+)\]$", code.operands[1]).group(1), 16)
        self.set(code.operands[0], lane, self.block.constant(offset, bits // 8), bits)

    do_ldcu = do_ldc

    def do_iadd3(self, code, lane):
        bits = 64 if code.has("64") else 32
        outs, result, sources, carries = self.outs(code.operands)
        total = sum(self.value(source, lane, bits) for source in sources)
        if code.has("X"):
            total += sum(self.predicate(carry, lane) for carry in carries)
        self.carry_out(outs, lane, total, bits)
        self.set(result, lane, total & ((1 << bits) - 1), bits)

    do_iadd = do_iadd3
    do_viadd = do_iadd3

    def do_imad(self, code, lane):
        outs, result, sources, carries = self.outs(code.operands)
        if code.has("WIDE"):
            product = (self.value(sources[0], lane) & MASK32) * (self.value(sources[1], lane) & MASK32)
            if not code.has("U32"):
                product = signed(self.value(sources[0], lane) & MASK32) * signed(self.value(sources[1], lane) & MASK32) & MASK64
            total = product + (self.value(sources[2], lane, 64) & MASK64)
            if code.has("X"):
                total += sum(self.predicate(carry, lane) for carry in carries)
            self.carry_out(outs, lane, total, 64)
            self.set(result, lane, total & MASK64, 64)
            return
        a, b, c = (self.value(source, lane) & MASK32 for source in sources[:3])
        if code.has("HI"):
            if not code.has("U32") or outs:
                raise Unknown(code.text)
            total = (a * b >> 32) + c
        else:
            if outs:
                raise Unknown(code.text)
            total = a * b + c + (sum(self.predicate(carry, lane) for carry in carries) if code.has("X") else 0)
        self.set(result, lane, total & MASK32)

    def do_lea(self, code, lane):
        outs, result, sources, carries = self.outs(code.operands)
        a = self.value(sources[0], lane) & MASK32
        shift = int(sources[-1], 0)
        if code.has("HI"):
            if code.has("SX32"):
                wide = signed(a) & MASK64
            else:
                wide = (self.value(sources[2], lane) & MASK32) << 32 | a
            shifted = (wide << shift >> 32) & MASK32
        else:
            shifted = a << shift & MASK32
        total = shifted + self.value(sources[1], lane)
        if code.has("X"):
            total += sum(self.predicate(carry, lane) for carry in carries)
        self.carry_out(outs, lane, total)
        self.set(result, lane, total & MASK32)

    def do_shf(self, code, lane):
        result, low, amount, high = code.operands[0], *(self.value(o, lane) for o in code.operands[1:4])
        wide64 = code.has("U64") or code.has("S64")
        limit = 64 if wide64 else 32
        amount = amount & (limit - 1) if code.has("W") else min(amount, limit)
        both = high << 32 | low
        if code.has("L"):
            value = both << amount
            self.set(result, lane, value >> 32 & MASK32 if code.has("HI") else value & MASK32)
            return
        if code.has("S64") or code.has("S32"):
            both = signed(both, 64)
        value = both >> amount
        self.set(result, lane, value >> 32 & MASK32 if code.has("HI") else value & MASK32)

    def do_lop3(self, code, lane):
        outs, result, sources, carries = self.split(code.operands)
        a, b, c = (self.value(source, lane) for source in sources[:3])
        table = int(sources[3], 0)
        value = 0
        for i in minterms(table):
            value |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        value &= MASK32
        for out in outs:
            self.set_predicate(out, lane, value != 0 or any(self.predicate(carry, lane) for carry in carries))
        self.set(result, lane, value)

    def do_plop3(self, code, lane):
        a, b, c = (self.predicate(o, lane) for o in code.operands[2:5])
        table = int(code.operands[5], 0)
        self.set_predicate(code.operands[0], lane, bool(table >> (a << 2 | b << 1 | c) & 1))

    def do_isetp(self, code, lane):
        bits = 64 if code.has("S64") or code.has("U64") else 32
        mask = (1 << bits) - 1
        a, b = (self.value(o, lane, bits) & mask for o in code.operands[2:4])
        if not (code.has("U32") or code.has("U64")):
            a, b = signed(a, bits), signed(b, bits)
        comparison = code.mods[0]
        equal = {"LT": False, "GT": False, "LE": True, "GE": True, "EQ": True, "NE": False}[comparison]
        if code.has("EX"):
            equal = self.predicate(code.operands[5], lane)
        if a == b:
            value = equal
        else:
            value = {"LT": a < b, "LE": a < b, "GT": a > b, "GE": a > b, "EQ": False, "NE": True}[comparison]
        other = self.predicate(code.operands[4], lane)
        combine = (lambda x: x or other) if code.has("OR") else (lambda x: x and other)
        self.set_predicate(code.operands[0], lane, combine(value))
        self.set_predicate(code.operands[1], lane, combine(not value))

    def do_sel(self, code, lane):
        bits = 64 if code.has("64") else 32
        chosen = code.operands[1] if self.predicate(code.operands[3], lane) else code.operands[2]
        self.set(code.operands[0], lane, self.value(chosen, lane, bits) & ((1 << bits) - 1), bits)

    def do_imnmx(self, code, lane):
        bits = 64 if code.has("S64") or code.has("U64") else 32
        _, result, sources, chosen = self.split(code.operands)
        a, b = (self.value(source, lane, bits) & ((1 << bits) - 1) for source in sources)
        if not (code.has("U32") or code.has("U64")):
            a, b = signed(a, bits), signed(b, bits)
        value = min(a, b) if self.predicate(chosen[0], lane) else max(a, b)
        self.set(result, lane, value & ((1 << bits) - 1), bits)

    do_vimnmx = do_imnmx

    def do_viaddmnmx(self, code, lane):
        result, a, b, c, chosen = code.operands
        pair = [value & MASK32 for value in (self.value(a, lane) + self.value(b, lane), self.value(c, lane))]
        if not code.has("U32"):
            pair = [signed(value) for value in pair]
        self.set(result, lane, (min(pair) if self.predicate(chosen, lane) else max(pair)) & MASK32)

    def do_popc(self, code, lane):
        self.set(code.operands[0], lane, bin(self.value(code.operands[1], lane) & MASK32).count("1"))

    def do_flo(self, code, lane):
        self.set(code.operands[0], lane, (self.value(code.operands[1], lane).bit_length() - 1) & MASK32)

    def do_p2r(self, code, lane):
        mask = int(code.operands[3], 0)
        bits = sum(self.predicate(f"P{i}", lane) << i for i in range(7))
        self.set(code.operands[0], lane, (bits & mask) | (self.value(code.operands[2], lane) & ~mask))

    @staticmethod
    def words(code):
        return 4 if code.has("128") else 2 if code.has("64") else 1

    def do_ldg(self, code, lane):
        self.load(self.block.memory, code, lane)

    def do_lds(self, code, lane):
        self.load(self.block.shared, code, lane)

    def load(self, memory, code, lane):
        count = self.words(code)
        values = memory.load(self.address(code.operands[1], lane), count)
        self.set(code.operands[0], lane, sum(value << 32 * i for i, value in enumerate(values)), 32 * count)

    def do_stg(self, code, lane):
        self.store(self.block.memory, code, lane)

    do_st = do_stg

    def do_sts(self, code, lane):
        self.store(self.block.shared, code, lane)

    def store(self, memory, code, lane):
        count = self.words(code)
        value = self.value(code.operands[1], lane, 32 * count) if count < 4 else (
            self.value(code.operands[1], lane, 64) |
            self.value("R" + str(int(code.operands[1][1:]) + 2), lane, 64) << 64 if code.operands[1] != "RZ" else 0)
        memory.store(self.address(code.operands[0], lane), [value >> 32 * i & MASK32 for i in range(count)])


class Block:
    """One block of a grid of `blocks`, at its start."""

    def __init__(self, architecture, code, threads, arguments, memory, lengths, blocks=1, number=0):
        self.code = {address: Instruction(address, text) for address, text in code.items()}
        self.memory = memory
        self.lengths = lengths
        self.number = number
        self.shared = Memory()
        self.shared.allocate(0, [0] * 1024)
        self.shared.allocate(0x400, [0xDEADBEEF] * 1024)
        grid, first = GRID_AND_ARGUMENTS[architecture]
        self.bank = bytearray(first + len(arguments))
        self.bank[grid:grid + 4] = struct.pack("<I", blocks)
        self.bank[first:] = arguments
        self.warps = [Warp(self, index) for index in range(threads // LANES)]

    def constant(self, offset, size):
        return int.from_bytes(self.bank[offset:offset + size], "little")

    def is_length(self, address):
        return address is not None and self.lengths[0] <= address < self.lengths[1]

    def run(self):
        running = self.warps
        while running:
            running = [warp for warp in running if warp.run()]
            if running:
                if len(running) != len(self.warps):
                    raise ValueError("a block barrier that some warps do not reach")
                together = max(warp.clock for warp in running) + LATENCIES["BAR"]
                for warp in running:
                    warp.clock = together

    def issued(self):
        """Warp instructions, of all warps."""
        return sum(warp.issued for warp in self.warps)

    def cycles(self):
        return max(warp.clock for warp in self.warps)

    def wide_loads_in_flight(self):
        """128-bit loads of a lane's first round: those that come before the first use of what one of them brought. The least of all warps."""
        return min(warp.wide_loads_in_flight or warp.wide_loads for warp in self.warps)

    def wide_loads_before_length_is_used(self):
        """128-bit loads a lane that are under way when the length is first used: the least of all warps. None where no length was read."""
        found = [warp.wide_loads_before_use for warp in self.warps]
        return None if None in found else min(found)

    def calls(self):
        """Calls that came back. (On sm_80 ptxas leaves a loop by a CALL that does not.)"""
        return sum(warp.returns for warp in self.warps)
