// SPDX-License-Identifier: Apache-2.0
// The names that a target may be made of: architectures, systems and environments of LLVM's triples, and
// the processors, features and calling conventions of each architecture. Target::Parse refuses all other
// names, so that a spelling mistake never compiles generic code for a machine that was not meant.
//
// The table is part of Kiln because a build without LLVM checks names as well. A test compares it with LLVM's.
#ifndef KILN_COMPILER_TARGET_NAMES_H_
#define KILN_COMPILER_TARGET_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kiln {

// One architecture, or several that differ in nothing that is written here. Lists are separated by commas.
struct Architecture {
  absl::string_view names;  // the first part of a triple: "aarch64,arm64"
  int pointer_bits = 0;
  absl::string_view processors;  // empty: Kiln knows none, and -mcpu= and -mattr= are refused
  absl::string_view features;
  absl::string_view abis;                   // values of -mabi=
  absl::string_view plain;                  // the target with which -mcpu= is written: "aarch64"
  absl::string_view processors_of_64_bits;  // further processors, of x86 with pointers of 32 bits
};

const std::vector<Architecture>& Architectures();
// The row of a triple's architecture; null if there is none.
const Architecture* FindArchitecture(absl::string_view triple);
// Versions of the Arm architecture, such as "v7em", as they follow "arm" or "thumb" in a triple.
std::vector<absl::string_view> ArmVersions();

// Words of the third and later parts of a triple: operating systems, which a version may follow, and
// environments. "none" and "elf" are words of C tool chains.
std::vector<absl::string_view> TripleSystems();
std::vector<absl::string_view> TripleEnvironments();
// True if a part of the triple is an operating system, as in "aarch64-none-linux-gnu"; false for
// "thumbv7em-none-eabi" and "riscv64-unknown-elf".
bool NamesOs(absl::string_view triple);

// InvalidArgument with the first part that is unknown. The second of three or more parts is the vendor, which
// may be any word.
absl::Status CheckTriple(absl::string_view triple);
// InvalidArgument if an option of a target, such as "-mcpu=cortex-a72", has a value that the architecture of
// `triple` does not have. `target` is the whole text, for the error.
absl::Status CheckOptionNames(absl::string_view target, absl::string_view triple,
                              absl::string_view option);

// ", perhaps 'x86-64 -mcpu=znver4'": what a word that is no target probably means; empty if nothing is near.
std::string PerhapsTarget(absl::string_view word);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_NAMES_H_
