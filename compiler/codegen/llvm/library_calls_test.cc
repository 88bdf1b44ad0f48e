// SPDX-License-Identifier: Apache-2.0
// Functions that firmware objects call, by operation of the loop IR: only functions of the
// compiler's library, and only if the machine lacks the instruction.
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/testing/every_operation.h"
#include "compiler/target/float_units.h"
#include "compiler/target/target.h"
#include "llvm/Object/ObjectFile.h"

namespace kiln::codegen {
namespace {

using loop::ElementOperation;

// Undefined symbols that each function of an object refers to. Each function has its own section.
std::map<std::string, std::set<std::string>> CallsByFunction(const std::string& object) {
  std::map<std::string, std::set<std::string>> calls;
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object), "object"));
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return calls;
  }
  for (const llvm::object::SectionRef& relocations : (*file)->sections()) {
    const auto section = llvm::cantFail(relocations.getRelocatedSection());
    if (section == (*file)->section_end() || !section->isText()) continue;
    llvm::StringRef function = llvm::cantFail(section->getName());
    function.consume_front(".text.");
    for (const llvm::object::RelocationRef& relocation : relocations.relocations()) {
      const auto symbol = relocation.getSymbol();
      if (symbol == (*file)->symbol_end()) continue;
      const uint32_t flags = llvm::cantFail(symbol->getFlags());
      if ((flags & llvm::object::SymbolRef::SF_Undefined) == 0) continue;
      calls[function.str()].insert(llvm::cantFail(symbol->getName()).str());
    }
  }
  return calls;
}

std::set<std::string> WithEach(const std::string& before, std::initializer_list<const char*> words,
                               const std::string& behind = "") {
  std::set<std::string> names;
  for (const char* word : words) names.insert(absl::StrCat(before, word, behind));
  return names;
}

// The helper functions of a machine, by purpose. Arm's are those of its run-time ABI, which take
// and return floats in integer registers under any ABI of the program. RISC-V's are those of
// libgcc.
class Helpers {
 public:
  explicit Helpers(const Target& target)
      : is_arm_(absl::StartsWith(target.triple, "thumb")), target_(target) {}

  // All functions that the operation may call.
  std::set<std::string> Of(const ElementOperation& operation) const {
    std::set<std::string> names = {"memcpy"};  // for operations that change nothing
    for (const DType dtype : {operation.from, operation.to}) {
      if (dtype == DType::Float(64) && !HasDoubles(target_)) names.merge(OfFloats(dtype));
      if (dtype == DType::Float(32) && !target_.has_fpu) names.merge(OfFloats(dtype));
    }
    if (operation.from.is_float() != operation.to.is_float()) names.merge(OfLongs(operation));
    // fma by arithmetic in float64.
    if (operation.name == "fma" && !target_.has_fma) names.merge(OfFloats(DType::Float(64)));
    if (operation.name == "div" || operation.name == "mod") names.merge(OfDivisions(operation));
    if (target_.has_few_registers()) {
      names.merge(
          WithEach("__", {"aeabi_lmul", "aeabi_llsl", "aeabi_llsr", "aeabi_lasr", "clzsi2"}));
    }
    return names;
  }

 private:
  // Arithmetic, comparisons, and conversions from and to 32 bits.
  std::set<std::string> OfFloats(DType dtype) const {
    const bool single = dtype.bits == 32;
    std::set<std::string> names;
    if (is_arm_) {
      const char* letter = single ? "f" : "d";
      names = WithEach(absl::StrCat("__aeabi_", letter),
                       {"add", "sub", "mul", "div", "cmpeq", "cmplt", "cmple", "cmpge", "cmpgt",
                        "cmpun", "2iz", "2uiz"});
      names.merge(WithEach("__aeabi_", {"i2", "ui2"}, letter));
      names.merge(WithEach("__aeabi_", {"f2d", "d2f"}));
      return names;
    }
    const char* type = single ? "sf" : "df";
    for (const char* op : {"add", "sub", "mul", "div"}) {
      names.insert(absl::StrCat("__", op, type, "3"));
    }
    for (const char* op : {"eq", "ne", "lt", "le", "gt", "ge", "unord"}) {
      names.insert(absl::StrCat("__", op, type, "2"));
    }
    for (const char* op : {"fix", "fixuns"}) names.insert(absl::StrCat("__", op, type, "si"));
    for (const char* op : {"float", "floatun"}) names.insert(absl::StrCat("__", op, "si", type));
    names.merge(WithEach("__", {"extendsfdf2", "truncdfsf2"}));
    return names;
  }

  // Conversions between floats and 64-bit integers, which no core has instructions for.
  std::set<std::string> OfLongs(const ElementOperation& operation) const {
    const DType other = operation.from.is_float() ? operation.to : operation.from;
    const DType floats = operation.from.is_float() ? operation.from : operation.to;
    if (other.bits != 64 || floats.bits < 32) return {};
    const bool single = floats.bits == 32;
    if (is_arm_) {
      std::set<std::string> names = WithEach(single ? "__aeabi_f2" : "__aeabi_d2", {"lz", "ulz"});
      names.merge(WithEach("__aeabi_", {"l2", "ul2"}, single ? "f" : "d"));
      return names;
    }
    const char* type = single ? "sf" : "df";
    std::set<std::string> names = WithEach("__", {"fix", "fixuns"}, absl::StrCat(type, "di"));
    names.merge(WithEach("__", {"floatdi", "floatundi"}, type));
    return names;
  }

  std::set<std::string> OfDivisions(const ElementOperation& operation) const {
    if (operation.from.is_float()) return {};
    if (operation.from.bits == 64) {
      return is_arm_ ? WithEach("__aeabi_", {"ldivmod", "uldivmod"})
                     : WithEach("__", {"divdi3", "moddi3", "udivdi3", "umoddi3"});
    }
    // Armv6-M has no division instruction.
    return target_.has_few_registers()
               ? WithEach("__aeabi_", {"idiv", "idivmod", "uidiv", "uidivmod"})
               : std::set<std::string>{};
  }

  const bool is_arm_;
  const Target& target_;
};

// All square roots in software call one function.
ElementOperation SoftwareRoot(const std::string& function) {
  const DType dtype = DType::Float(absl::EndsWith(function, "64") ? 64 : 32);
  return {.name = "sqrt", .from = dtype, .to = dtype, .func = {}};
}

TEST(LibraryCalls, FirmwareCallsHelpersForWhatTheMachineLacks) {
  int machines = 0, hard = 0;
  for (const std::string& name : ListTargets()) {
    const Target target = *Target::Parse(name);
    if (!target.is_baremetal()) continue;
    ++machines;
    const Helpers helpers(target);
    std::map<std::string, ElementOperation> operations;
    loop::LoopProgram program;
    // Schedules use vectors on machines that have them.
    const auto widths = target.vector_bits > 0 ? loop::Widths::kAll : loop::Widths::kOne;
    for (ElementOperation& operation : loop::EveryOperation(widths)) {
      program.funcs.push_back(operation.func);
      operations[operation.func.name] = std::move(operation);
    }
    const auto object = EmitObject(program, target);
    ASSERT_TRUE(object.ok()) << object.status();
    const auto calls = CallsByFunction(*object);
    for (const auto& [function, symbols] : calls) {
      const auto found = operations.find(function);
      const std::set<std::string> allowed =
          helpers.Of(found == operations.end() ? SoftwareRoot(function) : found->second);
      for (const std::string& symbol : symbols) {
        EXPECT_EQ(allowed.count(symbol), 1u) << name << ": " << function << " calls " << symbol;
      }
    }
    // No target has instructions for everything, so the table is not empty.
    EXPECT_EQ(calls.count("div_int64"), 1u) << name;
    EXPECT_EQ(calls.count("add_float32") == 0, target.has_fpu) << name;
    hard += target.has_fpu ? 1 : 0;
  }
  EXPECT_GE(machines, 10);
  EXPECT_GE(hard, 5);
}

// A user's triple may omit the vendor, or have only the environment.
TEST(LibraryCalls, HelpersOfArmKeepTheirCallingConvention) {
  loop::LoopProgram program;
  for (ElementOperation& operation : loop::EveryOperation(loop::Widths::kOne)) {
    if (operation.func.name == "add_float64") program.funcs.push_back(std::move(operation.func));
  }
  for (const char* name : {"cortex-m4f", "thumbv7em-none-eabihf -mcpu=cortex-m4",
                           "thumbv7em-unknown-none-eabihf -mcpu=cortex-m4"}) {
    const auto text = EmitAssembly(program, *Target::Parse(name));
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_TRUE(absl::StrContains(*text, "bl\t__aeabi_dadd")) << name << *text;
    EXPECT_FALSE(absl::StrContains(*text, "__adddf3")) << name << *text;
  }
}

}  // namespace
}  // namespace kiln::codegen
