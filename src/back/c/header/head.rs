//! Heads of functions of C: in, a result, a name, parameters; out, text.

use super::contract::filled;
use crate::c::printer;
use crate::c::tree::{Function, Item, Statement};

/// The head of a function, and what is said above its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The comment.
    pub comment: String,
    /// All before the name.
    pub result: String,
    /// The name.
    pub name: String,
    /// The parameters with their types.
    pub parameters: Vec<String>,
}

impl Head {
    /// The function with this body.
    pub fn function(&self, body: Vec<Statement>) -> Item {
        Item::Function(Function {
            body,
            ..self.plain("")
        })
    }

    /// The declaration, without a comment.
    pub fn prototype(&self) -> Item {
        Item::Prototype(self.plain(""))
    }

    /// The declaration with its comment, in a header.
    pub fn declared(&self) -> String {
        let declared = printer::file(&[self.prototype()]);
        format!("{}{declared}\n", comment_text(&self.comment))
    }

    /// The lines of the head of a definition that is inline.
    pub fn inline(&self) -> String {
        let declared = printer::file(&[Item::Prototype(self.plain("inline "))]);
        declared.trim_end().trim_end_matches(';').to_string()
    }

    /// A declaration in the body of a function: the types of parameters alone.
    pub fn within(&self) -> String {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let parameters = self.parameters.iter();
        let types = parameters.map(|one| one.trim_end_matches(is_of_name).trim_end().to_string());
        let function = Function {
            parameters: types.collect(),
            ..self.plain("    ")
        };
        printer::file(&[Item::Prototype(function)])
    }

    fn plain(&self, before: &str) -> Function {
        Function {
            comment: String::new(),
            result: format!("{before}{}", self.result),
            name: self.name.clone(),
            parameters: self.parameters.clone(),
            body: Vec::new(),
        }
    }
}

/// A comment in as many lines as it takes.
pub fn comment_text(comment: &str) -> String {
    format!("/* {} */\n", filled(comment).join("\n * "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_in_a_body_has_no_names_of_parameters() {
        let head = Head {
            comment: "Takes a frame.".to_string(),
            result: "bool".to_string(),
            name: "take".to_string(),
            parameters: ["const uint8_t *data", "unsigned link"]
                .map(String::from)
                .to_vec(),
        };
        assert_eq!(head.within(), "    bool take(const uint8_t *, unsigned);\n");
        let declared = "/* Takes a frame. */\nbool take(const uint8_t *data, unsigned link);\n\n";
        assert_eq!(head.declared(), declared);
    }
}
