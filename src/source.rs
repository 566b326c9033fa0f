//! Source files and places in them.
//!
//! Texts come in by name, in the order in which they are read; out go a [`FileId`] for each, and
//! lines and columns for a [`Span`]. Nothing here touches the file system.

/// Names one file of a [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(u32);

/// A stretch of one file, in bytes: from `start` to before `end`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The stretch from `start` to before `end`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        assert!(start <= end, "a span does not run backwards");
        Span { file, start, end }
    }

    /// The stretch from the beginning of this one to the end of `last`.
    pub fn to(self, last: Span) -> Span {
        assert_eq!(self.file, last.file, "a span lies in one file");
        Span::new(
            self.file,
            self.start.min(last.start),
            self.end.max(last.end),
        )
    }

    /// The empty stretch in front of this one.
    pub fn before(self) -> Span {
        Span {
            end: self.start,
            ..self
        }
    }

    /// The empty stretch behind this one.
    pub fn after(self) -> Span {
        Span {
            start: self.end,
            ..self
        }
    }

    /// Whether `other` lies within this stretch.
    pub fn covers(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }
}

/// A line and a column, both counted from one; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// All files of one run of the compiler.
#[derive(Clone, Default, Debug)]
pub struct Sources {
    files: Vec<SourceFile>,
}

#[derive(Clone, Debug)]
struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<u32>,
}

impl Sources {
    /// No files yet.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a file; `name` is how diagnostics and generated code call it. A span counts bytes in
    /// 32 bits, so whoever reads files refuses texts of 4 GiB and more.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        assert!(
            u32::try_from(text.len()).is_ok(),
            "a source file is shorter than 4 GiB"
        );
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0)
            .chain(ends.map(|(at, _)| at as u32 + 1))
            .collect();
        self.files.push(SourceFile {
            name: name.into(),
            text,
            line_starts,
        });
        FileId(self.files.len() as u32 - 1)
    }

    /// All files, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    /// What the file is called.
    pub fn name(&self, file: FileId) -> &str {
        &self.file(file).name
    }

    /// The whole text of the file.
    pub fn text(&self, file: FileId) -> &str {
        &self.file(file).text
    }

    /// The text of one stretch.
    pub fn slice(&self, span: Span) -> &str {
        &self.text(span.file)[span.start as usize..span.end as usize]
    }

    /// The whole file as a stretch.
    pub fn span(&self, file: FileId) -> Span {
        Span::new(file, 0, self.text(file).len() as u32)
    }

    /// The line of a byte, counted from one.
    pub fn line(&self, file: FileId, offset: u32) -> u32 {
        self.file(file)
            .line_starts
            .partition_point(|start| *start <= offset) as u32
    }

    /// The line and the column at which a stretch begins.
    pub fn position(&self, span: Span) -> Position {
        let line = self.line(span.file, span.start);
        let line_start = self.file(span.file).line_starts[line as usize - 1];
        let before = &self.text(span.file)[line_start as usize..span.start as usize];
        Position {
            line,
            column: before.chars().count() as u32 + 1,
        }
    }

    fn file(&self, file: FileId) -> &SourceFile {
        &self.files[file.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_knows_its_line_column_and_text() {
        let mut sources = Sources::new();
        sources.add("first.loom", "use a\n");
        let file = sources.add("second.loom", "use a\n\nünder x");
        let span = Span::new(file, 14, 15);
        assert_eq!(sources.name(file), "second.loom");
        assert_eq!(sources.slice(span), "x");
        assert_eq!(sources.position(span), Position { line: 3, column: 7 });
        assert_eq!(
            sources.position(sources.span(file).after()),
            Position { line: 3, column: 8 }
        );
    }

    #[test]
    fn an_empty_file_has_one_line() {
        let mut sources = Sources::new();
        let file = sources.add("empty.loom", "");
        assert_eq!(
            sources.position(sources.span(file)),
            Position { line: 1, column: 1 }
        );
    }
}
