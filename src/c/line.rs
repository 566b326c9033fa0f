//! `#line`: C whose functions debuggers and profilers show as lines of the layers.
//!
//! In: C with comments that name a line of a layer, such as `/* numbered.loom:21 */`, before the
//! functions and blocks that come from there. Out: the same C with a `#line` before each line of
//! such a function or block, and another behind the function, which leads back to the C itself.

/// Returns C, stored as `file`, with its lines located in the layers.
///
/// A comment inside a function counts to the end of its block.
pub fn located(c: &str, file: &str) -> String {
    let mut written = Written::default();
    let mut open: Vec<Block> = Vec::new();
    for line in c.lines() {
        let indent = line.len() - line.trim_start().len();
        let is_blank = line.is_empty();
        open.retain(|block| is_blank || indent >= block.indent);
        if let Some(origin) = origin(line) {
            open.retain(|block| indent > block.indent);
            open.push(Block { indent, origin });
        } else if let Some(block) = open.last().filter(|_| !is_blank) {
            written.add(&format!("#line {}", block.origin));
        }
        written.add(line);
        // A function ends with `}` in the first column, a declaration with `;`.
        if indent == 0 && !open.is_empty() && (line == "}" || line.ends_with(';')) {
            open.clear();
            let next = written.lines + 2;
            written.add(&format!("#line {next} \"{file}\""));
        }
    }
    written.text
}

/// A piece of C that comes from one line of a layer.
struct Block {
    /// Spaces before its lines.
    indent: usize,
    /// The operands of `#line`: a number, and a file in quotes.
    origin: String,
}

#[derive(Default)]
struct Written {
    text: String,
    lines: usize,
}

impl Written {
    fn add(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
        self.lines += 1;
    }
}

/// Returns the operands of `#line` for a comment that names a line of a layer.
fn origin(line: &str) -> Option<String> {
    let inside = line.trim().strip_prefix("/* ")?.strip_suffix(" */")?;
    let place = inside.split_once(", ").map_or(inside, |(place, _)| place);
    let (file, number) = place.rsplit_once(".loom:")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_file = !file.contains(['"', '\\', '\n']);
    (is_number && is_file).then(|| format!("{number} \"{file}.loom\""))
}

#[cfg(test)]
mod tests {
    use super::located;

    const C: &str = "\
int one;

/* first.loom:12 */
static int both(int a) {
    if (a > 0) {
        /* second.loom:7, upper */
        a += 1;
    }

    return a;
}

int two;
";

    #[test]
    fn each_line_of_a_function_has_the_line_of_its_layer() {
        let expected = "\
int one;

/* first.loom:12 */
#line 12 \"first.loom\"
static int both(int a) {
#line 12 \"first.loom\"
    if (a > 0) {
        /* second.loom:7, upper */
#line 7 \"second.loom\"
        a += 1;
#line 12 \"first.loom\"
    }

#line 12 \"first.loom\"
    return a;
#line 12 \"first.loom\"
}
#line 19 \"beep.c\"

int two;
";
        assert_eq!(located(C, "beep.c"), expected);
    }

    #[test]
    fn only_lines_of_layers_are_located() {
        let c = "/* of first.loom:x */\nint one;\n/* 3 */\nint two;\n";
        assert_eq!(located(c, "beep.c"), c);
    }
}
