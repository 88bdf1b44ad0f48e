// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_EXECUTOR_DATA_ADDER_H_
#define KILN_COMPILER_EXECUTOR_DATA_ADDER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/dtype.h"
#include "compiler/loop/loop.h"

namespace kiln {

// Adds constants of C to a program. Their types are from `header`, and their names begin with
// `prefix`.
class DataAdder {
 public:
  DataAdder(std::string prefix, const char* header, loop::LoopProgram& program)
      : prefix_(std::move(prefix)), header_(header), program_(program) {}

  // Defines a constant and returns its address.
  loop::DataValue Define(const std::string& name, const std::string& c_type, loop::DataValue value,
                         bool exported = false) {
    loop::DataDef def;
    def.name = absl::StrCat(prefix_, "_", name);
    def.c_type = c_type;
    def.c_header = header_;
    def.value = std::move(value);
    def.exported = exported;
    program_.data.push_back(def);
    return loop::DataValue::Pointer(def.name);
  }

  // Defines an array and returns its address; the null pointer for an empty one.
  loop::DataValue Array(const std::string& name, const std::string& c_type,
                        std::vector<loop::DataValue> elements) {
    if (elements.empty()) return loop::DataValue::Null();
    return Define(name, c_type, loop::DataValue::Array(std::move(elements)));
  }

  // The same for integers of `bits` bits.
  template <typename Ints>
  loop::DataValue IntArray(const std::string& name, int bits, const Ints& ints) {
    std::vector<loop::DataValue> elements;
    for (const auto i : ints) elements.push_back(loop::DataValue::Int(bits, i));
    return Array(name, absl::StrCat("int", bits, "_t"), std::move(elements));
  }

 private:
  const std::string prefix_;
  const char* const header_;
  loop::LoopProgram& program_;
};

// Returns the DLDataType of tensors with this element type.
inline loop::DataValue DlDataType(DType dtype) {
  using loop::DataValue;
  const int code = dtype.is_int() ? 0 : dtype.is_float() ? 2 : 1;
  return DataValue::Struct(
      {DataValue::Int(8, code), DataValue::Int(8, dtype.bits), DataValue::Int(16, 1)});
}

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_DATA_ADDER_H_
