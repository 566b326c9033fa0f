//! The one place where the commands meet the compiler.
//!
//! In: paths of Loom files. Out: C with the description that the loader needs, or a `Failure`
//! after the diagnostics were printed. Files are read here; the compiler itself sees only text.

use super::esterel;
use super::failure::Failure;
use super::layout::{Description, Kind, Limits, Member, Port, Told, instead, limits};
use super::library::{self, Folders, is_estelle};
use super::terminal::{show, tell_given_up};
use crate::back::c::reserved::{is_word, no_name};
use crate::diagnostic::Id;
use crate::pipeline::{self, Analysed, Checked, Compiled as Made, Passes};
use crate::profile::Profile;
use crate::source::Sources;
use crate::syntax::loom;
use crate::tree::Forest;
use crate::tree::rewrites::Rewrites;
use crate::types::names::nearest;
use crate::types::program::{Attribute, KindId, NoticeId, Place, Program};
use crate::types::value::{Type, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What may be said about a compilation on the command line.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The name of the generated C, if not the stack's.
    pub name: Option<String>,
    /// Where `use` looks before the library inside the binary.
    pub search: Vec<PathBuf>,
    /// How many nodes an automaton may have, if not as usual.
    pub budget: Option<usize>,
    /// What is done so that the stack runs faster.
    pub rewrites: Rewrites,
    /// The passes of the stack IR that run.
    pub passes: Passes,
    /// What is known of the traffic.
    pub profile: Profile,
    /// Whether it counts which ways it takes, and does nothing faster.
    pub records: bool,
    /// Whether what the profile never saw is cut.
    pub specialised: bool,
    /// True if a central scheduler takes each event off the agenda.
    pub scheduled: bool,
}

/// A compiled stack.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What the loader must know.
    pub description: Description,
    /// `NAME.c`
    pub source: String,
    /// `NAME.h`
    pub header: String,
    /// How many ways were cut.
    pub cut: usize,
    /// The host gets no buffers for frames.
    pub elsewhere: bool,
    /// What `loom build --report json` prints.
    pub report: Report,
}

/// The size of what was compiled.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Report {
    /// The stack's name.
    pub name: String,
    /// How the program is held: woven, or layer by layer.
    pub form: String,
    /// Control states, of all kinds of instances that handle events: one each where they have no
    /// processes.
    pub states: u64,
    /// Nodes of the state trees, shared ones counted once.
    pub nodes: u64,
    /// Bytes of C.
    pub c_bytes: u64,
    /// Bytes of one session of each layer.
    pub session_bytes: BTreeMap<String, u64>,
}

/// Bytes of stack for the compiler, which recurses as deep as a source nests and a handler is long:
/// the first of these that the system has addresses for. Memory is taken only for what is used.
const STACK_BYTES: [usize; 2] = [1 << 30, 1 << 28];

/// Runs the compiler on a stack of [`STACK_BYTES`], in a thread that has ended when this returns;
/// on the stack of its caller where the system has no such thread.
pub fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let work = std::sync::Mutex::new(Some(work));
    let run = || {
        let work = work.lock().ok().and_then(|mut work| work.take());
        work.map(|work| work())
    };
    let done = std::thread::scope(|scope| {
        let threads = STACK_BYTES.iter().map(|bytes| {
            let thread = std::thread::Builder::new().stack_size(*bytes);
            thread.spawn_scoped(scope, run).ok()
        });
        let thread = threads.flatten().next();
        thread.map(|thread| thread.join())
    });
    match done {
        Some(Ok(done)) => done,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => run(),
    }
    .expect("the work is taken once")
}

/// Compiles a stack to C. The file may be followed by `:STACK` where it declares several.
pub fn compile(path: &Path, options: &Options) -> Result<Compiled, Failure> {
    deep(|| {
        let (file, wanted) = split(path);
        let checked = read(&file, options)?;
        compile_checked(checked, &file, wanted, options)
    })
}

/// The checked program of a stack, to be interpreted as it is written.
pub fn program(path: &Path, options: &Options) -> Result<Program, Failure> {
    trees(path, options).map(|(program, _)| program)
}

/// Analyses how often the transitions of a stack are taken, as far as its profile says.
pub fn analysed(path: &Path, options: &Options) -> Result<(Sources, Program, Analysed), Failure> {
    deep(|| analysed_here(path, options))
}

fn analysed_here(path: &Path, options: &Options) -> Result<(Sources, Program, Analysed), Failure> {
    let (mut checked, stack) = chosen(path, options)?;
    let known = pipeline::known(&mut checked, &stack);
    let known = known.ok_or_else(|| refused(&checked))?;
    tell_given_up(&checked);
    let program = known.program;
    let analysed = pipeline::analyse(
        &checked.sources,
        &program,
        known.forest,
        &known.profile,
        (options.rewrites, options.passes),
    );
    Ok((checked.sources, program, analysed))
}

/// Reads and checks, and does something with a stack: what comes of it, and the sources.
pub fn with_stack<T: Send>(
    path: &Path,
    options: &Options,
    does: impl FnOnce(&mut Checked, &str) -> Option<T> + Send,
) -> Result<(Sources, T), Failure> {
    deep(|| {
        let (mut checked, stack) = chosen(path, options)?;
        let made = does(&mut checked, &stack);
        let made = made.ok_or_else(|| refused(&checked))?;
        tell_given_up(&checked);
        Ok((checked.sources, made))
    })
}

/// The trees of a stack as they become C, and its program.
pub fn woven(path: &Path, options: &Options) -> Result<(Program, Forest), Failure> {
    deep(|| {
        let (mut program, forest) = trees(path, options)?;
        let forest = pipeline::woven(&mut program, forest, options.rewrites);
        Ok((program, forest))
    })
}

fn trees(path: &Path, options: &Options) -> Result<(Program, Forest), Failure> {
    deep(|| {
        let (mut checked, stack) = chosen(path, options)?;
        let trees = pipeline::trees(&mut checked, &stack);
        trees.ok_or_else(|| refused(&checked))
    })
}

/// What is read, and the stack that is meant.
fn chosen(path: &Path, options: &Options) -> Result<(Checked, String), Failure> {
    let (file, wanted) = split(path);
    let checked = read(&file, options)?;
    if pipeline::refused(&checked.diagnostics) {
        return Err(shown(&checked));
    }
    let stack = choose(&file, &pipeline::stacks(&checked), wanted)?;
    Ok((checked, stack))
}

/// Compiles the only stack of a text that is no file.
pub fn compile_text(name: &str, text: &str) -> Result<Compiled, Failure> {
    let library = Folders { search: Vec::new() };
    let root = vec![(name.to_string(), text.to_string())];
    let checked = pipeline::read(root, &library);
    compile_checked(checked, Path::new(name), None, &Options::default())
}

/// Advice about the name of generated C, where a command has an option for it.
pub const NAME_OPTION: &str = "choose another name with --name";

/// Refuses a name that generated C cannot have, and says what to do instead.
pub fn refuse_name(name: &str, advice: &str) -> Result<(), Failure> {
    match no_name(name) {
        None => Ok(()),
        Some(reason) => Err(Failure::environment(format!(
            "`{name}` cannot be the name of the generated C: {reason}; {advice}"
        ))),
    }
}

fn compile_checked(
    mut checked: Checked,
    file: &Path,
    wanted: Option<String>,
    options: &Options,
) -> Result<Compiled, Failure> {
    if pipeline::refused(&checked.diagnostics) {
        return Err(shown(&checked));
    }
    let stack = choose(file, &pipeline::stacks(&checked), wanted)?;
    let name = options.name.clone().unwrap_or_else(|| stack.clone());
    refuse_name(&name, NAME_OPTION)?;
    let compiled = pipeline::compile(&mut checked, &stack, &name);
    let refused = refused(&checked);
    let compiled = compiled.ok_or(refused)?;
    tell_given_up(&checked);
    Ok(Compiled {
        description: description(&compiled.program, limits(&compiled.module)),
        report: report(&compiled),
        cut: compiled.cut.len(),
        elsewhere: compiled.elsewhere,
        source: compiled.code.c,
        header: compiled.code.h,
    })
}

/// Checks a file and prints what is wrong with it; answers what was found to be right.
pub fn check(file: &Path, options: &Options) -> Result<String, Failure> {
    if esterel::is_esterel(file) {
        let choice = esterel::Choice {
            budget: options.budget,
            ..esterel::Choice::default()
        };
        return esterel::check(file, choice);
    }
    deep(|| check_here(file, options))
}

fn check_here(file: &Path, options: &Options) -> Result<String, Failure> {
    let mut checked = match library::is_stdin(file) {
        true => read_texts(vec![library::stdin()?], options)?,
        false => read(file, options)?,
    };
    pipeline::check(&mut checked);
    if pipeline::refused(&checked.diagnostics)
        && let Some(layer) = layer_around(file, options)
    {
        return Ok(format!(
            "no errors, together with the other files of {layer}"
        ));
    }
    let refused = shown(&checked);
    if pipeline::refused(&checked.diagnostics) {
        return Err(refused);
    }
    let root = checked.files.unit(checked.files.root());
    let layers = root.layers.iter().map(|layer| layer.name.text.clone());
    let stacks = root.stacks.iter().map(|stack| stack.name.text.clone());
    let services = root
        .services
        .iter()
        .map(|service| service.name.text.clone());
    let found = [
        counted("layer", layers.collect()),
        counted("service", services.collect()),
        counted("stack", stacks.collect()),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    match found.is_empty() {
        true => Ok("no errors".to_string()),
        false => Ok(format!("no errors: {}", found.join(", "))),
    }
}

/// The layer that the folder of a file is, if nothing is wrong with it: its files share one scope,
/// so that one of them may be incomplete.
fn layer_around(file: &Path, options: &Options) -> Option<String> {
    let file = file.canonicalize().ok()?;
    let folder = file.parent().filter(|_| file.is_file())?;
    let mut checked = read(folder, options).ok()?;
    pipeline::check(&mut checked);
    let [layer] = &checked.files.unit(checked.files.root()).layers[..] else {
        return None;
    };
    let is_whole = !pipeline::refused(&checked.diagnostics) && folder.ends_with(&layer.name.text);
    is_whole.then(|| layer.name.text.clone())
}

/// Whether nothing is wrong with texts that are no files yet; `used` are those that they use.
pub fn is_fine(root: Vec<(String, String)>, used: Vec<(String, String)>) -> bool {
    let mut library = library::standard();
    library.extend(used);
    let mut checked = pipeline::read(root, &library);
    pipeline::check(&mut checked);
    checked.diagnostics.is_empty()
}

/// The text of a file in its canonical form.
pub fn format(file: &Path, text: &str) -> Result<String, Failure> {
    only_loom(file)?;
    let mut sources = Sources::new();
    let id = sources.add(file.display().to_string(), text);
    let (tree, diagnostics) = loom::parse(id, &sources);
    if pipeline::refused(&diagnostics) {
        show(&diagnostics, &sources)?;
        return Err(Failure::refused(""));
    }
    Ok(loom::format(&tree, text))
}

/// Refuses files of other languages where only Loom is accepted.
fn only_loom(file: &Path) -> Result<(), Failure> {
    let use_instead = if esterel::is_esterel(file) {
        "an Esterel file: use `loom check`, `loom simulate` or `loom build`"
    } else if is_estelle(file) {
        "an Estelle specification: use `loom check`, `loom build`, `loom view` or `loom simulate`"
    } else {
        return Ok(());
    };
    let file = file.display();
    Err(Failure::refused(format!("{file} is {use_instead}")))
}

/// What a diagnostic means and what to do about it.
pub fn explain(id: &str) -> Result<String, Failure> {
    let known = Id::ALL.iter().find(|known| known.name() == id);
    match known {
        Some(known) => Ok(format!("{id}: {}", known.explanation())),
        None => Err(Failure::environment(format!(
            "no diagnostic has the id `{id}`: {}",
            match nearest(id, &diagnostics()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`loom explain` lists all ids".to_string(),
            }
        ))),
    }
}

/// The ids of all diagnostics, in the order of the flow.
pub fn diagnostics() -> Vec<&'static str> {
    Id::ALL.iter().map(|known| known.name()).collect()
}

/// `FILE` or `FILE:STACK`.
/// The file of a path that may be followed by `:STACK`.
pub fn file_of(path: &Path) -> PathBuf {
    split(path).0
}

fn split(path: &Path) -> (PathBuf, Option<String>) {
    let text = path.display().to_string();
    match text.rsplit_once(':') {
        Some((file, stack)) if !path.exists() && is_word(stack) => {
            (PathBuf::from(file), Some(stack.to_string()))
        }
        _ => (path.to_path_buf(), None),
    }
}

fn choose(file: &Path, stacks: &[String], wanted: Option<String>) -> Result<String, Failure> {
    let file = file.display();
    match (stacks, wanted) {
        (_, Some(wanted)) if stacks.contains(&wanted) => Ok(wanted),
        ([], _) => Err(Failure::refused(format!(
            "{file} declares no stack, and only a stack is compiled to C; `loom check` checks a \
            layer"
        ))),
        ([only], None) => Ok(only.clone()),
        (several, wanted) => {
            let known: Vec<&str> = several.iter().map(String::as_str).collect();
            Err(Failure::environment(match wanted {
                Some(wanted) => format!(
                    "{file} declares no stack `{wanted}`: {}",
                    instead(&wanted, &known)
                ),
                None => format!(
                    "{file} declares {}; choose one, as in {file}:{}",
                    known.join(", "),
                    known[0]
                ),
            }))
        }
    }
}

/// Reads a file of Loom and all that it uses.
pub fn read(file: &Path, options: &Options) -> Result<Checked, Failure> {
    only_loom(file)?;
    read_texts(library::read(file)?, options)
}

/// Reads what these texts, which form one unit, use.
pub fn read_texts(root: Vec<(String, String)>, options: &Options) -> Result<Checked, Failure> {
    if let Some(nowhere) = options.search.iter().find(|folder| !folder.is_dir()) {
        let title = format!("--path {}: the folder does not exist", nowhere.display());
        return Err(Failure::environment(title));
    }
    let library = Folders {
        search: options.search.clone(),
    };
    let mut checked = pipeline::read(root, &library);
    checked.rewrites = options.rewrites;
    checked.passes = options.passes;
    checked.profile = options.profile.clone();
    checked.records = options.records;
    checked.specialised = options.specialised;
    checked.scheduled = options.scheduled;
    checked.budget.nodes = options.budget.unwrap_or(checked.budget.nodes);
    Ok(checked)
}

/// Prints what was found; the failure, if it is one.
fn shown(checked: &Checked) -> Failure {
    match show(&checked.diagnostics, &checked.sources) {
        Ok(()) => Failure::refused(""),
        Err(failure) => failure,
    }
}

/// The same; or why the profile cannot be used.
fn refused(checked: &Checked) -> Failure {
    let refused = shown(checked);
    match &checked.unfit {
        Some(why) => Failure::refused(why),
        None => refused,
    }
}

fn counted(what: &str, names: Vec<String>) -> Option<String> {
    match names.len() {
        0 => None,
        1 => Some(format!("{what} {}", names[0])),
        _ => Some(format!("{what}s {}", names.join(" "))),
    }
}

/// What the loader must know about a program.
pub fn description(program: &Program, limits: Limits) -> Description {
    let member = |name: &str, kind: &Type, default: bool| member(program, name, kind, default);
    let ports = program.ports.iter().map(|port| {
        let keys = |kind: KindId| -> Vec<Member> {
            let keys = program.kinds[kind.at()].keys.iter();
            keys.map(|key| Member {
                // What may be left out is behind whether it is there, as what is optional.
                optional: key.default.is_some() || matches!(key.kind, Type::Optional(_)),
                ..member(&key.name, &key.kind, key.default.is_some())
            })
            .collect()
        };
        let attributes = port.attributes.iter();
        let attributes = attributes.map(|id| &program.attributes[id.at()]);
        let accepted = port.listens.and(port.opens).map(|kind| {
            let keys = program.kinds[kind.at()].keys.iter();
            keys.map(|key| member(&key.name, &key.kind, false))
                .collect()
        });
        let is_opening = |told: &Told| port.opens.is_some() && told.name == "open";
        let told = |ids: &[NoticeId]| ids.iter().map(|id| told(program, *id)).collect();
        let mut down: Vec<Told> = told(&port.down);
        down.retain(|told| !is_opening(told));
        Port {
            name: port.name.clone(),
            keys: port.opens.map(keys).unwrap_or_default(),
            listener_keys: port.listens.map(|how| keys(how.listener)),
            attributes: attributes
                .clone()
                .map(|one| member(&one.name, &one.kind, false))
                .collect(),
            attribute_defaults: attributes.filter_map(default).collect(),
            passes: port.passes,
            opens: port.opens.is_some(),
            down,
            // What a port calls is told at once.
            up: match port.calls {
                Some(_) => Vec::new(),
                None => told(&port.up),
            },
            accepted,
        }
    });
    let config = program.config.iter();
    let lowest = program.links.iter().map(|link| match link.above {
        Place::Entity { entity, .. } => program.entities[entity.at()].layer.clone(),
        Place::Link(_) | Place::Port(_) => String::new(),
    });
    let mut fields = program.kinds.iter().flat_map(|kind| &kind.fields);
    Description {
        name: program.name.clone(),
        links: program.links.iter().map(|l| l.name.clone()).collect(),
        ports: ports.collect(),
        functions_in_c: program
            .functions_in_c()
            .into_iter()
            .map(String::from)
            .collect(),
        lowest: lowest.collect(),
        hears_carrier: program.links.iter().any(|link| link.carrier.is_some()),
        gathers: program.links.iter().any(|link| link.gathers),
        holds_messages: fields.any(|field| field.kind.holds_messages()),
        config: config
            .map(|c| member(&c.name, &c.kind, c.default.is_some()))
            .chain(OWN_SETTINGS.map(|(name, bits)| own_setting(name, bits)))
            .collect(),
        limits,
    }
}

fn told(program: &Program, id: NoticeId) -> Told {
    let notice = &program.notices[id.at()];
    let members = notice.parameters.iter();
    Told {
        name: notice.name.clone(),
        members: members
            .map(|one| member(program, &one.name, &one.kind, false))
            .collect(),
    }
}

/// What an attribute is that nobody gave, as people would write it.
fn default(attribute: &Attribute) -> Option<(String, String)> {
    let value = match (attribute.default.as_ref()?, &attribute.kind) {
        (Value::None, _) => "none".to_string(),
        (Value::Number(number), Type::Bool) => (*number != 0).to_string(),
        (Value::Number(number), Type::Time) => format!("{number} ns"),
        (Value::Number(number), Type::Signed(_)) => (*number as i64).to_string(),
        (Value::Number(number), _) => number.to_string(),
        (Value::Bytes(bytes), _) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        (Value::Record(_), _) => return None,
    };
    Some((attribute.name.clone(), value))
}

/// What can be set of every stack, with its bits.
const OWN_SETTINGS: [(&str, u32); 6] = [
    ("buffers", 32),
    ("reserve", 32),
    ("outputs", 32),
    ("events", 32),
    ("budget", 32),
    ("hash_seed", 64),
];

fn own_setting(name: &str, bits: u32) -> Member {
    Member {
        name: name.to_string(),
        kind: Kind::Unsigned(bits),
        optional: false,
        needed: false,
        names: Vec::new(),
    }
}

fn member(program: &Program, name: &str, kind: &Type, default: bool) -> Member {
    let (kind, optional) = match kind {
        Type::Optional(inner) => (&**inner, true),
        kind => (kind, false),
    };
    let names = match kind {
        Type::Enum(id) => program.enums[id.at()].names.clone(),
        _ => Vec::new(),
    };
    let kind = match kind {
        Type::Unsigned(bits) | Type::Sequence(bits) => Kind::Unsigned(u32::from(*bits)),
        Type::Signed(bits) => Kind::Signed(u32::from(*bits)),
        Type::Instance(_) => Kind::Unsigned(32),
        Type::Bool => Kind::Bool,
        Type::Time => Kind::Time,
        Type::Enum(id) => Kind::Unsigned(u32::from(program.enums[id.at()].width)),
        Type::Bytes(size) => Kind::Bytes(*size as usize),
        Type::BoundedBytes(most) => Kind::Bounded(*most as usize),
        other => unreachable!("keys, attributes and config are plain values, not {other:?}"),
    };
    Member {
        name: name.to_string(),
        kind,
        optional,
        needed: !optional && !default,
        names,
    }
}

fn report(compiled: &Made) -> Report {
    let program = &compiled.program;
    let reacting: BTreeSet<KindId> = program.handlers.iter().map(|one| one.kind).collect();
    let states = reacting.iter().map(|kind| {
        let processes = program.kinds[kind.at()].reactive.as_ref();
        u64::from(
            processes
                .and_then(|processes| processes.states)
                .unwrap_or(1),
        )
    });
    Report {
        name: program.name.clone(),
        form: "woven".to_string(),
        states: states.sum(),
        nodes: compiled.forest.arena.len() as u64,
        c_bytes: compiled.code.c.len() as u64,
        session_bytes: program
            .entities
            .iter()
            .map(|entity| {
                let bytes = compiled.code.kind_bytes[entity.session.at()];
                (entity.name.clone(), bytes)
            })
            .collect(),
    }
}
