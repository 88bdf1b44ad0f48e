// SPDX-License-Identifier: Apache-2.0
#include "metadata/interface_function.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "metadata/header.h"
#include "metadata/line_writer.h"

namespace kiln {
namespace {

// The guards allow headers of several models in one translation unit.
constexpr char kMacros[] = R"(#ifndef KILN_CAST
#ifdef __cplusplus
#define KILN_CAST(type, pointer) static_cast<type>(pointer)
#define KILN_ADDRESS(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define KILN_CAST(type, pointer) ((type)(pointer))
#define KILN_ADDRESS(pointer) ((uintptr_t)(pointer))
#endif
#endif

// With KILN_CHECKS defined, in all files of a program alike, functions of this header return -1 for wrong
// arguments, and call KILN_CHECK_FAILED(text) before, which the program may define. Without, they check
// nothing.
#ifndef KILN_CHECK
#ifdef KILN_CHECKS
#ifndef KILN_CHECK_FAILED
#define KILN_CHECK_FAILED(text) ((void)(text))
#endif
#define KILN_CHECK(holds, text) \
  do {                          \
    if (!(holds)) {             \
      KILN_CHECK_FAILED(text);  \
      return -1;                \
    }                           \
  } while (0)
static inline int kiln_is_aligned(const void* memory, uintptr_t bytes) {
  return memory && KILN_ADDRESS(memory) % bytes == 0;
}
#else
#define KILN_CHECK(holds, text) ((void)0)
#endif
#endif
)";

// With KILN_CHECKS, a mark after the bytes of a state shows that the state has been initialized.
constexpr char kStateMarks[] = R"(#if defined(KILN_CHECKS) && !defined(KILN_STATE_MARKS)
#define KILN_STATE_MARKS
static inline void kiln_mark_state(uint8_t* end) {
  end[0] = 0x4b;
  end[1] = 0x69;
  end[2] = 0x6c;
  end[3] = 0x6e;
}
static inline int kiln_is_marked(const uint8_t* end) {
  return end[0] == 0x4b && end[1] == 0x69 && end[2] == 0x6c && end[3] == 0x6e;
}
#endif
)";
constexpr int64_t kMarkBytes = 4;

class FunctionWriter : private LineWriter {
 public:
  FunctionWriter(const ModelNames& names, absl::string_view version)
      : names_(names), version_(version) {}

  // Returns the declaration under the versioned name and the definition of the plain name.
  std::string Write(const std::string& name, const std::vector<InterfaceParameter>& params,
                    bool initializes) && {
    const auto list =
        absl::StrJoin(params, ", ", [](std::string* out, const InterfaceParameter& p) {
          absl::StrAppend(out, p.type, " ", p.name);
        });
    const auto names = absl::StrJoin(
        params, ", ", [](std::string* out, const InterfaceParameter& p) { out->append(p.name); });
    const std::string versioned = VersionedName(name, version_);
    const std::string signature = absl::StrCat("(", params.empty() ? "void" : list, ")");
    Line("int32_t ", versioned, signature, ";");
    Line("#ifndef KILN_CHECKS\n#define ", name, " ", versioned, "\n#else");
    Line("static inline int32_t ", name, signature, " {");
    for (const InterfaceParameter& parameter : params) WriteChecks(parameter, initializes);
    const std::string call = absl::StrCat(versioned, "(", names, ")");
    if (initializes) {
      const std::string own = IsOwnState(params[0]);
      Line("  KILN_CHECK(", call, " == 0, ",
           CheckText(names_, "the state could not be initialized"), ");");
      Line("  ", own.empty() ? "" : absl::StrCat("if (!(", own, ")) "), "kiln_mark_state(",
           EndOfState(params[0]), ");");
      Line("  return 0;");
    } else {
      Line("  return ", call, ";");
    }
    Line("}\n#endif\n");
    return std::move(text_);
  }

 private:
  bool IsState(const InterfaceParameter& parameter) const {
    return names_.state() != nullptr && parameter.meaning == names_.state()->name();
  }

  // EndOfState returns a C expression for the address of the mark. IsOwnState returns a C condition
  // that is true for the module's own state, which needs no mark; empty if the module has none.
  std::string EndOfState(const InterfaceParameter& state) const {
    return absl::StrCat("KILN_CAST(uint8_t*, ", state.name, ") + ", names_.state()->size_bytes());
  }
  std::string IsOwnState(const InterfaceParameter& state) const {
    return names_.has_static_state() ? absl::StrCat(state.name, " == ", names_.prefix(), "_state")
                                     : "";
  }

  void WriteChecks(const InterfaceParameter& parameter, bool initializes) {
    const int64_t bytes = parameter.alignment_bytes;
    if (bytes > 0) {
      const std::string unaligned =
          bytes > 1 ? absl::StrCat(" or not aligned to ", bytes, " bytes") : "";
      Line("  KILN_CHECK(kiln_is_aligned(", parameter.name, ", ", bytes, "), ",
           CheckText(names_, absl::StrCat(parameter.meaning, " is NULL", unaligned)), ");");
    }
    if (!IsState(parameter) || initializes || parameter.alignment_bytes == 0) return;
    const std::string own = IsOwnState(parameter);
    Line("  KILN_CHECK(", own, own.empty() ? "" : " || ", "kiln_is_marked(", EndOfState(parameter),
         "), ", CheckText(names_, "the state has not been initialized"), ");");
  }

  const ModelNames& names_;
  const absl::string_view version_;
};

}  // namespace

std::string VersionedName(absl::string_view name, absl::string_view version) {
  return absl::StrCat(name, "_", version);
}

std::string InterfaceFunction(const ModelNames& names, absl::string_view version,
                              const std::string& name,
                              const std::vector<InterfaceParameter>& params, bool initializes) {
  return FunctionWriter(names, version).Write(name, params, initializes);
}

std::string InterfaceMacros(const ModelNames& names) {
  return absl::StrCat(kMacros, names.state() != nullptr ? "\n" : "",
                      names.state() != nullptr ? kStateMarks : "");
}

std::string CheckText(const ModelNames& names, absl::string_view what) {
  return absl::StrCat("\"", names.metadata().module_name(), ": ", what, "\"");
}

std::string SizeMacro(absl::string_view macro, const ModelNames& names, const proto::Pool& pool) {
  const auto define = [&](int64_t bytes) {
    return absl::StrCat("#define ", macro, " ", bytes, "\n");
  };
  if (&pool != names.state()) return define(pool.size_bytes());
  return absl::StrCat("#ifdef KILN_CHECKS\n", define(pool.size_bytes() + kMarkBytes), "#else\n",
                      define(pool.size_bytes()), "#endif\n");
}

}  // namespace kiln
