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
    linux unix i386";

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
    HELD DROPPED UNSENT COUNTED COUNTERS REASONS COUNTS HEADROOM BUFFER_SIZE AGENDA KEPT OUTPUTS \
    RESERVE STACK_AGENDA_FULL STACK_CUT_BUFFER STACK_NO_BUFFER";

/// Members of the struct of a stack, where the instances of layers are members, too.
const MEMBERS: &str = "shared config now_ns hash_odd counters paths timers timer_heap \
    buffers reserve reserved spare size last messages agenda waiting since told answers";

/// What stands behind the name of the stack in its own types and functions.
const INTERFACE: &str = "_message _event _config _config_default _output _frame _next _shared \
    _start _size _buffer _has_buffer _input _input_all _take _next_other _done _deadline \
    _expire _carrier _counters _counter_name _path _paths _path_name";

/// And the constants that a host is given, besides those of notices and of enums.
const CONSTANTS: &str = "_IDLE _FRAME _DELIVER _ACCEPTED _COUNTERS _PATHS _PATH_NONE";

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
