//! Words that no name of a source becomes as it is: those of C, of C++ and of its library.

use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Words that mean something to C, to C++ or to the code around.
const WORDS: &str = "alignas alignof and asm auto bitand bitor bool break case catch char class \
    compl const constexpr continue default delete do double else enum explicit export extern \
    false float for friend goto if inline int long main memcmp memcpy memset mutable namespace new \
    not nullptr operator or private protected public register restrict return short signed sizeof \
    static struct switch template this throw true try typedef typeid typename typeof union \
    unsigned using virtual void volatile while xor stack with event output timers NULL size_t \
    offsetof \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t \
    uintmax_t ptrdiff_t wchar_t max_align_t int_fast8_t int_fast16_t int_fast32_t int_fast64_t \
    uint_fast8_t uint_fast16_t uint_fast32_t uint_fast64_t int_least8_t int_least16_t \
    int_least32_t int_least64_t uint_least8_t uint_least16_t uint_least32_t uint_least64_t \
    linux unix i386 \
    INT8_MIN INT8_MAX INT8_C INT16_MIN INT16_MAX INT16_C INT32_MIN INT32_MAX INT32_C INT64_MIN \
    INT64_MAX INT64_C UINT8_MAX UINT8_C UINT16_MAX UINT16_C UINT32_MAX UINT32_C UINT64_MAX \
    UINT64_C INT_LEAST8_MIN INT_LEAST8_MAX INT_LEAST16_MIN INT_LEAST16_MAX INT_LEAST32_MIN \
    INT_LEAST32_MAX INT_LEAST64_MIN INT_LEAST64_MAX UINT_LEAST8_MAX UINT_LEAST16_MAX \
    UINT_LEAST32_MAX UINT_LEAST64_MAX INT_FAST8_MIN INT_FAST8_MAX INT_FAST16_MIN INT_FAST16_MAX \
    INT_FAST32_MIN INT_FAST32_MAX INT_FAST64_MIN INT_FAST64_MAX UINT_FAST8_MAX UINT_FAST16_MAX \
    UINT_FAST32_MAX UINT_FAST64_MAX INTPTR_MIN INTPTR_MAX UINTPTR_MAX INTMAX_MIN INTMAX_MAX \
    INTMAX_C UINTMAX_MAX UINTMAX_C PTRDIFF_MIN PTRDIFF_MAX SIG_ATOMIC_MIN SIG_ATOMIC_MAX SIZE_MAX \
    WCHAR_MIN WCHAR_MAX WINT_MIN WINT_MAX";

/// Macros of the headers of C's library that generated C does not include, and others may; and
/// that of the C of Esterel.
const MACROS: &str = "BUFSIZ CHAR_BIT CHAR_MAX CHAR_MIN CLOCKS_PER_SEC CMPLX DBL_DECIMAL_DIG \
    DBL_DIG DBL_EPSILON DBL_HAS_SUBNORM DBL_MANT_DIG DBL_MAX DBL_MAX_10_EXP DBL_MAX_EXP DBL_MIN \
    DBL_MIN_10_EXP DBL_MIN_EXP DBL_TRUE_MIN DECIMAL_DIG E2BIG EACCES EAGAIN EBADF EBUSY ECHILD \
    EDOM EEXIST EFAULT EFBIG EILSEQ EINTR EINVAL EIO EISDIR EMFILE EMLINK ENFILE ENODEV ENOENT \
    ENOEXEC ENOMEM ENOSPC ENOTDIR ENOTTY ENXIO EOF EPERM EPIPE ERANGE EROFS ESPIPE ESRCH EXDEV \
    EXIT_FAILURE EXIT_SUCCESS FE_ALL_EXCEPT FE_DFL_ENV FE_DIVBYZERO FE_DOWNWARD FE_INEXACT \
    FE_INVALID FE_OVERFLOW FE_TONEAREST FE_TOWARDZERO FE_UNDERFLOW FE_UPWARD FILENAME_MAX \
    FLT_DECIMAL_DIG FLT_DIG FLT_EPSILON FLT_EVAL_METHOD FLT_HAS_SUBNORM FLT_MANT_DIG FLT_MAX \
    FLT_MAX_10_EXP FLT_MAX_EXP FLT_MIN FLT_MIN_10_EXP FLT_MIN_EXP FLT_RADIX FLT_ROUNDS \
    FLT_TRUE_MIN FOPEN_MAX FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL \
    FP_ZERO HUGE_VAL HUGE_VALF HUGE_VALL I INFINITY INT_MAX INT_MIN LC_ALL LC_COLLATE LC_CTYPE \
    LC_MONETARY LC_NUMERIC LC_TIME LDBL_DIG LDBL_EPSILON LDBL_MANT_DIG LDBL_MAX LDBL_MIN \
    LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN L_tmpnam MATH_ERREXCEPT MATH_ERRNO MB_CUR_MAX \
    MB_LEN_MAX M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 \
    M_SQRT1_2 M_SQRT2 NAN RAND_MAX SCHAR_MAX SCHAR_MIN SEEK_CUR SEEK_END SEEK_SET SHRT_MAX \
    SHRT_MIN SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIG_DFL SIG_ERR SIG_IGN STRLEN TIME_UTC \
    TMP_MAX UCHAR_MAX UINT_MAX ULLONG_MAX ULONG_MAX USHRT_MAX WEOF assert complex errno imaginary \
    math_errhandling noreturn static_assert stderr stdin stdout thread_local";

/// Functions of C's library, which compilers know though nobody declares them; those of numbers
/// with an `f` or `l` behind them, too.
const LIBRARY: &str = "abort abs acos acosh alloca asin asinh atan atan2 atanh bcmp bcopy bzero \
    cabs cacos calloc carg casin catan cbrt ccos ceil cexp cimag clog conj copysign cos cosh cpow \
    cproj creal csin csqrt ctan dcgettext dgettext drem erf erfc execl execv exit exp exp10 exp2 \
    expm1 fabs fdim ffs finite floor fma fmax fmin fmod fork fprintf fputc fputs free frexp fscanf \
    fwrite gamma gettext hypot ilogb imaxabs index isalnum isalpha isascii isblank iscntrl isdigit \
    isgraph isinf islower isnan isprint ispunct isspace isupper iswalpha isxdigit j0 j1 jn labs \
    ldexp lgamma llabs llrint llround log log10 log1p log2 logb lrint lround malloc memchr memcmp \
    memcpy memmove mempcpy memset modf nan nearbyint nextafter nexttoward pow pow10 printf putc \
    putchar puts realloc remainder remquo rindex rint round scalb scalbln scalbn scanf setjmp \
    significand signbit sin sincos sinh snprintf sprintf sqrt sscanf stpcpy stpncpy strcasecmp \
    strcat strchr strcmp strcpy strcspn strdup strfmon strftime strlen strncasecmp strncat strncmp \
    strncpy strndup strnlen strpbrk strrchr strspn strstr tan tanh tgamma toascii tolower toupper \
    towlower trunc vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf y0 y1 yn";

/// The words of [`WORDS`].
static RESERVED: LazyLock<FxHashSet<&str>> = LazyLock::new(|| WORDS.split_whitespace().collect());

/// Words that mean something to C, to C++ or to generated code.
pub fn all() -> impl Iterator<Item = &'static str> {
    WORDS.split_whitespace()
}

/// Returns true if C takes no name like this, or the runtime has it.
pub fn is_word(name: &str) -> bool {
    name.starts_with("sl_") || RESERVED.contains(name)
}

/// Returns true if a header of C's library may have a macro of this name.
pub fn is_macro(name: &str) -> bool {
    MACROS.split_whitespace().any(|word| word == name)
}

/// Returns true if C's library has a function of this name.
pub fn is_of_library(name: &str) -> bool {
    LIBRARY.split_whitespace().any(|word| {
        let behind = name.strip_prefix(word);
        behind.is_some_and(|behind| ["", "f", "l"].contains(&behind))
    })
}
