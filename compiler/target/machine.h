// SPDX-License-Identifier: Apache-2.0
// Machine: the tuned numbers of a core, by which schedules choose among correct loops. A number
// that is not in this table is part of an algorithm or of a format (ALLOWED_NUMBERS in
// tools/lint/lint.py).
//
//   if (cost < target.machine->threads.min_cost) …
//
// A row of compiler/target/machines states what differs from the default values of this file. The
// comment of a field says what its default value was measured on. Sizes of caches and of the stack
// are fields of Target, because machines with the same core differ in them.
#ifndef KILN_COMPILER_TARGET_MACHINE_H_
#define KILN_COMPILER_TARGET_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln {

// The model of register tiles. Its unit is the time of one vector multiply-add.
struct TileNumbers {
  int64_t max_vectors = 8;  // column vectors per row, when there are few rows
  // Registers besides accumulators and column vectors: a broadcast and a temporary.
  int64_t scratch_registers = 2;
  // Additional registers of tiles with several column vectors if a broadcast may be an operand.
  // LLVM loads the next step's columns early. With one register fewer, 14x2 spills.
  int64_t early_column_registers = 1;
  // Minimum number of accumulators. A machine issues two multiply-adds at once, each with a latency
  // of four cycles, so fewer accumulators wait for each other.
  int64_t min_chains = 8;
  // Cost of a load besides the multiply-adds: a slot of the front end. A broadcast that is an
  // operand of its multiply-add takes no slot, but one of the two loads per cycle, as many as there
  // are multiply-adds. If all multiply-adds have such an operand, they wait for every other load.
  // Measured for sums of 256 to 1024 products: 13x2 and 6x4 take 0.85 to 0.97 of the time of 28x1
  // (Sapphire Rapids), and 0.91 to 0.96 (Zen 5).
  double load_cost = 0.1;
  double operand_cost = 0.1;
  // Cost of a byte of column vectors that are prefetched from the L2 cache, measured as above.
  // Blocks of columns that the L2 cache does not keep share it with the rows, and cost twice as
  // much.
  double column_byte_cost = 1.0 / 128;
  // Cost of a cold column vector. It does not apply to a tile that holds all rows, which prefetches
  // the columns that the L1 cache does not keep.
  double cold_column_cost = 2;
  // Cost of a byte of rows that are read from the L2 cache again for every block of columns. They
  // lie in different pages, so the hardware cannot prefetch them.
  double cold_row_byte_cost = 1.0 / 12;
  // Cost of a load whose cache line was evicted by another row's.
  double conflict_cost = 2;
  // Costs of a tile: clearing, epilogue and stores per accumulator, and the loops.
  double accumulator_cost = 3;
  double tile_cost = 16;
  // Distance of addresses that fall into one set of the L1 cache.
  int64_t set_span = 4096;
  // Accumulators of a tile of scalar sums, and its maximum number of rows.
  int64_t scalar_sums = 4, scalar_rows = 2;
  // Minimum number of columns. Fewer columns do not fill a vector, and the reduction family
  // vectorizes along the reduction axis instead.
  int64_t min_columns = 4;
  // Columns that are not contiguous are copied for at least min_rows_of_copy rows. Fewer rows add
  // along the reduction axis without a copy, if it has min_steps_per_row steps for each row.
  // Measured on Zen 3 for attention over 2048 keys of 64 steps: 2 rows take 0.30 of the time, 4
  // rows 0.62, 8 rows 0.88, 12 rows as long. With 16 steps, 2 rows take 0.85, and 4 rows 1.2.
  int64_t min_rows_of_copy = 9, min_steps_per_row = 8;
  int64_t max_steps = 4;  // steps of the reduction in one iteration
  // Maximum number of multiply-adds in an innermost loop. The loop then fits into the cache of
  // decoded instructions, together with its neighbors.
  int64_t max_unrolled = 112;
  // The same for dots of one sum on machines where code has to be small.
  int64_t scalar_dots_unrolled = 16;
  // Limits of a part of a divided reduction. Its columns take at most an eighth of the L2 cache, it
  // has at least min_steps_of_part steps, and its partial sums, which are on the stack, have a
  // maximum size. Measured on Sapphire Rapids for 64 rows and cold columns: 4 parts of 3072 steps
  // take 0.9 times as long as one.
  int64_t part_of_l2 = 8, min_steps_of_part = 64, max_partial_bytes = 64 << 10;
};

// Prefetches of a tile.
struct PrefetchNumbers {
  // Distance of column prefetches: the bytes that arrive from memory during the latency of one
  // line. The hardware prefetches too, but stops at the end of every page. Measured with 8 rows on
  // Zen 5: 15 GB/s with 1 KiB, 38 with 4, 47 with 8.
  int64_t column_bytes = 8192;
  // Minimum number of rows of a tile that prefetches columns. Tiles of fewer rows load far enough
  // ahead of their multiply-adds anyway. Measured with prefetches: 2 rows take 1.18 times as long,
  // 3 rows 0.84 times.
  int64_t min_rows = 3;
  // Maximum number of tiles that read the same columns and prefetch them. If more tiles read them,
  // columns come from the L2 cache, which the hardware does well. Prefetches would then delay the
  // next columns, which come from memory. Measured for products of weights of 2.4 MB on Sapphire
  // Rapids, with such prefetches too: 2 tiles take 0.9 times as long, 4 tiles 1.0, 8 tiles 1.03.
  int64_t max_tiles = 2;
  // Minimum number of steps of a reduction that leave time to fetch the data of the epilogue.
  int64_t min_steps = 32;
  // Maximum number of cache lines of later rows that an iteration prefetches. With more lines the
  // tile would wait for memory.
  int64_t row_lines = 4;
  // Number of places of a block from which lines are prefetched in turn. Hardware prefetches end
  // with a page, so that reading several pages at once is faster. Decision 0043 has the rates of
  // Granite Rapids.
  int64_t places = 8;
};

struct ThreadNumbers {
  // Minimum cost of work that is divided among threads, in additions: about 15 microseconds. Below
  // this, handing work to other threads costs more than it saves.
  int64_t min_cost = 100'000;
  // Iterations of the parallel loop per core. Several iterations per core balance uneven work.
  int64_t tasks_per_core = 8;
};

// Products by dot product instructions.
struct DotNumbers {
  // Issue slots of a vdpbf16ps (products of bfloat16), in units of one multiply-add of float32. It
  // is 1 by the manuals of Zen 4 and Zen 5.
  double bfloat_slots = 1;
  int64_t min_reduce = 4;           // shorter reductions do not use an instruction
  int64_t max_part_read_on = 3;     // elements read past a run: at most a third of it
  int64_t max_part_of_data = 4;     // copied rows: at most a quarter of the data
  int64_t max_part_of_tensors = 3;  // copied rows: at most a third of a model's tensors
  int64_t min_run = 16;  // shorter contiguous runs of padded elements are not worth a copy
  // Maximum number of elements of the rows of a tile that is one loop.
  int64_t max_loop_elements = 1 << 16;
  // Minimum steps and columns for SMMLA. With fewer, SDOT takes fewer instructions (counted on
  // AArch64).
  int64_t min_steps_together = 8, min_columns_together = 32;
  // Lanes of the narrowest vector of sums of any instruction.
  int64_t min_lanes = 4;
  // Maximum width of interleaved vectors of bytes. Wider ones take many steps, because machines
  // interleave vectors of 256 and 512 bits as several of 128 bits.
  int64_t bytes_interleaved_bits = 128;
};

// Registers that hold matrices (AMX).
struct MatrixNumbers {
  int64_t min_piece = 16;               // minimum elements of a row that are copied at once
  int64_t max_pieces_written_out = 16;  // pieces in one iteration of a loop
  // Issue slots of a register of sums besides its products, and of a piece of a row. Then the
  // number of products that vectors compute in a slot. Measured on Granite Rapids with the
  // convolutions of MLPerf Tiny.
  double slots_of_register = 120, slots_of_piece = 4;
  double bytes_by_vectors = 54, floats_by_vectors = 14;
  // Issue slots of a piece that is split into parts, by the tile or for all rows before any tile.
  // Then the slots that pass while a byte comes from memory, and the share of the vectors' time
  // below which larger constants are worth it. Measured on Granite Rapids with 1 x 1 convolutions
  // of ResNet-50, DenseNet-121, SqueezeNet and Inception v1.
  double slots_of_piece_in_parts = 180, slots_of_stored_piece_in_parts = 60;
  double slots_of_byte_from_memory = 0.4, worth_parts = 0.9;
  // Cost of copying an element that is split, in multiply-adds.
  int64_t cost_of_split_element = 8;
  // Minimum number of steps of a part of a reduction. A reduction is divided if fewer than
  // rows_together rows would stay in the L2 cache. Their partial sums take at most max_partial_sums
  // times the size of the L2 cache.
  int64_t min_steps_of_part = 16, rows_together = 256, max_partial_sums = 2;
  // Maximum odd number of registers of columns that are computed one at a time.
  int64_t few_columns = 5;
  int64_t speedup = 8;  // speed relative to vectors, to decide about threads
};

// Windows that overlap: pooling and depthwise convolutions.
struct WindowNumbers {
  int64_t places = 4;  // windows of a tile along a row
  // Rows of windows in a tile. With two rows, 3x3 windows load 4 rows of data for 2 rows of outputs
  // instead of 6, and weights once. Measured with data in the L2 cache.
  int64_t rows = 2;
  int64_t tiles_per_core = 2;  // minimum number of tiles of rows for each core, to share
  int64_t max_terms = 16;      // terms of a window that is unrolled
  // Minimum number of vector registers for windows of two rows, and for long windows, to keep the
  // elements that they share.
  int many_registers = 32;
  // Maximum number of sums of long windows, and of elements that slide through registers: enough
  // independent chains of multiply-adds.
  int64_t long_places = 8;
  // Maximum number of elements of a long window along its last axis that are unrolled for each
  // place.
  int64_t long_taps = 8;
  // Cost of storing a value of one row and loading it again, in terms of a window.
  int64_t row_cost = 3;
  // Maximum number of rows of outputs that share copied rows, by loops in assembly. Windows of
  // different groups of rows overlap, so some rows are copied again for each group.
  int64_t max_shared_rows = 8;
};

// Winograd's filtering. Costs are in vector multiply-adds.
struct WinogradNumbers {
  int64_t min_channels = 16;  // of inputs and of outputs
  int64_t max_block_tiles = 64;
  // Maximum number of tiles in a block that is measured. It is above the limit of the model, but
  // scratch memory grows with it.
  int64_t max_measured_block_tiles = 256;
  size_t measured_tiles = 3;  // register tiles of a division that are worth measuring
  // Bytes that a core reads from memory in the time of one vector multiply-add: the cost of
  // weights. Between two runs, other weights of a model evict them from the caches. Within one run,
  // only weights that fit into the L2 cache stay there.
  double bytes_per_multiply_add = 2;
  // The same for data that another core has just written.
  double shared_bytes_per_multiply_add = 8;
  // Cost of a byte of weights that is read in order from the L2 cache.
  double second_cache_byte_cost = 1.0 / 64;
  // Maximum number of threads that a division is made for. A machine with many cores may still run
  // it with few threads.
  int max_modelled_threads = 4;
  // Cost of reading, transforming and writing one vector besides its arithmetic.
  double transform_access_cost = 2;
  // Minimum cost of the direct sum: about 35 microseconds. Convolutions that take less time are not
  // worth scratch memory.
  double min_direct_cost = 140'000;
  // Bytes that the weights may grow by for every vector multiply-add that is saved. A small layer
  // is not worth weights four times as large.
  double bytes_per_saved_multiply_add = 8;
  // Share of its time in which a direct sum computes multiply-adds. It also waits for rows, writes
  // outputs and clears sums.
  double direct_efficiency = 0.7;
};

struct ReductionNumbers {
  int vectors = 4;  // vectors of a tile: enough to hide the latency of an addition
  // Minimum number of steps of each sum if a reduction is divided into several sums. With fewer
  // steps, combining them gains nothing.
  int64_t min_steps_of_chain = 4;
};

// Buffers on the stack between the stages of a kernel.
struct StackNumbers {
  // Maximum bytes of all buffers inside of the loops that stages share. The second number is for
  // machines that are short of memory.
  int64_t shared_bytes = 32 << 10, firmware_shared_bytes = 512;
  // Maximum bytes of the buffers between the stages of a block of rows, as in attention. These then
  // stay in the L1 cache.
  int64_t block_bytes = 32 << 10;
  // Minimum rows of a block, which may exceed block_bytes, so that a tile of a product has enough
  // rows. The second number is the maximum on machines that are short of memory.
  int64_t min_block_rows = 8, max_firmware_block_rows = 4;
  // Maximum share of the vector operations that lanes along the rows would take, if lanes go across
  // rows instead.
  double worthwhile_lanes = 0.9;
};

// Selection and sorting of places.
struct RankNumbers {
  // The sorted part has room for ranks / spare_share more keys than are wanted, so that bisection
  // ends sooner.
  int64_t spare_share = 8;
  // Additions for each key: for bisection, divided by the lanes of a vector, and for dropping keys.
  int64_t bisection_cost = 24, drop_cost = 4;
  // Number of keys in a group, whose smallest key is kept, and minimum number of groups for each
  // wanted rank.
  int64_t group = 32, groups_for_rank = 2;
  int64_t parts_per_core = 4;  // parts that rows are divided into
  // Limits of the number of pairs in a sorted block, which is otherwise that of two vectors of
  // keys.
  int64_t min_block = 8, max_block = 32;
  int64_t merge_cost = 7;  // additions for each pair on each level of merging
};

// Tiles that are transposed in registers, and planes of channels-first data.
struct TransposeNumbers {
  // Maximum side of a tile. A tile of this size is transposed in four steps, in registers.
  int64_t max_side = 16;
  // Minimum side of a tile. Vectors of smaller tiles are mostly empty and gain nothing.
  int64_t min_side = 4;
  // Number of tiles in a block. They follow each other along the data, so that data that the
  // hardware prefetches are used.
  int64_t tiles_per_block = 4;
  // Maximum stride of loads that are not transposed. They read few cache lines for each vector, and
  // become vectors and shuffles.
  int64_t max_small_stride = 4;
  // Maximum number of planes that a first layer reads. More channels fill a part of a vector that
  // is worth loading.
  int64_t max_planes = 4;
};

struct PointwiseNumbers {
  // Vectors in the innermost loop of a one-dimensional nest: enough to amortize the loop, and few
  // enough to divide the blocks among threads.
  int vectors_per_block = 4;
  // Maximum bytes of a row whose data are prefetched at once. A longer row is divided into blocks,
  // which prefetch one by one.
  int64_t max_row_bytes = 4096;
  // Distance of prefetches of data that come from memory. Measured: 1.18 times as fast.
  int64_t prefetch_bytes = 2048;
};

// Costs of expressions, in additions.
struct CostNumbers {
  int64_t slow_operation = 8;  // division, remainder, square root
  int64_t indirect_index = 4;  // an index that divides, or that is loaded itself
  int64_t store = 3;           // storing an element and loading it again
};

// Repeated code.
struct CodeNumbers {
  int64_t max_written_out = 4;  // elements that code without vectors processes at once, unrolled
  // Largest share of a loop's work that guards of borders may have if flash is short. Loops that
  // copy the rows of 3 x 3 windows for 16 or more columns are at 1/170 or less. Loops that copy 80
  // elements of one channel for 8 columns are at 1/80, and would take 15 % more instructions.
  double guards_of_borders = 1.0 / 128;
  // Operations of a window of 3 x 3 taps for four sums of a tile.
  int64_t unrolled_operations = 80;
  // Share of the program's work that each operation of unrolled code must save. A load, a store or
  // an arithmetic operation is 2 to 4 bytes of code. At 1/80000, code for speed grows by another
  // 3.5 % for 0.3 % fewer instructions. At 1/5000, small models take up to 5 % more instructions.
  double saved_by_operation = 1.0 / 20000;
  // The same if code is not for speed only. MobileNet 0.25 grows by 30 bytes for 1 % fewer
  // instructions.
  double saved_by_small_operation = 1.0 / 1500;
};

struct Machine {
  absl::string_view name;  // "sapphire-rapids"
  // LLVM's names of the processors that use the row, separated by commas. Empty for the last row of
  // an architecture, which all of its other processors use.
  absl::string_view cpus;
  absl::string_view measured_on;  // the machine that the numbers were measured on, or "estimated"

  TileNumbers tiles = {};
  PrefetchNumbers prefetch = {};
  ThreadNumbers threads = {};
  DotNumbers dots = {};
  MatrixNumbers matrices = {};
  WindowNumbers windows = {};
  WinogradNumbers winograd = {};
  ReductionNumbers reductions = {};
  StackNumbers stack = {};
  RankNumbers ranks = {};
  TransposeNumbers transposes = {};
  PointwiseNumbers pointwise = {};
  CostNumbers costs = {};
  CodeNumbers code = {};
};

// The row of machines that no table is about.
inline constexpr Machine kUnknownMachine = {
    .name = "unknown", .cpus = "", .measured_on = "estimated"};

// All rows, by architecture. Their names are unique.
std::vector<const Machine*> Machines();
// Returns the row of a processor by LLVM's name, which may be empty. The row follows from this
// function only.
const Machine& MachineOf(absl::string_view triple, absl::string_view cpu);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_MACHINE_H_
