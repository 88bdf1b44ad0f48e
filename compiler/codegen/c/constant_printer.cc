// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/constant_printer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/codegen/c/literals.h"

namespace kiln::codegen {
namespace {

// Bytes of one string literal. Escaped they have at most four characters each, and a C99 compiler
// accepts lines of 4095 characters.
constexpr int64_t kPieceBytes = 1000;

bool IsPacked(const loop::Constant& constant) {
  return static_cast<int64_t>(constant.tensor.bytes().size()) > kMaxConstantBytesByElement;
}

// The spelling of each byte in a string literal.
std::array<std::string, 256> EscapedBytes() {
  std::array<std::string, 256> escaped;
  for (int c = 0; c < 256; ++c) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
    std::string& text = escaped[static_cast<size_t>(c)];
    if (plain) {
      text = static_cast<char>(c);
    } else if (c == '"' || c == '\\') {
      text = {'\\', static_cast<char>(c)};
    } else {
      text = {'\\', static_cast<char>('0' + (c >> 6)), static_cast<char>('0' + ((c >> 3) & 7)),
              static_cast<char>('0' + (c & 7))};
    }
  }
  return escaped;
}

// Appends the initializer of the fields `pieces` and `rest` in PrintPacked.
void AppendPieces(absl::string_view bytes, std::string* out) {
  static const auto& escaped = *new std::array<std::string, 256>(EscapedBytes());
  out->reserve(out->size() + 3 * bytes.size());
  const size_t in_pieces = bytes.size() / kPieceBytes * kPieceBytes;
  out->append("{{{\n");
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool begins = i % kPieceBytes == 0;
    if (begins && i > 0) out->append(i == in_pieces ? "\"}" : "\"");
    if (begins) out->append(i > 0 ? ",\n\"" : "\"");
    out->append(escaped[static_cast<unsigned char>(bytes[i])]);
  }
  out->append(in_pieces == bytes.size() ? "\"}}};\n" : "\"}};\n");
}

void PrintPacked(const CContext& context, const loop::Constant& constant, size_t file_offset,
                 const std::string& prefix, std::string* out) {
  const loop::BufferNode& buffer = *constant.buffer;
  const std::string& bytes = constant.tensor.bytes();
  const std::string& name = context.constant_names.at(constant.buffer.get());
  const std::string section = constant.pool.empty() ? "kiln" : constant.pool;
  const std::string values = absl::StrCat("  ", CType(buffer.dtype), " values[",
                                          constant.tensor.type().num_elements(), "];\n} ", name);
  absl::StrAppend(out, "#if defined(KILN_CONSTANTS_FILE)\n__asm__(\".section .rodata.", section,
                  ",\\\"a\\\",%progbits\\n.balign ",
                  std::max<int64_t>(buffer.alignment_bytes, buffer.dtype.bytes()), "\\n", name,
                  ":\\n.incbin \\\"\" KILN_CONSTANTS_FILE \"\\\", ", file_offset, ", ",
                  bytes.size(), "\\n.previous\");\nextern const union {\n", values,
                  " __attribute__((visibility(\"hidden\")));\n#else\n", prefix,
                  "static const union {\n  struct {\n    char pieces[", bytes.size() / kPieceBytes,
                  "][", kPieceBytes, "];\n");
  if (const size_t rest = bytes.size() % kPieceBytes; rest > 0) {
    absl::StrAppend(out, "    char rest[", rest, "];\n");
  }
  absl::StrAppend(out, "  } bytes;\n", values, " = ");
  AppendPieces(bytes, out);
  out->append("#endif\n\n");
}

void PrintElements(const CContext& context, const loop::Constant& constant,
                   const std::string& prefix, std::string* out) {
  const int64_t n = constant.tensor.type().num_elements();
  absl::StrAppend(out, prefix, "static const ", CType(constant.buffer->dtype), " ",
                  context.constant_names.at(constant.buffer.get()), "[", std::max<int64_t>(1, n),
                  "] = {\n");
  if (n == 0) {
    out->append("  0");
  } else {
    AppendElements(constant.tensor, "  ", out);
  }
  out->append("};\n\n");
}

}  // namespace

std::string PackedConstants(const loop::LoopProgram& program) {
  size_t size = 0;
  for (const loop::Constant& constant : program.constants) {
    if (IsPacked(constant)) size += constant.tensor.bytes().size();
  }
  std::string bytes;
  bytes.reserve(size);
  for (const loop::Constant& constant : program.constants) {
    if (IsPacked(constant)) bytes.append(constant.tensor.bytes());
  }
  return bytes;
}

std::string AlignmentPrefix(CContext& context, int alignment_bytes, int element_bytes) {
  if (alignment_bytes <= element_bytes) return "";
  context.macros.insert("KILN_ALIGNED");
  return absl::StrCat("KILN_ALIGNED(", alignment_bytes, ") ");
}

std::string ConstantArray(const CContext& context, const loop::Constant& constant,
                          const std::string& name) {
  return context.options.packed_constants && IsPacked(constant) ? name + ".values" : name;
}

void PrintConstants(CContext& context, std::string* out) {
  size_t file_offset = 0;
  for (const loop::Constant& constant : context.program.constants) {
    const loop::BufferNode& buffer = *constant.buffer;
    const size_t offset = file_offset;
    if (IsPacked(constant)) file_offset += constant.tensor.bytes().size();
    if (!context.used_constants.contains(constant.buffer.get())) continue;
    std::string prefix;
    if (!constant.pool.empty()) {
      context.macros.insert("KILN_SECTION");
      prefix = absl::StrCat("KILN_SECTION(\".rodata.", constant.pool, "\") ");
    }
    prefix += AlignmentPrefix(context, buffer.alignment_bytes, buffer.dtype.bytes());
    absl::StrAppend(out, "/* ", constant.tensor.type().dtype.ToString(), " ",
                    ShapeToString(constant.tensor.type().shape), " */\n");
    if (context.options.packed_constants && IsPacked(constant)) {
      context.uses_packed_constants = true;
      PrintPacked(context, constant, offset, prefix, out);
    } else {
      PrintElements(context, constant, prefix, out);
    }
  }
}

}  // namespace kiln::codegen
