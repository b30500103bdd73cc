// SPDX-License-Identifier: Apache-2.0
// What a call of the library asks the driver for, written down: the PTX text and a description of the launch
// (printed_kernel.hpp). So another process, such as one with torch in it, launches exactly what the library launches.
// Needs no GPU: the driver is the one of the tests.
#pragma once

#include "../tests/runtime/fake_driver.hpp"

#include <ptxdsl/runtime.hpp>

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

namespace px = ptxdsl;

/// While it lives, the driver is one that only takes notes. One at a time; what was made with it has to be gone before.
class launch_recorder {
public:
    launch_recorder() {
        self() = this;
        px::driver_table& t = driver_.table();
        t.module_load_data_ex = [](px::cu::module_* m, const void* text, unsigned, px::cu::jit_option*, void**) {
            self()->texts_.emplace_back(static_cast<const char*>(text));
            *m = reinterpret_cast<px::cu::module_>(self()->texts_.size());
            return px::cu::status::success;
        };
        t.module_get_function = [](px::cu::function* f, px::cu::module_ m, const char*) {
            *f = reinterpret_cast<px::cu::function>(m);
            return px::cu::status::success;
        };
        t.launch_kernel_ex = [](const px::cu::launch_config* c, px::cu::function f, void** arguments, void**) {
            self()->note(*c, reinterpret_cast<std::size_t>(f) - 1, arguments);
            return px::cu::status::success;
        };
    }
    ~launch_recorder() { self() = nullptr; }
    launch_recorder(const launch_recorder&) = delete;
    launch_recorder& operator=(const launch_recorder&) = delete;

    /// Writes `<stem>.ptx` and `<stem>.txt` of the last launch; pointers are called by `names`, tensors by address.
    [[nodiscard]] bool write(const std::filesystem::path& stem,
                             const std::map<std::uint64_t, std::string>& names) const {
        const std::string file = stem.filename().string();
        std::ofstream text(stem.string() + ".ptx"), description(stem.string() + ".txt");
        text << texts_[last_];
        description << "kernel " << entry_ << "\nptx " << file << ".ptx\n" << head_;
        for (const argument& a : arguments_) {
            const auto tensor = names.find(a.number);
            if (a.type == "u64" && tensor != names.end())
                description << "tensor " << tensor->second << '\n';
            else
                description << a.type << ' ' << a.text() << '\n';
        }
        return text.good() && description.good();
    }

private:
    struct argument {
        std::string type;
        std::uint64_t number = 0;
        [[nodiscard]] std::string text() const {
            if (type != "f32") return fmt::format("{}", number);
            float v = 0;
            std::memcpy(&v, &number, sizeof v);
            return fmt::format("{:.9g}", v);
        }
    };

    static launch_recorder*& self() {
        static launch_recorder* s = nullptr;
        return s;
    }
    void note(const px::cu::launch_config& c, std::size_t text, void** values) {
        last_ = text;
        head_ = fmt::format("grid {} {} {}\nblock {} {} {}\n", c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y,
                            c.block_z);
        if (c.shared_bytes != 0) head_ += fmt::format("shared {}\n", c.shared_bytes);
        for (unsigned i = 0; i < c.num_attrs; ++i)
            if (c.attrs[i].id == px::cu::launch_attribute_id::programmatic_stream_serialization)
                head_ += "programmatic\n";
        read_signature(texts_[text]);
        for (std::size_t i = 0; i < arguments_.size(); ++i)
            std::memcpy(&arguments_[i].number, values[i], arguments_[i].type == "u64" ? 8 : 4);
    }
    /// The entry's name and the types of its parameters, from a text of ours: a line for each.
    void read_signature(std::string_view text) {
        constexpr std::string_view before = ".entry ", parameter = ".param .";
        text.remove_prefix(text.find(before) + before.size());
        entry_ = std::string(text.substr(0, text.find('(')));
        text = text.substr(0, text.find(')'));
        arguments_.clear();
        for (auto at = text.find(parameter); at != std::string_view::npos; at = text.find(parameter, at + 1))
            arguments_.push_back({std::string(text.substr(at + parameter.size(), 3)), 0});
    }

    ptxdsl_test::fake_driver driver_;
    std::vector<std::string> texts_;
    std::size_t last_ = 0;
    std::string entry_, head_;
    std::vector<argument> arguments_;
};

}  // namespace bench
