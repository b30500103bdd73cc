# SPDX-License-Identifier: Apache-2.0
"""The instruction rows (include/ptxdsl/isa/forms/*.isa), parsed.

"""
import itertools
import os
import re

import targets as target_rows

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include", "ptxdsl", "isa")
FORMS = os.path.join(ROOT, "forms")

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


KEYWORDS = set("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
constexpr continue default delete do double else enum explicit export extern false float for friend goto if inline int
long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register requires
return short signed sizeof static struct switch template this throw true try typedef typeid typename union unsigned
using virtual void volatile while xor xor_eq""".split())


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


SCALARS = scalar_names()


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


class Forms:
    """All rows of the folder."""

    def __init__(self):
        self.sets = {}
        self.rows = []
        self.families = []
        self.targets = target_rows.load()

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

    def has(self, row, t):
        return any((suffix == 0 and t.sm >= sm) or (t.sm == sm and t.suffix in ("", "a", "af")[suffix] and t.suffix)
                   for sm, suffix in self.expanded(self.parse_targets(row.targets)))


def all_words(elements):
    """Every word that a pattern can have."""
    out = set()
    for e in elements:
        out |= {e[1]} if e[0] == "lit" else set(e[1]) if e[0] == "set" else all_words(e[1])
    return out


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
