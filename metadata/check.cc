// SPDX-License-Identifier: Apache-2.0
#include "metadata/check.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

bool IsIdentifier(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const char c : name) {
    if (c != '_' && !absl::ascii_isalnum(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

absl::Status CheckParameter(const proto::Parameter& parameter) {
  const std::string& name = parameter.relay_name_hint();
  for (const int64_t extent : parameter.shape()) {
    if (extent < 0) return Error("parameter '", name, "' has the negative extent ", extent);
  }
  if (parameter.size_bytes() < 0) return Error("parameter '", name, "' has a negative size");
  const proto::Quantization& q = parameter.quantization();
  if (q.scales_size() != q.zero_points_size()) {
    return Error("parameter '", name, "' has ", q.scales_size(), " scales and ",
                 q.zero_points_size(), " zero points");
  }
  return absl::OkStatus();
}

absl::Status CheckFunction(const proto::Function& function) {
  const int64_t count = int64_t{function.num_inputs()} + function.num_outputs();
  if (function.num_inputs() < 0 || function.num_outputs() < 0 ||
      count != function.parameters_size()) {
    return Error("function '", function.name(), "' has ", function.parameters_size(),
                 " parameters for ", function.num_inputs(), " inputs and ", function.num_outputs(),
                 " outputs");
  }
  if (function.workspace_size_bytes() < 0 || function.io_size_bytes() < 0 ||
      function.constant_size_bytes() < 0) {
    return Error("function '", function.name(), "' has a negative size");
  }
  if (function.cost().operations() < 0 || function.cost().accessed_bytes() < 0) {
    return Error("function '", function.name(), "' has a negative cost");
  }
  for (const proto::Parameter& parameter : function.parameters()) {
    if (absl::Status s = CheckParameter(parameter); !s.ok()) {
      return Error("function '", function.name(), "': ", s.message());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPool(const proto::Pool& pool) {
  if (pool.size_bytes() < 0 || pool.lower_bound_bytes() < 0) {
    return Error("pool '", pool.name(), "' has a negative size");
  }
  if (pool.alignment_bytes() < 0) return Error("pool '", pool.name(), "' has a negative alignment");
  for (const proto::PoolBuffer& buffer : pool.buffers()) {
    if (buffer.offset_bytes() < 0 || buffer.size_bytes() < 0 ||
        buffer.offset_bytes() > pool.size_bytes() ||
        buffer.size_bytes() > pool.size_bytes() - buffer.offset_bytes()) {
      return Error("buffer '", buffer.name(), "' lies outside of pool '", pool.name(), "' of ",
                   pool.size_bytes(), " bytes");
    }
    if (buffer.first_call() > buffer.last_call()) {
      return Error("buffer '", buffer.name(), "' of pool '", pool.name(),
                   "' dies before it is alive");
    }
  }
  return absl::OkStatus();
}

// Checks the `place` fields of the model's parameters: either all or none are present, and each
// lies within an external workspace pool.
absl::Status CheckPlaces(const proto::Metadata& metadata) {
  const auto& parameters = metadata.functions(0).parameters();
  for (const proto::Parameter& parameter : parameters) {
    if (parameter.has_place() != parameters[0].has_place()) {
      return Error("parameters '", parameters[0].relay_name_hint(), "' and '",
                   parameter.relay_name_hint(), "': one has a place in a pool, the other has none");
    }
    if (!parameter.has_place()) continue;
    const proto::PoolPlace& place = parameter.place();
    if (place.pool() < 0 || place.pool() >= metadata.pools_size()) {
      return Error("parameter '", parameter.relay_name_hint(), "' lies in pool ", place.pool(),
                   " of ", metadata.pools_size());
    }
    const proto::Pool& pool = metadata.pools(place.pool());
    if (pool.kind() != proto::Pool::WORKSPACE || !pool.external()) {
      return Error("parameter '", parameter.relay_name_hint(), "' lies in pool '", pool.name(),
                   "', which the application does not give");
    }
    if (place.offset_bytes() < 0 || place.offset_bytes() > pool.size_bytes() ||
        parameter.size_bytes() > pool.size_bytes() - place.offset_bytes()) {
      return Error("parameter '", parameter.relay_name_hint(), "' lies outside of pool '",
                   pool.name(), "' of ", pool.size_bytes(), " bytes");
    }
  }
  return absl::OkStatus();
}

bool HasTensor(const proto::Metadata& metadata, const std::string& name, bool input) {
  const proto::Function& main = metadata.functions(0);
  for (int i = 0; i < main.parameters_size(); ++i) {
    const bool is_input = i < main.num_inputs();
    if (is_input == input && main.parameters(i).relay_name_hint() == name) return true;
  }
  return false;
}

absl::Status CheckState(const proto::State& state, const proto::Metadata& metadata) {
  const std::string& name = state.tensor().relay_name_hint();
  if (absl::Status s = CheckParameter(state.tensor()); !s.ok()) return s;
  if (!state.tensor().has_place()) {
    if (HasTensor(metadata, name, /*input=*/true) &&
        HasTensor(metadata, state.output(), /*input=*/false)) {
      return absl::OkStatus();
    }
    return Error("state '", name, "' is no input, or its output '", state.output(), "' is none");
  }
  const proto::PoolPlace& place = state.tensor().place();
  if (place.pool() < 0 || place.pool() >= metadata.pools_size()) {
    return Error("state '", name, "' lies in pool ", place.pool(), " of ", metadata.pools_size());
  }
  const proto::Pool& pool = metadata.pools(place.pool());
  if (pool.kind() == proto::Pool::STATE && place.offset_bytes() >= 0 &&
      place.offset_bytes() <= pool.size_bytes() &&
      state.tensor().size_bytes() <= pool.size_bytes() - place.offset_bytes()) {
    return absl::OkStatus();
  }
  return Error("state '", name, "' lies outside of the state '", pool.name(), "' of ",
               pool.size_bytes(), " bytes");
}

absl::Status CheckWord(const char* key, const std::string& found, const char* a, const char* b) {
  if (found == a || found == b) return absl::OkStatus();
  return Error(key, ": found '", found, "', wanted ", a, " or ", b);
}

}  // namespace

absl::Status CheckMetadata(const proto::Metadata& metadata) {
  if (!IsIdentifier(metadata.module_name())) {
    return Error("module_name: found '", metadata.module_name(), "', wanted a C identifier");
  }
  for (const absl::Status& status :
       {CheckWord("executor", metadata.executor(), "aot", "graph"),
        CheckWord("runtime", metadata.runtime(), "cpp", "crt"),
        CheckWord("interface_api", metadata.interface_api(), "packed", "c")}) {
    if (!status.ok()) return status;
  }
  if (metadata.functions_size() == 0) return Error("no function of the model");
  for (const proto::Function& function : metadata.functions()) {
    if (absl::Status s = CheckFunction(function); !s.ok()) return s;
  }
  for (const proto::Pool& pool : metadata.pools()) {
    if (absl::Status s = CheckPool(pool); !s.ok()) return s;
  }
  for (const proto::State& state : metadata.states()) {
    if (absl::Status s = CheckState(state, metadata); !s.ok()) return s;
  }
  return CheckPlaces(metadata);
}

}  // namespace kiln
