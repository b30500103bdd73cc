// SPDX-License-Identifier: Apache-2.0
// PTX text in: lexer, parser, printers, checks against the instruction table, PTX string literals.
#pragma once

#include <ptxdsl/detail/prologue.hpp>
// Closed at the end of this file.
#include <ptxdsl/parse/check.hpp>
#include <ptxdsl/parse/kernel_facts.hpp>
#include <ptxdsl/parse/literal.hpp>
#include <ptxdsl/parse/parser.hpp>
#include <ptxdsl/parse/print.hpp>
// Last: closes what the first opened.
#include <ptxdsl/detail/epilogue.hpp>
