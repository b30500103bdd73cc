#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the instruction rows (include/ptxdsl/isa/forms/*.isa) into the packed C++ table.

    generate.py            write include/ptxdsl/isa/generated, dsl/generated and transpile/generated
    generate.py --check    exit 1 when a generated header is not current
    generate.py --stats    print the number of forms per family and target

Row language: one instruction form a line, `#` starts a comment, a trailing `\\` continues the line.

    section TITLE              PTX ISA section of the rows that follow
    set NAME = a,b,c           a named set of modifiers or types, used as $NAME (also inside another set);
                               m64n[8:256:8]k16 stands for one name for each number of the range
    does ACTION, WORD ...      what the rows that follow do (below)
    call NAME ...              the builder's calls that emit the rows that follow
    needs WORD=TARGET, ...     modifiers that the rows that follow may have from that target on; such a line takes the place of the
                               one before it
    pattern ; operands ; min PTX ; targets
    pattern ; operands ; min PTX ; targets ; does ACTION, WORD ... ; call NAME ...

    make NAME(a, b) ...        the same, and the builder's function is generated from its rows (dsl/generated)

A row's own `does`, `call` and `make` stand for that row alone. Its `does` changes what it names, the action or one of a group of
words, and leaves the rest as the line above has it; `call none` says that only `k.inst` emits the row.

ACTION is what the verifier follows the instruction as (ACTIONS below, isa::action). Words, and what a row has that says
nothing of a group (the cautious answer, so that a row somebody forgot makes no rule believe more than it knows):
    uniform | lanes | block | varies     a result of sources that are the same in all threads is the same in all threads; in all
                               threads of a block; follows from what the lanes of a warp bring; may be anything (nothing said)
    no-memory | any of reads, writes, orders      touches no memory; loads, stores, orders other accesses (nothing said: all)
    generic-proxy | async-proxy | tensormap-proxy | texture-proxy | any-proxy    by which proxy; generic where memory is
                               named and this is not, any where memory is not named either
    warp | warpgroup           who executes a form with `.aligned` together; such a row must say it, others must not
The space that an instruction touches is that of its address operands, its semantics are the words `.relaxed`, `.acquire` ...
NAME is a function of the builder (`add`, `tcgen05.ld`). Each `*` in it stands for the choice made in one of the row's last
sets that have no name: `shf_*_*` of `shf.<l,r>.<clamp,wrap>.b32`.
    NAME(a, b:u32) -> u32      the call's parameters, one for each source, and its result; without a type they have the row's
    bits | own | plain         the type word is bits of the operands' size, their own type, or the type `mov` knows them by;
                               without one of them: bits where all of the rows' type words are
    all-words                  the name stands for all words of the rows, no modifier is an argument
    isa 9.7.1.3 "sentence"     behind all others: the row's chapter of the PTX ISA, and what the documentation says besides
The words of the name behind the mnemonic are fixed, other words in front of the type are template arguments in PTX order. What a
call with parameters is called with, the transpiler writes (transpile/generated); `cc`, whose order matters, it leaves to `k.inst`.

Pattern: the mnemonic word, then
    .name                      this modifier
    .<a,b,$SET>                exactly one of these modifiers
    .<T=a,b>                   the same, and T names the choice in the operands
    {...}                      optional sequence; {...}@f sets the flag f when it is taken
Operands, a comma list in the order PTX writes them:
    >d:CLASS                   destination;  >|p:CLASS is written after the one before it with `|`
    a:CLASS                    source
    a:CLASS?                   may be left out
    a:CLASS@f                  there exactly when the flag f is set;  a:CLASS@!f when it is not
CLASS is a base and then any number of `+alternative`:
    T or a type name           register of that type; a source also takes an immediate
    T!                         register only
    ~T                         register may be wider than T (ld, st, cvt)
    pred, !pred                predicate; predicate that may be negated
    imm(lo..hi), imm(lo..hi..step), imm{a,b}      immediate only;  imm(lo..hi..pow2) the powers of two of the range
    {T*n} {T*V} {T*V*m} {T*V/m}  vector; V is a bound modifier whose number is the length (v4, x8, 3d, m64n256k16);
                               when V is bound by an optional modifier that is absent the operand is one register
    [SPACE] [V] [any]          address in a space (name, or bound modifier; absent means generic)
    tmap(n), tmap(V)           [tensorMap, {n coordinates}]
    tex(n:T)                   [texture, {n coordinates or more}]; tex(n:T+s) may also name a sampler: [texture, sampler, {...}]
    list                       (a, b, ...): arguments or results of a call, of any number
    label, sym, sink           a label; a symbol (variable, function); `_` and nothing else
    T/part, T/half, T/byte     register that may have a video selector: one part (.b0 .h1), two halves (.h10), four bytes (.b3210)
    T/halfmask, T/bytemask     destination that may name the elements it writes: .h0 .h1 .h10, .b0 ... .b3210; `/part!` etc.: it must
    +_   sink allowed    +sreg special register allowed    +sym symbol address allowed    +imm(...) that immediate allowed
    +bits  registers of a `.b` type only    +neg  `-a`    +unified  `[a].unified`
A vector that is a destination takes `_` for some of its registers, `{T!*n}` does not; a source does with +_.
Targets: `all`, `sm_90` (that and newer), `sm_100a` (exactly), `sm_100f` (family: 100a, 103a ...), joined by `|`. Which targets
there are, and their families, stands in isa/targets.isa (targets.py).
"""
import argparse
import collections
import itertools
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import calls  # noqa: E402
import targets as target_rows  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include", "ptxdsl", "isa")
FORMS = os.path.join(ROOT, "forms")
BANNER = "// generated by tools/isa/generate.py from isa/forms; do not edit\n// SPDX-License-Identifier: Apache-2.0\n"
TARGETS_BANNER = BANNER.replace("isa/forms", "isa/targets.isa")

# What the verifier follows an instruction as: isa::action, in this order. Rules compare with <, so the order has a meaning.
ACTIONS = [
    ("value", "writes its results, which follow from its sources"),
    ("effect", "writes no register"),
    ("varying", "writes its results with what other lanes or memory hold"),
    ("mov", ""),
    ("add", ""),
    ("bits", "`and`, `shr`"),
    ("scale", "`mad`, `mul`, `shl`, `sub`, `xor`, `rem`: followed where an address comes of it"),
    ("compare", "`setp`"),
    ("load", ""),
    ("store", ""),
    ("atomic", ""),
    ("reduce", ""),
    ("stmatrix", ""),
    ("foreign", "reads, writes or multiplies what no rule follows: multimem, wmma, a cancelled cluster launch"),
    ("leave", ""),
    ("bar", ""),
    ("fence", ""),
    ("copy", ""),
    ("mapa", ""),
    ("cvta", ""),
    ("setmaxnreg", ""),
    ("call", "its record begins with what it writes, `_` where that is nothing"),
    ("tcgen05", ""),
    ("branch", "from here on the first pass looks too"),
    ("mbarrier", ""),
    ("wgmma", ""),
    ("tensormap", ""),
    ("indirect", "a branch that may lead anywhere"),
    ("unknown", "no row says what it does: anything may happen"),
]
ACTION_NAMES = [name for name, _ in ACTIONS]
# Words of `does` by group: bits of isa::behaviour, whose layout is written out by behaviour_hpp().
RESULTS = {"uniform": 0, "block": 1, "lanes": 2, "varies": 3}
MEMORY = {"reads": 1, "writes": 2, "orders": 4}
PROXIES = {"generic-proxy": 0, "async-proxy": 1, "tensormap-proxy": 2, "texture-proxy": 3, "any-proxy": 4}
TOGETHER = {"warp": 1, "warpgroup": 2}
# Where the fields of a behaviour lie. An entry of the table by mnemonic with SPLIT has its forms apart by their words.
ACTION_SHIFT, RESULTS_SHIFT, VARIES_SHIFT, MEMORY_SHIFT, PROXY_SHIFT, TOGETHER_SHIFT, SPLIT = 0, 5, 7, 9, 12, 15, 1 << 17

KEYWORDS = set("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
constexpr continue default delete do double else enum explicit export extern false float for friend goto if inline int
long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register requires
return short signed sizeof static struct switch template this throw true try typedef typeid typename union unsigned
using virtual void volatile while xor xor_eq""".split())

# Enumerations of the packed table; the generated header has them in C++ (enumerations_hpp).
OPERAND_CLASSES = ["reg", "pred", "imm", "vec", "address", "tmap", "label", "symbol", "sink", "texture", "list"]
(CLASS_REG, CLASS_PRED, CLASS_IMM, CLASS_VEC, CLASS_ADDRESS, CLASS_TMAP, CLASS_LABEL, CLASS_SYMBOL, CLASS_SINK, CLASS_TEXTURE,
 CLASS_LIST) = range(len(OPERAND_CLASSES))
# Flag bits of the first operand word.
OPERAND_FLAGS = ["dest", "reg_only", "optional", "relaxed", "sink", "negated", "sreg", "symbol", "joined", "bits_only", "unified", "minus"]
FLAG_SHIFT = 4
(F_DEST, F_REG_ONLY, F_OPTIONAL, F_RELAXED, F_SINK, F_NEGATED, F_SREG, F_SYM, F_JOINED, F_BITS, F_UNIFIED,
 F_MINUS) = (1 << (FLAG_SHIFT + i) for i in range(len(OPERAND_FLAGS)))
# Kinds of video selectors, the count word of a register. +8: it must be there.
SELECTOR_CLASSES = ["none", "part", "half", "byte", "half_mask", "byte_mask"]
SELECTORS = {name.replace("_", ""): number for number, name in enumerate(SELECTOR_CLASSES) if number}
SELECTOR_REQUIRED = 8
NO_FLAG = 0
POWERS_OF_TWO = 0  # in the place of a step
MAX_SLOTS = 7
MAX_FLAGS = 15


class RowError(Exception):
    pass


def enumerators(header, name):
    """The names of an enumeration of a header, which keeps their order."""
    text = re.sub(r"//.*", "", open(os.path.join(ROOT, header), encoding="utf-8").read())
    return re.findall(r"\w+", re.search(r"enum class %s\b[^{]*\{(.*?)\};" % name, text, re.S).group(1))


def scalar_names():
    return enumerators("types.hpp", "scalar")


def space_names():
    """`ptxdsl::space`, and behind it what only a row says: any space, tensor memory."""
    return [*enumerators("targets.hpp", "space"), "any", "tmem"]


def enumerations():
    spaces = space_names()
    return "".join([
        "/// Operand classes of a row.\nenum class operand_class : std::uint8_t { %s };\n\n" % ", ".join(OPERAND_CLASSES),
        "namespace operand_flag {\n",
        *("inline constexpr unsigned %s = 1u << %d;\n" % (n, FLAG_SHIFT + i) for i, n in enumerate(OPERAND_FLAGS)),
        "}  // namespace operand_flag\n\n",
        "/// Address spaces of a row, after those of `space`.\n",
        *("inline constexpr unsigned space_%s = %d;\n" % (n, spaces.index(n)) for n in ("any", "tmem")),
        "\n/// Kinds of video selectors (PTX ISA 9.7.16): one part, two halves, four bytes; for destinations the elements written.\n",
        "enum class selector_class : std::uint8_t { %s };\n" % ", ".join(SELECTOR_CLASSES),
        "inline constexpr unsigned selector_required = %d;\n\n" % SELECTOR_REQUIRED])


def cpp_name(spelling):
    name = spelling.replace("::", "__")
    if name[0].isdigit():
        name = "_" + name
    if name in KEYWORDS:
        name += "_"
    return name


def split_top(text, sep):
    """Splits at `sep` outside of any bracket."""
    out, depth, cur = [], 0, ""
    for ch in text:
        if ch in "([{<":
            depth += 1
        elif ch in ")]}>" and not (ch == ">" and depth == 0):
            depth -= 1
        if ch == sep and depth == 0:
            out.append(cur)
            cur = ""
        else:
            cur += ch
    out.append(cur)
    return [x.strip() for x in out]


class Does:
    """What the rows of a `does` line do; what it does not say is the cautious answer."""

    def __init__(self):
        self.action, self.varies, self.memory, self.proxy, self.together = "unknown", "varies", None, None, None

    def changed(self, text):
        """This with the words of a `does` in place of what they replace."""
        out = Does()
        out.__dict__.update(self.__dict__)
        memory = set()
        for word in [w.strip() for w in text.split(",")]:
            if word in ACTION_NAMES:
                out.action = word
            elif word in RESULTS:
                out.varies = word
            elif word in PROXIES:
                out.proxy = word
            elif word in TOGETHER:
                out.together = word
            elif word == "no-memory":
                memory.add("")
            elif word in MEMORY:
                memory.add(word)
            else:
                raise RowError("`does` knows no word '%s'" % word)
        if memory:
            if "" in memory and len(memory) > 1:
                raise RowError("no-memory stands alone: " + text)
            out.memory, out.proxy = memory - {""}, out.proxy or "generic-proxy"
        return out

    def bits(self, row):
        """The packed behaviour of a row: isa::behaviour."""
        if self.action == "value" and self.varies != "uniform":
            raise RowError("what a `value` is follows from its sources: it is `uniform`, or its action is `varying`")
        aligned = "aligned" in all_words(row.elements)
        if aligned != (self.together is not None):
            raise RowError("a row with .aligned says who executes it together (warp, warpgroup), and only such a row")
        results = 1 if self.action == "call" else sum(1 for o in row.operands
                                                      if o["flags"] & F_DEST and not o["flags"] & F_JOINED)
        memory = 7 if self.memory is None else sum(MEMORY[m] for m in self.memory)
        return (ACTION_NAMES.index(self.action) << ACTION_SHIFT | results << RESULTS_SHIFT |
                RESULTS[self.varies] << VARIES_SHIFT | memory << MEMORY_SHIFT |
                PROXIES[self.proxy or "any-proxy"] << PROXY_SHIFT | TOGETHER.get(self.together, 0) << TOGETHER_SHIFT)


class Row:
    def __init__(self, family, section, where, pattern, operands, ptx, targets):
        self.family, self.section, self.where = family, section, where
        self.pattern_text, self.operand_text = pattern, operands
        m = re.fullmatch(r"(\d+)\.(\d+)", ptx)
        if not m:
            raise RowError("bad PTX version '%s'" % ptx)
        self.ptx = (int(m.group(1)), int(m.group(2)))
        self.targets = targets
        self.slots = {}   # variable name -> slot number (1..)
        self.slot_values = {}
        self.flags = {}
        self.elements = []
        self.operands = []


class Table:
    def __init__(self):
        self.sets = {}
        self.rows = []
        self.families = []
        self.targets = target_rows.load()

    # ---- parsing -------------------------------------------------------------------------------------------------
    def load(self):
        for name in sorted(os.listdir(FORMS)):
            if name.endswith(".isa"):
                self.load_file(name)

    def load_file(self, name):
        family, section = name[:-4], ""
        self.families.append(family)
        self.does, self.call, self.needs = Does(), "", {}
        local = dict(self.sets)
        pending, start = "", 0
        lines = open(os.path.join(FORMS, name), encoding="utf-8").read().split("\n")
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].rstrip()
            if not pending:
                start = number
            if line.endswith("\\"):
                pending += line[:-1] + " "
                continue
            line, pending = (pending + line).strip(), ""
            if not line:
                continue
            where = "%s:%d" % (name, start)
            try:
                if line.startswith("section "):
                    section = line[8:].strip()
                elif line.startswith("set "):
                    key, value = line[4:].split("=", 1)
                    local[key.strip()] = self.choices(value, local)
                elif line.startswith("does ") and ";" not in line:
                    self.does = Does().changed(line[5:])
                elif line.startswith("needs "):
                    self.needs = self.parse_needs(line[6:])
                elif re.match(r"(call|make) ", line):
                    self.call = line
                else:
                    self.rows.append(self.parse_row(family, section, where, line, local))
            except RowError as e:
                raise SystemExit("%s: %s\n    %s" % (where, e, line))

    def choices(self, text, sets):
        out = []
        for item in split_top(text, ","):
            if item.startswith("$"):
                if item[1:] not in sets:
                    raise RowError("unknown set " + item)
                out += sets[item[1:]]
            elif item:
                m = re.fullmatch(r"(.*)\[(\d+):(\d+):(\d+)\](.*)", item)
                if m:
                    lo, hi, step = (int(m.group(i)) for i in (2, 3, 4))
                    out += ["%s%d%s" % (m.group(1), n, m.group(5)) for n in range(lo, hi + 1, step)]
                else:
                    out.append(item)
        if len(set(out)) != len(out):
            raise RowError("a choice is listed twice: " + text)
        return out

    def parse_row(self, family, section, where, line, sets):
        fields = [f.strip() for f in re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', line)]
        does, call = self.does, self.call
        while len(fields) > 2 and re.match(r"(does|call|make)\b", fields[-1]):
            field = fields.pop()
            if field.startswith("does"):
                does = does.changed(field[5:])
            else:
                call = field
        if len(fields) == 2:
            fields += ["1.0", "all"]
        if len(fields) != 4:
            raise RowError("a row has 4 fields: pattern ; operands ; min PTX ; targets; then perhaps `does ...` and `call ...`")
        row = Row(family, section, where, fields[0], fields[1], fields[2], fields[3])
        m = re.match(r"[a-z_][\w]*", fields[0])
        if not m:
            raise RowError("no mnemonic")
        row.opcode = m.group(0)
        row.elements = self.parse_pattern(row, fields[0][m.end():], sets)
        for text in split_top(fields[1], ","):
            if text:
                row.operands.append(self.parse_operand(row, text))
        self.parse_targets(row.targets)
        row.needs = {w: n for w, n in self.needs.items() if w in all_words(row.elements)}
        row.behaviour = does.bits(row)
        row.uses = call_uses(row, call)
        row.calls = ["k." + u.name for u in row.uses]
        return row

    def parse_pattern(self, row, text, sets):
        pos, out = 0, []
        while pos < len(text):
            ch = text[pos]
            if ch == "{":
                depth, end = 1, pos + 1
                while depth:
                    depth += {"{": 1, "}": -1}.get(text[end], 0)
                    end += 1
                inner = self.parse_pattern(row, text[pos + 1:end - 1], sets)
                m = re.compile(r"@(\w+)").match(text, end)
                flag = NO_FLAG
                if m:
                    flag = row.flags.setdefault(m.group(1), len(row.flags) + 1)
                    end = m.end()
                out.append(("opt", inner, flag))
                pos = end
            elif text.startswith(".<", pos):
                end = text.index(">", pos)
                body = text[pos + 2:end]
                slot = 0
                if "=" in body:
                    var, body = body.split("=", 1)
                    if var in row.slots:
                        raise RowError("variable %s is bound twice" % var)
                    slot = row.slots[var] = len(row.slots) + 1
                choices = self.choices(body, sets)
                if slot:
                    row.slot_values[var] = choices
                out.append(("set", choices, slot))
                pos = end + 1
            elif ch == ".":
                m = re.compile(r"\.([\w:]+)").match(text, pos)
                out.append(("lit", m.group(1)))
                pos = m.end()
            else:
                raise RowError("bad pattern at '%s'" % text[pos:])
        if len(row.slots) > MAX_SLOTS or len(row.flags) > MAX_FLAGS:
            raise RowError("too many variables or flags")
        return out

    def parse_type(self, row, text):
        if text in row.slots:
            for v in row.slot_values[text]:
                if v not in SCALARS:
                    raise RowError("%s may be %s, which is no type" % (text, v))
            return 64 + row.slots[text]
        if text not in SCALARS:
            raise RowError("unknown type '%s'" % text)
        return SCALARS.index(text)

    def parse_count(self, row, text):
        """`4`, `V`, `V*m`, `V/m` -> packed count word."""
        m = re.fullmatch(r"([A-Za-z]\w*|\d+)(?:([*/])(\d+))?", text)
        if not m:
            raise RowError("bad count '%s'" % text)
        if m.group(1).isdigit():
            return int(m.group(1))
        if m.group(1) not in row.slots:
            raise RowError("unknown variable '%s'" % m.group(1))
        factor = int(m.group(3) or 1)
        return 0x8000 | row.slots[m.group(1)] << 11 | (0x400 if m.group(2) == "/" else 0) | factor

    def parse_imm(self, text):
        m = re.fullmatch(r"imm\((-?\w+)\.\.(-?\w+)(?:\.\.(\w+))?\)", text)
        if m and m.group(3) == "pow2":
            return (int(m.group(1), 0), int(m.group(2), 0), POWERS_OF_TWO)
        if m:
            return (int(m.group(1), 0), int(m.group(2), 0), int(m.group(3) or "1", 0))
        m = re.fullmatch(r"imm\{(.*)\}", text)
        if m:
            values = sorted(int(v, 0) for v in m.group(1).split(","))
            step = values[1] - values[0] if len(values) > 1 else 1
            if values != list(range(values[0], values[-1] + 1, step)):
                raise RowError("immediates must be evenly spaced: " + text)
            return (values[0], values[-1], step)
        if text == "imm":
            return (-(1 << 63), (1 << 63) - 1, 1)
        raise RowError("bad immediate '%s'" % text)

    def parse_operand(self, row, text):
        flags = 0
        if text.startswith(">"):
            flags, text = flags | F_DEST, text[1:]
        if text.startswith("|"):
            flags, text = flags | F_JOINED, text[1:]
        name, _, cls = text.partition(":")
        gate, negated_gate = NO_FLAG, False
        m = re.search(r"@(!?)(\w+)$", cls)
        if m:
            cls = cls[:m.start()]
            if m.group(2) not in row.flags:
                raise RowError("unknown flag " + m.group(2))
            gate, negated_gate = row.flags[m.group(2)], bool(m.group(1))
        if cls.endswith("?"):
            flags, cls = flags | F_OPTIONAL, cls[:-1]
        parts = split_top(cls, "+")
        base, alternatives = parts[0], parts[1:]
        kind, typ, count, imm, space = CLASS_REG, 0, 0, None, None
        for alt in alternatives:
            if alt == "_":
                flags |= F_SINK
            elif alt == "sreg":
                flags |= F_SREG
            elif alt == "bits":
                flags |= F_BITS
            elif alt == "sym":
                flags |= F_SYM
            elif alt == "unified":
                flags |= F_UNIFIED
            elif alt == "neg":
                flags |= F_MINUS
            elif alt.startswith("imm"):
                imm = self.parse_imm(alt)
            else:
                raise RowError("unknown alternative +" + alt)
        if base.startswith("imm"):
            kind, imm = CLASS_IMM, self.parse_imm(base)
        elif base in ("pred", "!pred"):
            kind = CLASS_PRED
            flags |= F_NEGATED if base[0] == "!" else 0
        elif base == "label":
            kind = CLASS_LABEL
        elif base == "sym":
            kind = CLASS_SYMBOL
        elif base == "sink":
            kind, flags = CLASS_SINK, flags | F_SINK
        elif base == "list":
            kind = CLASS_LIST
        elif base.startswith("tex("):
            m = re.fullmatch(r"tex\((\d+):(\w+)(\+s)?\)", base)
            if not m:
                raise RowError("bad texture " + base)
            kind, count, typ = CLASS_TEXTURE, int(m.group(1)), self.parse_type(row, m.group(2))
            flags |= F_SREG if m.group(3) else 0
        elif base.startswith("tmap("):
            kind, count = CLASS_TMAP, self.parse_count(row, base[5:-1])
        elif base.startswith("["):
            kind, space = CLASS_ADDRESS, base[1:-1]
            if space in row.slots:
                typ = 64 + row.slots[space]
            elif space in space_names():
                typ = space_names().index(space)
            else:
                raise RowError("unknown space " + space)
        elif base.startswith("{"):
            m = re.fullmatch(r"\{(.*?)\*(.*)\}", base)
            if not m:
                raise RowError("bad vector " + base)
            elem = m.group(1)
            if elem.startswith("~"):
                flags, elem = flags | F_RELAXED, elem[1:]
            if elem.endswith("!"):
                flags, elem = flags | F_REG_ONLY, elem[:-1]
            kind, typ, count = CLASS_VEC, self.parse_type(row, elem), self.parse_count(row, m.group(2))
        else:
            if base.startswith("~"):
                flags, base = flags | F_RELAXED, base[1:]
            base, _, selector = base.partition("/")
            if selector:
                count = SELECTOR_REQUIRED if selector.endswith("!") else 0
                count |= SELECTORS[selector.rstrip("!")]
            if base.endswith("!"):
                flags, base = flags | F_REG_ONLY, base[:-1]
            typ = self.parse_type(row, base)
        if flags & F_DEST and kind != CLASS_VEC:
            flags |= F_REG_ONLY
        return {"kind": kind, "flags": flags, "type": typ, "count": count, "imm": imm, "gate": gate,
                "gate_negated": negated_gate, "name": name}

    def parse_targets(self, text):
        out = []
        if text == "all":
            return [(0, 0)]
        for item in text.split("|"):
            m = re.fullmatch(r"sm_(\d+)([af]?)", item.strip())
            if not m:
                raise RowError("bad target '%s'" % item)
            out.append((int(m.group(1)), {"": 0, "a": 1, "f": 2}[m.group(2)]))
        return out

    def expanded(self, rule):
        """A target rule with each family as the numbers that are in it."""
        out = []
        for sm, suffix in rule:
            out += [(n, 2) for n in target_rows.in_family(self.targets, sm)] if suffix == 2 else [(sm, suffix)]
        return list(dict.fromkeys(out))

    def parse_needs(self, text):
        out = {}
        for item in split_top(text, ","):
            m = re.fullmatch(r"([\w:]+)=sm_(\d+)", item)
            if not m:
                raise RowError("bad need '%s'" % item)
            out[m.group(1)] = int(m.group(2))
        return out

    # ---- packing -------------------------------------------------------------------------------------------------
    def collect_tokens(self):
        words = set(SCALARS) - {"none"}

        def walk(elements):
            for e in elements:
                if e[0] == "lit":
                    words.add(e[1])
                elif e[0] == "set":
                    words.update(e[1])
                else:
                    walk(e[1])
        for row in self.rows:
            words.add(row.opcode)
            walk(row.elements)
        return [""] + sorted(words)

    def pack(self):
        self.tokens = self.collect_tokens()
        index = {t: i for i, t in enumerate(self.tokens)}
        if len(self.tokens) >= 1 << 12:
            raise SystemExit("too many tokens")
        self.set_pool, self.imm_pool, self.target_pool = Pool(), Pool(), Pool()
        by_opcode = {}
        for row in self.rows:
            by_opcode.setdefault(row.opcode, []).append(row)
        self.ordered = [r for op in sorted(by_opcode) for r in by_opcode[op]]
        self.code = [0]           # offset 0 means "no such opcode"
        self.opcode_first = [0] * len(self.tokens)
        number = 0
        for op in sorted(by_opcode):
            self.opcode_first[index[op]] = len(self.code)
            self.code += [number, len(by_opcode[op])]
            number += len(by_opcode[op])
            for row in by_opcode[op]:
                self.code += self.pack_row(row, index)
        if len(self.code) > 0xffff:
            raise SystemExit("the table no longer fits 16-bit offsets")

    def behaviours(self):
        """By mnemonic: what its forms do, or SPLIT and the place of a list in `splits`: length, then two words (the second may be
        none) and what the forms that have them do, and so on, then what the rest does. The first that fits counts."""
        by_opcode = {}
        for row in self.rows:
            by_opcode.setdefault(row.opcode, []).append(row)
        nothing = ACTION_NAMES.index("unknown") | RESULTS["varies"] << VARIES_SHIFT | 7 << MEMORY_SHIFT | PROXIES["any-proxy"] << PROXY_SHIFT
        table, splits = [nothing] * len(self.tokens), []
        for opcode, rows in by_opcode.items():
            actions = {r.behaviour & 31 for r in rows}
            if len(actions) > 1:
                raise SystemExit("%s: the forms of `%s` do different things; an action is a mnemonic's" % (rows[0].where, opcode))
            apart, rest = decision_list(rows)
            here = self.tokens.index(opcode)
            table[here] = rest
            if apart:
                table[here] = SPLIT | len(splits) << 18 | actions.pop()
                splits += [len(apart)] + [x for w, v, b in apart for x in (self.tokens.index(w), self.tokens.index(v), b)] + [rest]
        return table, splits

    def pack_row(self, row, index):
        pattern = self.pack_pattern(row.elements, index)
        operands = []
        for o in row.operands:
            imm = 0 if o["imm"] is None else self.imm_pool.add(o["imm"]) + 1
            operands += [o["kind"] | o["flags"], o["type"] | o["gate"] << 8 | (0x1000 if o["gate_negated"] else 0),
                         o["count"], imm]
        # ISA order of versions is number order: 8.6 -> 86.
        ptx = row.ptx[0] * 10 + row.ptx[1]
        targets = self.target_pool.add((tuple(self.parse_targets(row.targets)),
                                        tuple(sorted((index[w], n) for w, n in row.needs.items()))))
        if targets > 255:
            raise SystemExit("%s: more than 256 target rules" % row.where)
        low, high = (min(n, 15) for n in modifier_counts(row.elements))
        if len(pattern) > 255:
            raise SystemExit("%s: the pattern is too long" % row.where)
        body = [ptx | targets << 8, len(pattern) | low << 8 | high << 12] + pattern + operands
        return [len(body) + 1] + body

    def pack_pattern(self, elements, index):
        out = []
        for e in elements:
            if e[0] == "lit":
                out.append(index[e[1]])
            elif e[0] == "set":
                out.append(0x4000 | e[2] << 11 | self.set_pool.add(tuple(sorted(index[c] for c in e[1]))))
            else:
                inner = self.pack_pattern(e[1], index)
                out.append(0x8000 | e[2] << 8 | len(inner))
                out += inner
        return out

    # ---- writing -------------------------------------------------------------------------------------------------
    def tokens_hpp(self):
        out = [BANNER, "#pragma once\n\n#include <cstdint>\n\nnamespace ptxdsl::isa {\n\n",
               "/// Every mnemonic word and modifier of the instruction table, sorted by spelling.\n",
               "// clang-format off\nenum class tok : std::uint16_t {\n    none = 0,\n"]
        out += wrap([cpp_name(t) + "," for t in self.tokens[1:]], " ")
        out += ["};\n\nnamespace detail {\n\ninline constexpr unsigned token_count = %d;\n" % len(self.tokens)]
        offsets, pos, text = [], 0, ""
        for t in self.tokens:
            offsets.append(pos)
            pos += len(t)
            text += t
        offsets.append(pos)
        out += ["/// All spellings end to end; token t is [token_offset[t], token_offset[t + 1]).\n",
                "inline constexpr const char* token_text =\n"] + wrap_string(text) + [";\n",
                "inline constexpr const char16_t* token_offset =\n"] + words(offsets) + [";\n"]
        scalar_of = [SCALARS.index(t) if t in SCALARS else 0 for t in self.tokens]
        out += ["/// The scalar type a token names, as `scalar`; 0 when it names none.\n",
                "inline constexpr const char16_t* token_scalar =\n"] + words(scalar_of) + [";\n"]
        token_of = [self.tokens.index(s) if s in self.tokens else 0 for s in SCALARS]
        out += ["/// The token of each scalar type.\n", "inline constexpr const char16_t* scalar_token =\n"]
        out += words(token_of) + [";\n"]
        numbers = [token_number(t) for t in self.tokens]
        out += ["/// The number in a token that counts something: v4, x8, 3d, m64n256k16 (its n).\n",
                "inline constexpr const char16_t* token_number =\n"] + words(numbers) + [";\n"]
        out += ["\n}  // namespace detail\n}  // namespace ptxdsl::isa\n// clang-format on\n"]
        return "".join(out)

    def table_hpp(self):
        sets, set_offset = [], []
        for s in self.set_pool.items:
            set_offset.append(len(sets))
            sets += [len(s)] + list(s)
        targets, target_offset = [], []
        for t, needs in self.target_pool.items:
            target_offset.append(len(targets))
            packed = [sm | suffix << 12 for sm, suffix in self.expanded(t)]
            targets += [len(packed)] + packed + [max([n for _, n in needs], default=0), len(needs)]
            targets += [x for need in needs for x in need]
        imms = []
        for lo, hi, step in self.imm_pool.items:
            for v in (lo, hi):
                v &= (1 << 64) - 1
                imms += [v >> (16 * i) & 0xffff for i in range(4)]
            imms.append(step)
        out = [BANNER, "#pragma once\n\n#include <cstdint>\n\nnamespace ptxdsl::isa::detail {\n// clang-format off\n\n", enumerations(),
               "inline constexpr unsigned form_count = %d;\n" % len(self.rows)]
        for name, data, doc in [
                ("opcode_first", self.opcode_first, "Token of a mnemonic -> where its rows begin in `code`; 0: no mnemonic."),
                ("code", self.code, "The rows; the layout is described in table.hpp."),
                ("set_offset", set_offset, "Set number -> where it begins in `sets`."),
                ("sets", sets, "Sets of tokens: length, then the sorted tokens."),
                ("target_offset", target_offset, "Target rule number -> where it begins in `targets`."),
                ("targets", targets, "Target rules: length, then sm | suffix << 12 (0 from there on, 1 exactly `a`, 2 `a` or `f`); then the first\n/// number that has all of the modifiers that follow, how many they are, and each with the first number that has it."),
                ("immediates", imms, "Immediate ranges: low and high (four words each, low word first), step (0: powers of two).")]:
            out += ["/// %s\n" % doc, "inline constexpr const char16_t* %s =\n" % name] + words(data or [0]) + [";\n"]
        out += ["\n// clang-format on\n}  // namespace ptxdsl::isa::detail\n"]
        return "".join(out)

    def behaviour_hpp(self):
        table, splits = self.behaviours()
        actions = ["    %s,%s\n" % (name, "  ///< " + doc if doc else "") for name, doc in ACTIONS]
        out = [BANNER, "#pragma once\n\n#include <cstdint>\n\nnamespace ptxdsl::isa {\n// clang-format off\n\n",
               "/// What the verifier follows an instruction as. Up to `effect` nothing but its registers matters.\n",
               "enum class action : std::uint8_t {\n", *actions, "};\n\nnamespace detail {\n\n",
               "// Where the fields of a `behaviour` lie.\n"]
        for name, value in [("results", RESULTS_SHIFT), ("varies", VARIES_SHIFT), ("memory", MEMORY_SHIFT), ("proxy", PROXY_SHIFT),
                            ("together", TOGETHER_SHIFT)]:
            out.append("inline constexpr unsigned behaviour_%s = %d;\n" % (name, value))
        out += ["/// Of an entry of `mnemonic_behaviour`: its forms differ; where their list begins in `behaviour_lists` stands above.\n",
                "inline constexpr unsigned behaviour_split = 1u << 17;\n\n",
                "/// Token of a mnemonic -> what its forms do; of any other token: what nobody knows.\n",
                "inline constexpr const char32_t* mnemonic_behaviour =\n"] + words(table, "U") + [";\n",
                "/// Where the forms of a mnemonic differ: length; two words (the second perhaps `none`) and what the forms\n/// with them do, and so on; what the others do. The first that fits counts.\n",
                "inline constexpr const char32_t* behaviour_lists =\n"] + words(splits or [0], "U") + [";\n",
                "\n}  // namespace detail\n\n// clang-format on\n}  // namespace ptxdsl::isa\n"]
        return "".join(out)

    def text_hpp(self):
        strings, offsets, text = Pool(), [], ""
        for row in self.ordered:
            for s in (row.pattern_text, row.operand_text, row.targets, row.section, row.family, " ".join(row.calls)):
                offsets.append(strings.add(re.sub(r"\s+", " ", s)))
        starts, pos = [], 0
        for s in strings.items:
            starts.append(pos)
            pos += len(s)
            text += s
        starts.append(pos)
        out = [BANNER, "#pragma once\n\n#include <cstdint>\n\nnamespace ptxdsl::isa::detail {\n// clang-format off\n\n",
               "/// All row texts end to end; text i is [form_text_start[i], form_text_start[i + 1]).\n",
               "inline constexpr const char* form_text =\n"] + wrap_string(text) + [";\n",
               "inline constexpr const char32_t* form_text_start =\n"] + words(starts, "U") + [";\n",
               "/// Per form: pattern, operands, targets, section, family, calls.\n",
               "inline constexpr const char16_t* form_text_of =\n"] + words(offsets) + [";\n",
               "/// Number of a form -> what it does (isa::behaviour).\n",
               "inline constexpr const char32_t* form_behaviour =\n"] + words([r.behaviour for r in self.ordered], "U") + [";\n",
               "\n// clang-format on\n}  // namespace ptxdsl::isa::detail\n"]
        return "".join(out)

    def stats(self):
        held = [t for t in self.targets if t.held]
        print("%-12s %6s" % ("family", "forms") + "".join(" %8s" % t.name for t in held))
        for f in self.families + ["all"]:
            rows = [r for r in self.rows if f in (r.family, "all")]
            print("%-12s %6d" % (f, len(rows)) + "".join(" %8d" % sum(self.has(r, t) for r in rows) for t in held))
        print("tokens %d, sets %d, code words %d" % (len(self.tokens), len(self.set_pool.items), len(self.code)))

    def has(self, row, t):
        return any((suffix == 0 and t.sm >= sm) or (t.sm == sm and t.suffix in ("", "a", "af")[suffix] and t.suffix)
                   for sm, suffix in self.expanded(self.parse_targets(row.targets)))


class Pool:
    """Distinct values in order of first use."""

    def __init__(self):
        self.items, self.index = [], {}

    def add(self, value):
        if value not in self.index:
            self.index[value] = len(self.items)
            self.items.append(value)
        return self.index[value]


def all_words(elements):
    """Every word that a pattern can have."""
    out = set()
    for e in elements:
        out |= {e[1]} if e[0] == "lit" else set(e[1]) if e[0] == "set" else all_words(e[1])
    return out


def decision_list(rows):
    """([(word, word or "", behaviour)...], behaviour): tells the rows of a mnemonic apart by words that each form has or has not."""
    apart, rest = [], list(rows)
    counts = collections.Counter(r.behaviour for r in rows)
    usual = max(counts, key=lambda b: (counts[b], b))
    while len({r.behaviour for r in rest}) > 1:
        literals = sorted({e[1] for r in rest for e in r.elements if e[0] == "lit"})
        found = []
        for pair in [(w, "") for w in literals] + list(itertools.combinations(literals, 2)):
            wanted = set(pair) - {""}
            having = [r for r in rest if wanted <= all_words(r.elements)]
            always = [r for r in having if all(("lit", w) in r.elements for w in wanted)]
            if always and len({r.behaviour for r in having}) == 1:
                # First what is not as usual, by one word before two, and the most forms at once.
                found.append((always[0].behaviour != usual, pair[1] == "", len(always), pair, always))
        if not found:
            raise SystemExit("%s: nothing tells apart the forms of `%s` that do different things" % (rest[0].where, rest[0].opcode))
        *_, pair, always = max(found, key=lambda f: f[:3])
        apart.append((*pair, always[0].behaviour))
        rest = [r for r in rest if r not in always]
    return apart, rest[0].behaviour


class Use:
    """One call that emits one row."""

    def __init__(self, row, name, parameters, result, options, made, chapter, prose):
        self.row, self.name, self.made, self.options = row, name, made and parameters is not None, options
        self.parameters, self.result, self.chapter, self.prose = parameters, result, chapter, prose
        # The words in front of the type, as far as the name says them.
        rest = name[len(row.opcode):].lstrip("_")
        self.fixed = []
        sources = [e[1] if e[0] == "set" else [e[1]] for e in row.elements if e[0] != "opt"]
        for choices in sources if rest else []:
            word = next((w for w in choices if re.match(re.escape(w.replace("::", "_")) + r"(_|$)", rest)), None)
            if word is not None:
                self.fixed.append(word)
                rest = rest[len(word):].lstrip("_")
        self.type = type_element(row.elements)


def type_element(elements):
    """The last element of a pattern, where it is the type of the operands: (place, choices); None without one."""
    for place in range(len(elements) - 1, -1, -1):
        kind, choices = elements[place][0], elements[place][1]
        if kind == "opt":
            continue
        choices = choices if kind == "set" else [choices]
        return (place, choices) if all(c in SCALARS for c in choices) else None
    return None


CALL = re.compile(r"""(?P<name>[\w.*]+)(\((?P<parameters>[^)]*)\))?(\s*->\s*(?P<result>\w+))?""")


def call_uses(row, text):
    """The calls of a row, `*` replaced by the choices of its last unnamed sets."""
    word, _, rest = text.partition(" ")
    m = re.fullmatch(r'(.*?)(?:\bisa ([\d.]+)(?:\s+"([^"]*)")?)?\s*', rest)
    head, chapter, prose = m.group(1).strip(), m.group(2) or "", m.group(3) or ""
    if head in ("", "none"):
        return []
    sets = [e[1] for e in row.elements if e[0] == "set" and e[2] == 0]
    uses, options, at = [], set(), 0
    while at < len(head):
        m = CALL.match(head, at)
        if not m:
            raise RowError("bad call '%s'" % head[at:])
        at = m.end() + len(head[m.end():]) - len(head[m.end():].lstrip())
        if m.group(0) in ("bits", "own", "plain", "all-words"):
            options.add(m.group(0))
            continue
        if head.startswith("all-words", m.start()):
            options.add("all-words")
            at = m.start() + len("all-words")
            continue
        parameters = None
        if m.group("parameters") is not None:
            parameters = [tuple((p.strip() + ":").split(":")[:2]) for p in m.group("parameters").split(",") if p.strip()]
            sources = [o for o in row.operands if not o["flags"] & F_DEST]
            if len(parameters) != len(sources):
                raise RowError("`%s` has %d parameters, the row %d sources" % (m.group(0), len(parameters), len(sources)))
        stars = m.group("name").count("*")
        if stars > len(sets):
            raise RowError("`%s` has more `*` than the row has unnamed choices" % m.group("name"))
        for choice in itertools.product(*sets[len(sets) - stars:]):
            name = m.group("name")
            for w in choice:
                name = name.replace("*", w.replace("::", "_"), 1)
            uses.append(Use(row, name, parameters, m.group("result"), options, word == "make", chapter, prose))
    if word == "make" and (not chapter or not any(u.made for u in uses)):
        raise RowError("a generated call needs its parameters and its chapter of the PTX ISA: make NAME(a, b) isa 9.7.1.3")
    return uses


def modifier_counts(elements):
    """Fewest and most modifiers a pattern takes."""
    low = high = 0
    for e in elements:
        if e[0] == "opt":
            high += modifier_counts(e[1])[1]
        else:
            low, high = low + 1, high + 1
    return low, high


def token_number(t):
    m = re.fullmatch(r"m\d+n(\d+)k\d+", t) or re.fullmatch(r"[vx](\d+)", t) or re.fullmatch(r"(\d)d", t)
    return int(m.group(1)) if m else 0


def words(values, prefix="u"):
    """Numbers as a string literal: the cheapest array there is for a compiler to read."""
    lines, cur = [], ""
    for v in values:
        piece = "\\x%x" % v
        if len(cur) + len(piece) > 108:
            lines.append('    %s"%s"\n' % (prefix, cur))
            cur = ""
        cur += piece
    lines.append('    %s"%s"' % (prefix, cur))
    return lines


def wrap_string(text):
    chunks = [text[i:i + 108] for i in range(0, len(text), 108)] or [""]
    return ["\n".join('    "%s"' % c.replace("\\", "\\\\").replace('"', '\\"') for c in chunks)]


def wrap(items, sep):
    out, cur = [], "   "
    for item in items:
        if len(cur) + len(item) + 1 > 116:
            out.append(cur + "\n")
            cur = "   "
        cur += sep + item
    out.append(cur + "\n")
    return out


def main():
    global SCALARS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--stats", action="store_true")
    args = parser.parse_args()
    SCALARS = scalar_names()
    table = Table()
    table.load()
    table.pack()
    isa = "isa/generated/"
    files = {isa + "tokens.hpp": table.tokens_hpp(), isa + "table.hpp": table.table_hpp(),
             isa + "behaviour.hpp": table.behaviour_hpp(), isa + "forms_text.hpp": table.text_hpp(),
             isa + "targets.hpp": target_rows.targets_hpp(TARGETS_BANNER, words),
             isa + "target_constants.hpp": target_rows.constants_hpp(TARGETS_BANNER)}
    if args.stats:
        table.stats()
        return 0
    try:
        described = calls.calls_of(sys.modules[__name__], table)
        for header in calls.HEADERS:
            files["dsl/generated/%s.hpp" % header] = calls.builder_hpp(BANNER, described, header)
        files["../../tests/dsl/scalar/made_calls.hpp"] = calls.test_hpp(BANNER, sys.modules[__name__], table, described)
        files["transpile/generated/typed_calls.hpp"] = calls.transpiler_hpp(BANNER, sys.modules[__name__], described)
    except calls.CallError as e:
        raise SystemExit(str(e))
    stale = 0
    for name, text in files.items():
        path = os.path.join(ROOT, "..", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old == text:
            continue
        stale += 1
        if args.check:
            print("%s is not current: run tools/isa/generate.py" % os.path.normpath(os.path.join("include/ptxdsl", name)))
            continue
        with open(path + ".tmp", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(path + ".tmp", path)
    return 1 if args.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
