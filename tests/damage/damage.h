// SPDX-License-Identifier: Apache-2.0
// Damages bytes in every simple way and passes them to a reader.
//
//   ExpectCutsFail(bytes, Read);
//   ExpectFlipsAreHarmless(bytes, Read);
#ifndef KILN_TESTS_DAMAGE_DAMAGE_H_
#define KILN_TESTS_DAMAGE_DAMAGE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kiln::testing {

// Reads bytes and returns their error. If there is none, it expects that the result is well formed.
using Reader = std::function<absl::Status(absl::string_view bytes)>;

// Expects that `read` accepts the whole bytes, and returns a proper error for every shorter prefix.
// The bytes are in a block of exactly their size, so AddressSanitizer detects reads beyond it.
void ExpectCutsFail(const std::string& bytes, const Reader& read);

// Expects that `read` returns a proper error or none for each single flipped bit. `begin` and `end`
// limit the damaged bytes. `every` is the distance between flipped bits.
void ExpectFlipsAreHarmless(const std::string& bytes, const Reader& read, size_t begin = 0,
                            size_t end = std::string::npos, size_t every = 1);

// For formats with valid prefixes: expects a proper error or none for every shorter prefix of the
// bytes.
void ExpectCutsAreHarmless(const std::string& bytes, const Reader& read);

// Expects the same for `count` truncations and for `count` bytes with another value, by a fixed
// seed. Half of the positions are near the ends, where formats keep information that is not data.
void ExpectSomeDamageIsHarmless(const std::string& bytes, const Reader& read, int count);

}  // namespace kiln::testing

#endif  // KILN_TESTS_DAMAGE_DAMAGE_H_
