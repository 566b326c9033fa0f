//! How the page of a layer begins: what it is, and then the same lines in every layer.

use crate::Complaint;

/// The lines of a layer's documentation, in this order.
const LINES: &[&str] = &[
    "above", "below", "adds", "promises", "assumes", "limits", "spec", "stack",
];

/// What is above, what is below, and so on, so that layers can be compared.
pub fn pages_begin_alike(path: &str, text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    if !path.ends_with(".loom") {
        return complaints;
    }
    let mut page: Vec<&str> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(documentation) = line.strip_prefix("///") {
            page.push(documentation);
            continue;
        }
        let mut words = line.split([' ', '(']);
        if let Some("worker" | "multiplexor" | "router") = words.next() {
            let name = words.next().unwrap_or_default();
            complaints.extend(wrong_with(&page, name).map(|wrong| (at + 1, wrong)));
        }
        page.clear();
    }
    complaints
}

/// The first thing that is wrong with a page.
fn wrong_with(page: &[&str], name: &str) -> Option<String> {
    let Some((title, lines)) = page.split_first() else {
        return Some(format!("`{name}` has no documentation"));
    };
    if !title.starts_with(&format!(" {name}: ")) {
        return Some(format!("the documentation does not begin with `{name}: `"));
    }
    let words: Vec<&str> = lines
        .iter()
        .filter(|line| line.starts_with("   ") && !line.starts_with("    "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    (words != LINES).then(|| format!("the documentation has not {}", LINES.join(", ")))
}

#[test]
fn a_page_without_its_lines_in_order_is_found() {
    let lines: String = LINES
        .iter()
        .map(|word| format!("///   {word} x\n"))
        .collect();
    let good = format!("/// fifo: keeps the order\n{lines}worker fifo(window: u32)\n");
    assert_eq!(pages_begin_alike("layers/order/fifo.loom", &good), []);
    for bad in [
        good.replace("fifo: ", "keeps: "),
        good.replace("///   adds x\n", ""),
        good.replace("///   adds x\n", "")
            .replace("stack x", "stack x\n///   adds x"),
        good.replace("///", "//"),
    ] {
        assert_eq!(
            pages_begin_alike("layers/order/fifo.loom", &bad).len(),
            1,
            "{bad}"
        );
    }
}
