// SPDX-License-Identifier: Apache-2.0
// Writes inputs and expected outputs of a compiled model as C source: the struct ModelCase of
// model_case.h.
//
//   write_case --metadata my_mod.metadata.json --input a=a.npy --expected output=sum.npy -o case.c
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "metadata/member_name.h"
#include "tools/kiln/files.h"
#include "tools/kiln/npy.h"

namespace kiln::tools {
namespace {

struct Flags {
  std::string metadata, output, reference, rtol = "0", atol = "0";
  std::vector<std::string> inputs, expected;
};

// An input or output in the model's metadata, and its values.
struct CaseTensor {
  std::string name, runtime_name, macro, member;
  TensorType type;
  Tensor values;  // Empty if the output is not compared.
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
  CaseWriter(const Flags& flags, nlohmann::json metadata)
      : flags_(flags),
        metadata_(std::move(metadata)),
        module_(metadata_["module_name"].get<std::string>()),
        prefix_("tvmgen_" + module_) {}

  absl::StatusOr<std::string> Write() {
    KILN_ASSIGN_OR_RETURN(auto inputs, ReadTensors("--input", flags_.inputs));
    KILN_ASSIGN_OR_RETURN(auto expected, ReadTensors("--expected", flags_.expected));
    KILN_RETURN_IF_ERROR(Bind(true, inputs));
    KILN_RETURN_IF_ERROR(Bind(false, expected));
    if (!flags_.reference.empty()) KILN_RETURN_IF_ERROR(BindReference());
    Line("// One case of the model ", Quoted(module_), ".");
    Line("#include <stddef.h>\n#include <string.h>\n");
    Line("#include \"", module_, ".h\"");
    Line("#include \"tools/model_test/model_case.h\"\n");
    WriteTensors("input", inputs_);
    WriteTensors("output", outputs_);
    const bool graph = metadata_["executor"] == "graph";
    const bool c_interface = metadata_["interface_api"] == "c";
    if (c_interface && LiesInPools()) {
      WriteRunInWorkspace();
    } else if (c_interface) {
      WriteRun();
    }
    Line("const struct ModelCase model_case = {");
    Line("    .module_name = ", Quoted(module_), ",");
    WriteCount("input", inputs_);
    WriteCount("output", outputs_);
    const bool equal_bits = !flags_.reference.empty();
    Line("    .rtol = ", equal_bits ? "0" : flags_.rtol, ",");
    Line("    .atol = ", equal_bits ? "0" : flags_.atol, ",");
    if (graph) Line("    .graph = &", prefix_, "_graph,");
    Line("    .run = ", c_interface ? "RunC" : graph ? "RunModelGraph" : "RunModelAot", ",\n};");
    return text_;
  }

 private:
  template <typename... Args>
  void Line(const Args&... args) {
    absl::StrAppend(&text_, args..., "\n");
  }

  // Assigns values to all inputs, or expected values to the outputs.
  absl::Status Bind(bool input, std::map<std::string, Tensor>& values) {
    const nlohmann::json& main = metadata_["functions"][0];
    const int num_inputs = main["num_inputs"].get<int>();
    const char* const what = input ? "input" : "output";
    std::vector<std::string> names;
    for (int i = 0; i < static_cast<int>(main["parameters"].size()); ++i) {
      if ((i < num_inputs) != input) continue;
      const nlohmann::json& parameter = main["parameters"][static_cast<size_t>(i)];
      CaseTensor tensor;
      tensor.name = parameter["relay_name_hint"].get<std::string>();
      tensor.runtime_name = parameter["tir_name_hint"].get<std::string>();
      tensor.member = MemberName(tensor.name);
      tensor.macro = absl::AsciiStrToUpper(absl::StrCat(prefix_, "_", what, "_", tensor.member));
      tensor.type.shape = parameter["shape"].get<Shape>();
      KILN_ASSIGN_OR_RETURN(tensor.type.dtype, DType::Parse(parameter["dtype"].get<std::string>()));
      names.push_back(tensor.name);
      const auto it = values.find(tensor.name);
      if (it == values.end() && input) {
        return absl::InvalidArgumentError(absl::StrCat("no values for the input '", tensor.name,
                                                       "': wanted --input ", tensor.name, "=FILE"));
      }
      if (it != values.end()) {
        tensor.values = it->second;
        if (tensor.values.type() != tensor.type) {
          return absl::InvalidArgumentError(absl::StrCat(
              "the file of the ", what, " '", tensor.name, "' holds ",
              tensor.values.type().ToString(), ", the model has ", tensor.type.ToString()));
        }
        values.erase(it);
      }
      (input ? inputs_ : outputs_).push_back(std::move(tensor));
    }
    if (values.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("the model has no ", what, " '",
                                                   values.begin()->first, "'; it has ",
                                                   absl::StrJoin(names, ", ")));
  }

  // Expects the bytes that another build of the model computed as the outputs.
  absl::Status BindReference() {
    KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags_.reference, kMaxModelFileBytes));
    size_t offset = 0;
    for (CaseTensor& output : outputs_) {
      const size_t size = static_cast<size_t>(output.type.num_bytes());
      if (size > bytes.size() - offset) return NotTheOutputs(bytes.size());
      output.values = Tensor(output.type, bytes.substr(offset, size));
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

  void WriteTensors(const std::string& what, const std::vector<CaseTensor>& tensors) {
    if (tensors.empty()) return;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const CaseTensor& tensor = tensors[i];
      const std::string name = absl::StrCat(what, i);
      if (what == "input") {
        WriteWords(name, tensor.values.bytes(), false);
        continue;
      }
      Line("static uint64_t ", name, "[", tensor.macro, "_SIZE_BYTES / 8 + 1];");
      if (!tensor.values.empty()) WriteWords(name + "_expected", tensor.values.bytes(), true);
    }
    Line("static const struct ModelTensor ", what, "s[] = {");
    for (size_t i = 0; i < tensors.size(); ++i) {
      const CaseTensor& tensor = tensors[i];
      const bool compared = what == "output" && !tensor.values.empty();
      Line("    {", Quoted(tensor.name), ", ", Quoted(tensor.runtime_name), ", ", tensor.macro,
           "_DTYPE, ", tensor.macro, "_SIZE_BYTES, ", what, i, ", ",
           compared ? absl::StrCat(what, i, "_expected") : "NULL", "},");
    }
    Line("};\n");
  }

  void WriteCount(const std::string& what, const std::vector<CaseTensor>& tensors) {
    Line("    .", what, "s = ", tensors.empty() ? "NULL" : what + "s", ",");
    Line("    .num_", what, "s = ", absl::AsciiStrToUpper(absl::StrCat(prefix_, "_num_", what)),
         "S,");
  }

  // True if inputs and outputs of the model lie in the pools.
  bool LiesInPools() const {
    const nlohmann::json& tensors = metadata_["functions"][0]["parameters"];
    return !tensors.empty() && tensors[0].contains("place");
  }

  // Writes code that copies all inputs to their places in the pools, or all outputs from there.
  void WriteCopies(bool input) {
    const std::string what = input ? "input" : "output";
    const std::vector<CaseTensor>& tensors = input ? inputs_ : outputs_;
    if (tensors.empty()) return;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string place =
          absl::StrCat(prefix_, "_map_", what, "s(&pools).", tensors[i].member);
      const std::string own = absl::StrCat(what, i);
      Line("  memcpy(", input ? place : own, ", ", input ? own : place, ", ", tensors[i].macro,
           "_SIZE_BYTES);");
    }
  }

  // Writes the function that runs a model with inputs and outputs in the pools.
  void WriteRunInWorkspace() {
    WritePools();
    Line("static const char* RunC(const struct ModelCase* unused) {");
    Line("  int32_t error;");
    Line("  (void)unused;");
    WriteCopies(true);
    Line("  BeginInference();");
    Line("  error = ", prefix_, "_run(&pools);");
    Line("  EndInference();");
    Line("  if (error != 0) return \"", prefix_, "_run does not return 0\";");
    WriteCopies(false);
    Line("  return NULL;");
    Line("}\n");
  }

  // Writes the struct of tensors and returns its address; "NULL" if the model has none. The case's
  // tensors are 64-bit words, which are aligned for elements of every type.
  std::string WriteStruct(const std::string& what, const std::vector<CaseTensor>& tensors) {
    if (tensors.empty()) return "NULL";
    std::vector<std::string> members;
    for (size_t i = 0; i < tensors.size(); ++i)
      members.push_back(absl::StrCat(".", tensors[i].member, " = (void*)", what, i));
    Line("  const struct ", prefix_, "_", what, "s model_", what, "s = {",
         absl::StrJoin(members, ", "), "};");
    return absl::StrCat("&model_", what, "s");
  }

  // Writes memory for the pools that the application provides. Returns the argument for it.
  std::string WritePools() {
    std::vector<std::string> members;
    const std::string macro = absl::AsciiStrToUpper(prefix_);
    for (const auto& pool : metadata_["pools"]) {
      if (pool["kind"] != "WORKSPACE" || !pool["external"].get<bool>()) continue;
      const std::string name = pool["name"].get<std::string>();
      const std::string pool_macro = absl::StrCat(macro, "_", absl::AsciiStrToUpper(name));
      Line("static uint8_t pool_", name, "[", pool_macro, "_WORKSPACE_POOL_SIZE_BYTES + 1]");
      Line("    __attribute__((aligned(", pool_macro, "_WORKSPACE_POOL_ALIGNMENT_BYTES)));");
      members.push_back(absl::StrCat(".", name, " = pool_", name));
    }
    if (members.empty()) return "";
    Line("static const struct ", prefix_, "_workspace_pools pools = {",
         absl::StrJoin(members, ", "), "};\n");
    return ", &pools";
  }

  void WriteRun() {
    const std::string pools = WritePools();
    Line("static const char* RunC(const struct ModelCase* unused) {");
    const std::string inputs = WriteStruct("input", inputs_);
    const std::string outputs = WriteStruct("output", outputs_);
    Line("  int32_t error;");
    Line("  (void)unused;");
    Line("  BeginInference();");
    Line("  error = ", prefix_, "_run(", inputs, ", ", outputs, pools, ");");
    Line("  EndInference();");
    Line("  return error == 0 ? NULL : \"", prefix_, "_run does not return 0\";");
    Line("}\n");
  }

  const Flags& flags_;
  const nlohmann::json metadata_;
  const std::string module_, prefix_;
  std::vector<CaseTensor> inputs_, outputs_;
  std::string text_;
};

absl::Status WriteCase(const Flags& flags) {
  KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(flags.metadata, kMaxModelFileBytes));
  nlohmann::json metadata = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (metadata.is_discarded()) {
    return absl::InvalidArgumentError(flags.metadata + ": no JSON");
  }
  KILN_ASSIGN_OR_RETURN(const std::string source, CaseWriter(flags, std::move(metadata)).Write());
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
