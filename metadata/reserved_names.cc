// SPDX-License-Identifier: Apache-2.0
#include "metadata/reserved_names.h"

#include <set>

#include "absl/strings/str_split.h"

namespace kiln {
namespace {

using Words = std::set<absl::string_view>;

constexpr absl::string_view kKeywords =
    "_Alignas _Alignof _Atomic _BitInt _Bool _Complex _Generic _Imaginary _Noreturn "
    "_Static_assert _Thread_local alignas alignof and and_eq asm auto bitand bitor bool break "
    "case catch char char16_t char32_t char8_t class co_await co_return co_yield compl "
    "concept const const_cast consteval constexpr constinit continue decltype default delete "
    "do double dynamic_cast else enum explicit export extern false float for friend goto if "
    "inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public register reinterpret_cast requires restrict return short signed "
    "sizeof static static_assert static_cast struct switch template this thread_local throw "
    "true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq";

constexpr absl::string_view kCompilerMacros = "i386 linux unix";

constexpr absl::string_view kLibrary =
    "BUFSIZ EOF HUGE_VAL I INFINITY NAN NULL abort abs access acos acosh alarm alloca asctime "
    "asin asinh assert atan atan2 atanh atexit atof atoi atol atoll bcmp bcopy brk bsearch "
    "btowc bzero cabs cacos cacosh calloc carg casin casinh catan catanh cbrt ccos ccosh ceil "
    "cexp cimag clearerr clock clog clog10 close clz complex conj copysign cos cosh cpow "
    "cproj creal csin csinh csqrt ctan ctanh ctime ctz daylight dcgettext dgettext difftime "
    "div drem dup environ erf erfc errno execl execle execlp execv execve execvp exit exp "
    "exp10 exp2 expm1 fabs fclose fdim feclearexcept fegetenv fegetexceptflag fegetround "
    "feholdexcept feof feraiseexcept ferror fesetenv fesetexceptflag fesetround fetestexcept "
    "feupdateenv fflush ffs ffsl fgetc fgetpos fgets fgetwc fgetws finite floor fma fmax fmin "
    "fmod fopen fork fpclassify fprintf fprintf_unlocked fputc fputc_unlocked fputs "
    "fputs_unlocked fputwc fputws fread free freopen frexp fscanf fseek fsetpos fstat ftell "
    "fwide fwprintf fwrite fwrite_unlocked fwscanf gamma getc getchar getenv getpid gets "
    "gettext gettimeofday getwc getwchar gmtime hypot ilogb imaginary imaxabs imaxdiv index "
    "isalnum isalpha isascii isatty isblank iscntrl isdigit isfinite isgraph isgreater "
    "isgreaterequal isinf isless islessequal islessgreater islower isnan isnormal isprint "
    "ispunct isspace isunordered isupper iswalnum iswalpha iswblank iswcntrl iswctype "
    "iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit isxdigit j0 j1 "
    "jn kill labs ldexp ldiv lgamma link llabs lldiv llrint llround localeconv localtime log "
    "log10 log1p log2 logb longjmp lrint lround lseek main malloc mblen mbrlen mbrtowc "
    "mbsinit mbsrtowcs mbstowcs mbtowc memalign memchr memcmp memcpy memmove mempcpy memset "
    "mktime modf nan nearbyint nextafter nexttoward nice offsetof open optarg opterr optind "
    "optopt pause perror pipe poll pow pow10 printf printf_unlocked putc putc_unlocked "
    "putchar putchar_unlocked puts puts_unlocked putwc putwchar qsort raise rand random read "
    "realloc remainder remove remquo rename rewind rindex rint round sbrk scalb scalbln "
    "scalbn scanf select setbuf setjmp setlocale setvbuf signal signbit signgam significand "
    "sin sincos sinh sleep snprintf sprintf sqrt srand srandom sscanf stat stderr stdin "
    "stdout stpcpy stpncpy strcasecmp strcat strchr strcmp strcoll strcpy strcspn strdup "
    "strerror strfmon strftime strlen strncasecmp strncat strncmp strncpy strndup strnlen "
    "strpbrk strrchr strspn strstr strtod strtof strtoimax strtok strtok_r strtol strtold "
    "strtoll strtoul strtoull strtoumax strxfrm swprintf swscanf system tan tanh tgamma time "
    "times timezone tmpfile tmpnam toascii tolower toupper towctrans towlower towupper trunc "
    "tzname ungetc ungetwc unlink usleep va_arg va_copy va_end va_start vfprintf vfscanf "
    "vfwprintf vfwscanf vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf "
    "vwscanf wait wcrtomb wcscat wcschr wcscmp wcscoll wcscpy wcscspn wcsftime wcslen wcsncat "
    "wcsncmp wcsncpy wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax wcstok "
    "wcstol wcstold wcstoll wcstombs wcstoul wcstoull wcstoumax wcsxfrm wctob wctomb wctrans "
    "wctype wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf write wscanf y0 y1 yn";

}  // namespace

bool IsKeyword(absl::string_view name) {
  static const Words* const words = new Words(absl::StrSplit(kKeywords, ' '));
  return words->count(name) > 0;
}

bool IsCompilerMacro(absl::string_view name) {
  static const Words* const words = new Words(absl::StrSplit(kCompilerMacros, ' '));
  return words->count(name) > 0;
}

bool IsLibraryName(absl::string_view name) {
  static const Words* const words = new Words(absl::StrSplit(kLibrary, ' '));
  if (words->count(name) > 0) return true;
  const bool variant = !name.empty() && (name.back() == 'f' || name.back() == 'l');
  return variant && words->count(name.substr(0, name.size() - 1)) > 0;
}

}  // namespace kiln
