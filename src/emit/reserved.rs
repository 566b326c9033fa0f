//! Words that no name of the source becomes as it is: those of C and of its library, and those of
//! the text that stacks have anyway.

use super::parts;
use crate::types::program::Program;
use std::collections::{BTreeSet, HashSet};
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

/// Names of structs and constants in the text that every stack has.
const OWN: &str = "add arrived begin count expire frame_arrives handle has_room leave reason went \
    work go_on leave_and_go_on leave_copy_and_go_on FRAMES_IN FRAMES_OUT DELIVERED CONSUMED MERGED \
    HELD DROPPED UNSENT COUNTED COUNTERS REASONS COUNTS HEADROOM BUFFER_SIZE KEPT AHEAD \
    memory_layout settings_hold STACK_AGENDA_FULL STACK_CUT_BUFFER STACK_NO_SESSION STACK_TOO_LONG";

/// Members of the struct of a stack, where the instances of layers are members, too.
const MEMBERS: &str = "shared config now_ns hash_odd counters paths timers timer_heap \
    buffers reserve reserved spare size last messages agenda events free_event crowd waiting since \
    told answers end open";

/// What stands behind the name of the stack in its own types and functions.
const INTERFACE: &str = "_message _event _place _config _refusal _check _config_default _output \
    _frame _next _shared _start _size _buffer _has_buffer _input _input_all _take _next_other \
    _done _deadline _expire _send _carrier _counters _counter_name _path _paths _path_name";

/// And the constants that a host is given, besides those of notices and of enums.
const CONSTANTS: &str = "_IDLE _FRAME _DELIVER _ACCEPTED _SENT _LATER _REFUSED _COUNTERS _PATHS \
    _PATH_NONE _FITS _FEW_BUFFERS _FEW_OUTPUTS _FEW_EVENTS _NO_BUDGET _WRONG_SETTING \
    _LITTLE_MEMORY _MEMORY _MEMORY_FOR";

/// Whether the header of each stack has a constant of this name behind that of the stack: a notice
/// that is called so has a constant with `_` behind it.
pub fn is_constant(name: &str) -> bool {
    let mut constants = CONSTANTS.split_whitespace();
    constants.any(|one| one.strip_prefix('_') == Some(name))
}

/// The words of [`WORDS`].
static RESERVED: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.split_whitespace().collect());

/// The text that any stack may have.
const COPIED: [&str; 9] = [
    parts::OWN,
    parts::AGENDA,
    parts::INTERFACE,
    parts::TELLS,
    parts::BYPASS,
    parts::BORROWED,
    parts::CALLS,
    parts::LEAVES,
    parts::LEFT,
];

/// Whether no function of the text of stacks is called as one that a stack of this name offers, and
/// none of its constants begins as the name does in capitals.
pub fn is_free(stack: &str) -> bool {
    if stack.to_lowercase().starts_with("do_") || is_placeholder(stack) {
        return false;
    }
    let mut all = COPIED.into_iter().flat_map(parts::defined);
    all.all(|name| match name.strip_prefix(stack) {
        Some(suffix) => INTERFACE.split_whitespace().all(|one| one != suffix),
        None => true,
    })
}

/// Whether the text of stacks has this word in capitals, for a constant or what is to stand there.
fn is_placeholder(name: &str) -> bool {
    let is_capital = !name.contains(|letter: char| letter.is_ascii_lowercase());
    let mut texts = COPIED.into_iter().chain([parts::INLINE]);
    is_capital && texts.any(|text| parts::words(text).contains(name))
        || ["STACK_", "UPPER_"].iter().any(|of| name.starts_with(of))
}

/// Whether C takes no name like this, or the runtime has it.
pub fn is_word(name: &str) -> bool {
    name.starts_with("sl_") || RESERVED.contains(name)
}

/// Whether a header of C's library may have a macro of this name.
pub fn is_macro(name: &str) -> bool {
    MACROS.split_whitespace().any(|word| word == name)
}

/// Whether C's library has a function of this name.
pub fn is_of_library(name: &str) -> bool {
    LIBRARY.split_whitespace().any(|word| {
        let behind = name.strip_prefix(word);
        behind.is_some_and(|behind| ["", "f", "l"].contains(&behind))
    })
}

/// Whether the struct of a stack has a member of this name that no layer is.
pub fn is_member(name: &str) -> bool {
    MEMBERS.split_whitespace().any(|member| member == name)
}

/// The names at the top of a file that every stack has.
pub fn by_all(program: &Program) -> BTreeSet<String> {
    let stack = &program.name;
    let words = WORDS.split_whitespace().chain(OWN.split_whitespace());
    let words = words.chain(COPIED.into_iter().flat_map(parts::defined));
    let offered = [""].into_iter().chain(INTERFACE.split_whitespace());
    let offered = offered.map(|suffix| format!("{stack}{suffix}"));
    let constants = CONSTANTS.split_whitespace();
    let constants = constants.map(|suffix| format!("{}{suffix}", stack.to_uppercase()));
    let words = words.map(String::from).chain(offered).chain(constants);
    words.collect()
}
