//! What may stand at a place of a program: what is read there, written, and done.
//!
//! In: the parts of a layer. Out: for each handler, the places that it knows.

/// A type, as far as a generator cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `u1` to `u32`.
    Number(u8),
    /// A number that comes round.
    Sequence(u8),
    Truth,
    /// A number, or none.
    Optional(u8),
    /// One of the names of a layer's enum.
    Named,
}

/// Something that has a value.
#[derive(Clone, Debug)]
pub struct Place {
    pub text: String,
    pub kind: Kind,
    /// Whether it may be written here.
    pub is_written: bool,
}

/// A window, the number of a message that is kept there, and the number that is next.
#[derive(Clone, Debug)]
pub struct Window {
    pub name: String,
    pub number: String,
    pub next: String,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Up,
    Down,
}

/// What a handler knows.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub places: Vec<Place>,
    /// The way of the message that is at hand.
    pub message: Option<Way>,
    /// Whether something may go up from here, and down.
    pub goes_up: bool,
    pub goes_down: bool,
    /// Whether it stands in an instance that sends, tells and starts.
    pub is_own: bool,
    /// Whether a header can be read.
    pub has_header: bool,
    /// Whether the instance may ask to be asked once more.
    pub again: bool,
    /// Whether it may end.
    pub ends: bool,
    pub timers: Vec<String>,
    pub queues: Vec<String>,
    pub sets: Vec<String>,
    /// Functions of one number.
    pub functions: Vec<String>,
    /// The keys by which another instance is found.
    pub keys: Vec<Place>,
    /// Signals that are asked for.
    pub signals: Vec<String>,
    /// The names of the layer's enum.
    pub named: String,
    /// Whether no layer stands below.
    pub is_lowest: bool,
    /// Fields that a `send` may set, and, behind a `!`, must.
    pub settings: Vec<(String, Kind)>,
    /// Where messages are kept by number.
    pub windows: Vec<Window>,
    /// Whether functions in C may be called.
    pub calls_c: bool,
    /// Whether the header has options.
    pub has_options: bool,
    /// Whether nearly all that comes up goes up one way.
    pub is_busy: bool,
    /// Whether messages carry attributes here.
    pub has_attributes: bool,
}

impl Scope {
    /// The same where something may go only these ways.
    pub fn going(&self, goes_up: bool, goes_down: bool) -> Scope {
        Scope {
            goes_up,
            goes_down,
            ..self.clone()
        }
    }

    /// The same behind what the message was used for.
    pub fn without_message(&self) -> Scope {
        let of_message = |place: &Place| !place.text.starts_with("message.");
        Scope {
            message: None,
            places: self
                .places
                .iter()
                .filter(|one| of_message(one))
                .cloned()
                .collect(),
            ..self.clone()
        }
    }

    /// The same where nothing begins that comes later.
    pub fn without_timers(&self) -> Scope {
        Scope {
            timers: Vec::new(),
            again: false,
            ..self.clone()
        }
    }

    pub fn of_kind(&self, kind: impl Fn(Kind) -> bool) -> Vec<&Place> {
        self.places
            .iter()
            .filter(|place| kind(place.kind))
            .collect()
    }
}

/// The names that an enum has.
pub const NAMES: [&str; 4] = ["calm", "busy", "loud", "late"];

impl Kind {
    /// Its word in a source; `named` is what the layer calls its enum.
    pub fn word(self, named: &str) -> String {
        match self {
            Kind::Number(width) => format!("u{width}"),
            Kind::Sequence(width) => format!("seq{width}"),
            Kind::Truth => "bool".to_string(),
            Kind::Optional(width) => format!("u{width}?"),
            Kind::Named => named.to_string(),
        }
    }
}
