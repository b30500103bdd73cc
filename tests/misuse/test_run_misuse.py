#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the runner of the misuse tests: what it must let pass and, more than that, what it must not."""
import contextlib
import io
import os
import pathlib
import tempfile
import unittest

import run_misuse

COMPILER = os.environ.get("CXX", "g++")

GOOD = """\
// expect-1: PTXDSL-A01 "fma" "s32"
// control-2: the neighbour
int wide() { return 1; }
#if PTXDSL_CASE == 1
static_assert(sizeof(int) == 1, "PTXDSL-A01: fma wants f32, got s32");  // here-1
#elif PTXDSL_CASE == 2
int narrow() { return 2; }
#endif
"""


class Runner(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def run_on(self, text, *options, name="A01_case.cpp", headers=None):
        root = pathlib.Path(self.directory.name)
        for header, content in (headers or {}).items():
            (root / header).parent.mkdir(exist_ok=True)
            (root / header).write_text(content, encoding="utf-8")
        path = root / name
        path.write_text(text, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = run_misuse.main([str(path), "--compiler", f"cxx={COMPILER}", "-I", str(root), *options])
        return status, out.getvalue()

    def assert_passes(self, text, **more):
        status, out = self.run_on(text, **more)
        self.assertEqual(status, 0, out)
        return out

    def assert_fails(self, text, complaint, **more):
        status, out = self.run_on(text, **more)
        self.assertEqual(status, 1, out)
        self.assertIn(complaint, out)

    def test_good_file_passes_and_is_counted(self):
        out = self.assert_passes(GOOD)
        self.assertIn("cxx: 1 wrong cases refused, 2 controls accepted, 0 failed", out)

    def test_counts_are_written(self):
        count = pathlib.Path(self.directory.name) / "counts" / "a"
        self.run_on(GOOD, "--count", str(count))
        self.assertEqual(count.read_text(encoding="utf-8"), "1 2\n")

    def test_wrong_id(self):
        self.assert_fails(GOOD.replace("expect-1: PTXDSL-A01", "expect-1: PTXDSL-B02"), "does not say PTXDSL-B02")

    def test_sentences(self):
        gcc = 'error: incomplete type ‘ptxdsl::ptx_error<ptxdsl::fixed_string<24>{"a.cpp:1: PTXDSL-A01: a b"}>’'
        clang = "error: undefined template 'ptxdsl::ptx_error<fixed_string<13>{\"a.cpp:1: PTXD\"}, fixed_string<11>{\"SL-A01: a b\"}>'"
        self.assertEqual(run_misuse.sentence(gcc), "PTXDSL-A01: a b")
        self.assertEqual(run_misuse.sentence(clang), "PTXDSL-A01: a b")
        self.assertEqual(run_misuse.sentence('a.cpp:1:2: error: PTXDSL-A01: ptx_error'), "")
        self.assertIsNone(run_misuse.sentence(clang.replace("<11>", "<12>")))
        self.assertIsNone(run_misuse.sentence(clang.replace('a b"}>', 'a b"}, [...]>')))

    def test_id_that_is_the_start_of_another(self):
        self.assert_fails(GOOD.replace('"PTXDSL-A01:', '"PTXDSL-A012:'), "another id than PTXDSL-A01")

    def test_missing_word(self):
        self.assert_fails(GOOD.replace('"s32"', '"u64"'), 'does not say "u64"')

    def test_case_that_compiles(self):
        self.assert_fails(GOOD.replace("sizeof(int) == 1", "sizeof(int) != 1"), "must refuse it")

    def test_any_other_error_is_not_enough(self):
        self.assert_fails(GOOD.replace("static_assert(", "undeclared = 1; static_assert("), "the first error")

    def test_id_only_in_a_later_error(self):
        text = GOOD.replace("static_assert(", 'static_assert(sizeof(int) == 1, "something else");\nstatic_assert(')
        self.assert_fails(text, "the first error does not say PTXDSL-A01")

    def test_id_only_in_the_echoed_source(self):
        text = GOOD.replace('"PTXDSL-A01: fma wants f32, got s32");', '"fma s32"); /* PTXDSL-A01 */')
        self.assert_fails(text, "the first error does not say PTXDSL-A01")

    def test_missing_include_does_not_pass_for_a_refusal(self):
        self.assert_fails('#include "not_there.hpp"\n' + GOOD, "the control does not compile")

    def test_control_with_a_warning(self):
        self.assert_fails(GOOD.replace("int wide() {", "int wide() { int unused = 1;"), "compiles with warnings")

    def test_second_control_that_fails(self):
        self.assert_fails(GOOD.replace("int narrow() { return 2; }", "int narrow() { return x; }"),
                          "case 2 (control) with cxx: the control does not compile")

    def test_too_many_lines_before_the_users(self):
        header = ("#if PTXDSL_CASE == 1\n" + "#warning noise\n" * 13 + "#endif\n"
                  "template <class T> constexpr int f(T) {\n"
                  '    static_assert(sizeof(T) == 1, "PTXDSL-A01: fma wants f32, got s32");\n    return 0;\n}\n')
        text = '#include "noisy.hpp"\n' + GOOD.split("#if", maxsplit=1)[0] + (
            "#if PTXDSL_CASE == 1\nint bad = f(1);  // here-1\n#elif PTXDSL_CASE == 2\n#endif\n")
        self.assert_fails(text, "lines come before the first that names", headers={"noisy.hpp": header})
        self.assert_passes(text, headers={"noisy.hpp": header.replace("#warning noise\n", "")})

    def test_wrong_line(self):
        text = GOOD.replace("  // here-1", "").replace("int wide()", "int wide()  // here-1\n")
        self.assert_fails(text, "where the mistake is")

    def test_undeclared_case(self):
        self.assert_fails(GOOD.replace("#endif", "#elif PTXDSL_CASE == 7\n#endif"), "case 7 is selected")

    def test_unselected_case(self):
        self.assert_fails("// expect-9: PTXDSL-A01\n" + GOOD, "case 9 is declared but nothing")

    def test_case_declared_twice(self):
        self.assert_fails("// expect-1: PTXDSL-A01\n" + GOOD, "declared twice")

    def test_case_zero_stays_a_control(self):
        self.assert_fails("// expect-0: PTXDSL-A01\n" + GOOD, "declared twice")

    def test_misspelt_id(self):
        self.assert_fails(GOOD.replace("expect-1: PTXDSL-A01", "expect-1: PTXDSL_A01"), "wants an id")

    def test_file_without_a_wrong_case(self):
        self.assert_fails("// control-1: legal\n#if PTXDSL_CASE == 1\n#endif\n", "no case is declared wrong")

    def test_warning_case(self):
        text = GOOD.replace("expect-1:", "warn-1:").replace(
            'static_assert(sizeof(int) == 1, "PTXDSL-A01: fma wants f32, got s32");',
            '[[deprecated("PTXDSL-A01: fma and s32")]] void f();\nvoid g() { f(); }')
        self.assert_passes(text)
        self.assert_fails(text.replace("[[deprecated", "[[maybe_unused]] [[nodiscard").replace("void f", "int f")
                          .replace("void g() { f(); }", "int g() { return f(); }"), "nothing says PTXDSL-A01")

    def test_compiler_that_is_not_there(self):
        status, out = self.run_on(GOOD, "--compiler", "none=/nonexistent/c++")
        self.assertEqual(status, 1)
        self.assertIn("the compiler does not run", out)

    def test_precompiled_header_is_used_and_follows_its_source(self):
        umbrella = "template <class T> constexpr int f(T) {\n    static_assert(sizeof(T) == 1, %s);\n    return 0;\n}\n"
        text = "#include <ptxdsl/ptxdsl.hpp>\n" + GOOD.split("#if", maxsplit=1)[0] + (
            "#if PTXDSL_CASE == 1\nint bad = f(1);  // here-1\n#elif PTXDSL_CASE == 2\n#endif\n")
        other = tempfile.TemporaryDirectory()
        self.addCleanup(other.cleanup)
        folder = pathlib.Path(other.name)
        right = {"ptxdsl/ptxdsl.hpp": "#pragma once\n" + umbrella % '"PTXDSL-A01: fma wants f32, got s32"'}
        built = folder / "cxx" / "umbrella.hpp.gch"
        options = ("--pch", str(folder))
        self.assertEqual(self.run_on(text, *options, headers=right)[0], 0)
        first = built.stat().st_mtime_ns
        self.assertEqual(self.run_on(text, *options, headers=None)[0], 0)
        self.assertEqual(built.stat().st_mtime_ns, first)  # nothing changed: not built again
        wrong = {"ptxdsl/ptxdsl.hpp": "#pragma once\n" + umbrella % '"PTXDSL-B02: something else, got s32"'}
        status, out = self.run_on(text, *options, headers=wrong)
        self.assertEqual(status, 1)
        self.assertIn("the first error does not say PTXDSL-A01", out)

    def test_precompiled_header_that_does_not_compile(self):
        status, out = self.run_on("#include <ptxdsl/ptxdsl.hpp>\n" + GOOD, "--pch", str(pathlib.Path(self.directory.name) / "pch"),
                                  headers={"ptxdsl/ptxdsl.hpp": "not C++;\n"})
        self.assertEqual(status, 1)
        self.assertIn("the control does not compile", out)

    def test_code_generation_mode(self):
        self.assert_passes("// compile: object\n" + GOOD)
        self.assert_fails("// compile: banana\n" + GOOD, "`object` or `syntax`")


if __name__ == "__main__":
    unittest.main()
