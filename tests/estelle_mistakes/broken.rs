//! Specifications that are broken by chance: words are removed, doubled, exchanged or replaced.

/// Chance from a seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }
}

/// Returns the text with one to three changes of its words.
pub fn broken(text: &str, random: &mut Random) -> String {
    let mut words = words(text);
    for _ in 0..=random.below(3) {
        if words.is_empty() {
            break;
        }
        let (at, other) = (random.below(words.len()), random.below(words.len()));
        match random.below(4) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[at]),
            2 => words.swap(at, other),
            _ => words[at] = words[other],
        }
    }
    words.concat()
}

/// Splits a text into words, numbers, strings and signs, each with the space and the comments
/// behind it.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut begin = 0;
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let until = |end: char| rest[1..].find(end).map_or(rest.len(), |at| at + 2);
        let length = match first {
            '{' => until('}'),
            '\'' => until('\''),
            _ if first.is_alphanumeric() => {
                let is_end = |c: char| !c.is_alphanumeric() && c != '_';
                rest.find(is_end).unwrap_or(rest.len())
            }
            _ if [":=", "<>", "<=", ">=", ".."]
                .iter()
                .any(|it| rest.starts_with(it)) =>
            {
                2
            }
            _ => first.len_utf8(),
        };
        if first != '{' && !first.is_whitespace() && at > begin {
            words.push(&text[begin..at]);
            begin = at;
        }
        at += length;
    }
    words.push(&text[begin..]);
    words
}
