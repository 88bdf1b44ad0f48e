// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/module_blob.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/ndarray_bytes.h"

namespace kiln {
namespace {

// Writes little-endian numbers, with 64-bit lengths before strings and lists.
class BlobWriter {
 public:
  void Number(uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  }
  void String(const std::string& text) {
    Number(text.size());
    bytes_ += text;
  }
  void Bytes(const std::string& bytes) { bytes_ += bytes; }
  void Strings(const std::vector<std::string>& texts) {
    Number(texts.size());
    for (const std::string& text : texts) String(text);
  }
  void Numbers(const std::vector<uint64_t>& values) {
    Number(values.size());
    for (uint64_t value : values) Number(value);
  }
  // The blob has no parameters: they are linked into the operator functions.
  void NoParameters() {
    Number(0);
    Number(0);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// A chain of modules from the root to the library, and the modules that the library imports.
class ModuleTree {
 public:
  // Begins the entry of the next module, which the previous one imports.
  BlobWriter& Next(const std::string& type_key) {
    if (!children_.empty()) children_.back().push_back(children_.size());
    return Add(type_key);
  }

  void AddExternals(const std::vector<ExternalModule>& externals) {
    std::vector<const ExternalModule*> modules;
    for (const ExternalModule& module : externals) {
      if (!module.is_linkable()) modules.push_back(&module);
    }
    const bool any_constants = std::any_of(modules.begin(), modules.end(),
                                           [](const auto* m) { return m->needs_constants(); });
    if (any_constants) AddConstants(modules, Next("const_loader"));
    const size_t parent = children_.size() - 1;
    for (const ExternalModule* module : modules) {
      children_[parent].push_back(children_.size());
      Add(module->type_key).Bytes(module->payload);
    }
  }

  // Returns the blob: its length, the number of entries, and the entries. The last entry is the
  // import tree.
  std::string Finish() && {
    entries_.String("_import_tree");
    std::vector<uint64_t> rows = {0}, all;
    for (const std::vector<uint64_t>& children : children_) {
      all.insert(all.end(), children.begin(), children.end());
      rows.push_back(all.size());
    }
    entries_.Numbers(rows);
    entries_.Numbers(all);
    BlobWriter framed;
    framed.Number(entries_.bytes().size() + 8);
    framed.Number(children_.size() + 1);
    return framed.bytes() + entries_.bytes();
  }

 private:
  BlobWriter& Add(const std::string& type_key) {
    children_.emplace_back();
    entries_.String(type_key);
    return entries_;
  }

  // Writes all constants with their names, then for each function the names of its constants.
  static void AddConstants(const std::vector<const ExternalModule*>& modules, BlobWriter& out) {
    std::vector<const ExternalFunction*> functions;
    std::vector<std::string> names, function_names;
    std::string arrays;
    for (const ExternalModule* module : modules) {
      for (const ExternalFunction& function : module->functions) {
        if (function.constants.empty()) continue;
        functions.push_back(&function);
        function_names.push_back(function.name);
        for (const ExternalConstant& constant : function.constants) {
          names.push_back(constant.name);
          AppendNDArray(constant.tensor, arrays);
        }
      }
    }
    out.Strings(names);
    out.Number(names.size());
    out.Bytes(arrays);
    out.Strings(function_names);
    out.Number(functions.size());
    for (const ExternalFunction* function : functions) {
      std::vector<std::string> of_function;
      for (const ExternalConstant& constant : function->constants) {
        of_function.push_back(constant.name);
      }
      out.Strings(of_function);
    }
  }

  BlobWriter entries_;
  std::vector<std::vector<uint64_t>> children_;  // by module: the modules that it imports
};

}  // namespace

std::string AotModuleBlob(const std::string& module_name,
                          const std::vector<ExternalModule>& externals) {
  ModuleTree tree;
  BlobWriter& factory = tree.Next("AotExecutorFactory");
  factory.NoParameters();
  factory.String(module_name);
  tree.Next("metadata_module");
  tree.Next("_lib");
  tree.AddExternals(externals);
  return std::move(tree).Finish();
}

std::string GraphModuleBlob(const std::string& module_name, const std::string& graph_json,
                            const std::vector<ExternalModule>& externals) {
  ModuleTree tree;
  BlobWriter& factory = tree.Next("GraphExecutorFactory");
  factory.String(graph_json);
  factory.NoParameters();
  factory.String(module_name);
  tree.Next("_lib");
  tree.AddExternals(externals);
  return std::move(tree).Finish();
}

}  // namespace kiln
