//! The names of generated C: those of the source where they are names in C, and these beside them.
//!
//! | name | what it is |
//! |---|---|
//! | `STACK_x` | what the header offers |
//! | `ENTITY_x`, `ENTITY_KEY_x` | the reaction of an entity's instance to the event x |
//! | `ENTITY_arrive` | parses a header and finds the session |
//! | `X_rare`, `X_then_Y` | a part of the reaction X, where the entity Y goes on, by itself |
//! | `has_x` | whether the optional x is there |
//! | `x_items`, `x_held`, `x_bytes`, `x_pieces` | what stands beside the container x |
//! | `x_pool`, `x_next`, `x_buckets` | the slots of the instances x, and how they are found |
//! | `x_2` | another x |
//! | `x_` | x, where x is a word of C or belongs to the runtime |
//! | `find_x`, `create_x`, `make_x`, `begin_x`, `end_x`, `free_x` | what is done with instances |
//! | `find_x_again`, `x_last` | the same for fast paths, and which was found last |
//! | `bucket_x` | where an instance is found |
//! | `DO_X` | an event on the agenda, handled by X |
//! | `COUNT_ENTITY_X`, `ENTITY_X` | a counter, a reason why a message is dropped |
//! | `STACK_PATH_X`, `STACK_PATH_X_ENTITY_Y` | the fast path of X, and where it is left |
//! | `ENTITY_X_TIMERS` | the first id of the timers of the kind x |
//! | `sl_x` | the runtime, of which the file holds a copy |

use super::external::now;
use super::{options, reserved};
use crate::c::words;
use crate::tree::{Forest, Index, Reaction};
use crate::types::external::same_record;
use crate::types::header::Rule;
use crate::types::program::{
    Counted, EntityId, Event, HeaderFieldId, HeaderId, KindId, Place, Population, PortId, Program,
    RecordId, Role,
};
use crate::types::value::Type;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A name as C takes it; that of what a process declares has dots.
pub fn c_name(name: &str) -> String {
    if name.contains('.') {
        return name.replace('.', "_");
    }
    beside(name, words::is_word)
}

/// A name beside those that something else has: it, and what has more `_` behind it, gets one more.
pub fn beside(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    match is_taken(name.trim_end_matches('_')) {
        true => format!("{name}_"),
        false => name.to_string(),
    }
}

/// The name of a function of nobody: that of the source, unless C's library has it.
fn free_name(program: &Program, name: &str) -> String {
    match words::is_of_library(name) {
        true => format!("{}_{name}", program.name),
        false => name.to_string(),
    }
}

/// Names that are taken, and a free one for whoever asks.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// Those that were taken around this place.
    around: Rc<BTreeSet<String>>,
    own: BTreeSet<String>,
}

impl Taken {
    /// The name, or the first numbered one that is free; taken from now on.
    pub fn take(&mut self, wanted: &str) -> String {
        let free = self.free(wanted, &|name| !self.has(name));
        self.own.insert(free.clone());
        free
    }

    /// The same for an optional, which is told to be there by a name beside its own.
    pub fn take_optional(&mut self, wanted: &str) -> String {
        let flag = |name: &str| format!("has_{name}");
        let free = self.free(wanted, &|name| !self.has(name) && !self.has(&flag(name)));
        self.own.extend([flag(&free), free.clone()]);
        free
    }

    fn free(&self, wanted: &str, is_free: &dyn Fn(&str) -> bool) -> String {
        let plain = c_name(wanted);
        let numbered = (2..).map(|n| format!("{plain}_{n}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        let free = names.find(|name| is_free(name));
        free.expect("there are more numbers than names")
    }

    /// Whether a name is taken.
    pub fn has(&self, name: &str) -> bool {
        self.own.contains(name) || self.around.contains(name)
    }

    /// What is taken inside of a function, before it has names of its own.
    fn inside(&self, stack: &str) -> Taken {
        let mut around = self.own.clone();
        // A local may have the name of a struct.
        around.remove(stack);
        around.insert("stack".to_string());
        Taken {
            around: Rc::new(around),
            own: BTreeSet::new(),
        }
    }
}

/// The names of all that a stack has.
#[derive(Clone, Debug)]
pub struct Names {
    /// The stack itself.
    pub stack: String,
    /// By kind: the struct, and the member that holds its instances.
    pub kinds: Vec<String>,
    /// By function.
    pub functions: Vec<String>,
    /// By filter.
    pub filters: Vec<String>,
    /// By filter: the function that goes on where another has begun.
    pub filters_on: Vec<String>,
    /// By filter: the function that runs over several runs of bytes.
    pub filters_over: Vec<String>,
    /// By record: the struct.
    pub records: Vec<String>,
    /// By enum: its values.
    pub enums: Vec<Vec<String>>,
    /// By enum: itself.
    pub enum_tags: Vec<String>,
    /// By reason.
    pub reasons: Vec<String>,
    /// By count.
    pub counts: Vec<String>,
    /// By attribute: the member of a message.
    pub attributes: Vec<String>,
    /// By notice, where it comes up to an application: `HOST_FAILED`.
    pub notices: Vec<String>,
    /// By reaction: the function.
    pub reactions: BTreeMap<Reaction, String>,
    /// By port and event: the function that hands it to the application.
    pub ports: BTreeMap<(PortId, Event), String>,
    /// By port that calls an application, and event: the function in C.
    pub applications: BTreeMap<(PortId, Event), String>,
    /// By link: the function in C that it calls.
    pub leaving: Vec<Option<String>>,
    /// The constants of links, ports and counters.
    pub numbers: Numbers,
    /// By header: the functions about its options.
    pub options: BTreeMap<HeaderId, options::Names>,
    /// By header and field: the function that computes a sum.
    pub sums: BTreeMap<(HeaderId, HeaderFieldId), String>,
    /// All names at the top of the file.
    pub taken: Taken,
    /// And what locals are not called.
    pub inside: Taken,
}

impl Names {
    /// Names for all of a program; the same program gets the same names.
    pub fn new(program: &Program, forest: &Forest) -> Names {
        let stack = program.name.clone();
        let mut taken = Taken {
            own: reserved::by_all(program),
            ..Taken::default()
        };
        let kinds = kind_names(program, &mut taken);
        let reactions = forest.trees.iter().map(|tree| {
            let name = reaction_name(program, tree.reaction);
            (tree.reaction, taken.take(&name))
        });
        let reactions = reactions.collect();
        let ports = port_events(program).map(|(port, event)| {
            let event_name = match event {
                Event::Start => "accept".to_string(),
                other => event_name(program, None, other),
            };
            let name = format!("{}_{event_name}", program.ports[port.at()].name);
            let name = taken.take(&name);
            taken.take(&now(&name));
            ((port, event), name)
        });
        let ports = ports.collect();
        let sums = sums(program).map(|(header, field)| {
            let own = &program.headers[header.at()];
            let name = format!("{}_{}", own.name, own.fields[field.at()].name);
            ((header, field), taken.take(&name))
        });
        let sums = sums.collect();
        let options = options(program, &mut taken);
        let [filters, filters_on, filters_over] = filter_names(program, &mut taken);
        let records = record_names(program, &mut taken);
        let notices = program.notices.iter();
        let notices = notices.map(|one| notice_name(&taken, &stack, &one.name));
        let notices = notices.collect();
        let functions = function_names(program, &mut taken);
        let applications = application_names(program, &mut taken);
        let leaving = program.links.iter().map(|link| {
            let function = link.calls.as_ref()?;
            Some(taken.take(&format!("{}_{function}", program.name)))
        });
        let leaving = leaving.collect();
        let (reasons, counts) = counter_names(program, &mut taken);
        let (enum_tags, enums) = enum_names(program, &mut taken);
        let numbers = Numbers::new(program, &mut taken);
        Names {
            attributes: attribute_names(program),
            inside: taken.inside(&stack),
            stack,
            kinds,
            functions,
            filters,
            filters_on,
            filters_over,
            records,
            enums,
            enum_tags,
            reasons,
            counts,
            notices,
            reactions,
            ports,
            applications,
            leaving,
            numbers,
            options,
            sums,
            taken,
        }
    }
}

/// Constants of the header that number links, ports and counters.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// By link: `STACK_LINK_x`.
    pub links: Vec<String>,
    /// By port: `STACK_PORT_x`.
    pub ports: Vec<String>,
    /// By counter.
    pub counters: Vec<String>,
    /// By counter: its name as text.
    pub counted: Vec<String>,
}

impl Numbers {
    fn new(program: &Program, taken: &mut Taken) -> Numbers {
        let stack = &program.name;
        let mut named =
            |of: &str, name: &str| taken.take(&format!("{stack}_{of}_{name}").to_uppercase());
        let links = program.links.iter().map(|one| named("link", &one.name));
        let links = links.collect();
        let ports = program.ports.iter().map(|one| named("port", &one.name));
        let ports = ports.collect();
        let all = program.counters().into_iter();
        let all = all.map(|(what, of)| {
            let constant = named(word(what), &of.replace('.', "_"));
            (constant, format!("{}{of}", what.prefix()))
        });
        let (counters, counted) = all.unzip();
        Numbers {
            links,
            ports,
            counters,
            counted,
        }
    }
}

/// Returns the word in the constants of the header.
fn word(counted: Counted) -> &'static str {
    match counted {
        Counted::Fate => "COUNTER",
        Counted::Dropped => "DROPPED",
        Counted::Unsent => "UNSENT",
        Counted::Count => "COUNT",
    }
}

/// What stands beside the instances of a kind, in the struct of the stack.
const BESIDE: [&str; 7] = [
    "", "_pool", "_next", "_ended", "_buckets", "_last", "_alike",
];

/// Kinds, so that no two have a member of the stack of the same name.
fn kind_names(program: &Program, taken: &mut Taken) -> Vec<String> {
    let mut members = BTreeSet::new();
    let kinds = (0..program.kinds.len() as u32).map(KindId);
    let named = kinds.map(|kind| {
        let all = |name: &str| BESIDE.map(|end| format!("{name}{end}"));
        let is_free = |name: &str| {
            let mut all = all(name).into_iter();
            !taken.has(name) && all.all(|member| !members.contains(&member))
        };
        let name = taken.free(&member_name(program, kind), &is_free);
        members.extend(all(&name));
        taken.own.insert(name.clone());
        name
    });
    named.collect()
}

/// Functions bear the name of their entity; those that are written in C, the stack's. Of those that
/// would be called the same the last comes first: what a layer computes for one of its sessions
/// comes behind what it has computed for any.
fn function_names(program: &Program, taken: &mut Taken) -> Vec<String> {
    let mut external: BTreeMap<&str, String> = BTreeMap::new();
    let functions = program.functions.iter().rev();
    let named = functions.map(|function| {
        if function.in_runtime {
            return format!("sl_{}", function.name);
        }
        if function.external {
            let own = || taken.take(&format!("{}_{}", program.name, function.name));
            return external.entry(&function.name).or_insert_with(own).clone();
        }
        let own = match function.entity {
            Some(id) => format!("{}_{}", program.entities[id.at()].name, function.name),
            None => free_name(program, &function.name),
        };
        taken.take(&own)
    });
    let mut names: Vec<String> = named.collect();
    names.reverse();
    names
}

/// Of each filter: it, the one that goes on from a state, and the one over several runs.
fn filter_names(program: &Program, taken: &mut Taken) -> [Vec<String>; 3] {
    let mut named = |end: &str| {
        let filters = program.filters.iter();
        let names =
            filters.map(|filter| taken.take(&format!("{}{end}", free_name(program, &filter.name))));
        names.collect()
    };
    [named(""), named("_on"), named("_over")]
}

/// What ports call: the name that the stack gives it, and behind it that of a notice.
fn application_names(program: &Program, taken: &mut Taken) -> BTreeMap<(PortId, Event), String> {
    let called = port_events(program).filter_map(|(id, event)| {
        let function = program.ports[id.at()].calls.as_ref()?;
        let name = match event {
            Event::Notice(notice) => {
                let notice = &program.notices[notice.at()].name;
                format!("{}_{function}_{notice}", program.name)
            }
            _ => format!("{}_{function}", program.name),
        };
        Some(((id, event), taken.take(&name)))
    });
    called.collect()
}

/// Records; what a layer that stands twice declares has one name.
fn record_names(program: &Program, taken: &mut Taken) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, one) in program.records.iter().enumerate() {
        let same = |other: &RecordId| same_record(program, *other, RecordId(at as u32));
        let earlier = (0..at as u32).map(RecordId).find(same);
        names.push(match earlier {
            Some(earlier) => names[earlier.at()].clone(),
            None => taken.take(&format!("{}_{}", program.name, one.name)),
        });
    }
    names
}

/// Notices of two layers that are called the same are the same to a host.
fn notice_name(taken: &Taken, stack: &str, name: &str) -> String {
    let mut name = format!("{stack}_{name}").to_uppercase();
    while taken.has(&name) {
        name.push('_');
    }
    name
}

/// Reasons, and what is counted.
fn counter_names(program: &Program, taken: &mut Taken) -> (Vec<String>, Vec<String>) {
    let mut upper = |entity: EntityId, before: &str, name: &str| {
        let entity = &program.entities[entity.at()].name;
        taken.take(&format!("{before}{entity}_{name}").to_uppercase())
    };
    let reasons = program.reasons.iter();
    let reasons = reasons
        .map(|one| upper(one.entity, "", &one.name))
        .collect();
    let counts = program.counts.iter();
    let counts = counts
        .map(|one| upper(one.entity, "count_", &one.name))
        .collect();
    (reasons, counts)
}

/// Enums, and the values of each.
fn enum_names(program: &Program, taken: &mut Taken) -> (Vec<String>, Vec<Vec<String>>) {
    let mut all_tags = Vec::new();
    let mut all_values = Vec::new();
    for one in &program.enums {
        let tag = taken.take(&format!("{}_{}", program.name, one.name));
        let values = one.names.iter();
        let values = values.map(|(name, _)| taken.take(&format!("{tag}_{name}").to_uppercase()));
        all_values.push(values.collect());
        all_tags.push(tag);
    }
    (all_tags, all_values)
}

/// What can come up to applications.
fn port_events(program: &Program) -> impl Iterator<Item = (PortId, Event)> + '_ {
    program.ports.iter().enumerate().flat_map(|(at, port)| {
        let id = PortId(at as u32);
        let notices = port
            .up
            .iter()
            .map(move |notice| (id, Event::Notice(*notice)));
        let at_once = port.listens.filter(|how| how.opened.is_none());
        let accepted = at_once.map(|_| (id, Event::Start));
        std::iter::once((id, Event::Deliver))
            .chain(notices)
            .chain(accepted)
    })
}

/// What the functions about options are called.
fn options(program: &Program, taken: &mut Taken) -> BTreeMap<HeaderId, options::Names> {
    let headers = program.headers.iter().enumerate();
    let with = headers.filter(|(_, header)| header.options.is_some());
    let named = with.map(|(at, header)| {
        let mut name = |suffix: &str| taken.take(&format!("{}_{suffix}", header.name));
        let names = options::Names {
            length: name("option_length"),
            hold: name("options_hold"),
            find: name("option"),
        };
        (HeaderId(at as u32), names)
    });
    named.collect()
}

/// The fields of headers that are sums.
fn sums(program: &Program) -> impl Iterator<Item = (HeaderId, HeaderFieldId)> + '_ {
    program.headers.iter().enumerate().flat_map(|(at, header)| {
        let fields = header.fields.iter().enumerate();
        let sums = fields.filter(|(_, field)| matches!(field.rule, Rule::Checks { .. }));
        sums.map(move |(field, _)| (HeaderId(at as u32), HeaderFieldId(field as u32)))
    })
}

fn attribute_names(program: &Program) -> Vec<String> {
    let mut members = Taken::default();
    for own in ["data", "length", "buffer", "came_in", "header"] {
        members.take(own);
    }
    let repeats = |name: &str| {
        program
            .attributes
            .iter()
            .filter(|one| one.name == name)
            .count()
            > 1
    };
    program
        .attributes
        .iter()
        .map(|one| {
            let clashes = members.has(&one.name) || repeats(&one.name);
            let wanted = if clashes {
                format!("{}_{}", one.owner, one.name)
            } else {
                one.name.clone()
            };
            match one.kind {
                Type::Optional(_) => members.take_optional(&wanted),
                _ => members.take(&wanted),
            }
        })
        .collect()
}

/// What the instances of a kind are called within the stack.
fn member_name(program: &Program, id: KindId) -> String {
    let name = kind_name(program, id);
    match reserved::is_member(&name) {
        true => format!("{name}_"),
        false => name,
    }
}

fn kind_name(program: &Program, id: KindId) -> String {
    let kind = &program.kinds[id.at()];
    let entity = &program.entities[kind.entity.at()].name;
    match kind.role {
        Role::Record => entity.clone(),
        Role::Session => format!("{entity}_session"),
        Role::Child => format!("{entity}_{}", kind.name),
    }
}

/// `send`, `deliver`, a notice's or a timer's name, `start`, `end`, `again`.
pub fn event_name(program: &Program, kind: Option<KindId>, event: Event) -> String {
    match event {
        Event::Send => "send".to_string(),
        Event::Deliver => "deliver".to_string(),
        Event::Notice(notice) => program.notices[notice.at()].name.clone(),
        Event::Timer(timer) => {
            let kind = kind.expect("a timer belongs to a kind");
            program.kinds[kind.at()].timers[timer.at()].replace('.', "_")
        }
        Event::Start => "start".to_string(),
        Event::End => "end".to_string(),
        Event::Again => "again".to_string(),
    }
}

fn reaction_name(program: &Program, reaction: Reaction) -> String {
    match reaction {
        Reaction::Arrive {
            entity: id,
            joint,
            index,
            event,
        } => {
            let entity = &program.entities[id.at()];
            let below = match &entity.below[..] {
                [_] => String::new(),
                many => match &many[joint as usize].name {
                    Some(name) => format!("_{name}"),
                    None => format!("_{joint}"),
                },
            };
            let key = key_name(program, entity.session, index);
            let event = match event {
                Event::Deliver => String::new(),
                other => format!("_{}", event_name(program, None, other)),
            };
            format!("{}{key}{below}_arrive{event}", entity.name)
        }
        Reaction::Handle { kind, index, event } => {
            let own = &program.kinds[kind.at()];
            let entity = &program.entities[own.entity.at()].name;
            let child = match own.role {
                Role::Child => format!("_{}", own.name),
                Role::Record | Role::Session => String::new(),
            };
            let key = key_name(program, kind, index);
            format!(
                "{entity}{child}{key}_{}",
                event_name(program, Some(kind), event)
            )
        }
    }
}

/// `_for_udp` for the one session on which udp stands; nothing where there is but one session.
fn key_name(program: &Program, kind: KindId, index: Index) -> String {
    let own = &program.kinds[kind.at()];
    match (index, &own.population) {
        (Index::Only(n), Population::Static(instances))
        | (Index::Label(n), Population::Labelled(instances))
            if own.capacity > 1 =>
        {
            match instances[n as usize].above {
                Some(Place::Entity { entity, .. }) => {
                    format!("_for_{}", program.entities[entity.at()].name)
                }
                Some(Place::Port(port)) => format!("_for_{}", program.ports[port.at()].name),
                Some(Place::Link(_)) | None => format!("_{n}"),
            }
        }
        (Index::Only(n), _) if own.capacity > 1 => format!("_{n}"),
        (Index::Only(_) | Index::Label(_) | Index::Any, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_gets_a_number_and_a_word_of_c_an_underscore() {
        let mut taken = Taken::default();
        let names = ["port", "port", "default", "port"].map(|name| taken.take(name));
        assert_eq!(names, ["port", "port_2", "default_", "port_3"]);
    }
}
