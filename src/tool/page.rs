//! Numbers, times and tables as people read them.
//!
//! In: numbers. Out: `10,000`, `1.5 ms`, `9.6 kbit/s`, and rows whose columns stand below each
//! other.

/// A number as people read it: 10,000.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time with the unit that suits it.
pub fn time_text(time_ns: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    match units.iter().find(|(_, unit_ns)| time_ns >= *unit_ns) {
        Some((unit, unit_ns)) => format!("{} {unit}", digits(time_ns as f64 / *unit_ns as f64)),
        None if time_ns == 0 => "0".to_string(),
        None => format!("{time_ns} ns"),
    }
}

/// Bits in a second with the unit that suits them.
pub fn rate_text(rate: u64) -> String {
    let units = [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)];
    match units.iter().find(|(_, unit)| rate as f64 >= *unit) {
        Some((unit, scale)) => format!("{} {unit}", digits(rate as f64 / scale)),
        None => format!("{rate} bit/s"),
    }
}

/// A number with at most three digits behind the point, and none that say nothing.
fn digits(number: f64) -> String {
    let places = match number {
        number if number >= 100.0 => 1,
        number if number >= 10.0 => 2,
        _ => 3,
    };
    let text = format!("{number:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Rows with columns below each other: the first is a title, the others stand at the right. Those
/// behind the second are left out that are zero, or empty, in each row below the head.
pub fn table(rows: &[Vec<String>]) -> String {
    let count = rows.first().map_or(0, Vec::len);
    let says = |column: usize| {
        let mut cells = rows.iter().skip(1).map(|row| row[column].as_str());
        column < 2 || cells.any(|cell| cell != "0" && !cell.is_empty())
    };
    let columns: Vec<usize> = (0..count).filter(|column| says(*column)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for column in &columns {
            let width = width(*column).unwrap_or(0);
            match column {
                0 => line += &format!("{:<width$}", row[0]),
                column => line += &format!("  {:>width$}", row[*column]),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let numbers = [0, 999, 1_000, 12_345_678].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "12,345,678"]);
        let times = [0, 7, 1_500, 20_000_000, 1_000_000_000, 123_456_000_000].map(time_text);
        assert_eq!(times, ["0", "7 ns", "1.5 us", "20 ms", "1 s", "123.5 s"]);
        let rates = [5, 9_600, 10_000_000, 1_500_000_000].map(rate_text);
        assert_eq!(rates, ["5 bit/s", "9.6 kbit/s", "10 Mbit/s", "1.5 Gbit/s"]);
    }

    #[test]
    fn columns_that_say_nothing_are_left_out() {
        let rows = [["node", "in", "lost"], ["a", "10", "0"], ["long", "5", "0"]];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        assert_eq!(table(&rows), "node  in\na     10\nlong   5\n");
    }
}
