//! Names and comments have no effect on the generated C.
//!
//! In: the stacks of the examples with the layers that they use. Out: the first difference between
//! the C of a stack and the C of the same stack after a change of its sources that leaves the
//! meaning as it is:
//!
//! ```text
//! renamed     each declared name `x` is `x_0q`: layers, functions, fields, timers, locals
//! stripped    no comments
//! ```
//!
//! The texts of C are compared word by word, without comments, and without `_0q` and the numbers
//! that tell equal names apart. Equal C has equal counts of instructions. [`NAMES_MATTER`] lists
//! the stacks for which this does not hold. A name that the language, a service or the host uses
//! stays as it is wherever it stands, so a local of that name stays, too.

#[path = "fixture/cores.rs"]
mod cores;
#[path = "renaming/declared.rs"]
mod declared;

use cores::on_all_cores;
use declared::Words;
use stackloom::diagnostic::render;
use stackloom::pipeline;
use stackloom::source::{FileId, Sources, Span};
use stackloom::syntax::loom::{ast, parse};
use stackloom::tool::library::standard;
use std::collections::BTreeMap;
use std::path::Path;

/// The stacks whose C depends on names: none. A stack whose C no longer does must leave the list.
const NAMES_MATTER: [&str; 0] = [];

/// The stack of `loom bench udp`, where a handler of UDP has a local.
const WITH_A_LOCAL: &str = "udp_with_a_local";

/// The suffix of all names. With `_` at its begin, names keep their alphabetic order in C.
const SUFFIX: &str = "_0q";

/// Words of the language that are no keywords, parameters of the layers that stand for slots, and
/// `log2`, a name of the library of C.
const RESERVED: &str = "message messages bytes set array queue window stream length data word \
    insert push pop drain peek first last take room header session entity min max clamp abs begin \
    release restore restart place piece cut slice drop key one_sided protected config mtu running \
    grant_delivers grant_sends opened listener created ended end time bool itself missing start \
    ready slot_frames slot_ways slot_bare slot_plain \
    ways layers digest skip pad log2";

/// Texts by their path.
type Texts = BTreeMap<String, String>;

/// A stack: its file, and all that the file may use.
struct Stack {
    name: String,
    root: String,
    texts: Texts,
}

/// Returns the stacks of all examples.
fn examples() -> Vec<Stack> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
        paths.sort();
        paths
    };
    let mut stacks = Vec::new();
    for folder in files(&root).into_iter().filter(|path| path.is_dir()) {
        let mut texts = standard();
        let mut roots = Vec::new();
        for path in files(&folder) {
            if path.extension().is_some_and(|ending| ending == "loom") {
                let name = path.file_name().expect("a name").to_string_lossy();
                let text = std::fs::read_to_string(&path).expect("a text");
                if text.lines().any(|line| line.starts_with("stack ")) {
                    roots.push(name.to_string());
                }
                texts.insert(name.to_string(), text);
            }
        }
        for root in roots {
            let (name, texts) = (root.trim_end_matches(".loom").to_string(), texts.clone());
            stacks.push(Stack { name, root, texts });
        }
    }
    stacks
}

/// Returns the stack of that name, whose local is called `most`.
fn with_a_local() -> Stack {
    let mut texts = standard();
    let udp = texts.get_mut("transport/udp.loom").expect("it is there");
    let before = "on send(message) {\n";
    assert!(udp.contains(before), "UDP has no handler `{before}`");
    let local = "    let most = message.length\n    \
                 require most <= 9000 and most != 8999 else drop message as too_long\n";
    *udp = udp.replace(before, &format!("{before}{local}"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/udp.loom");
    let text = std::fs::read_to_string(path).expect("a text");
    texts.insert("udp.loom".to_string(), text);
    let (name, root) = (WITH_A_LOCAL.to_string(), "udp.loom".to_string());
    Stack { name, root, texts }
}

impl Stack {
    /// Returns the C, in which a suffix follows the name of the stack, or the diagnostics.
    fn compiled(&self, texts: &Texts, suffix: &str) -> Result<String, String> {
        let name = format!("{}{suffix}", self.name);
        let root = vec![(self.root.clone(), texts[&self.root].clone())];
        let mut checked = pipeline::read(root, texts);
        let stack = pipeline::stacks(&checked).into_iter().next();
        let compiled = pipeline::compile(&mut checked, &stack.unwrap_or_default(), &name);
        match compiled {
            Some(compiled) => Ok(compiled.code.c),
            None => Err(render(&checked.diagnostics, &checked.sources, false)),
        }
    }

    /// Returns the first difference between the C and that of renamed or bare texts.
    fn difference(&self, expected: &str, texts: &Texts) -> Option<String> {
        match self.compiled(texts, SUFFIX) {
            Ok(found) => difference(expected, &found),
            Err(said) => Some(said),
        }
    }
}

/// Appends the suffix to all names that the texts declare.
fn renamed(texts: &Texts) -> Texts {
    let mut sources = Sources::new();
    let (mut declared, mut kept) = (Words::new(), words(RESERVED));
    let mut files = Vec::new();
    for (path, text) in texts {
        let file = sources.add(path.clone(), text.clone());
        let (tree, _) = parse(file, &sources);
        declared::declared(&mut declared, &tree);
        declared::kept(&mut kept, &tree);
        files.push((path, file, tree));
    }
    let renamed = files.into_iter().map(|(path, file, tree)| {
        let is_used = |place| tree.uses.iter().any(|one| one.span.covers(place));
        let mut text = String::new();
        let mut end = 0;
        for place in places(file, &tree) {
            let word = sources.slice(place);
            if declared.contains(word) && !kept.contains(word) && !is_used(place) {
                text += &sources.text(file)[end..place.end as usize];
                text += SUFFIX;
                end = place.end as usize;
            }
        }
        text += &sources.text(file)[end..];
        (path.clone(), text)
    });
    renamed.collect()
}

/// Returns the places of all names of a tree, in order. `Debug` prints each name with its place,
/// so no function must visit all kinds of nodes.
fn places(file: FileId, tree: &ast::File) -> Vec<Span> {
    let printed = format!("{tree:?}");
    let number = |text: &str, field: &str| -> u32 {
        let (_, number) = text.split_once(field).expect("a span has both");
        let end = number.find(|c: char| !c.is_ascii_digit());
        let number = number[..end.unwrap_or(number.len())].parse();
        number.expect("a place is a number")
    };
    let names = printed.split("Name { text: ").skip(1);
    let mut places: Vec<Span> = names
        .map(|name| Span::new(file, number(name, "start: "), number(name, "end: ")))
        .collect();
    places.sort();
    places.dedup();
    places
}

/// Removes all comments; lines stay where they are.
fn stripped(texts: &Texts) -> Texts {
    let bare = |text: &String| -> String {
        let lines = text.lines().map(|line| line.split("//").next());
        let lines = lines.map(|line| line.unwrap_or_default().trim_end());
        lines.map(|line| format!("{line}\n")).collect()
    };
    let all = texts.iter();
    all.map(|(path, text)| (path.clone(), bare(text))).collect()
}

fn words(text: &str) -> Words {
    text.split_whitespace().map(String::from).collect()
}

/// Returns the words and signs of C, each with its line, without comments.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        let mut rest = line;
        while !rest.is_empty() {
            if inside {
                let end = rest.find("*/");
                inside = end.is_none();
                rest = end.map_or("", |end| &rest[end + 2..]);
            } else if rest.starts_with("/*") {
                inside = true;
                rest = &rest[2..];
            } else {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let length = if word > 0 { word } else { 1 };
                let (token, behind) = rest.split_at(length);
                if !token.trim().is_empty() {
                    found.push((at, token));
                }
                rest = behind;
            }
        }
    }
    found
}

/// Returns a word of C without the numbers by which the compiler tells equal names apart.
fn base(word: &str) -> String {
    let word = word.replace(SUFFIX, "").replace(&SUFFIX.to_uppercase(), "");
    let is_name = |part: &&str| !part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = word.split('_').filter(is_name).collect();
    parts.join("_")
}

/// Returns the first lines in which two texts of C differ.
fn difference(expected: &str, found: &str) -> Option<String> {
    let (left, right) = (tokens(expected), tokens(found));
    let same = |((_, one), (_, other)): &(&(usize, &str), &(usize, &str))| {
        let is_name = !one.starts_with(|letter: char| letter.is_ascii_digit());
        one == other || is_name && base(one) == base(other)
    };
    let equal = left.iter().zip(&right).take_while(same).count();
    if equal == left.len() && equal == right.len() {
        return None;
    }
    let line = |text: &str, tokens: &[(usize, &str)]| {
        let at = tokens.get(equal).map_or(0, |(at, _)| *at);
        let line = text.lines().nth(at).unwrap_or_default().trim();
        format!("{}: {line}", at + 1)
    };
    let [before, behind] = [line(expected, &left), line(found, &right)];
    let (left, right) = (left.len(), right.len());
    Some(format!(
        "{left} words and signs before, {right} behind\n  before {before}\n  behind {behind}"
    ))
}

#[test]
fn neither_names_nor_comments_change_the_c() {
    let mut stacks = examples();
    stacks.push(with_a_local());
    let all = on_all_cores(stacks, |stack| {
        let expected = stack
            .compiled(&stack.texts, "")
            .expect("an example compiles");
        let renamed = stack.difference(&expected, &renamed(&stack.texts));
        let stripped = stack.difference(&expected, &stripped(&stack.texts));
        (stack.name, renamed, stripped)
    });
    let mut wrong = Vec::new();
    for (name, renamed, stripped) in &all {
        match (renamed, NAMES_MATTER.contains(&name.as_str())) {
            (Some(said), false) => wrong.push(format!("{name}, renamed: {said}")),
            (None, true) => wrong.push(format!("{name} must leave the list: its C is the same")),
            (Some(_), true) | (None, false) => {}
        }
        if let Some(said) = stripped {
            wrong.push(format!("{name}, without comments: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_names_and_comments_may_differ() {
    let c = "int size_2 = 1; /* a\n * comment */\nreturn FIRST_SIZE;\n";
    let renamed = "int size_0q = 1;\nreturn FIRST_0Q_SIZE_0Q; /* another */\n";
    assert_eq!(difference(c, renamed), None);
    for other in [
        "int size = 2;\nreturn FIRST_SIZE;\n",
        "int size = 1;\n",
        "int other = 1;\n",
    ] {
        assert!(difference(c, other).is_some(), "{other}");
    }
}
