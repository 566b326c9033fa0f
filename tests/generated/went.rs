//! How frames went the fast paths of programs, as their C counts it.
//!
//! In: C. Out: the same, which says at its end how many frames came to a path and how they went;
//! and the sums of that.

use stackloom::emit::Emitted;

/// What is counted of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// They came to a path.
    Came,
    /// They went it to its end.
    Taken,
    /// They were compared with what is expected.
    Compared,
    /// They were not as expected of the connection whose the last one was.
    Asked,
    /// They were not, and the path was left where it asks,
    Left,
    /// or the next one is expected to be like them; all others are as another connection expects.
    Noted,
}

/// So many numbers are counted.
const COUNTS: usize = 6;

/// How often frames went fast paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Went {
    /// Paths of programs, and those that compare a frame with what is expected.
    pub paths: usize,
    pub predicted: usize,
    /// Frames that came to a path, and those that went it to its end.
    pub came: u64,
    pub taken: u64,
    /// Frames that were compared with what is expected, and those that were so: of the connection
    /// whose the last one was, or of another one.
    pub compared: u64,
    pub expected: u64,
    pub others: u64,
    /// Frames that were not as expected, and went no further, or went on.
    pub left: u64,
    pub noted: u64,
}

impl Went {
    /// What C with notes has said.
    pub fn said(emitted: &Emitted, said: &str) -> Went {
        let mut numbers = said.split_whitespace().map(|word| word.parse::<u64>());
        let counts = [(); COUNTS].map(|()| numbers.next().and_then(Result::ok).unwrap_or_default());
        let [came, taken, compared, asked, left, noted] = counts;
        let paths = &emitted.paths;
        Went {
            paths: paths.len(),
            predicted: paths.iter().filter(|path| path.predicted.is_some()).count(),
            came,
            taken,
            compared,
            expected: compared - asked,
            others: asked - left - noted,
            left,
            noted,
        }
    }

    pub fn add(&mut self, other: Went) {
        self.paths += other.paths;
        self.predicted += other.predicted;
        self.came += other.came;
        self.taken += other.taken;
        self.compared += other.compared;
        self.expected += other.expected;
        self.others += other.others;
        self.left += other.left;
        self.noted += other.noted;
    }
}

/// The C says at its end how frames went.
pub fn noting(emitted: &mut Emitted) {
    let counted = |count: Count, what: &str| format!("noted[{}] += {what};\n", count as usize);
    let mut c = std::mem::take(&mut emitted.c);
    let note = |c: &mut String, behind: &str, notes: String| {
        let is_there = c.contains(behind);
        *c = c.replace(behind, &format!("{behind}{notes}"));
        is_there
    };
    for path in &emitted.paths {
        let (name, end) = (&path.name, &path.constant);
        let waits = format!("{}_PATHS", &end[..end.find("_PATH_").expect("of a path")]);
        let taken = counted(Count::Taken, &format!("path == {end} || path == {waits}"));
        let came = counted(Count::Came, "1");
        let arrived = match path.lets_go {
            true => "arrived(frame, buffer)",
            false => "arrived(frame)",
        };
        let goes = format!("path = {name}_bypass(stack, {arrived});\n");
        let Some(predicted) = path.predicted else {
            assert!(
                note(&mut c, &goes, came + &taken),
                "{name} begins otherwise"
            );
            continue;
        };
        let compares = format!("if (!{name}_is_expected(stack, frame)) {{\n");
        let unexpected = counted(Count::Asked, "1");
        let left = counted(Count::Left, &format!("path != {end}"));
        let more = format!("more = BUFFER_SIZE - HEADROOM - {};\n", predicted.bytes - 1);
        let notes = ["->", "."].map(|of| format!("{name}_expected{of}{more}"));
        let notes = notes.map(|notes| note(&mut c, &notes, counted(Count::Noted, "1")));
        let is_counted = [
            note(&mut c, &goes, taken),
            note(&mut c, &compares, unexpected),
            note(&mut c, &format!("{name}_asks(stack, {arrived});\n"), left),
            before(&mut c, &compares, came + &counted(Count::Compared, "1")),
            notes.contains(&true),
        ];
        assert!(
            !is_counted.contains(&false),
            "{name} expects otherwise: {is_counted:?}"
        );
    }
    emitted.c = format!("{NOTES}{c}");
}

/// Lets something stand before some text; whether that is there.
fn before(c: &mut String, text: &str, what: String) -> bool {
    let is_there = c.contains(text);
    *c = c.replace(text, &format!("{what}{text}"));
    is_there
}

const NOTES: &str = "\
#include <stdio.h>

static long noted[6];

static void tell(void) __attribute__((destructor));

static void tell(void) {
    for (int at = 0; at < 6; at += 1) {
        fprintf(stderr, \"%ld \", noted[at]);
    }
}

";
