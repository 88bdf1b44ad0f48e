// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kiln::codegen {
namespace {

// Keywords of C99, C11, C23 and C++20.
constexpr char kKeywords[] =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return "
    "co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq "
    "nullptr operator or or_eq private protected public register reinterpret_cast requires "
    "restrict return short signed sizeof "
    "static static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof "
    "typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq";

// Names of the C library that a compiler knows as built-in, and macros that compilers define
// outside of strict modes.
constexpr char kLibrary[] =
    "NULL EOF NAN INFINITY BUFSIZ I linux unix i386 arm main errno abort abs acos acosh alloca "
    "asin asinh assert atan atan2 atanh "
    "atexit atof atoi atol bcmp bcopy bsearch bzero cabs cacos calloc carg casin catan cbrt ccos "
    "ceil cexp cimag clog clog10 "
    "clz conj copysign cos cosh cpow cproj creal csin csqrt ctan ctz dcgettext dgettext div drem "
    "erf erfc exit exp exp10 exp2 "
    "expm1 fabs fdim ffs ffsl finite floor fma fmax fmin fmod fork fprintf fputc fputs free frexp "
    "fscanf fwrite gamma getenv "
    "gettext hypot ilogb imaxabs index isalnum isalpha isascii isblank iscntrl isdigit isgraph "
    "isinf islower isnan isprint "
    "ispunct isspace isupper isxdigit j0 j1 jn labs ldexp lgamma llabs llrint llround log log10 "
    "log1p log2 logb lrint lround "
    "malloc memalign memchr memcmp memcpy memmove mempcpy memset modf nan nearbyint nextafter "
    "nexttoward pow pow10 printf putc "
    "putchar puts qsort rand realloc remainder remquo rindex rint round scalb scalbln scalbn scanf "
    "setjmp longjmp signbit "
    "significand sin sincos sinh snprintf sprintf sqrt sscanf stpcpy stpncpy strcasecmp strcat "
    "strchr strcmp strcpy strcspn "
    "strdup strfmon strftime strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk "
    "strrchr strspn strstr "
    "system tan tanh tgamma time toascii tolower toupper trunc vfprintf vfscanf vprintf vscanf "
    "vsnprintf vsprintf vsscanf y0 "
    "y1 yn";

const absl::flat_hash_set<absl::string_view>& Set(const char* words) {
  static const auto* const keywords =
      new absl::flat_hash_set<absl::string_view>(absl::StrSplit(absl::string_view(kKeywords), ' '));
  static const auto* const library =
      new absl::flat_hash_set<absl::string_view>(absl::StrSplit(absl::string_view(kLibrary), ' '));
  return words == kKeywords ? *keywords : *library;
}

// A name that a header of ours, the C library (`…f`, `…l` forms too) or an implementation may use.
bool IsReserved(absl::string_view name) {
  for (absl::string_view prefix :
       {"__", "kiln_", "KILN_", "TVM", "DL", "kDL", "kTVM", "FTVM", "INT", "UINT"}) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  if (name.size() > 1 && name[0] == '_' && absl::ascii_isupper(name[1])) return true;
  if (absl::EndsWith(name, "_t")) return true;
  if (Set(kKeywords).contains(name) || Set(kLibrary).contains(name)) return true;
  const char last = name.back();
  return (last == 'f' || last == 'l') && Set(kLibrary).contains(name.substr(0, name.size() - 1));
}

}  // namespace

std::string SanitizeIdentifier(absl::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (!absl::ascii_isalnum(c)) c = '_';
  }
  if (result.empty() || absl::ascii_isdigit(result[0])) result.insert(result.begin(), '_');
  return result;
}

bool IsCIdentifier(absl::string_view name) {
  return SanitizeIdentifier(name) == name && !Set(kKeywords).contains(name);
}

bool Names::IsTaken(const std::string& name) const {
  for (const auto& scope : scopes_) {
    if (scope.contains(name)) return true;
  }
  return false;
}

std::string Names::Add(absl::string_view wanted, int* next_suffix) {
  const std::string base = SanitizeIdentifier(wanted);
  // A reserved prefix stays reserved whatever follows it.
  const char* prefix = IsReserved(absl::StrCat(base, "_1")) ? "x_" : "";
  std::string name = base;
  while (IsReserved(name) || IsTaken(name))
    name = absl::StrCat(prefix, base, "_", (*next_suffix)++);
  scopes_.back().insert(name);
  return name;
}

std::string Names::AddGlobal(absl::string_view wanted) {
  return Add(wanted, &next_global_.try_emplace(std::string(wanted), 1).first->second);
}

bool Names::AddExactGlobal(absl::string_view name) {
  return IsCIdentifier(name) && scopes_.front().insert(std::string(name)).second;
}

std::string Names::AddLocal(absl::string_view wanted) {
  int next_suffix = 1;
  return Add(wanted, &next_suffix);
}

}  // namespace kiln::codegen
