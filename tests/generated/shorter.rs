//! Shorter programs in which the same is still wrong.

/// The shortest text that leaving out blocks and lines leads to, as long as it fails; after so many
/// tries it is short enough.
pub fn shortened(text: &str, mut tries: usize, fails: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    loop {
        let before = lines.len();
        let mut at = 0;
        while at < lines.len() && tries > 0 {
            let Some(behind) = behind(&lines, at) else {
                at += 1;
                continue;
            };
            let rest = [&lines[..at], &lines[behind..]].concat();
            tries -= 1;
            match fails(&(rest.join("\n") + "\n")) {
                true => lines = rest,
                false => at += 1,
            }
        }
        if lines.len() == before || tries == 0 {
            return lines.join("\n") + "\n";
        }
    }
}

/// Where what begins with a line ends, if it can be left out: a line, or a block; of an `else` all
/// but the brace behind it.
fn behind(lines: &[String], at: usize) -> Option<usize> {
    let first = lines[at].trim();
    if first.is_empty() || first.starts_with('}') && !first.ends_with('{') {
        return None;
    }
    let mut depth = 0_i32;
    for (place, line) in lines.iter().enumerate().skip(at) {
        let line = line.trim();
        if place > at && line.starts_with('}') {
            depth -= 1;
            if depth == 0 && !line.ends_with('{') {
                return Some(if first.starts_with('}') {
                    place
                } else {
                    place + 1
                });
            }
        }
        if line.ends_with('{') && (place == at || depth > 0) {
            depth += 1;
        }
        if depth == 0 {
            return Some(place + 1);
        }
    }
    None
}

#[test]
fn what_is_not_needed_is_left_out() {
    let text = "a {\n    b\n    if c {\n        d\n    } else {\n        e\n    }\n}\nf\n";
    let short = shortened(text, 100, |text| text.contains("d\n"));
    assert_eq!(short, "a {\n    if c {\n        d\n    }\n}\n");
}
