// SPDX-License-Identifier: Apache-2.0
// Writes inputs and expected outputs of a compiled model as C source: the struct ModelCase of
// model_case.h.
//
//   write_case --metadata my_mod.metadata.json --input a=a.npy --expected output=sum.npy -o case.c
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "metadata/json.h"
#include "metadata/model_names.h"
#include "tools/kiln/files.h"
#include "tools/kiln/npy.h"

namespace kiln::tools {
namespace {

struct Flags {
  std::string metadata, output, reference, rtol = "0", atol = "0";
  std::vector<std::string> inputs, expected;
};

std::string Quoted(absl::string_view text) {
  // Octal escapes end after three digits. Hexadecimal escapes would absorb following digits.
  std::string quoted = "\"";
  for (const char c : text) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                       absl::StrContains(" !#$%&()*+,-./:;<=>@[]^_{|}~", c);
    absl::StrAppend(&quoted, plain ? std::string(1, c)
                                   : absl::StrFormat("\\%03o", static_cast<unsigned char>(c)));
  }
  return quoted + "\"";
}

// Parses "name=file" of --input and --expected.
absl::StatusOr<std::map<std::string, Tensor>> ReadTensors(const char* option,
                                                          const std::vector<std::string>& texts) {
  std::map<std::string, Tensor> tensors;
  for (const std::string& text : texts) {
    const size_t at = text.rfind('=');
    if (at == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": found '", text, "', wanted name=FILE"));
    }
    const std::string path = text.substr(at + 1);
    KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelFileBytes));
    absl::StatusOr<Tensor> tensor = ParseNpy(bytes);
    if (!tensor.ok()) return Annotate(tensor.status(), path + ": ");
    tensors[text.substr(0, at)] = *std::move(tensor);
  }
  return tensors;
}

class CaseWriter {
 public:
  CaseWriter(const Flags& flags, const proto::Metadata& metadata)
      : flags_(flags), names_(metadata), values_(static_cast<size_t>(names_.num_tensors())) {}

  absl::StatusOr<std::string> Write() {
    KILN_RETURN_IF_ERROR(Bind(true, "--input", flags_.inputs));
    KILN_RETURN_IF_ERROR(Bind(false, "--expected", flags_.expected));
    if (!flags_.reference.empty()) KILN_RETURN_IF_ERROR(BindReference());
    const std::string& module = names_.metadata().module_name();
    Line("// One case of the model ", Quoted(module), ".");
    Line("#include <stddef.h>\n#include <string.h>\n");
    Line("#include \"", module, ".h\"");
    Line("#include \"tools/model_test/model_case.h\"\n");
    WriteTensors(true);
    WriteTensors(false);
    const bool graph = names_.metadata().executor() == "graph";
    const bool c_interface = names_.metadata().interface_api() == "c";
    if (c_interface) WriteRun();
    Line("const struct ModelCase model_case = {");
    Line("    .module_name = ", Quoted(module), ",");
    WriteCount(true);
    WriteCount(false);
    const bool equal_bits = !flags_.reference.empty();
    Line("    .rtol = ", equal_bits ? "0" : flags_.rtol, ",");
    Line("    .atol = ", equal_bits ? "0" : flags_.atol, ",");
    if (graph) Line("    .graph = &", names_.prefix(), "_graph,");
    Line("    .run = ", c_interface ? "RunC" : graph ? "RunModelGraph" : "RunModelAot", ",\n};");
    return text_;
  }

 private:
  template <typename... Args>
  void Line(const Args&... args) {
    absl::StrAppend(&text_, args..., "\n");
  }

  static const char* What(bool input) { return input ? "input" : "output"; }

  // Returns the indices of all inputs, or of all outputs.
  std::vector<int> Tensors(bool input) const {
    std::vector<int> tensors;
    for (int i = 0; i < names_.num_tensors(); ++i) {
      if (names_.is_input(i) == input) tensors.push_back(i);
    }
    return tensors;
  }

  const proto::Parameter& parameter(int i) const { return names_.main().parameters(i); }
  // Values of an input, or expected values of an output, which may be missing.
  std::optional<Tensor>& values(int i) { return values_[static_cast<size_t>(i)]; }
  // Returns the variable with the values of an input or the memory of an output.
  std::string Variable(int i) const {
    return absl::StrCat(What(names_.is_input(i)), names_.index(i));
  }
  std::string Macro(int i) const {
    return absl::StrCat(names_.macro(), "_", names_.tensor_macro(i));
  }

  absl::StatusOr<TensorType> TypeOf(int i) const {
    TensorType type;
    type.shape.assign(parameter(i).shape().begin(), parameter(i).shape().end());
    KILN_ASSIGN_OR_RETURN(type.dtype, DType::Parse(parameter(i).dtype()));
    return type;
  }

  // Assigns values to all inputs, or expected values to the outputs.
  absl::Status Bind(bool input, const char* option, const std::vector<std::string>& texts) {
    KILN_ASSIGN_OR_RETURN(auto files, ReadTensors(option, texts));
    std::vector<std::string> names;
    for (const int i : Tensors(input)) {
      const std::string& name = names.emplace_back(parameter(i).relay_name_hint());
      const auto it = files.find(name);
      if (it == files.end()) {
        if (!input) continue;
        return absl::InvalidArgumentError(
            absl::StrCat("no values for the input '", name, "': wanted --input ", name, "=FILE"));
      }
      KILN_ASSIGN_OR_RETURN(const TensorType type, TypeOf(i));
      if (it->second.type() != type) {
        return absl::InvalidArgumentError(absl::StrCat("the file of the ", What(input), " '", name,
                                                       "' holds ", it->second.type().ToString(),
                                                       ", the model has ", type.ToString()));
      }
      values(i) = std::move(it->second);
      files.erase(it);
    }
    if (files.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("the model has no ", What(input), " '",
                                                   files.begin()->first, "'; it has ",
                                                   absl::StrJoin(names, ", ")));
  }

  // Expects the bytes that another build of the model computed as the outputs.
  absl::Status BindReference() {
    KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags_.reference, kMaxModelFileBytes));
    size_t offset = 0;
    for (const int i : Tensors(false)) {
      KILN_ASSIGN_OR_RETURN(const TensorType type, TypeOf(i));
      const size_t size = static_cast<size_t>(type.num_bytes());
      if (size > bytes.size() - offset) return NotTheOutputs(bytes.size());
      values(i) = Tensor(type, bytes.substr(offset, size));
      offset += size;
    }
    return offset == bytes.size() ? absl::OkStatus() : NotTheOutputs(bytes.size());
  }

  absl::Status NotTheOutputs(size_t num_bytes) const {
    return absl::InvalidArgumentError(absl::StrCat(flags_.reference, ": found ", num_bytes,
                                                   " bytes, which are not those of the outputs"));
  }

  // Writes 64-bit words, which are aligned for every dtype. The targets are little endian.
  void WriteWords(const std::string& name, const std::string& bytes, bool is_const) {
    Line("static ", is_const ? "const " : "", "uint64_t ", name, "[] = {");
    std::string line;
    for (size_t at = 0; at < bytes.size() || at == 0; at += sizeof(uint64_t)) {
      uint64_t word = 0;
      for (size_t i = 0; i < sizeof(word) && at + i < bytes.size(); ++i) {
        word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
      }
      absl::StrAppendFormat(&line, "%s0x%016xu", line.empty() ? "    " : " ", word);
      line.push_back(',');
      if (line.size() > 80) {
        Line(line);
        line.clear();
      }
    }
    if (!line.empty()) Line(line);
    Line("};");
  }

  void WriteTensors(bool input) {
    const std::vector<int> tensors = Tensors(input);
    if (tensors.empty()) return;
    for (const int i : tensors) {
      if (!input) Line("static uint64_t ", Variable(i), "[", Macro(i), "_SIZE_BYTES / 8 + 1];");
      if (!values(i).has_value()) continue;
      WriteWords(Variable(i) + (input ? "" : "_expected"), values(i)->bytes(), !input);
    }
    Line("static const struct ModelTensor ", What(input), "s[] = {");
    for (const int i : tensors) {
      const bool compared = !input && values(i).has_value();
      Line("    {", Quoted(parameter(i).relay_name_hint()), ", ",
           Quoted(parameter(i).tir_name_hint()), ", ", Macro(i), "_DTYPE, ", Macro(i),
           "_SIZE_BYTES, ", Variable(i), ", ", compared ? Variable(i) + "_expected" : "NULL", "},");
    }
    Line("};\n");
  }

  void WriteCount(bool input) {
    const std::string what = What(input);
    Line("    .", what, "s = ", Tensors(input).empty() ? "NULL" : what + "s", ",");
    Line("    .num_", what, "s = ", names_.macro(), "_NUM_", absl::AsciiStrToUpper(what), "S,");
  }

  // Writes code that copies all inputs to their places in the pools, or all outputs from there.
  void WriteCopies(bool input) {
    for (const int i : Tensors(input)) {
      const std::string place =
          absl::StrCat(names_.prefix(), "_map_", What(input), "s(&pools).", names_.member(i));
      Line("  memcpy(", input ? place : Variable(i), ", ", input ? Variable(i) : place, ", ",
           Macro(i), "_SIZE_BYTES);");
    }
  }

  // Writes the struct of tensors and returns its address; "NULL" if the model has none. The case's
  // tensors are 64-bit words, which are aligned for elements of every type.
  std::string WriteStruct(bool input) {
    std::vector<std::string> members;
    for (const int i : Tensors(input)) {
      members.push_back(absl::StrCat(".", names_.member(i), " = (void*)", Variable(i)));
    }
    if (members.empty()) return "NULL";
    Line("  const struct ", names_.prefix(), "_", What(input), "s model_", What(input), "s = {",
         absl::StrJoin(members, ", "), "};");
    return absl::StrCat("&model_", What(input), "s");
  }

  // Writes memory for the pools that the application provides.
  void WritePools() {
    if (names_.pools().empty()) return;
    std::vector<std::string> members;
    for (const proto::Pool* pool : names_.pools()) {
      const std::string macro = names_.pool_macro(*pool);
      Line("static uint8_t pool_", pool->name(), "[", macro, "_SIZE_BYTES + 1]");
      Line("    __attribute__((aligned(", macro, "_ALIGNMENT_BYTES)));");
      members.push_back(absl::StrCat(".", pool->name(), " = pool_", pool->name()));
    }
    Line("static const struct ", names_.prefix(), "_workspace_pools pools = {",
         absl::StrJoin(members, ", "), "};\n");
  }

  // Writes the function that runs a model with the C interface. Inputs and outputs of the model
  // are those of the case, or lie in the pools.
  void WriteRun() {
    const bool in_pools = names_.workspace_io();
    WritePools();
    Line("static const char* RunC(const struct ModelCase* unused) {");
    std::vector<std::string> arguments;
    if (!in_pools) arguments = {WriteStruct(true), WriteStruct(false)};
    if (!names_.pools().empty()) arguments.push_back("&pools");
    Line("  int32_t error;");
    Line("  (void)unused;");
    if (in_pools) WriteCopies(true);
    Line("  BeginInference();");
    Line("  error = ", names_.prefix(), "_run(", absl::StrJoin(arguments, ", "), ");");
    Line("  EndInference();");
    Line("  if (error != 0) return \"", names_.prefix(), "_run does not return 0\";");
    if (in_pools) WriteCopies(false);
    Line("  return NULL;");
    Line("}\n");
  }

  const Flags& flags_;
  const ModelNames names_;
  std::vector<std::optional<Tensor>> values_;  // keyed by parameter
  std::string text_;
};

absl::Status WriteCase(const Flags& flags) {
  KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(flags.metadata, kMaxModelFileBytes));
  KILN_ASSIGN_OR_RETURN(const proto::Metadata metadata, ParseMetadataJson(text, flags.metadata));
  KILN_ASSIGN_OR_RETURN(const std::string source, CaseWriter(flags, metadata).Write());
  const size_t slash = flags.output.rfind('/');
  return WriteFiles(slash == std::string::npos ? "." : flags.output.substr(0, slash),
                    {{flags.output.substr(slash + 1), source}});
}

}  // namespace
}  // namespace kiln::tools

int main(int argc, char** argv) {
  CLI::App app{"Writes a test case of a compiled model as C source"};
  kiln::tools::Flags flags;
  app.add_option("--metadata", flags.metadata, "The model's metadata")->required();
  app.add_option("--input", flags.inputs, "name=FILE (.npy), for every input");
  app.add_option("--expected", flags.expected, "name=FILE (.npy), for outputs to compare");
  app.add_option("--reference", flags.reference,
                 "Bytes of all outputs, to be met bit for bit in the place of --expected");
  app.add_option("--rtol", flags.rtol, "Relative tolerance");
  app.add_option("--atol", flags.atol, "Absolute tolerance; 0 with --rtol 0: equal bits");
  app.add_option("-o,--output", flags.output, "File to write")->required();
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = kiln::tools::WriteCase(flags);
  if (status.ok()) return 0;
  std::fprintf(stderr, "write_case: %s\n", std::string(status.message()).c_str());
  return 1;
}
