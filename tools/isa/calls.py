# SPDX-License-Identifier: Apache-2.0
"""What generate.py makes of the `call` and `make` of the rows: the builder's mechanical functions, and the transpiler's rows.

A call is mechanical when its parameters are the sources of its rows, each of the type the instruction is named by (T), of twice that
(W), or of one type in all rows, and its words are the mnemonic, words of its name, template arguments, and the type.
"""
import rows as isa

# Generated headers of include/ptxdsl/dsl/generated: the families whose calls they have, what they are about.
HEADERS = {
    "arithmetic": (["arith", "float", "logic", "compare"], "arithmetic, logic, shifts and selection", "9.7.1 to 9.7.8"),
    "warp": (["warp", "misc"], "votes, matches and reductions of a warp, and small instructions", "9.7.13, 9.7.19"),
}
LETTERS = {"T": "T", "W": "W", "u32": "U", "s32": "S", "b32": "B", "pred": "P"}


class CallError(Exception):
    pass


def twice(name):
    return {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}.get(name)


class Call:
    """One function of the builder: a name and a number of parameters, with the rows that it emits."""

    def __init__(self, uses):
        self.uses, first = uses, uses[0]
        self.name, self.opcode, self.fixed = first.name, first.row.opcode, first.fixed
        self.made = any(u.made for u in uses)
        self.family = first.row.family
        if any(u.fixed != self.fixed or u.row.opcode != self.opcode for u in uses):
            raise CallError("%s: the rows of `%s` differ in the words of its name" % (first.row.where, self.name))
        self.options = set().union(*(u.options for u in uses))
        words = sorted({c for u in uses if u.type for c in u.type[1]}, key=isa.SCALARS.index)
        self.types = words
        self.parameters = [(p[0], self.agreed([self.type_of(u, o, p[1]) for u, o, p in column]))
                           for p, column in ((c[0][2], c) for c in self.columns())]
        results = [self.result_of(u) for u in uses]
        self.result = self.agreed(results)
        bits = all(w.startswith("b") or w == "pred" for w in words)
        self.typing = next((t for t in ("bits", "own", "plain") if t in self.options), "bits" if bits else "own")
        self.before, self.behind = [], []  # modifiers that are arguments
        self.must = True
        for u in uses:
            self.sort_modifiers(u)

    def columns(self):
        """For each parameter, in every row: (use, operand, (name, type))."""
        out = [[] for _ in self.uses[0].parameters]
        for u in self.uses:
            sources = [o for o in u.row.operands if not o["flags"] & isa.F_DEST]
            for i, (o, p) in enumerate(zip(sources, u.parameters)):
                out[i].append((u, o, p))
        return out

    def type_of(self, use, operand, given):
        if given:
            return given
        row = use.row
        if operand["kind"] == isa.CLASS_PRED:
            name = "pred"
        elif operand["kind"] == isa.CLASS_REG and operand["type"] < 64:
            name = isa.SCALARS[operand["type"]]
        elif operand["kind"] == isa.CLASS_REG:
            slot = next(v for v, n in row.slots.items() if n == operand["type"] - 64)
            if use.type and row.elements[use.type[0]][2:] == (row.slots[slot],):
                return "T"
            raise CallError("%s: an operand of `%s` has a type of its own" % (row.where, self.name))
        else:
            raise CallError("%s: an operand of `%s` is no register" % (row.where, self.name))
        if use.type and use.type[1] == [name]:
            return "T"
        if use.type and len(use.type[1]) == 1 and twice(use.type[1][0]) == name:
            return "W"
        return name

    def result_of(self, use):
        if use.result:
            return use.result
        results = [o for o in use.row.operands if o["flags"] & isa.F_DEST and not o["flags"] & isa.F_JOINED]
        return self.type_of(use, results[0], "") if results else ""

    def agreed(self, found):
        # A type word that stands for twice a narrower one in some rows only is none.
        if len(set(found)) != 1:
            raise CallError("%s: the rows of `%s` do not agree about an operand: %s" % (self.uses[0].row.where, self.name, ", ".join(sorted(set(found)))))
        return found[0]

    def sort_modifiers(self, use):
        if "all-words" in self.options:
            return
        fixed, chosen = list(self.fixed), False
        for place, e in enumerate(use.row.elements):
            words = sorted(isa.all_words([e]), key=order_of(e))
            if e[0] != "opt" and fixed and fixed[0] in words:
                fixed.pop(0)
                continue
            if use.type and place == use.type[0]:
                continue
            to = self.behind if use.type and place > use.type[0] else self.before
            to += [w for w in words if w not in to]
            chosen = chosen or e[0] != "opt"
        self.must = self.must and chosen

    # ---- text ----------------------------------------------------------------------------------------------------

    def ptx_line(self):
        """`mul.lo.T d, a, b;`"""
        text = ".".join([self.opcode, *self.fixed])
        if self.before:
            text += ".M" if self.must else "{.M}"
        if self.types:
            text += "." + (self.types[0] if len(self.types) == 1 else "T")
        if self.behind:
            text += "{.M}"
        operands = (["d"] if self.result else []) + [p for p, _ in self.parameters]
        return text + (" " + ", ".join(operands) if operands else "") + ";"

    def comment(self):
        out = "`%s`" % self.ptx_line()
        prose = unique(u.prose for u in self.uses)
        out += " — " + "; ".join(prose) + "." if prose else ""
        shapes = []
        if len(self.types) > 1:
            shapes.append("`T`: " + ", ".join(self.types))
        if self.before or self.behind:
            shapes.append("`M`: " + ", ".join(dict.fromkeys(self.before + self.behind)))
        out += " " + "; ".join(shapes) + "." if shapes else ""
        return out + " PTX ISA " + ", ".join(unique(u.chapter for u in self.uses)) + "."

    def function(self):
        classes = "ABCDEG"[:len(self.parameters)]
        heads = ["tok... M"] if self.before or self.behind else []
        heads += ["class %s" % c for c in classes[:-1]] + (["class %s = absent" % classes[-1]] if classes else [])
        given = ["%s&& %s" % (c, p) for c, (p, _) in zip(classes, self.parameters)]
        if given:
            given[-1] += " = {}"
        lines = ["/// " + line for line in wrap(self.comment(), 110)]
        if heads:
            lines.append("template <%s>" % ", ".join(heads))
        lines.append("constexpr auto %s(%s) const {" % (self.name, ", ".join([*given, "location where = location::current()"])))
        lines += ["    " + line for line in self.body(classes)]
        return "".join("    %s\n" % line for line in [*lines, "}"])

    def body(self, classes):
        tok = lambda w: "tok::" + isa.cpp_name(w)
        words = [tok(self.opcode), *map(tok, self.fixed)]
        letters = [t for _, t in self.parameters]
        forwarded = ["static_cast<%s&&>(%s)" % (c, p) for c, (p, _) in zip(classes, self.parameters)]
        own = [c for c, t in zip(classes, letters) if t == "T"]
        common = "typename same_type<%s>::operand_value" % ", ".join(own)
        if letters and set(letters) == {"T"} and not self.behind:
            words += ["M..."] if self.before else []
            arguments = ", ".join(["ctx()", "where", *forwarded])
            if self.typing == "own" and self.result == "T":
                return ["return uniform<Tgt, %s>(%s);" % (", ".join(words), arguments)]
            result = {"T": "void", "W": "typename twice<%s>::type" % common}.get(self.result, self.result)
            return ["return same<Tgt, typing::%s, %s, %s>(%s);" % (self.typing, result, ", ".join(words), arguments)]
        lines = []
        if own:
            lines.append("using T = %s;" % (common if len(own) > 1 else "source_t<%s>" % own[0]))
        if "W" in [*letters, self.result]:
            lines.append("using W = typename twice<T>::type;")
        words += ["M..."] if self.before else []
        if own:
            words.append("type_word<typing::%s, T>" % self.typing)
        elif len(self.types) == 1:
            words.append(tok(self.types[0]))
        elif self.types:
            raise CallError("%s: nothing gives `%s` its type" % (self.uses[0].row.where, self.name))
        words += ["M..."] if self.behind else []
        operands = ["pred_operand(%s, where)" % f if t == "pred" else "as_operand<%s>(%s, where)" % (t, f)
                    for f, t in zip(forwarded, letters)]
        lines.append("using F = form<Tgt, %s>;" % ", ".join(words))
        if not self.result:
            return [*lines, "require<F>();", "effect<F>(%s);" % ", ".join(["ctx()", "where", *operands])]
        return [*lines, "return checked<F, %s>(%s);" % (self.result, ", ".join(["ctx()", "where", *operands]))]

    # ---- the transpiler --------------------------------------------------------------------------------------------

    def transpiled(self):
        """Whether the transpiler may write this call: it is spoken of in types it knows, and no order matters."""
        words = {*self.fixed, *self.before, *self.behind}
        return "cc" not in words and all(t in LETTERS for t in [*(t for _, t in self.parameters), self.result or "T"])

    def by_type(self):
        """Chosen by one word and the type, not by all words."""
        return "all-words" not in self.options and len(self.fixed) < 2 and any(t == "T" for _, t in self.parameters)

    def letters(self):
        return "".join(LETTERS[t] for _, t in self.parameters), LETTERS[self.result] if self.result else " "

    def kind_of_types(self):
        kinds = {"f" if "f" in t or t.startswith(("e", "ue", "tf")) else "i" if t[0] in "us" and "x" not in t else "x" for t in self.types}
        return "f" if kinds == {"f"} else "i" if kinds == {"i"} else "a"

    def all_words(self):
        """Every spelling of the words in front of the type."""
        if "all-words" not in self.options:
            return [".".join([self.opcode, *self.fixed])]
        out = []
        for u in self.uses:
            literal = [e[1] for i, e in enumerate(u.row.elements) if e[0] == "lit" and not (u.type and i == u.type[0])]
            out.append(".".join([self.opcode, *literal]))
        return out


def order_of(element):
    """Words of a set as it lists them."""
    listed = element[1] if element[0] == "set" else []
    return lambda w: (listed.index(w) if w in listed else 0, w)


def unique(items):
    return list(dict.fromkeys(i for i in items if i))


def wrap(text, width):
    out, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            out.append(line)
            line = ""
        line += (" " if line else "") + word
    return [*out, line]


def calls_of(table):
    """The calls with parameters, in the order of the rows."""
    groups = {}
    for row in table.rows:
        for use in row.uses:
            if use.parameters is not None:
                groups.setdefault((use.name, len(use.parameters)), []).append(use)
    return [Call(uses) for uses in groups.values()]


def builder_hpp(banner, calls, header):
    """include/ptxdsl/dsl/generated/<header>.hpp"""
    families, about, chapters = HEADERS[header]
    made = [c for c in calls if c.made and c.family in families]
    out = [banner, "// The calls of the builder that follow from their rows: %s (PTX ISA %s).\n" % (about, chapters),
           "#pragma once\n\n#include <ptxdsl/detail/meta.hpp>\n#include <ptxdsl/dsl/builder_base.hpp>\n\n",
           "// Closed at the end of this file.\n#include <ptxdsl/detail/prologue.hpp>\n\n",
           "// clang-format off\nnamespace ptxdsl::detail {\n\n",
           "/// What `%s_family` has of the table; modifiers are template arguments in PTX order.\n" % header,
           "template <target Tgt, class Tag>\nclass generated_%s : public family<Tgt, Tag> {\nprotected:\n    using family<Tgt, Tag>::ctx;\n\npublic:\n" % header,
           "\n".join(c.function() for c in made),
           "};\n\n}  // namespace ptxdsl::detail\n// clang-format on\n", "\n#include <ptxdsl/detail/epilogue.hpp>\n"]
    return "".join(out)


def choices_of(call, use):
    """Template arguments that each row allows: what it must have, and that with one of its options."""
    fixed, out = list(call.fixed), [[]]
    for place, e in enumerate(use.row.elements):
        words = [e[1]] if e[0] == "lit" else e[1] if e[0] == "set" else None
        if words is not None and fixed and fixed[0] in words:
            fixed.pop(0)
        elif words is not None and not (use.type and place == use.type[0]):
            out = [o + [words[0]] for o in out]
        elif words is None:
            inner = [x[1] if x[0] == "lit" else x[1][0] for x in e[1] if x[0] != "opt"]
            out.append(out[0] + inner)
    return out


def test_hpp(banner, table, calls):
    """tests/dsl/scalar/made_calls.hpp: every made call with every type of its rows."""
    ours = [next(t for t in table.targets if t.name == name) for name in ("sm_90a", "sm_100a")]
    lines = {(True, True): [], (False, True): []}
    for c in calls:
        for u in c.uses if c.made else []:
            on = tuple(bool(table.has(u.row, t)) for t in ours)
            for t in u.type[1] if u.type else [""]:
                for modifiers in choices_of(c, u) if c.before or c.behind else [[]]:
                    name = c.name if not modifiers else "template %s<%s>" % (c.name, ", ".join("tok::" + isa.cpp_name(m) for m in modifiers))
                    types = [{"T": t, "W": twice(t)}.get(p, p) for _, p in c.parameters]
                    text = "k.%s(%s)" % (name, ", ".join("s.template get<%s>()" % x for x in types))
                    line = "s.put(%s);" % text if c.result else text + ";"
                    if on in lines and line not in lines[on]:
                        lines[on].append(line)
    body = "".join("    %s\n" % x for x in lines[True, True])
    newer = "".join("        %s\n" % x for x in lines[False, True])
    return "".join([banner, "#pragma once\n\n#include \"../all_calls.hpp\"\n\nnamespace all_calls {\n// clang-format off\n\n",
                    "/// Every call that is generated from its rows, with every type and each of the modifiers.\n",
                    "template <px::target Tgt>\nvoid made_calls(px::builder<Tgt>& k, byte_ptr data) {\n    using namespace px;  // NOLINT(google-build-using-namespace)\n",
                    "    const source<Tgt> s{k, data};\n", body, "    if constexpr (is_blackwell(Tgt)) {\n", newer, "    }\n}\n\n// clang-format on\n}  // namespace all_calls\n"])


def transpiler_hpp(banner, calls):
    """include/ptxdsl/transpile/generated/typed_calls.hpp"""
    chosen = [c for c in calls if c.transpiled()]
    by_type = [c for c in chosen if c.by_type()]
    # What has a word of its own comes before what has none: `mul.lo` before `mul`.
    by_type.sort(key=lambda c: not c.fixed)
    worded = [c for c in chosen if not c.by_type() and not (c.before or c.behind) or not c.by_type() and len(c.fixed) > 1]
    out = [banner, "#pragma once\n\n#include <ptxdsl/transpile/call_rows.hpp>\n\nnamespace ptxdsl::ptx {\n// clang-format off\n\n",
           "inline constexpr typed_call typed_calls[] = {\n"]
    for c in by_type:
        fixed = isa.cpp_name(c.fixed[0]) if c.fixed else "none"
        operands, result = c.letters()
        out.append("    {isa::tok::%s, isa::tok::%s, \"%s\", \"%s\", '%s', %s, '%s'},\n"
                   % (isa.cpp_name(c.opcode), fixed, c.name, operands, result, "true" if c.before else "false", c.kind_of_types()))
    out += ["};\n\ninline constexpr worded_call worded_calls[] = {\n"]
    for c in worded:
        operands, result = c.letters()
        out += ["    {\"%s\", \"%s\", \"%s\", '%s'},\n" % (w, c.name, operands, result) for w in c.all_words()]
    out += ["};\n\n// clang-format on\n}  // namespace ptxdsl::ptx\n"]
    return "".join(out)
