//! Makes the brackets of a text balance, so that the parser always knows where a block ends.
//!
//! In a text whose brackets balance, nothing happens. In any other the indentation tells which
//! bracket was forgotten: a line that begins no further right than the line of an open bracket is
//! no longer inside it. What is missing is put in, what is too much is taken out, and each is
//! pointed out.

use super::token::{Token, TokenKind};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Sources;

/// Tokens whose brackets balance, the partner of each, and what was wrong.
pub(super) struct Balanced<'a> {
    pub tokens: Vec<Token<'a>>,
    /// For an opening bracket, where its closing one stands; for others nothing of meaning.
    pub partners: Vec<usize>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Makes the brackets balance.
pub(super) fn balance<'a>(tokens: Vec<Token<'a>>, sources: &Sources) -> Balanced<'a> {
    let mut repair = Repair {
        sources,
        trusts_indentation: !is_balanced(&tokens),
        open: Vec::new(),
        line: 0,
        indentation: 0,
        balanced: Balanced {
            tokens: Vec::new(),
            partners: Vec::new(),
            diagnostics: Vec::new(),
        },
    };
    for token in tokens {
        repair.token(token);
    }
    repair.balanced
}

fn is_balanced(tokens: &[Token]) -> bool {
    let mut open = Vec::new();
    for token in tokens {
        if token.opens() {
            open.push(closing(token.text));
        } else if token.closes() && open.pop() != Some(token.text) {
            return false;
        }
    }
    open.is_empty()
}

fn closing(opening: &str) -> &'static str {
    match opening {
        "(" => ")",
        "[" => "]",
        "{" => "}",
        other => unreachable!("`{other}` opens no bracket"),
    }
}

struct Open<'a> {
    /// Where it stands among the balanced tokens.
    at: usize,
    token: Token<'a>,
    /// How far the line on which it stands is indented.
    indentation: u32,
}

struct Repair<'a, 's> {
    sources: &'s Sources,
    trusts_indentation: bool,
    open: Vec<Open<'a>>,
    line: u32,
    /// Of the current line.
    indentation: u32,
    balanced: Balanced<'a>,
}

impl<'a> Repair<'a, '_> {
    fn token(&mut self, token: Token<'a>) {
        if matches!(token.kind, TokenKind::Newline) {
            return self.push(token);
        }
        let line = self.sources.line(token.span.file, token.span.start);
        let begins_line = line != self.line;
        if begins_line {
            self.line = line;
            self.indentation = self.sources.position(token.span).column;
        }
        if token.kind == TokenKind::End {
            self.close_while(|_| true, token);
            return self.push(token);
        }
        if self.trusts_indentation && begins_line && !token.continues() {
            let indentation = self.indentation;
            self.close_while(|open| indentation <= open.indentation, token);
        }
        if token.closes() {
            self.closer(token, begins_line);
        } else {
            if token.opens() {
                let at = self.balanced.tokens.len();
                self.open.push(Open {
                    at,
                    token,
                    indentation: self.indentation,
                });
            }
            self.push(token);
        }
    }

    /// A closing bracket closes its own kind; at the beginning of a line, also its own indentation.
    fn closer(&mut self, token: Token<'a>, begins_line: bool) {
        let indentation = self.indentation;
        let fits = |open: &Open| closing(open.token.text) == token.text;
        let aligned = |open: &Open| fits(open) && open.indentation == indentation;
        let by_indentation =
            self.trusts_indentation && begins_line && self.open.iter().any(aligned);
        if by_indentation {
            self.close_while(|open| !aligned(open), token);
        } else if self.open.iter().any(fits) {
            self.close_while(|open| !fits(open), token);
        } else {
            let title = format!("this `{}` closes nothing", token.text);
            let diagnostic = Diagnostic::error(Id::MissingBracket, title, token.span, "")
                .help("remove it, or add the opening bracket");
            return self.balanced.diagnostics.push(diagnostic);
        }
        let open = self.open.pop().expect("one that fits was found");
        self.balanced.partners[open.at] = self.balanced.tokens.len();
        self.push(token);
    }

    /// Closes the brackets that were forgotten before `token`.
    fn close_while(&mut self, forgotten: impl Fn(&Open) -> bool, token: Token<'a>) {
        let newline = self
            .balanced
            .tokens
            .pop_if(|last| last.kind == TokenKind::Newline);
        if newline.is_some() {
            self.balanced.partners.pop();
        }
        let mut closed = false;
        while let Some(open) = self.open.pop_if(|open| forgotten(open)) {
            closed = true;
            let text = closing(open.token.text);
            let title = format!("this `{}` is never closed", open.token.text);
            let place = if token.kind == TokenKind::End {
                "the file ends here".to_owned()
            } else {
                format!("expected `{text}` before this")
            };
            self.balanced.diagnostics.push(
                Diagnostic::error(Id::MissingBracket, title, open.token.span, "opened here")
                    .label(token.span, place)
                    .help(format!("add `{text}`")),
            );
            self.balanced.partners[open.at] = self.balanced.tokens.len();
            self.push(Token {
                kind: TokenKind::Sign,
                text,
                span: token.span.before(),
            });
        }
        if let Some(newline) = newline {
            self.push(newline);
        } else if closed && token.kind != TokenKind::End && !token.continues() {
            self.push(Token {
                kind: TokenKind::Newline,
                text: "",
                span: token.span.before(),
            });
        }
    }

    fn push(&mut self, token: Token<'a>) {
        self.balanced.tokens.push(token);
        self.balanced.partners.push(usize::MAX);
    }
}
