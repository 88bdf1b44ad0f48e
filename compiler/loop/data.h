// SPDX-License-Identifier: Apache-2.0
// Structured constant data: C structs, tables and strings. Each code generator prints them in its
// own language from one description. Metadata, the tables of executors and the function registry
// use it.
//
//   DataDef{.name = "answer",
//           .c_type = "const struct Pair",
//           .value = DataValue::Struct({DataValue::Int(32, 42), DataValue::String("x")})}
//
// is `const struct Pair answer = {42, "x"};` in C, and a constant of type {i32, ptr} with C's
// layout in LLVM.
#ifndef KILN_COMPILER_LOOP_DATA_H_
#define KILN_COMPILER_LOOP_DATA_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kiln::loop {

struct DataValue {
  struct Integer {
    int bits;
    int64_t value;
  };
  struct Float {
    int bits;
    double value;
  };
  struct Text {
    std::string bytes;
  };  // a `const char*` to the bytes and a NUL
  struct Bytes {
    std::string bytes;
  };  // an array of unsigned char, no NUL added
  struct Address {
    std::string symbol;
  };  // of another DataDef, a Func or a constant buffer; "" is the null pointer
  struct FuncAddress {
    std::string symbol;
  };  // of a packed function, as TVMBackendPackedCFunc
  struct Aggregate {
    bool array;
    std::vector<DataValue> fields;
  };  // an array's fields have one type

  std::variant<Integer, Float, Text, Bytes, Address, FuncAddress, Aggregate> value;

  static DataValue Int(int bits, int64_t v) { return {Integer{bits, v}}; }
  static DataValue Real(int bits, double v) { return {Float{bits, v}}; }
  static DataValue String(std::string s) { return {Text{std::move(s)}}; }
  static DataValue Raw(std::string s) { return {Bytes{std::move(s)}}; }
  static DataValue Pointer(std::string symbol) { return {Address{std::move(symbol)}}; }
  static DataValue Null() { return {Address{""}}; }
  static DataValue Function(std::string symbol) { return {FuncAddress{std::move(symbol)}}; }
  static DataValue Struct(std::vector<DataValue> f) { return {Aggregate{false, std::move(f)}}; }
  static DataValue Array(std::vector<DataValue> f) { return {Aggregate{true, std::move(f)}}; }
};

struct DataDef {
  std::string name;
  std::string c_type;    // of the object, or of an element if it is an array, without const:
                         // "struct ParameterInfo", "int64_t", "void*"
  std::string c_header;  // header that declares c_type, such as "kiln/metadata.h"; may be empty
  DataValue value;
  bool exported = false;  // visible to other objects
  bool writable = false;  // for variables that a loader fills in, such as __tvm_module_ctx
  int alignment_bytes = 0;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_DATA_H_
