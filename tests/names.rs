//! Any word of Loom may name anything: the C compiles without a word, whatever C, its headers, its
//! compilers or the code around mean by it.
//!
//! In: words, and the places of a stack that have a name (`names/forms.txt`). Out: what a compiler
//! has to say of each word in every third place, and with `ALL=1` in each.

use stackloom::diagnostic::render;
use stackloom::pipeline;
use stackloom::types::load::{Library, Missing};
use std::process::Command;
use std::sync::Mutex;

/// How a host may compile what it is given.
const WAYS: [(&str, &str); 2] = [("gcc", "-std=gnu17"), ("clang-16", "-std=c11")];

const FLAGS: [&str; 8] = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
    "-fsyntax-only",
    "-xc",
];

/// Words of C and of C++, of headers, of compilers, and of generated code.
const WORDS: &str = "auto break char const continue default double enum extern float goto inline \
    int long register restrict return short signed sizeof static struct switch typedef union \
    unsigned void volatile while class delete namespace operator private public template this \
    throw try typename using virtual catch friend new xor and_eq bitand compl \
    uint8_t uint16_t uint32_t uint64_t int8_t int64_t size_t ptrdiff_t uintptr_t uint_fast8_t \
    intmax_t wchar_t max_align_t bool offsetof alignas alignof noreturn NULL nullptr typeof asm \
    static_assert thread_local linux unix i386 \
    abs labs exp log log2 pow sin cos floor round sqrt index rindex printf puts putchar malloc \
    free calloc realloc exit abort strlen strcpy memcpy memset memmove memcmp isdigit toupper \
    gamma y0 y1 j0 jn signbit ffs \
    main errno stdin time read write open close \
    stack event output user found found_x has_x x_length now_ns now session data length \
    with frame link links port ports config counters agenda buffers buffer begin end count drop \
    add later last take waits work handle handles answer reverse given holds chosen value held \
    place port_message came_in at self own keys index_2 calling waiting next first \
    reason reasons room since instance timers deadline_ns hash hash_odd free_instances none item \
    items pieces bytes sl sl_none sl_pool uint32 maybe host W_2 \
    frames delivered consumed merged dropped unsent start started seed budget memory size capacity \
    values listener listeners accepted backlog send deliver tell arrive expire done input carrier \
    buffer_of take_by_path take_lent take_apart may_go_ahead begin_later went behind leaves stands \
    let_leave leave_now leave_last fill_spare send_first go_on leave_and_go_on found_next \
    found_pool found_last";

/// Words that C might not tell apart.
const ALIKE: &str = "n n_ n__ n_2 default default_ default__ sl_pool sl_pool_ found found_ \
    message_ session session_ event event_ own own_ _n two__words \
    a_word_that_is_longer_than_any_line_has_room_for_and_goes_on_beyond_its_end_as_some_would_have";

/// Words of which one may be taken by what stands in C beside the other.
const BESIDE: [&str; 4] = ["n", "has_n", "n_length", "n_"];

/// So many words stand in one stack.
const TOGETHER: usize = 24;

const PAGE: &str = "/// WORD: a layer\n///   above     messages\n///   below     messages\n\
    ///   adds      nothing\n///   promises  nothing\n///   assumes   nothing\n\
    ///   limits    none\n///   spec      none\n///   stack     link air > WORD > port up";

/// What may be named.
const FORMS: &str = include_str!("names/forms.txt");

/// A form with these words: a stack.
fn stack(form: &str, words: &[&str]) -> String {
    let joined = |of: &dyn Fn(&str) -> String| -> String {
        let all: Vec<String> = words.iter().map(|word| of(word)).collect();
        all.join(", ")
    };
    let form = form
        .replace("GIVEN", &joined(&|word| format!("{word}: u8?")))
        .replace("NONE", &joined(&|_| "none".to_string()));
    let mut text = String::new();
    for (at, part) in format!("\n{form}").split("\n|\n").enumerate() {
        let lines: Vec<&str> = match at % 2 {
            0 => part.lines().collect(),
            _ => vec![part],
        };
        for line in lines {
            let page = PAGE.replace("WORD", if at % 2 == 0 { "one" } else { "WORD" });
            let line = line.replace("PAGE", &page);
            let times = if line.contains("WORD") {
                words
            } else {
                &["one"]
            };
            for word in times {
                text += &line.replace("WORD", word);
                text.push('\n');
            }
        }
    }
    text
}

/// No file uses another.
struct Alone;

impl Library for Alone {
    fn find(&self, _: &str, _: &str) -> Result<Vec<(String, String)>, Missing> {
        Err(Missing::Nowhere(Vec::new()))
    }
}

fn read(text: &str) -> pipeline::Checked {
    pipeline::read(vec![("hostile.loom".to_string(), text.to_string())], &Alone)
}

/// The words that are no keywords of Loom.
fn words(of: &'static str) -> Vec<&'static str> {
    let free = |word: &&str| {
        let text = format!("fn {word}({word}: u8) -> u8 {{ return {word} }}\n");
        !pipeline::refused(&read(&text).diagnostics)
    };
    of.split_whitespace().filter(free).collect()
}

/// What a compiler says about the C of a stack.
fn said_of(text: &str, way: (&str, &str)) -> Option<String> {
    let mut checked = read(text);
    let Some(compiled) = pipeline::compile(&mut checked, "hostile", "hostile") else {
        let said = render(&checked.diagnostics, &checked.sources, false);
        return Some(said);
    };
    let folder = tempfile::tempdir().expect("a folder to compile in");
    let types: String = compiled
        .program
        .records
        .iter()
        .filter(|one| one.external)
        .fold(String::new(), |all, one| {
            all + &format!("struct hostile_{} {{\n    int x;\n}};\n", one.name)
        });
    for (name, text) in [
        ("hostile.c", &compiled.code.c),
        ("hostile.h", &compiled.code.h),
        ("hostile_extern.h", &types),
    ] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let (compiler, standard) = way;
    let output = Command::new(compiler)
        .args(FLAGS)
        .args([standard, "hostile.c"])
        .current_dir(folder.path())
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr);
    (!output.status.success()).then(|| format!("{compiler} {standard}:\n{said}"))
}

#[test]
fn any_word_may_name_anything() {
    let there =
        |(compiler, _): &(&str, &str)| Command::new(compiler).arg("--version").output().is_ok();
    let ways: Vec<_> = WAYS.into_iter().filter(there).collect();
    let words = [words(WORDS), words(ALIKE)];
    let forms: Vec<&str> = FORMS.split("\n=== ").skip(1).collect();
    let every = match std::env::var_os("ALL") {
        Some(_) => 1,
        None => 3,
    };
    let chunks = words.iter().flat_map(|words| words.chunks(TOGETHER));
    let chunks = chunks.enumerate();
    let all = chunks.flat_map(|(chunk, words)| {
        let forms = forms.iter().enumerate();
        let chosen = forms.filter(move |(at, _)| (chunk + at).is_multiple_of(every));
        chosen.map(move |form| (words, form))
    });
    let open = Mutex::new(all);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        let next = || open.lock().expect("nobody panics with the list").next();
        while let Some((words, (at, form))) = next() {
            let (_, form) = form.split_once('\n').expect("a form has a title");
            let said = said_of(&stack(form, words), ways[at % ways.len()]);
            wrong
                .lock()
                .expect("nobody panics with the list")
                .extend(said);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().expect("nobody panics with the list");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_stands_in_c_beside_another_name_is_refused_or_told_apart() {
    for form in FORMS.split("\n=== ").skip(1) {
        let (title, form) = form.split_once('\n').expect("a form has a title");
        let said = said_of(&stack(form, &BESIDE), WAYS[0]).unwrap_or_default();
        let mut errors = said.split('\n').filter(|line| line.contains("error"));
        let named = |line: &str| line.starts_with("error[name-taken]: the generated C uses `");
        assert!(errors.all(named), "{title}:\n{said}");
    }
}
