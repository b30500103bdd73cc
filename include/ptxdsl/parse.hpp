// SPDX-License-Identifier: Apache-2.0
// PTX text in: lexer, parser, printers, checks against the instruction table, PTX string literals.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// g++ says of a template's parameter that it shadows a global of the author's, wherever it instantiates one.
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#include <ptxdsl/parse/check.hpp>
#include <ptxdsl/parse/facts.hpp>
#include <ptxdsl/parse/literal.hpp>
#include <ptxdsl/parse/parser.hpp>
#include <ptxdsl/parse/print.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
