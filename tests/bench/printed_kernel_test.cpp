// SPDX-License-Identifier: Apache-2.0
// Descriptions of kernels that another program printed: what is read, what is refused, and what the driver is then
// asked. The driver is fake_driver.hpp.
#include "../../bench/printed_kernel.hpp"

#include "../catch.hpp"
#include "../runtime/fake_driver.hpp"

#include <fstream>

namespace {

namespace px = ptxdsl;
namespace cu = ptxdsl::cu;
using Catch::Matchers::ContainsSubstring;
using ptxdsl_test::fake_driver;

constexpr const char* good = R"(# a comment
kernel product        # the entry
ptx product.ptx
grid 128 2 1
block 384 1 1
cluster 2 1 1
shared 221744
programmatic

tensor b
table numbers.table
u32 4294967295
u64 4294967296
f32 -1.5
map c bf16 size 64 512 12 stride 1536 128 box 72 256 1 swizzle 0
map b bf16 size 64 768 8 stride 1024 128 box 64 128 1 swizzle 128
)";

constexpr const char* text = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry product() { ret; }\n";

/// A folder of its own with these files.
struct folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("ptxdsl_printed_{}", static_cast<const void*>(this));
    folder() { std::filesystem::create_directories(path); }
    ~folder() { std::filesystem::remove_all(path); }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    std::filesystem::path write(const std::string& name, const std::string& content) const {
        std::ofstream(path / name) << content;
        return path / name;
    }
};

/// `good` with one line changed.
std::string with(const std::string& line, const std::string& instead) {
    std::string s = good;
    const auto at = s.find(line);
    REQUIRE(at != std::string::npos);
    return s.replace(at, line.size(), instead);
}

}  // namespace

TEST_CASE("a description is read as it is written") {
    const auto d = bench::read_description(good, "good.txt").value_or_throw();
    CHECK(d.kernel == "product");
    CHECK(d.ptx == "product.ptx");
    CHECK((d.launch.grid.x == 128 && d.launch.grid.y == 2 && d.launch.grid.z == 1));
    CHECK(d.launch.block.x == 384);
    CHECK(d.launch.cluster.x == 2);
    CHECK(d.launch.dynamic_shared_bytes == 221744u);
    CHECK(d.launch.programmatic);
    REQUIRE(d.parameters.size() == 7);
    using kind = bench::printed_parameter::kind;
    const kind kinds[] = {kind::tensor, kind::table, kind::number, kind::number, kind::number, kind::map, kind::map};
    for (std::size_t i = 0; i < 7; ++i) CHECK(d.parameters[i].what == kinds[i]);
    CHECK(d.parameters[0].name == "b");
    CHECK(d.parameters[1].name == "numbers.table");
    CHECK(d.parameters[2].number == 0xffffffff);
    CHECK(d.parameters[3].number == 0x1'0000'0000);
    CHECK(d.parameters[4].number == 0xbfc00000);
    const auto& c = d.parameters[5];
    CHECK(c.name == "c");
    CHECK(c.map.element == px::isa::scalar::bf16);
    CHECK(c.map.rank == 3);
    CHECK(c.map.swizzle == px::map_swizzle::none);
    CHECK(c.map.promotion == px::l2_promotion::none);
    CHECK((c.map.box[0] == 72 && c.map.box[1] == 256 && c.map.box[2] == 1));
    CHECK((c.geometry.size[0] == 64 && c.geometry.size[1] == 512 && c.geometry.size[2] == 12));
    CHECK((c.geometry.stride_bytes[0] == 0 && c.geometry.stride_bytes[1] == 1536 && c.geometry.stride_bytes[2] == 128));
    CHECK(d.parameters[6].map.swizzle == px::map_swizzle::b128);
}

TEST_CASE("what is no description is refused with its line") {
    const std::pair<const char*, const char*> wrong[] = {
        {"tensor b\n", "tensor\n"},
        {"tensor b\n", "tensor b c\n"},
        {"tensor b\n", "matrix b\n"},
        {"grid 128 2 1", "grid 128 2"},
        {"grid 128 2 1", "grid 128 0 1"},
        {"block 384 1 1", "block 384 1 1 1"},
        {"shared 221744", "shared many"},
        {"u32 4294967295", "u32 4294967296"},
        {"u32 4294967295", "u32 -1"},
        {"u64 4294967296", "u64 99999999999999999999"},
        {"f32 -1.5", "f32 one"},
        {"programmatic", "programmatic yes"},
        {"map c bf16", "map c e2m1"},
        {"swizzle 0", "swizzle 16"},
        {"stride 1536 128 box", "stride 1536 box"},
        {"box 72 256 1", "box 72 257 1"},
        {"box 72 256 1", "box 72 256"},
        {"size 64 512 12", "extent 64 512 12"},
        {"ptx product.ptx", "ptx"},
    };
    for (const auto& [line, instead] : wrong) {
        const auto r = bench::read_description(with(line, instead), "d.txt");
        INFO(instead);
        CHECK(r.code() == px::errc::bad_argument);
        const std::string start = instead;
        CHECK_THAT(r.error().message(),
                   ContainsSubstring("d.txt:") && ContainsSubstring(start.substr(0, start.find('\n'))));
    }
    for (const char* line : {"kernel product", "ptx product.ptx", "grid 128 2 1", "block 384 1 1"})
        CHECK_THAT(bench::read_description(with(line, "# nothing"), "d.txt").error().message(),
                   ContainsSubstring("needs the lines kernel, ptx, grid and block"));
}

TEST_CASE("a printed kernel is launched as its description says") {
    fake_driver f;
    f.argument_sizes = {8, 8, 4, 8, 4, 8, 8};
    const folder here;
    here.write("product.ptx", text);
    here.write("numbers.table", "65537 4294967295\n7\n");
    const auto file = here.write("product.txt", good);
    const auto ctx = px::context::primary().value_or_throw();
    auto k = bench::printed_kernel::load(ctx, file, {{"b", 0x7000'1000}, {"c", 0x7000'2000}}).value_or_throw();
    CHECK(f.live_bytes == 3);  // the table and two maps
    CHECK(f.count("memcpy_htod_async") == 3);
    CHECK(f.tensor_numbers == std::vector<unsigned long long>{64, 768, 8, 1024, 128, 64, 128, 1});
    REQUIRE(k.launch(cu::stream{nullptr}));
    REQUIRE(f.launches.size() == 1);
    const auto& l = f.launches[0];
    CHECK((l.config.grid_x == 128 && l.config.grid_y == 2 && l.config.block_x == 384));
    CHECK(l.config.shared_bytes == 221744);
    CHECK(f.count("max_dynamic 221744") == 1);
    REQUIRE(l.attributes.size() == 2);
    CHECK(l.attributes[0].id == cu::launch_attribute_id::cluster_dimension);
    CHECK(l.attributes[1].id == cu::launch_attribute_id::programmatic_stream_serialization);
    const auto word = [&](std::size_t i) {
        std::uint64_t v = 0;
        std::memcpy(&v, l.arguments[i].data(), l.arguments[i].size());
        return v;
    };
    CHECK(word(0) == 0x7000'1000);
    CHECK(word(1) == 0x7000'0000);  // the fake driver's memory
    CHECK(word(2) == 0xffffffff);
    CHECK(word(3) == 0x1'0000'0000);
    CHECK(word(4) == 0xbfc00000);
    CHECK(word(5) == 0x7010'0000);  // the map of c: the allocation behind the table's
}

TEST_CASE("a printed kernel that cannot be bound says why") {
    fake_driver f;
    const folder here;
    const auto ctx = px::context::primary().value_or_throw();
    const std::map<std::string, std::uint64_t> tensors{{"b", 0x7000'1000}, {"c", 0x7000'2000}};
    const auto message = [&](const std::string& name, const std::map<std::string, std::uint64_t>& t) {
        return std::string(bench::printed_kernel::load(ctx, here.path / name, t).error().message());
    };
    CHECK_THAT(message("none.txt", tensors), ContainsSubstring("cannot read"));
    here.write("product.txt", good);
    CHECK_THAT(message("product.txt", tensors), ContainsSubstring("cannot read") && ContainsSubstring("product.ptx"));
    here.write("product.ptx", text);
    CHECK_THAT(message("product.txt", tensors), ContainsSubstring("numbers.table"));
    here.write("numbers.table", "1 two 3");
    CHECK_THAT(message("product.txt", tensors), ContainsSubstring("'two' is no 32-bit number"));
    here.write("numbers.table", "");
    CHECK_THAT(message("product.txt", tensors), ContainsSubstring("an empty table"));
    here.write("numbers.table", "1");
    CHECK_THAT(message("product.txt", {{"b", 0x7000'1000}}), ContainsSubstring("there is no tensor 'c' here"));
    CHECK_THAT(message("product.txt", {{"b", 0x7000'1000}, {"c", 0x7000'2008}}), ContainsSubstring("PTXDSL-F11"));
    CHECK(message("product.txt", tensors) == "no error");
}
