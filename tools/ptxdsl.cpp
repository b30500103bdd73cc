// SPDX-License-Identifier: Apache-2.0
// The command line program. Each command is a header in tools/ptxdsl/.
#include "ptxdsl/check_command.hpp"
#include "ptxdsl/corpus_command.hpp"
#include "ptxdsl/info_command.hpp"
#include "ptxdsl/isa_command.hpp"
#include "ptxdsl/man_page.hpp"
#include "ptxdsl/text_commands.hpp"
#include "ptxdsl/transpile_command.hpp"

#include <ptxdsl/version.hpp>

namespace {

struct command {
    std::string_view name;
    std::string_view summary;
    std::string_view help;
    int (*run)(const std::vector<std::string_view>&);
};

constexpr command commands[] = {
    {"check", "report what is wrong with PTX", tool::check_help, tool::check_command},
    {"fmt", "print PTX in the canonical layout", tool::fmt_help, tool::fmt_command},
    {"info", "describe the kernels of a module", tool::info_help, tool::info_command},
    {"diff", "compare two modules by structure", tool::diff_help, tool::diff_command},
    {"roundtrip", "test that reading and printing gives the same bytes", tool::roundtrip_help, tool::roundtrip_command},
    {"transpile", "turn PTX into C++ that prints it", tool::transpile_help, tool::transpile_command},
    {"isa", "list the instruction forms of the table", tool::isa_help, tool::isa_command},
    {"explain", "show the page about a message", tool::explain_help, tool::explain_command},
    {"corpus", "test everything on all PTX files below a directory", tool::corpus_help, tool::corpus_command},
};

void print_help(std::FILE* to) {
    fmt::print(to, "usage: ptxdsl COMMAND [ARGUMENT...]\n\nReads, checks and prints NVIDIA PTX.\n\n");
    for (const command& c : commands) fmt::print(to, "  {:<10} {}\n", c.name, c.summary);
    fmt::print(
        to,
        "\n'ptxdsl COMMAND --help' describes a command, 'ptxdsl --version' says which version this is, 'ptxdsl --man' "
        "prints the manual page.\n");
}

int run(const std::vector<std::string_view>& words) {
    if (words.empty()) {
        print_help(stderr);
        return tool::bad_usage;
    }
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        print_help(stdout);
        return tool::good;
    }
    if (words[0] == "--version") {
        fmt::print("ptxdsl {}.{}.{}\n", PTXDSL_VERSION_MAJOR, PTXDSL_VERSION_MINOR, PTXDSL_VERSION_PATCH);
        return tool::good;
    }
    if (words[0] == "--man") return tool::write_all(tool::man_page(commands)) ? tool::good : tool::bad_usage;
    for (const command& c : commands) {
        if (c.name != words[0]) continue;
        const std::vector<std::string_view> rest(words.begin() + 1, words.end());
        for (std::string_view w : rest) {
            if (w == "--") break;
            if (w != "--help" && w != "-h") continue;
            return tool::write_all(c.help) ? tool::good : tool::bad_usage;
        }
        return c.run(rest);
    }
    std::vector<std::string_view> names;
    for (const command& c : commands) names.push_back(c.name);
    fmt::print(stderr, "ptxdsl: there is no command '{}'{}\nTry 'ptxdsl --help'.\n", words[0],
               tool::did_you_mean(words[0], names));
    return tool::bad_usage;
}

}  // namespace

int main(int argc, char** argv) {
    const int status = run({argv + 1, argv + argc});
    if (std::fflush(stdout) != 0) return tool::bad_usage;
    return status;
}
