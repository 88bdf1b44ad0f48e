// SPDX-License-Identifier: Apache-2.0
// The names that make up a target: architectures, systems and environments of LLVM's triples, and
// the processors, features and calling conventions of each architecture. Target::Parse rejects all
// other names, so that a spelling mistake never compiles generic code for a machine that was not
// meant.
//
// The table is part of Kiln because builds without LLVM check names, too. A test compares it with
// LLVM's.
#ifndef KILN_COMPILER_TARGET_NAMES_H_
#define KILN_COMPILER_TARGET_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kiln {

// One architecture, or several that have all of these fields in common. Lists are separated by
// commas.
struct Architecture {
  absl::string_view names;  // the first part of a triple: "aarch64,arm64"
  int pointer_bits = 0;
  absl::string_view processors;  // empty: none are known, and -mcpu= and -mattr= are rejected
  absl::string_view features;
  absl::string_view abis;                   // values of -mabi=
  absl::string_view plain;                  // the target that errors propose with -mcpu=: "aarch64"
  absl::string_view processors_of_64_bits;  // 64-bit processors, which 32-bit x86 accepts, too
};

const std::vector<Architecture>& Architectures();
// The row of the triple's architecture, or null.
const Architecture* FindArchitecture(absl::string_view triple);
// Versions of the Arm architecture as they follow "arm" or "thumb" in a triple, such as "v7em".
std::vector<absl::string_view> ArmVersions();

// Words of the third and later parts of a triple: operating systems, which a version may follow,
// and environments. "none" and "elf" are words of C tool chains.
std::vector<absl::string_view> TripleSystems();
std::vector<absl::string_view> TripleEnvironments();
// True if a part of the triple is an operating system, as in "aarch64-none-linux-gnu". False for
// "thumbv7em-none-eabi" and "riscv64-unknown-elf".
bool NamesOs(absl::string_view triple);

// InvalidArgument with the first unknown part. The second of three or more parts is the vendor,
// which may be any word.
absl::Status CheckTriple(absl::string_view triple);
// InvalidArgument if an option of a target, such as "-mcpu=cortex-a72", has a value that the
// architecture of `triple` does not have. `target` is the whole text, for the error.
absl::Status CheckOptionNames(absl::string_view target, absl::string_view triple,
                              absl::string_view option);

// A suggestion for a word that is not a target, such as ", perhaps 'x86-64 -mcpu=znver4'". Empty if
// there is none.
std::string PerhapsTarget(absl::string_view word);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_NAMES_H_
