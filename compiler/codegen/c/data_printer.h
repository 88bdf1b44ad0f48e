// SPDX-License-Identifier: Apache-2.0
// Prints structured data and the functions that return its address.
#ifndef KILN_COMPILER_CODEGEN_C_DATA_PRINTER_H_
#define KILN_COMPILER_CODEGEN_C_DATA_PRINTER_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "compiler/codegen/c/context.h"

namespace kiln::codegen {

class DataPrinter {
 public:
  explicit DataPrinter(CContext& context);

  // Prints the exported data, the data that it and the getters refer to (each after its own
  // references), and the getters. Records the constants that data refers to, so it must run before
  // PrintConstants.
  absl::Status Print(std::string* out);
  // Functions that data refers to and this file does not define. They are declared at the top of
  // the file.
  const std::set<std::string>& external_functions() const { return external_functions_; }
  // Headers that declare the types of data and getters.
  const std::set<std::string>& headers() const { return headers_; }

 private:
  absl::Status PrintDef(const std::string& name);
  void PrintGetter(const loop::HandleGetter& getter);
  // Returns an initializer. `depth` is the indentation of its first line.
  std::string Value(const loop::DataValue& value, absl::string_view c_type, int depth);
  std::string AddressOf(const std::string& symbol);
  std::string FuncAddressOf(const std::string& symbol);
  std::string LongText(const std::string& bytes);

  CContext& context_;
  std::map<std::string, const loop::DataDef*> defs_;
  std::set<std::string> printed_, in_progress_;
  std::set<std::string> external_functions_, headers_;
  std::string* out_ = nullptr;
  absl::Status status_;
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_DATA_PRINTER_H_
