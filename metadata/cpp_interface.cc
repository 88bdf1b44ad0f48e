// SPDX-License-Identifier: Apache-2.0
// CppInterface.
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "metadata/c_interface.h"
#include "metadata/line_writer.h"

namespace kiln {
namespace {

// Defined by every generated header, but at most once per translation unit.
constexpr char kTensorRef[] = R"(#ifndef KILN_TENSOR_REF_
#define KILN_TENSOR_REF_
namespace kiln {

// A tensor in memory of the caller's: `size` elements of type T. `Info` keeps tensors of one type
// apart and has the tensor's name and shape. Made of an array of that many elements, of any rank,
// or of anything like std::array.
template <typename Info_, typename T, ::std::size_t size>
class TensorRef {
  template <typename A>
  static constexpr bool kIsArray =
      ::std::is_array_v<A> && sizeof(A) == size * sizeof(T) &&
      (::std::is_same_v<::std::remove_all_extents_t<A>, T> ||
       ::std::is_same_v<const ::std::remove_all_extents_t<A>, T>);

 public:
  using Info = Info_;
  using Element = T;
  static constexpr ::std::size_t kSize = size;

  template <typename A, typename = ::std::enable_if_t<kIsArray<A>>>
  explicit TensorRef(A& elements) noexcept : data_(reinterpret_cast<T*>(&elements)) {}
  template <template <typename, ::std::size_t> class A>
  constexpr explicit TensorRef(A<::std::remove_const_t<T>, size>& elements) noexcept
      : data_(elements.data()) {}
  template <template <typename, ::std::size_t> class A, typename U = T,
            typename = ::std::enable_if_t<::std::is_const_v<U>>>
  constexpr explicit TensorRef(const A<::std::remove_const_t<U>, size>& elements) noexcept
      : data_(elements.data()) {}
  // Of `size` elements that the caller vouches for.
  static constexpr TensorRef FromPointer(T* elements) noexcept { return TensorRef(elements, 0); }

  constexpr T* data() const noexcept { return data_; }

 private:
  constexpr TensorRef(T* elements, int) noexcept : data_(elements) {}
  T* data_;
};

}  // namespace kiln
#endif  // KILN_TENSOR_REF_
)";

// Returns a C++ type that can hold an element. float16 elements are passed as 16-bit integers.
std::string ElementType(const std::string& dtype) {
  if (dtype == "float32") return "float";
  if (dtype == "float64") return "double";
  if (dtype == "float16") return "::std::uint16_t";
  return dtype == "bool" ? "bool" : absl::StrCat("::std::", dtype, "_t");
}

class CppInterfaceWriter : private LineWriter {
 public:
  explicit CppInterfaceWriter(const ModelNames& names) : names_(names) {}

  std::string Write() && {
    Line("#if defined(__cplusplus) && __cplusplus >= 201703L");
    Line("#include <cstddef>\n#include <cstdint>\n#include <type_traits>\n");
    Line(kTensorRef);
    Line("namespace ", names_.prefix(), " {\n");
    WriteTensors("input", true);
    WriteTensors("output", false);
    WriteMemory();
    if (names_.workspace_io()) {
      WriteMap("input", true);
      WriteMap("output", false);
    }
    WriteRun();
    Line("}  // namespace ", names_.prefix());
    Line("#endif  // C++17");
    return std::move(text_);
  }

 private:
  void WriteTensors(const std::string& what, bool input) {
    // A separate namespace keeps these names apart from the names of other tensors.
    Line("namespace ", what, "_info {");
    for (int i = 0; i < names_.num_tensors(); ++i) {
      if (names_.is_input(i) == input) WriteInfo(i);
    }
    Line("}  // namespace ", what, "_info\n");
    Line("namespace ", what, " {");
    for (int i = 0; i < names_.num_tensors(); ++i) {
      if (names_.is_input(i) == input) WriteTensor(what, i);
    }
    Line("}  // namespace ", what, "\n");
    Line("struct ", input ? "Inputs" : "Outputs", " {");
    for (int i = 0; i < names_.num_tensors(); ++i) {
      if (names_.is_input(i) != input) continue;
      Line("  ::", names_.prefix(), "::", what, "::", names_.member(i), " ", names_.member(i), ";");
    }
    Line("};\n");
  }

  void WriteInfo(int i) {
    const proto::Parameter& p = names_.main().parameters(i);
    Line("struct ", names_.member(i), "_info {");
    Line("  static constexpr ::std::size_t kIndex = ", names_.index(i), ";");
    Line("  static constexpr ::std::size_t kRank = ", p.shape_size(), ";");
    if (p.shape_size() > 0) {
      Line("  static constexpr ::std::int64_t kShape[] = {", absl::StrJoin(p.shape(), ", "), "};");
    }
    if (p.has_quantization() && p.quantization().scales_size() == 1) {
      Line("  static constexpr double kScale = ",
           absl::StrFormat("%.9g", p.quantization().scales(0)), ";");
      Line("  static constexpr ::std::int32_t kZeroPoint = ", p.quantization().zero_points(0), ";");
    }
    Line("};");
  }

  void WriteTensor(const std::string& what, int i) {
    const proto::Parameter& p = names_.main().parameters(i);
    const std::string member = names_.member(i);
    std::int64_t size = 1;
    for (std::int64_t extent : p.shape()) size *= extent;
    Line("using ", member, " = ::kiln::TensorRef<", what, "_info::", member, "_info, ",
         names_.is_input(i) && !names_.workspace_io() ? "const " : "", ElementType(p.dtype()), ", ",
         size, ">;");
  }

  void WriteBlock(const std::string& type, const proto::Pool& pool) {
    Line("struct alignas(", pool.alignment_bytes(), ") ", type, " {");
    if (&pool == names_.state()) {
      Line("  // The state from before the first run.");
      Line("  ", type, "() noexcept { reset(); }");
      Line("  void reset() noexcept { (void)", names_.prefix(), "_initialize_state(bytes); }");
    }
    const std::string size = &pool == names_.state() ? names_.macro() + "_STATE_SIZE_BYTES"
                                                     : absl::StrCat(pool.size_bytes());
    Line("  static constexpr ::std::size_t kSizeBytes = ", size, ";");
    Line("  ::std::uint8_t bytes[", pool.size_bytes() > 0 ? "kSizeBytes" : "1", "];");
    Line("};\n");
  }

  void WriteMemory() {
    if (names_.static_workspace() != nullptr) {
      Line("// Scratch memory of one run; it may be used again for the next.");
      WriteBlock("Workspace", *names_.static_workspace());
    }
    if (names_.has_static_state()) {
      Line("// What runs of one stream leave to the next.");
      WriteBlock("State", *names_.state());
    }
    if (names_.pools().empty()) return;
    Line("namespace pool {");
    for (const proto::Pool* pool : names_.pools()) WriteBlock(pool->name(), *pool);
    Line("}  // namespace pool\n");
    Line("// ",
         names_.workspace_io() ? "Memory of one run, its tensors too" : "Scratch memory of one run",
         "; it may be used again for the next.");
    Line("struct WorkspacePools {");
    for (const proto::Pool* pool : names_.pools()) {
      Line("  ::", names_.prefix(), "::pool::", pool->name(), "& ", pool->name(), ";");
    }
    Line("};\n");
  }

  // Writes the function that returns the places of the inputs or outputs in the pools.
  void WriteMap(const std::string& what, bool input) {
    std::vector<std::string> tensors;
    for (int i = 0; i < names_.num_tensors(); ++i) {
      if (names_.is_input(i) != input) continue;
      const std::string& dtype = names_.main().parameters(i).dtype();
      tensors.push_back(absl::StrCat(
          "::", names_.prefix(), "::", what, "::", names_.member(i), "::FromPointer(static_cast<",
          ElementType(dtype), "*>(static_cast<void*>(pools.",
          names_.pools()[names_.pool_of(i)]->name(), ".bytes", names_.offset_in_pool(i), ")))"));
    }
    Line(input ? "// Where the inputs lie: a run writes over them, so that they are written before "
                 "each."
               : "// Where the outputs lie after a run, until inputs are written again.");
    Line("[[nodiscard]] inline ", input ? "Inputs" : "Outputs", " map_", what, "s(",
         tensors.empty() ? "[[maybe_unused]] " : "", "const WorkspacePools& pools) noexcept {");
    Line("  return {", absl::StrJoin(tensors, ",\n          "), "};");
    Line("}\n");
  }

  void WriteRun() {
    const bool workspace_io = names_.workspace_io();
    std::vector<std::string> args, params;
    if (!workspace_io) {
      params.push_back(absl::StrCat(names_.main().num_inputs() > 0 ? "" : "[[maybe_unused]] ",
                                    "const Inputs& inputs"));
      params.push_back(absl::StrCat(names_.main().num_outputs() > 0 ? "" : "[[maybe_unused]] ",
                                    "const Outputs& outputs"));
    }
    for (int i = 0; i < names_.num_tensors() && !workspace_io; ++i) {
      const std::string data =
          absl::StrCat(names_.is_input(i) ? "inputs." : "outputs.", names_.member(i), ".data()");
      args.push_back(data);
    }
    if (names_.static_workspace() != nullptr) {
      params.push_back("Workspace& workspace");
      args.push_back("workspace.bytes");
    }
    if (!names_.pools().empty()) params.push_back("const WorkspacePools& pools");
    for (const proto::Pool* pool : names_.pools()) {
      args.push_back(absl::StrCat("pools.", pool->name(), ".bytes"));
    }
    if (names_.has_static_state()) {
      params.push_back("State& state");
      args.push_back("state.bytes");
    }
    for (const std::string& device : names_.devices()) {
      args.push_back(absl::StrCat("device_context_", device));
      params.push_back("void* " + args.back());
    }
    Line(
        "// Runs the model; 0 is success. Safe from many threads at once, each with its own "
        "memory.");
    Line("[[nodiscard]] inline ::std::int32_t run(", absl::StrJoin(params, ", "), ") noexcept {");
    Line("  return ", names_.function_with_workspace(), "(", absl::StrJoin(args, ", "), ");");
    Line("}\n");
  }

  const ModelNames& names_;
};

}  // namespace

std::string CppInterface(const ModelNames& names) { return CppInterfaceWriter(names).Write(); }

}  // namespace kiln
