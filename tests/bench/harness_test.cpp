// SPDX-License-Identifier: Apache-2.0
// What benchmarks leave behind when they are cut short: every row that was measured, in a file that is a whole list.
#include "../../bench/harness.hpp"

#include "../catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace {

const bench::provenance here{"device", "driver", "command", "commit"};

bench::row row_of(const std::string& work) {
    return {work, "1x1", 2.0, 1.0, "peer \"quoted\"", {1.9, 2.0, 2.1}, 1.5, "GB/s", "sustained"};
}
/// The rows of a file; none when it is no list of one object a line.
std::optional<std::vector<std::string>> rows_in(const std::string& file) {
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line) || line != "[") return std::nullopt;
    std::vector<std::string> rows;
    bool more = true;
    while (std::getline(in, line) && line != "]") {
        if (!more || line.front() != '{') return std::nullopt;
        more = line.back() == ',';
        if (more) line.pop_back();
        if (line.back() != '}') return std::nullopt;
        rows.push_back(line);
    }
    return line == "]" && !more ? std::optional(rows) : std::nullopt;
}

class temporary_folder {
public:
    temporary_folder() {
        // mkdtemp puts letters of its own in place of the six X.
        path_ = (std::filesystem::temp_directory_path() / "ptxdsl-bench-XXXXXX").string();
        REQUIRE(mkdtemp(path_.data()) != nullptr);
    }
    ~temporary_folder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string file() const { return path_ + "/results/rows.json"; }

private:
    std::string path_;
};

}  // namespace

TEST_CASE("a row is in the file as soon as it is measured, behind those of other runs") {
    const temporary_folder folder;
    for (std::size_t run = 0; run < 2; ++run) {
        bench::results table(here, folder.file());
        for (std::size_t i = 0; i < 3; ++i) {
            table.add(row_of("work " + std::to_string(3 * run + i)));
            const auto rows = rows_in(folder.file());
            REQUIRE(rows);
            REQUIRE(rows->size() == 3 * run + i + 1);
            CHECK(rows->back().find("\"work " + std::to_string(3 * run + i) + "\"") != std::string::npos);
            CHECK(rows->back().find("\\\"quoted\\\"") != std::string::npos);
        }
    }
}

TEST_CASE("a signal ends the work, not the report") {
    const temporary_folder folder;
    bench::results table(here, folder.file());
    bool went_on = false;
    const int status = bench::fill_table(table, [&](bench::results& t) {
        t.add(row_of("before"));
        bench::check_stop();
        raise(SIGTERM);
        t.add(row_of("after"));  // a row that was measured is kept
        bench::check_stop();
        went_on = true;
    });
    bench::harness_detail::stop_asked = 0;
    CHECK(status == demo::wrong);
    CHECK(!went_on);
    REQUIRE(rows_in(folder.file()));
    CHECK(rows_in(folder.file())->size() == 2);
}

TEST_CASE("a program that is killed leaves a whole list") {
    for (int round = 0; round < 20; ++round) {
        const temporary_folder folder;
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
            bench::results table(here, folder.file());
            for (int i = 0;; ++i) table.add(row_of(std::to_string(i)));
        }
        while (!std::filesystem::exists(folder.file())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
        kill(child, SIGKILL);
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(WIFSIGNALED(status));
        const auto rows = rows_in(folder.file());
        REQUIRE(rows);
        CHECK(!rows->empty());
    }
}
