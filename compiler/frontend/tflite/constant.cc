// SPDX-License-Identifier: Apache-2.0
// Constants. A sparse one is stored level by level, with one level per dimension in traversal
// order. A dense level has all indices. A compressed level (CSR) lists the indices that are present
// for each position of the previous level. Levels after the tensor's rank are positions inside of a
// block.
#include "compiler/frontend/tflite/constant.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;

constexpr int64_t kMaxPlacesPerByte = 1024;

absl::Status Damaged(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("sparse data: ", what));
}

struct Level {
  bool compressed = false;
  int64_t extent = 0;                      // number of indices of the level
  std::vector<int64_t> segments, indices;  // only if compressed
};

template <typename Vector>
std::vector<int64_t> Widened(const Vector* vector) {
  if (vector == nullptr || vector->values() == nullptr) return {};
  return {vector->values()->begin(), vector->values()->end()};
}

std::vector<int64_t> Indices(schema::IndexVector type, const void* table) {
  switch (type) {
    case schema::IndexVector::Int32Vector:
      return Widened(static_cast<const schema::Int32Vector*>(table));
    case schema::IndexVector::Uint16Vector:
      return Widened(static_cast<const schema::Uint16Vector*>(table));
    case schema::IndexVector::Uint8Vector:
      return Widened(static_cast<const schema::Uint8Vector*>(table));
    default:
      return {};
  }
}

class Densifier {
 public:
  Densifier(const TensorInfo& tensor, const TensorType& type) : tensor_(tensor), type_(type) {}

  absl::StatusOr<std::string> Run() && {
    // Bounds the memory and time that a small file can require.
    const int64_t most = kMaxPlacesPerByte * static_cast<int64_t>(tensor_.data.size()) + (1 << 20);
    if (type_.num_bytes() > most) {
      return Damaged(absl::StrCat(tensor_.data.size(), " bytes of values for ", type_.ToString()));
    }
    KILN_RETURN_IF_ERROR(ReadOrder());
    KILN_RETURN_IF_ERROR(ReadLevels());
    bytes_.assign(static_cast<size_t>(type_.num_bytes()), '\0');
    index_.assign(order_.size(), 0);
    KILN_RETURN_IF_ERROR(Visit(0, 0));
    if (next_ != tensor_.data.size()) return Damaged("there are more values than places");
    return std::move(bytes_);
  }

 private:
  // Reads order_. order_[level] is the dimension of the level. Dimensions from the tensor's rank on
  // are those of a block.
  absl::Status ReadOrder() {
    const schema::SparsityParameters& sparsity = *tensor_.sparsity;
    const size_t rank = type_.shape.size();
    if (sparsity.block_map() != nullptr) {
      block_map_.assign(sparsity.block_map()->begin(), sparsity.block_map()->end());
    }
    if (sparsity.traversal_order() != nullptr) {
      order_.assign(sparsity.traversal_order()->begin(), sparsity.traversal_order()->end());
    }
    if (block_map_.size() > rank || order_.size() != rank + block_map_.size()) {
      return Damaged(absl::StrCat("found ", order_.size(), " levels and ", block_map_.size(),
                                  " dimensions of blocks for a tensor of rank ", rank));
    }
    std::vector<int64_t> sorted = order_;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] != static_cast<int64_t>(i)) return Damaged("the order of levels is none");
    }
    block_.assign(rank, 1);
    block_dim_.assign(rank, -1);
    for (size_t i = 0; i < block_map_.size(); ++i) {
      const int64_t dim = block_map_[i];
      if (dim < 0 || dim >= static_cast<int64_t>(rank) ||
          block_dim_[static_cast<size_t>(dim)] >= 0) {
        return Damaged("blocks of a dimension that is none, or twice of one");
      }
      block_dim_[static_cast<size_t>(dim)] = static_cast<int64_t>(rank + i);
    }
    return absl::OkStatus();
  }

  absl::Status ReadLevels() {
    const auto* metadata = tensor_.sparsity->dim_metadata();
    const size_t rank = type_.shape.size();
    if (metadata == nullptr || metadata->size() != order_.size()) {
      return Damaged("the number of levels differs");
    }
    levels_.resize(order_.size());
    // Extents of blocks are read first, as dimensions of the tensor are counted in blocks.
    for (const bool blocks : {true, false}) {
      for (size_t k = 0; k < order_.size(); ++k) {
        const size_t dim = static_cast<size_t>(order_[k]);
        if ((dim >= rank) != blocks) continue;
        const schema::DimensionMetadata& from = *metadata->Get(static_cast<uint32_t>(k));
        KILN_RETURN_IF_ERROR(ReadLevel(from, dim, levels_[k]));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadLevel(const schema::DimensionMetadata& from, size_t dim, Level& level) {
    const size_t rank = type_.shape.size();
    level.compressed = from.format() == schema::DimensionFormat::SPARSE_CSR;
    if (level.compressed) {
      level.segments = Indices(from.array_segments_type(), from.array_segments());
      level.indices = Indices(from.array_indices_type(), from.array_indices());
    }
    if (dim >= rank) {
      if (level.compressed) return absl::UnimplementedError("sparse data inside of blocks");
      const size_t of = static_cast<size_t>(block_map_[dim - rank]);
      level.extent = from.dense_size();
      if (level.extent < 1 || type_.shape[of] % level.extent != 0) {
        return Damaged(
            absl::StrCat("blocks of ", level.extent, " along an extent of ", type_.shape[of]));
      }
      block_[of] = level.extent;
      return absl::OkStatus();
    }
    level.extent = type_.shape[dim] / block_[dim];
    if (!level.compressed && from.dense_size() != level.extent) {
      return Damaged(absl::StrCat("a level of ", from.dense_size(), ", wanted ", level.extent));
    }
    return absl::OkStatus();
  }

  // Writes the values below `position`, a position in the levels before `level`.
  absl::Status Visit(size_t level, int64_t position) {
    if (level == levels_.size()) return Write();
    const Level& l = levels_[level];
    int64_t& index = index_[static_cast<size_t>(order_[level])];
    if (!l.compressed) {
      for (index = 0; index < l.extent; ++index) {
        KILN_RETURN_IF_ERROR(Visit(level + 1, position * l.extent + index));
      }
      return absl::OkStatus();
    }
    if (position + 1 >= static_cast<int64_t>(l.segments.size())) {
      return Damaged("segments are missing");
    }
    const int64_t begin = l.segments[static_cast<size_t>(position)];
    const int64_t end = l.segments[static_cast<size_t>(position) + 1];
    if (begin < 0 || end < begin || end > static_cast<int64_t>(l.indices.size()) ||
        end - begin > l.extent) {
      return Damaged(absl::StrCat("a segment from ", begin, " to ", end));
    }
    for (int64_t i = begin; i < end; ++i) {
      index = l.indices[static_cast<size_t>(i)];
      if (index < 0 || index >= l.extent) return Damaged(absl::StrCat("the index ", index));
      KILN_RETURN_IF_ERROR(Visit(level + 1, i));
    }
    return absl::OkStatus();
  }

  absl::Status Write() {
    const size_t width = static_cast<size_t>(type_.dtype.bytes());
    if (tensor_.data.size() - next_ < width) return Damaged("there are fewer values than places");
    int64_t place = 0;
    for (size_t d = 0; d < type_.shape.size(); ++d) {
      const int64_t inside = block_dim_[d] < 0 ? 0 : index_[static_cast<size_t>(block_dim_[d])];
      place = place * type_.shape[d] + index_[d] * block_[d] + inside;
    }
    std::copy_n(
        tensor_.data.begin() + static_cast<std::ptrdiff_t>(next_), width,
        bytes_.begin() + static_cast<std::ptrdiff_t>(place) * static_cast<std::ptrdiff_t>(width));
    next_ += width;
    return absl::OkStatus();
  }

  const TensorInfo& tensor_;
  const TensorType& type_;
  std::vector<int64_t> order_, block_map_;
  std::vector<int64_t> block_;      // extent of a block per dimension of the tensor
  std::vector<int64_t> block_dim_;  // index in index_ of the position in a block, or -1
  std::vector<Level> levels_;
  std::vector<int64_t> index_;
  std::string bytes_;
  size_t next_ = 0;  // position in the data
};

}  // namespace

absl::StatusOr<Tensor> DecodeConstant(const TensorInfo& tensor) {
  KILN_ASSIGN_OR_RETURN(const TensorType type, tensor.ToTensorType());
  const std::string where = absl::StrCat("tensor '", tensor.name, "': ");
  std::string bytes;
  if (tensor.sparsity != nullptr) {
    absl::StatusOr<std::string> dense = Densifier(tensor, type).Run();
    if (!dense.ok()) return Annotate(dense.status(), where);
    bytes = *std::move(dense);
  } else if (static_cast<int64_t>(tensor.data.size()) != type.num_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat(where, "found ", tensor.data.size(),
                                                   " bytes for ", type.ToString(), ", wanted ",
                                                   type.num_bytes()));
  } else {
    bytes = std::string(tensor.data);
  }
  if (type.dtype.is_bool()) {
    for (char& c : bytes) c = c == 0 ? 0 : 1;
  }
  return Tensor(type, std::move(bytes));
}

}  // namespace kiln::tflite_frontend
