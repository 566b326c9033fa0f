//! The names of all things in C: those of the source as far as C takes them.
//!
//! | name | what it is |
//! |---|---|
//! | `STACK_x` | a function or type of the header, or the struct of messages, events, places |
//! | `LAYER_KIND` | the struct of a kind, and the member of the stack that holds its instances |
//! | `LAYER_KIND_x` | a function of the module; `x_2` is another of this name |
//! | `x_has`, `x_value` | parts of an optional value, and so on |
//! | `later_x` | puts the event x on the agenda |
//! | `DO_X` | the event x on the agenda |
//! | `find_x`, `create_x`, `begin_x`, `end_x`, `free_x` | what is done with instances |
//! | `LAYER_X` | a reason to drop a message, a counter |
//! | `sl_x` | the runtime, of which the file holds a copy |

use super::function::kernel::sum::short_lengths;
use crate::c::words;
use crate::ir::interface::{Enum, Given, Home, Shape};
use crate::ir::op::{Target, Told};
use crate::ir::{KernelId, KindId, Module, Role, Stored};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Words that the text of every stack uses at the top of a file, or that name its parts; headers
/// that are in use have other names beside them.
pub const OWN: &str = "AHEAD BUFFER_SIZE CONSUMED COUNTED COUNTERS COUNTS DELIVERED DROPPED \
    FEWEST_EVENTS FEWEST_OUTPUTS FRAMES_IN FRAMES_OUT HEADROOM HELD HOLDS KEPT LINKS MERGED \
    REASONS STACK_AGENDA_FULL STACK_CUT_BUFFER STACK_NO_SESSION STACK_TOO_LONG UNSENT add answer \
    arrived at_once begin begin_call begin_inside begin_later begin_step begins_inside behind \
    behind_all blank buffer_of consume copies count cut draw_reserve drop drop_queue drop_stream \
    drop_window expire fill_spare frame_arrives give_buffer give_event go_on goes_on handle \
    handle_waiting has_buffer has_room hold is_copied is_inside is_lent kept kept_last larger16 \
    larger32 larger64 larger8 later lay_out leave leave_and_go_on leave_copy_and_go_on leave_last \
    leave_now leave_untaken let_leave let_others_go loom_begin loom_file loom_frame_came \
    loom_frames loom_link loom_passed loom_way loom_write_profile make_room may_go_ahead may_go_on \
    may_handle memory_layout message_from new_message new_message_in_place next_step open_up \
    opened_last outcome pad piece precede put queue_pop queue_push reason retrieve reverse \
    rewritten room_of run send_first send_frame send_spare_first set_aside settings_hold share \
    sink skip smaller16 smaller32 smaller64 smaller8 stream_append stream_begin stream_insert \
    stream_release stream_slice stream_take take_all take_apart take_buffer take_by_path take_copy \
    take_lent take_next take_sent take_spare takes went window_forget window_insert \
    window_make_room window_release window_replace window_share window_take work words";

/// Members of the struct of a stack beside the instances of layers.
const MEMBERS: &str = "shared config settings now_ns hash_odd counters paths timers timer_heap \
    buffers reserve reserved size last messages agenda events free_event crowd waiting answers end \
    loom_last open told left";

/// Suffixes of the name of the stack in its own types and functions.
pub const INTERFACE: &str = "_message _event _place _settings _config _refusal _check \
    _config_default _output _frame _next _shared _start _size _buffer _has_buffer _input \
    _input_all _take _next_other _done _deadline _expire _send _carrier _counters _counter_name \
    _path _paths _path_name";

/// Suffixes of its constants in the header, beside those of notices, links, ports and counters.
pub const CONSTANTS: &str = "_IDLE _FRAME _DELIVER _ACCEPTED _SENT _LATER _REFUSED _COUNTERS \
    _PATHS _FITS _FEW_BUFFERS _FEW_OUTPUTS _FEW_EVENTS _NO_BUDGET _WRONG_SETTING \
    _LITTLE_MEMORY _MEMORY _MEMORY_FOR _WITHOUT_NAMES";

/// Names that are taken.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// Names that an enclosing scope takes.
    around: Rc<BTreeSet<String>>,
    own: BTreeSet<String>,
    /// By name: no number below this one is free.
    numbers: FxHashMap<String, u32>,
}

impl Taken {
    /// The name as C takes it, or the first numbered one that is free; taken from now on.
    pub fn take(&mut self, wanted: &str) -> String {
        let plain = identifier(wanted);
        if !self.has(&plain) {
            self.own.insert(plain.clone());
            return plain;
        }
        let first = self.numbers.get(&plain).copied().unwrap_or(2);
        let mut numbered = (first..).map(|number| (number, format!("{plain}_{number}")));
        let free = numbered.find(|(_, name)| !self.has(name));
        let (number, free) = free.expect("there are more numbers than names");
        self.numbers.insert(plain, number + 1);
        self.own.insert(free.clone());
        free
    }

    /// Takes a name that stands in the text of every stack.
    pub fn reserve(&mut self, name: &str) {
        self.own.insert(name.to_string());
    }

    /// Returns true if a name is taken.
    pub fn has(&self, name: &str) -> bool {
        self.own.contains(name) || self.around.contains(name)
    }

    /// The names that are taken inside of a function, before it has names of its own.
    pub fn inside(&self) -> Taken {
        let around = self.around.iter().chain(&self.own).cloned();
        Taken {
            around: Rc::new(around.collect()),
            ..Taken::default()
        }
    }
}

/// A name of the source as C takes it: dots become underscores, a word of C gets one behind it.
pub fn identifier(name: &str) -> String {
    let plain = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    match words::is_word(plain.trim_end_matches('_')) {
        true => format!("{plain}_"),
        false => plain,
    }
}

/// Names that are taken besides those of every stack.
#[derive(Clone, Copy, Debug)]
pub struct Reserved<'r> {
    /// At the top of the file.
    pub file: &'r [&'r str],
    /// Of members of instances.
    pub members: &'r [&'r str],
}

/// The names of a kind.
#[derive(Clone, Debug)]
pub struct KindNames {
    /// The struct.
    pub name: String,
    /// The member of the stack that holds its instances.
    pub member: String,
    /// That member is its only instance, and no array.
    pub is_only: bool,
    /// Members of the struct, by field.
    pub fields: Vec<String>,
    /// Timers, members of the member `timers` of the struct.
    pub timers: Vec<String>,
}

/// The names of a link.
#[derive(Clone, Debug)]
pub struct LinkNames {
    /// Its constant in the header.
    pub constant: String,
    /// The function in C that it calls with each frame.
    pub calls: Option<String>,
}

/// The names of a port.
#[derive(Clone, Debug)]
pub struct PortNames {
    /// Its constant in the header.
    pub constant: String,
    /// The function in C that it calls with each message.
    pub calls: Option<String>,
    /// By notice that comes up: the function in C that is called, if one is.
    pub told: Vec<Option<String>>,
    /// By notice that comes up: the value of `enum STACK_next`.
    pub next: Vec<String>,
    /// The function of this file that takes a message up.
    pub deliver: String,
    /// The function of this file that tells of a session which a listener made.
    pub accept: String,
    /// By notice that comes up: the function of this file that takes it up.
    pub up: Vec<String>,
    /// By notice that an application tells: the function of this file by which it waits.
    pub waits: Vec<String>,
    /// The function of this file that tells what the called function gives back.
    pub granted: String,
}

/// The functions by which values of an opaque type are assigned and compared.
#[derive(Clone, Debug)]
pub struct OpaqueNames {
    /// Assigns one to a place, whose address it is given.
    pub copy: String,
    /// Answers whether two are the same.
    pub same: String,
}

/// The names of an enum of the header.
#[derive(Clone, Debug)]
pub struct EnumNames {
    /// The enum.
    pub name: String,
    /// Its constants, in order.
    pub values: Vec<String>,
}

/// The names of a counter.
#[derive(Clone, Debug)]
pub struct CounterNames {
    /// Its constant in the header.
    pub constant: String,
    /// Its name as a text.
    pub text: String,
}

/// The names of all that a module has.
#[derive(Clone, Debug)]
pub struct Names {
    /// The stack.
    pub stack: String,
    /// The stack in capitals.
    pub upper: String,
    /// By kind.
    pub kinds: Vec<KindNames>,
    /// By part of an attribute: the member of a message.
    pub attributes: Vec<String>,
    /// By part of a setting: the member of `struct STACK_settings`.
    pub settings: Vec<String>,
    /// By reason: its constant.
    pub reasons: Vec<String>,
    /// By counter of a layer: its constant.
    pub counters: Vec<String>,
    /// By function.
    pub functions: Vec<String>,
    /// By function: the name of its body, if a fast function is tried before it.
    pub slow: Vec<Option<String>>,
    /// By kernel.
    pub kernels: Vec<String>,
    /// By cache: the struct, and the member that holds it.
    pub caches: Vec<String>,
    /// By function in C.
    pub foreigns: Vec<String>,
    /// By opaque type.
    pub opaques: Vec<OpaqueNames>,
    /// By link.
    pub links: Vec<LinkNames>,
    /// By port.
    pub ports: Vec<PortNames>,
    /// By counter, in the order of `STACK_counters`.
    pub counted: Vec<CounterNames>,
    /// Records that a host sees, with their structs.
    pub records: Vec<(Shape, String)>,
    /// The structs of records whose content only C knows.
    pub foreign_records: BTreeMap<String, String>,
    /// By enum.
    pub enums: Vec<EnumNames>,
    /// All names at the top of the file.
    pub taken: Taken,
    /// The same, for locals of functions.
    pub inside: Taken,
}

impl Names {
    /// Adds a counter of the stack itself, behind those of layers.
    pub fn count_own(&mut self, name: &str) {
        self.counted.push(CounterNames {
            constant: constant(&mut self.taken, &self.upper, "count", name),
            text: format!("count {name}"),
        });
    }

    /// The constant of a counter of fast paths.
    pub fn of_path(&mut self, name: &str) -> String {
        constant(&mut self.taken, &self.upper, "path", name)
    }

    /// Chooses a name for each thing in a module. Names in the text that every stack has are
    /// taken; the header chooses first.
    pub fn new(module: &Module, too: Reserved<'_>) -> Names {
        let stack = module.name.clone();
        let upper = stack.to_uppercase();
        let mut taken = reserved(&stack);
        too.file.iter().for_each(|word| taken.reserve(word));
        let records = record_names(module, &mut taken);
        let foreign_records = foreign_records(module, &mut taken);
        let enums = module.enums.iter();
        let enums = enums.map(|one| enum_names(&stack, one, &mut taken));
        let enums = enums.collect();
        let links = link_names(module, &mut taken);
        let ports = module
            .ports
            .iter()
            .map(|port| port_names(&stack, port, &mut taken));
        let ports = ports.collect();
        let foreigns = foreign_names(module, &mut taken);
        let opaques = opaque_names(module, &mut taken);
        let counted = counted_names(module, &upper, &mut taken);
        let in_capitals = |taken: &mut Taken, before: &str, name: &str| {
            taken.take(&identifier(&format!("{before}{name}")).to_uppercase())
        };
        let reasons = module.reasons.iter();
        let reasons = reasons.map(|name| in_capitals(&mut taken, "", name));
        let reasons = reasons.collect();
        let counters = module.counters.iter();
        let counters = counters.map(|name| in_capitals(&mut taken, "count_", name));
        let counters = counters.collect();
        let caches = cache_names(module, &mut taken);
        let members = caches.iter().map(String::as_str);
        let members: Vec<&str> = members.chain(too.members.iter().copied()).collect();
        let kinds = kind_names(module, &members, &mut taken);
        let functions = module.functions.iter();
        let functions = functions
            .map(|function| taken.take(&not_of_library(&stack, &function.name)))
            .collect();
        let slow = slow_names(module, &mut taken);
        let kernels = kernel_names(module, &mut taken);
        Names {
            kinds,
            attributes: attribute_names(module),
            settings: distinct(module.settings.iter().map(|one| one.name.as_str()), &[]),
            reasons,
            counters,
            functions,
            slow,
            kernels,
            caches,
            foreigns,
            opaques,
            links,
            ports,
            counted,
            inside: taken.inside(),
            records,
            foreign_records,
            enums,
            taken,
            stack,
            upper,
        }
    }

    /// The struct of a kind, and the member that holds its instances.
    pub fn kind(&self, kind: KindId) -> &str {
        &self.kinds[kind.at()].name
    }

    /// The function to which an event goes. Of a link it is the name alone.
    pub fn target(&self, module: &Module, target: Target) -> String {
        match target {
            Target::Function(function) => self.functions[function.at()].clone(),
            Target::Link(link) => identifier(&module.links[link.at()].name),
            Target::Port(port, told) => {
                let port = &self.ports[port.at()];
                match told {
                    Told::Message => port.deliver.clone(),
                    Told::Started => port.accept.clone(),
                    Told::Notice(notice) => port.up[notice as usize].clone(),
                }
            }
        }
    }
}

fn link_names(module: &Module, taken: &mut Taken) -> Vec<LinkNames> {
    let upper = module.name.to_uppercase();
    let all = module.links.iter().map(|link| LinkNames {
        constant: constant(taken, &upper, "link", &link.name),
        calls: link
            .calls
            .as_ref()
            .map(|function| taken.take(&format!("{}_{function}", module.name))),
    });
    all.collect()
}

fn kernel_names(module: &Module, taken: &mut Taken) -> Vec<String> {
    let all = module.kernels.iter().zip((0..).map(KernelId));
    let all = all.map(|(kernel, id)| {
        let name = taken.take(&not_of_library(&module.name, &kernel.name));
        for end in ["over", "words"] {
            taken.reserve(&format!("{name}_{end}"));
        }
        for length in short_lengths(module, id) {
            taken.reserve(&format!("{name}_of_{length}"));
        }
        name
    });
    all.collect()
}

/// A constant of the header.
fn constant(taken: &mut Taken, upper: &str, of: &str, name: &str) -> String {
    taken.take(&identifier(&format!("{upper}_{of}_{name}")).to_uppercase())
}

/// The names of all counters, in the order of `STACK_counters`.
fn counted_names(module: &Module, upper: &str, taken: &mut Taken) -> Vec<CounterNames> {
    let fates = [
        "frames_in",
        "frames_out",
        "delivered",
        "consumed",
        "merged",
        "held",
    ];
    let own = ["stack.too_long", "stack.no_session", "stack.agenda_full"].map(String::from);
    let dropped: Vec<String> = module.reasons.iter().cloned().chain(own).collect();
    let fates = fates.iter().map(|fate| ("counter", "", fate.to_string()));
    let by_reason = [("dropped", ""), ("unsent", "unsent ")].into_iter();
    let dropped = by_reason.flat_map(|(of, before)| {
        let all = dropped.iter().cloned();
        all.map(move |reason| (of, before, reason))
    });
    let counts = module.counters.iter().cloned();
    let counts = counts.map(|name| ("count", "count ", name));
    let all = fates.chain(dropped).chain(counts);
    all.map(|(of, before, name)| CounterNames {
        constant: constant(taken, upper, of, &name),
        text: format!("{before}{name}"),
    })
    .collect()
}

fn reserved(stack: &str) -> Taken {
    let mut taken = Taken::default();
    let own = words::all().chain(OWN.split_whitespace());
    own.for_each(|word| taken.reserve(word));
    taken.reserve(stack);
    for suffix in INTERFACE.split_whitespace() {
        taken.reserve(&format!("{stack}{suffix}"));
    }
    for suffix in CONSTANTS.split_whitespace() {
        taken.reserve(&format!("{}{suffix}", stack.to_uppercase()));
    }
    taken
}

fn port_names(stack: &str, port: &crate::ir::interface::Port, taken: &mut Taken) -> PortNames {
    let upper = |name: &str| format!("{stack}_{name}").to_uppercase();
    let constant = taken.take(&identifier(&upper(&format!("port_{}", port.name))).to_uppercase());
    let calls = port.calls.as_ref();
    let told = port.up.iter().map(|notice| {
        let function = calls?;
        Some(taken.take(&format!("{stack}_{function}_{}", notice.name)))
    });
    let told = told.collect();
    let calls = calls.map(|function| taken.take(&format!("{stack}_{function}")));
    // A notice of one name is the same for a host, whoever tells it.
    let next = port.up.iter().map(|notice| {
        let mut name = upper(&notice.name);
        while taken.has(&name) {
            name.push('_');
        }
        name
    });
    let next = next.collect();
    let deliver = taken.take(&format!("{}_deliver", port.name));
    let accept = taken.take(&format!("{}_accept", port.name));
    let up = port.up.iter();
    let up = up.map(|notice| taken.take(&format!("{}_{}", port.name, notice.name)));
    let up = up.collect();
    let down = port.down.iter();
    let waits = down.map(|notice| taken.take(&format!("wait_{}_{}", port.name, notice.name)));
    let waits = waits.collect();
    let granted = taken.take(&format!("granted_{}", port.name));
    PortNames {
        constant,
        calls,
        told,
        next,
        deliver,
        accept,
        up,
        waits,
        granted,
    }
}

/// A name that C's library has stands behind that of the stack: compilers know such functions.
fn not_of_library(stack: &str, name: &str) -> String {
    match words::is_of_library(name) {
        true => format!("{stack}_{name}"),
        false => name.to_string(),
    }
}

/// All values that a host gives or is told, records before those that hold them.
pub fn shown(module: &Module) -> Vec<&Shape> {
    let mut all: Vec<&Shape> = module.given.iter().map(|one| &one.named.shape).collect();
    for port in &module.ports {
        let openings = port.opens.iter().chain(&port.listens);
        let keys = openings.flat_map(|opening| &opening.keys);
        all.extend(keys.map(|(named, _)| &named.shape));
        all.extend(port.attributes.iter().map(|one| &one.named.shape));
        let notices = port.up.iter().chain(&port.down);
        let parameters = notices.flat_map(|notice| &notice.parameters);
        all.extend(parameters.map(|named| &named.shape));
    }
    for foreign in module.foreigns.iter().filter(|one| one.home.is_host()) {
        all.extend(
            foreign
                .parameters
                .iter()
                .filter_map(|(_, given)| match given {
                    Given::Value(shape) | Given::Changed(shape) => Some(shape),
                    Given::Data | Given::Rewritten | Given::State(_) => None,
                }),
        );
        all.extend(&foreign.result);
    }
    let mut shown = Vec::new();
    all.into_iter()
        .for_each(|shape| add_shape(shape, &mut shown));
    shown
}

/// Adds what a value consists of, and then the value.
fn add_shape<'s>(shape: &'s Shape, all: &mut Vec<&'s Shape>) {
    match shape {
        Shape::Optional(inner) | Shape::Array(inner, _) => add_shape(inner, all),
        Shape::Record(_, fields) => fields.iter().for_each(|(_, inner)| add_shape(inner, all)),
        Shape::Number { .. }
        | Shape::Bool
        | Shape::Time
        | Shape::Bytes(_)
        | Shape::Bounded(_)
        | Shape::Foreign(_)
        | Shape::Float(_)
        | Shape::Opaque(_) => {}
    }
    all.push(shape);
}

/// Records of one name and the same fields are one.
fn record_names(module: &Module, taken: &mut Taken) -> Vec<(Shape, String)> {
    let mut all: Vec<(Shape, String)> = Vec::new();
    for shape in shown(module) {
        if let Shape::Record(name, _) = shape
            && !all.iter().any(|(known, _)| known == shape)
        {
            let name = taken.take(&format!("{}_{name}", module.name));
            all.push((shape.clone(), name));
        }
    }
    all
}

/// Records of which only C knows what they hold.
fn foreign_records(module: &Module, taken: &mut Taken) -> BTreeMap<String, String> {
    let fields = module.kinds.iter().flat_map(|kind| &kind.fields);
    let held = fields.filter_map(|field| match &field.stored {
        Stored::Foreign(name) => Some(name),
        Stored::Value(_)
        | Stored::Queue(..)
        | Stored::Window(..)
        | Stored::Stream(..)
        | Stored::Set(_) => None,
    });
    let given = module.foreigns.iter().flat_map(|one| &one.parameters);
    let given = given.filter_map(|(_, given)| match given {
        Given::State(name) => Some(name),
        Given::Value(_) | Given::Data | Given::Rewritten | Given::Changed(_) => None,
    });
    let all: BTreeSet<&String> = held.chain(given).collect();
    let all = all.into_iter();
    all.map(|name| (name.clone(), taken.take(&format!("{}_{name}", module.name))))
        .collect()
}

fn enum_names(stack: &str, one: &Enum, taken: &mut Taken) -> EnumNames {
    let name = taken.take(&format!("{stack}_{}", one.name));
    let values = one.values.iter();
    let values = values.map(|value| taken.take(&format!("{name}_{}", value.name).to_uppercase()));
    EnumNames {
        values: values.collect(),
        name,
    }
}

/// Functions in C: those of the runtime have its names, and those of a program their own.
fn foreign_names(module: &Module, taken: &mut Taken) -> Vec<String> {
    let all = module.foreigns.iter();
    let all = all.map(|foreign| match foreign.home {
        Home::Runtime => format!("sl_{}", foreign.name),
        Home::Host | Home::Reentrant => taken.take(&format!("{}_{}", module.name, foreign.name)),
        Home::Program | Home::Constant => foreign.name.clone(),
    });
    all.collect()
}

/// C assigns values of its own types by functions of their names; texts are copied by one of the
/// file.
fn opaque_names(module: &Module, taken: &mut Taken) -> Vec<OpaqueNames> {
    let all = module.opaques.iter().map(|opaque| {
        let name = &opaque.name;
        match opaque.room {
            Some(_) => OpaqueNames {
                copy: taken.take(&format!("{}_copy_{name}", module.name)),
                same: taken.take(&format!("{}_same_{name}", module.name)),
            },
            None => OpaqueNames {
                copy: format!("_{name}"),
                same: format!("_eq_{name}"),
            },
        }
    });
    all.collect()
}

/// By function that has a fast one: the name of what runs if that leaves.
fn slow_names(module: &Module, taken: &mut Taken) -> Vec<Option<String>> {
    let slow = module.functions.iter().map(|function| {
        let what = match function.role {
            Role::Fast => "whole",
            _reaction => "slow",
        };
        let has_fast = function.fast.is_some();
        has_fast.then(|| taken.take(&identifier(&format!("{}_{what}", function.name))))
    });
    slow.collect()
}

/// The names of caches, and of what stands beside them.
fn cache_names(module: &Module, taken: &mut Taken) -> Vec<String> {
    let caches = module.caches.iter().map(|cache| {
        let name = taken.take(&cache.name);
        for verb in ["guess", "note", "recall"] {
            taken.reserve(&format!("{verb}_{name}"));
        }
        taken.reserve(&format!("{name}_guesses"));
        name
    });
    caches.collect()
}

/// Suffixes of the members that the struct of the stack has for each kind.
const BESIDE: [&str; 6] = ["", "_pool", "_next", "_ended", "_buckets", "_alike"];

/// Verbs of the functions that find, make and end the instances of a kind.
const DEEDS: [&str; 9] = [
    "at", "begin", "bucket", "create", "end", "ended", "find", "free", "live",
];

fn kind_names(module: &Module, too: &[&str], taken: &mut Taken) -> Vec<KindNames> {
    let mut members: BTreeSet<String> = MEMBERS.split_whitespace().map(String::from).collect();
    let mut all = Vec::new();
    for kind in &module.kinds {
        let plain = identifier(&kind.name);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        let is_free = |name: &String| {
            let mut own = BESIDE.iter().map(|end| format!("{name}{end}"));
            let mut deeds = DEEDS.iter().map(|verb| format!("{verb}_{name}"));
            !taken.has(name)
                && own.all(|member| !members.contains(&member))
                && deeds.all(|deed| !taken.has(&deed))
        };
        let name = names
            .find(is_free)
            .expect("there are more numbers than names");
        taken.reserve(&name);
        for verb in DEEDS {
            taken.reserve(&format!("{verb}_{name}"));
        }
        members.extend(BESIDE.iter().map(|end| format!("{name}{end}")));
        let fields = kind.fields.iter().map(|field| field.name.as_str());
        let timers = kind.timers.iter().map(|timer| timer.name.as_str());
        all.push(KindNames {
            fields: distinct(fields, &[&["timers"], too].concat()),
            member: name.clone(),
            is_only: false,
            timers: distinct(timers, &[]),
            name,
        });
    }
    all
}

fn attribute_names(module: &Module) -> Vec<String> {
    // A name of two layers stands with its layer, any other alone.
    let short = |name: &str| {
        name.split_once('.')
            .map_or(name, |(_, rest)| rest)
            .to_string()
    };
    let all: Vec<String> = module
        .attributes
        .iter()
        .map(|one| short(&one.name))
        .collect();
    let named = module.attributes.iter().zip(&all).map(|(one, name)| {
        let repeats = all.iter().filter(|other| *other == name).count() > 1;
        if repeats {
            one.name.as_str()
        } else {
            name.as_str()
        }
    });
    distinct(named, &["data", "length", "buffer", "came_in"])
}

/// Chooses distinct names for the members of a struct, beside the fixed ones in `own`. Members
/// that belong to a container have its name as a prefix.
fn distinct<'n>(wanted: impl Iterator<Item = &'n str>, own: &[&str]) -> Vec<String> {
    let mut taken = Taken::default();
    own.iter().for_each(|name| taken.reserve(name));
    let mut all = Vec::new();
    for name in wanted {
        let member = taken.take(name);
        for end in ["items", "held", "bytes", "pieces", "ranges"] {
            taken.reserve(&format!("{member}_{end}"));
        }
        all.push(member);
    }
    all
}

/// The suffixes of the parts of a value in C: nothing for a plain one.
pub fn part_suffixes(shape: &Shape) -> Vec<String> {
    let within = |first: &str, inner: &Shape| -> Vec<String> {
        let names = part_suffixes(inner).into_iter();
        names.map(|name| format!("{first}{name}")).collect()
    };
    match shape {
        Shape::Number { .. }
        | Shape::Bool
        | Shape::Time
        | Shape::Bytes(_)
        | Shape::Float(_)
        | Shape::Opaque(_) => vec![String::new()],
        Shape::Bounded(_) => vec!["_length".to_string(), "_bytes".to_string()],
        Shape::Optional(value) => {
            let mut all = vec!["_has".to_string()];
            all.extend(within("", value));
            all
        }
        Shape::Record(_, fields) => {
            let fields = fields.iter();
            let all = fields.flat_map(|(name, inner)| within(&format!("_{name}"), inner));
            all.collect()
        }
        Shape::Array(element, length) => {
            let all = 0..*length;
            all.flat_map(|at| within(&format!("_{at}"), element))
                .collect()
        }
        Shape::Foreign(_) => Vec::new(),
    }
}
