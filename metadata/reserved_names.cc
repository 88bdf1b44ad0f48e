// SPDX-License-Identifier: Apache-2.0
#include "metadata/reserved_names.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

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

// Macros of the C library without arguments, and macros with arguments that C++ keeps.
constexpr absl::string_view kLibraryMacros =
    "AIO_PRIO_DELTA_MAX ARG_MAX ATEXIT_MAX ATOMIC_BOOL_LOCK_FREE ATOMIC_CHAR16_T_LOCK_FREE "
    "ATOMIC_CHAR32_T_LOCK_FREE ATOMIC_CHAR_LOCK_FREE ATOMIC_FLAG_INIT ATOMIC_INT_LOCK_FREE "
    "ATOMIC_LLONG_LOCK_FREE ATOMIC_LONG_LOCK_FREE ATOMIC_POINTER_LOCK_FREE "
    "ATOMIC_SHORT_LOCK_FREE ATOMIC_UNGETC ATOMIC_WCHAR_T_LOCK_FREE BC_BASE_MAX BC_DIM_MAX "
    "BC_SCALE_MAX BC_STRING_MAX BIG_ENDIAN BUFSIZ BUS_ADRALN BUS_ADRERR BUS_MCEERR_AO "
    "BUS_MCEERR_AR BUS_OBJERR BYTE_ORDER CHARCLASS_NAME_MAX CHAR_BIT CHILD_MAX CLD_CONTINUED "
    "CLD_DUMPED CLD_EXITED CLD_KILLED CLD_STOPPED CLD_TRAPPED CLK_TCK CLOCKS_PER_SEC "
    "CLOCK_ALLOWED CLOCK_BOOTTIME CLOCK_BOOTTIME_ALARM CLOCK_DISABLED CLOCK_DISALLOWED "
    "CLOCK_ENABLED CLOCK_MONOTONIC CLOCK_MONOTONIC_COARSE CLOCK_MONOTONIC_RAW "
    "CLOCK_PROCESS_CPUTIME_ID CLOCK_REALTIME CLOCK_REALTIME_ALARM CLOCK_REALTIME_COARSE "
    "CLOCK_TAI CLOCK_THREAD_CPUTIME_ID COLL_WEIGHTS_MAX CSIGNAL DECIMAL_DIG DELAYTIMER_MAX "
    "E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF "
    "EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM "
    "ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT "
    "EEXIST EFAULT EFBIG EFTYPE EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS "
    "EINTR EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT "
    "EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE "
    "EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH "
    "ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK "
    "ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK "
    "ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ "
    "ENXIO EOF EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO "
    "EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO ERESTART ERFKILL EROFS "
    "ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT "
    "ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL EXIT_FAILURE "
    "EXIT_SUCCESS EXPR_NEST_MAX EXT_EXPBITS EXT_EXP_BIAS EXT_EXP_INFNAN EXT_FRACBITS "
    "EXT_FRACHBITS EXT_FRACLBITS FALLTHROUGH FAST_STRCMP FD_SETSIZE FE_ALL_EXCEPT FE_DFL_ENV "
    "FE_DFL_MODE FE_DIVBYZERO FE_DOWNWARD FE_INEXACT FE_INVALID FE_OVERFLOW FE_TONEAREST "
    "FE_TOWARDZERO FE_UNDERFLOW FE_UPWARD FILENAME_MAX FOPEN_MAX FPE_CONDTRAP FPE_FLTDIV "
    "FPE_FLTINV FPE_FLTOVF FPE_FLTRES FPE_FLTSUB FPE_FLTUND FPE_FLTUNK FPE_INTDIV FPE_INTOVF "
    "FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_INT_DOWNWARD "
    "FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO FP_INT_TOWARDZERO FP_INT_UPWARD FP_LLOGB0 "
    "FP_LLOGBNAN FP_NAN FP_NORMAL FP_RDI_RD FP_RDI_TOZ FP_RM FP_RN FP_RP FP_RZ FP_SUBNORMAL "
    "FP_XSTATE_MAGIC1 FP_XSTATE_MAGIC2 FP_XSTATE_MAGIC2_SIZE FP_X_DX FP_X_IMP FP_X_INV "
    "FP_X_OFL FP_X_UFL FP_ZERO F_LOCK F_OK F_TEST F_TLOCK F_ULOCK HAVE_INITFINI_ARRAY "
    "HOST_NAME_MAX HUGE_VAL HUGE_VALF HUGE_VALL I ILL_BADIADDR ILL_BADSTK ILL_COPROC "
    "ILL_ILLADR ILL_ILLOPC ILL_ILLOPN ILL_ILLTRP ILL_PRVOPC ILL_PRVREG INFINITY IOV_MAX "
    "LC_ADDRESS LC_ADDRESS_MASK LC_ALL LC_ALL_MASK LC_COLLATE LC_COLLATE_MASK LC_CTYPE "
    "LC_CTYPE_MASK LC_GLOBAL_LOCALE LC_IDENTIFICATION LC_IDENTIFICATION_MASK LC_MEASUREMENT "
    "LC_MEASUREMENT_MASK LC_MESSAGES LC_MESSAGES_MASK LC_MONETARY LC_MONETARY_MASK LC_NAME "
    "LC_NAME_MASK LC_NUMERIC LC_NUMERIC_MASK LC_PAPER LC_PAPER_MASK LC_TELEPHONE "
    "LC_TELEPHONE_MASK LC_TIME LC_TIME_MASK LINE_MAX LINK_MAX LITTLE_ENDIAN LOGIN_NAME_MAX "
    "LONG_BIT L_INCR L_SET L_XTND L_ctermid L_cuserid L_tmpnam MATH_ERREXCEPT MATH_ERRNO "
    "MAXFLOAT MAX_CANON MAX_INPUT MB_CUR_MAX MB_LEN_MAX MINSIGSTKSZ MQ_PRIO_MAX M_1_PI M_2_PI "
    "M_2_SQRTPI M_3PI_4 M_E M_INVLN2 M_IVLN10 M_LN10 M_LN2 M_LN2HI M_LN2LO M_LOG10E M_LOG2E "
    "M_LOG2_E M_PI M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2 M_SQRT3 M_SQRTPI M_TWOPI NAME_MAX NAN "
    "NEWLIB_THREAD_LOCAL NEWLIB_THREAD_LOCAL_ERRNO NEWLIB_TLS NFDBITS NGREG NGROUPS_MAX "
    "NL_ARGMAX NSIG NULL NZERO ONCE_FLAG_INIT OPEN_MAX PATH_MAX PDP_ENDIAN "
    "PICOLIBC_STDIO_GLOBALS PICOLIBC_TLS PIPE_BUF POLL_ERR POLL_HUP POLL_IN POLL_MSG POLL_OUT "
    "POLL_PRI POSIX_IO PREFER_SIZE_OVER_SPEED PTHREAD_CREATE_DETACHED PTHREAD_CREATE_JOINABLE "
    "PTHREAD_DESTRUCTOR_ITERATIONS PTHREAD_EXPLICIT_SCHED PTHREAD_INHERIT_SCHED "
    "PTHREAD_KEYS_MAX PTHREAD_SCOPE_PROCESS PTHREAD_SCOPE_SYSTEM PTHREAD_STACK_MIN P_tmpdir "
    "RAND_MAX RE_DUP_MAX RTSIG_MAX R_OK SA_INTERRUPT SA_NOCLDSTOP SA_NOCLDWAIT SA_NODEFER "
    "SA_NOMASK SA_ONESHOT SA_ONSTACK SA_RESETHAND SA_RESTART SA_SIGINFO SA_STACK SCHED_FIFO "
    "SCHED_OTHER SCHED_RR SEEK_CUR SEEK_DATA SEEK_END SEEK_HOLE SEEK_SET SEGV_ACCADI "
    "SEGV_ACCERR SEGV_ADIDERR SEGV_ADIPERR SEGV_BNDERR SEGV_MAPERR SEGV_MTEAERR SEGV_MTESERR "
    "SEGV_PKUERR SEM_VALUE_MAX SIG2STR_MAX SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT "
    "SIGEMT SIGEV_NONE SIGEV_SIGNAL SIGEV_THREAD SIGEV_THREAD_ID SIGFPE SIGHUP SIGILL SIGINT "
    "SIGIO SIGIOT SIGKILL SIGLOST SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX SIGRTMIN "
    "SIGSEGV SIGSTKFLT SIGSTKSZ SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG "
    "SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ SIG_BLOCK SIG_DFL SIG_ERR SIG_HOLD "
    "SIG_IGN SIG_SETMASK SIG_UNBLOCK SI_ASYNCIO SI_ASYNCNL SI_DETHREAD SI_KERNEL SI_MESGQ "
    "SI_QUEUE SI_SIGIO SI_TIMER SI_TKILL SI_USER SNAN SNANF SNANL SS_DISABLE SS_ONSTACK "
    "STDERR_FILENO STDIN_FILENO STDOUT_FILENO TIMER_ABSTIME TIME_ACTIVE TIME_MONOTONIC "
    "TIME_THREAD_ACTIVE TIME_UTC TINY_STDIO TMP_MAX TSS_DTOR_ITERATIONS TTY_NAME_MAX "
    "WCONTINUED WEOF WEXITED WNOHANG WNOWAIT WORD_BIT WSTOPPED WUNTRACED W_OK XATTR_LIST_MAX "
    "XATTR_NAME_MAX XATTR_SIZE_MAX X_OK alloca assert complex errno fd_set imaginary "
    "math_errhandling noreturn offsetof physadr quad sa_handler sa_sigaction setjmp si_addr "
    "si_addr_lsb si_arch si_band si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey "
    "si_ptr si_status si_stime si_syscall si_timerid si_uid si_upper si_utime si_value "
    "sigev_notify_attributes sigev_notify_function signgam sigsetjmp stderr stdin stdout "
    "strtodf tzname va_arg va_copy va_end va_start";

// Types whose limits are macros of <stdint.h> and <limits.h>: "INT_MAX", "UINT8_WIDTH".
constexpr absl::string_view kLimitedTypes =
    "BOOL CHAR SCHAR UCHAR SHRT USHRT INT UINT LONG ULONG LLONG ULLONG LONG_LONG ULONG_LONG INTMAX "
    "UINTMAX INTPTR UINTPTR PTRDIFF SIZE SSIZE WCHAR WINT SIG_ATOMIC INT8 INT16 INT32 INT64 UINT8 "
    "UINT16 UINT32 UINT64 INT_FAST8 INT_FAST16 INT_FAST32 INT_FAST64 INT_LEAST8 INT_LEAST16 "
    "INT_LEAST32 INT_LEAST64 UINT_FAST8 UINT_FAST16 UINT_FAST32 UINT_FAST64 UINT_LEAST8 "
    "UINT_LEAST16 UINT_LEAST32 UINT_LEAST64";

// Macros of <float.h> without the prefix "FLT_", "DBL_" or "LDBL_".
constexpr absl::string_view kFloatLimits =
    "DECIMAL_DIG DIG EPSILON EVAL_METHOD HAS_SUBNORM IS_IEC_60559 MANT_DIG MAX MAX_10_EXP MAX_EXP "
    "MIN MIN_10_EXP MIN_EXP NORM_MAX RADIX ROUNDS SNAN TRUE_MIN";

bool IsLimitOfInteger(absl::string_view name) {
  static const Words* const types = new Words(absl::StrSplit(kLimitedTypes, ' '));
  for (absl::string_view suffix : {"_MAX", "_MIN", "_WIDTH"}) {
    if (absl::EndsWith(name, suffix)) return types->count(absl::StripSuffix(name, suffix)) > 0;
  }
  return false;
}

bool IsLimitOfFloat(absl::string_view name) {
  static const Words* const limits = new Words(absl::StrSplit(kFloatLimits, ' '));
  for (absl::string_view prefix : {"FLT_", "DBL_", "LDBL_"}) {
    if (absl::ConsumePrefix(&name, prefix)) return limits->count(name) > 0;
  }
  return false;
}

// True for macros of <inttypes.h>: "PRId32", "SCNxFAST8", "PRIuMAX".
bool IsFormat(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "PRI") && !absl::ConsumePrefix(&name, "SCN")) return false;
  if (name.size() < 2 || !absl::StrContains("bBdiouxX", name[0])) return false;
  name.remove_prefix(1);
  if (name == "MAX" || name == "PTR") return true;
  if (!absl::ConsumePrefix(&name, "FAST")) absl::ConsumePrefix(&name, "LEAST");
  return name == "8" || name == "16" || name == "32" || name == "64";
}

}  // namespace

bool IsKeyword(absl::string_view name) {
  static const Words* const words = new Words(absl::StrSplit(kKeywords, ' '));
  return words->count(name) > 0;
}

bool IsCompilerMacro(absl::string_view name) {
  static const Words* const words = new Words(absl::StrSplit(kCompilerMacros, ' '));
  return words->count(name) > 0;
}

bool IsLibraryMacro(absl::string_view name) {
  static const Words* const words = new Words(absl::StrSplit(kLibraryMacros, ' '));
  if (words->count(name) > 0) return true;
  if (IsLimitOfInteger(name) || IsLimitOfFloat(name) || IsFormat(name)) return true;
  // "M_PIl" is M_PI for long double, "M_PIf" for float.
  const bool variant = absl::StartsWith(name, "M_") && (name.back() == 'f' || name.back() == 'l');
  return variant && words->count(name.substr(0, name.size() - 1)) > 0;
}

bool IsLibraryName(absl::string_view name) {
  static const Words* const words = new Words(absl::StrSplit(kLibrary, ' '));
  if (words->count(name) > 0) return true;
  const bool variant = !name.empty() && (name.back() == 'f' || name.back() == 'l');
  return variant && words->count(name.substr(0, name.size() - 1)) > 0;
}

}  // namespace kiln
