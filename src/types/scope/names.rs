//! Plain words and what they stand for: in, the words of a layer; out, a table that is copied in no
//! time, for each kind, header and body that adds words of its own.
//!
//! A copy shares the words with its original. A table that gets a word after it was copied begins a
//! new layer above those that are shared. A layer that is not much larger than the one above it is
//! joined with that, so there are few (O'Neil and others, "The log-structured merge-tree", 1996).

use super::Named;
use std::collections::BTreeMap;
use std::rc::Rc;

type Layer = BTreeMap<String, Named>;

/// Plain words and what they stand for. A word in a higher layer hides the same in a lower one.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Shared layers, the lowest first.
    shared: Vec<Rc<Layer>>,
    top: Rc<Layer>,
}

impl Names {
    /// Returns a table without words.
    pub fn new() -> Names {
        Names::default()
    }

    /// Returns the meaning of a word.
    pub fn get(&self, word: &str) -> Option<&Named> {
        let shared = self.shared.iter().rev();
        let mut layers = std::iter::once(&self.top).chain(shared);
        layers.find_map(|layer| layer.get(word))
    }

    /// Returns true if a word has a meaning.
    pub fn contains_key(&self, word: &str) -> bool {
        self.get(word).is_some()
    }

    /// Gives a word a meaning.
    pub fn insert(&mut self, word: String, named: Named) {
        self.top().insert(word, named);
    }

    /// Returns all words with their meanings, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Named)> {
        let layers = self.shared.iter().chain([&self.top]);
        let all: BTreeMap<&String, &Named> = layers.flat_map(|layer| layer.iter()).collect();
        all.into_iter()
    }

    /// Changes all meanings.
    pub fn for_each(&mut self, change: impl FnMut(&mut Named)) {
        let all = self
            .iter()
            .map(|(word, named)| (word.clone(), named.clone()));
        let mut all: Layer = all.collect();
        all.values_mut().for_each(change);
        self.shared.clear();
        self.top = Rc::new(all);
    }

    /// The layer of this table alone.
    fn top(&mut self) -> &mut Layer {
        if Rc::get_mut(&mut self.top).is_none() {
            let mut below = std::mem::take(&mut self.top);
            while let Some(lower) = self.shared.pop_if(|lower| lower.len() < 2 * below.len()) {
                let mut both = Layer::clone(&lower);
                both.extend(
                    below
                        .iter()
                        .map(|(word, named)| (word.clone(), named.clone())),
                );
                below = Rc::new(both);
            }
            if !below.is_empty() {
                self.shared.push(below);
            }
        }
        Rc::get_mut(&mut self.top).expect("nobody else has a new layer")
    }
}

impl Extend<(String, Named)> for Names {
    fn extend<T: IntoIterator<Item = (String, Named)>>(&mut self, words: T) {
        self.top().extend(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(names: &Names) -> Vec<(&str, u32)> {
        let all = names.iter().map(|(word, named)| match named {
            Named::Process(at) => (word.as_str(), *at),
            other => panic!("{other:?}"),
        });
        all.collect()
    }

    #[test]
    fn a_copy_and_its_original_change_apart() {
        let mut names = Names::new();
        names.insert("a".to_string(), Named::Process(1));
        names.insert("b".to_string(), Named::Process(2));
        let mut copy = names.clone();
        copy.insert("b".to_string(), Named::Process(3));
        names.insert("c".to_string(), Named::Process(4));
        assert_eq!(words(&names), [("a", 1), ("b", 2), ("c", 4)]);
        assert_eq!(words(&copy), [("a", 1), ("b", 3)]);
        assert!(!copy.contains_key("c"));
        assert!(matches!(copy.get("b"), Some(Named::Process(3))));
        copy.for_each(|named| *named = Named::Process(5));
        assert_eq!(words(&copy), [("a", 5), ("b", 5)]);
        assert_eq!(words(&names), [("a", 1), ("b", 2), ("c", 4)]);
    }

    #[test]
    fn copies_after_each_word_leave_few_layers() {
        let (mut names, mut copies) = (Names::new(), Vec::new());
        for at in 0..1_000 {
            names.insert(format!("w{at}"), Named::Process(at));
            copies.push(names.clone());
        }
        assert!(names.shared.len() <= 12, "{} layers", names.shared.len());
        assert_eq!(names.iter().count(), 1_000);
        for (at, copy) in copies.iter().enumerate() {
            assert!(copy.contains_key(&format!("w{at}")));
            assert!(!copy.contains_key(&format!("w{}", at + 1)));
        }
    }
}
