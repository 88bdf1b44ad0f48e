// SPDX-License-Identifier: Apache-2.0
// Damages bytes in every simple way and hands them to what reads them.
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

// Reads bytes. Where it has no error, it has itself expected that what it has read is well formed.
using Reader = std::function<absl::Status(absl::string_view bytes)>;

// Expects that `read` takes the whole bytes, and gives a proper error for all that they begin with.
// The bytes lie in a block of exactly their size, so that AddressSanitizer sees reads beyond it.
void ExpectCutsFail(const std::string& bytes, const Reader& read);

// Expects that with each single bit flipped `read` gives a proper error or none. `begin` and `end`
// limit the bytes that are damaged; `every` takes one bit of so many.
void ExpectFlipsAreHarmless(const std::string& bytes, const Reader& read, size_t begin = 0,
                            size_t end = std::string::npos, size_t every = 1);

// Of formats whose beginnings may be whole: expects a proper error, or none, for all that the bytes
// begin with.
void ExpectCutsAreHarmless(const std::string& bytes, const Reader& read);

// The same of `count` cuts and of `count` bytes that get another value, by a fixed seed; half of
// them near the ends, where formats keep what is no data.
void ExpectSomeDamageIsHarmless(const std::string& bytes, const Reader& read, int count);

}  // namespace kiln::testing

#endif  // KILN_TESTS_DAMAGE_DAMAGE_H_
