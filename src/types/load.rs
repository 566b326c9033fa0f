//! Which files a stack is made of: in, the texts of one file or folder and a [`Library`] to look
//! for others in; out, the syntax trees of all, [`Files`], used ones before those that use them.
//!
//! Nothing here touches the file system: whoever does gives a [`Library`].
//!
//! ```text
//! use link.ethernet  in examples/host.loom
//!   library.find("examples/host.loom", "link/ethernet")
//!     -> [("layers/link/ethernet.loom", text)]      one file
//!     -> [("layers/transport/tcp/tcp.loom", ..), ("layers/transport/tcp/window.loom", ..), ..]
//! ```

mod policies;
mod slot_options;

use super::names::{nearest, refuse_repeated};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::{FileId, Sources, Span};
use crate::syntax::loom::{ast, is_part_of_slots, parse, slot_names, without_slots};
use policies::layers_of;
use slot_options::{check_key, check_parameters, refuse_headers};
use std::collections::{BTreeMap, VecDeque};
use std::sync::OnceLock;

/// Finds what a `use` names.
pub trait Library {
    /// The file that `path` names (`link/ethernet`, without ending), or all files of that folder,
    /// each with its name and its text; as seen from the file `user`.
    fn find(&self, user: &str, path: &str) -> Result<Vec<(String, String)>, Missing>;

    /// What any file can `use`, by its path with dots, so that a missing `use` can be named.
    fn all(&self) -> Vec<(String, Vec<(String, String)>)> {
        Vec::new()
    }
}

/// Why a `use` leads to nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing {
    /// It is at none of the places where it was looked for.
    Nowhere(Vec<String>),
    /// It is there and cannot be read: why.
    Unreadable(String),
}

/// Texts by name; a `use` is looked for from the root.
impl Library for BTreeMap<String, String> {
    fn find(&self, _user: &str, path: &str) -> Result<Vec<(String, String)>, Missing> {
        let file = format!("{path}.loom");
        let folder = format!("{path}/");
        if let Some(text) = self.get(&file) {
            return Ok(vec![(file, text.clone())]);
        }
        let within = self.range(folder.clone()..);
        let within: Vec<_> = within
            .take_while(|(name, _)| name.starts_with(&folder))
            .filter(|(name, _)| !name[folder.len()..].contains('/') && name.ends_with(".loom"))
            .map(|(name, text)| (name.clone(), text.clone()))
            .collect();
        match within.is_empty() {
            true => Err(Missing::Nowhere(vec![file, folder])),
            false => Ok(within),
        }
    }

    /// A folder that holds a file of its own name is one layer.
    fn all(&self) -> Vec<(String, Vec<(String, String)>)> {
        let mut units: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for (file, text) in self {
            let path = file.trim_end_matches(".loom");
            let (folder, _) = path.rsplit_once('/').unwrap_or_default();
            let (_, own) = folder.rsplit_once('/').unwrap_or(("", folder));
            let is_one = self.contains_key(&format!("{folder}/{own}.loom"));
            let path = if is_one { folder } else { path };
            let unit = units.entry(path.replace('/', ".")).or_default();
            unit.push((file.clone(), text.clone()));
        }
        units.into_iter().collect()
    }
}

/// Names one file, or one folder, of [`Files`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UnitId(pub u32);

/// Everything that a run of the compiler has read.
#[derive(Clone, Debug, Default)]
pub struct Files {
    units: Vec<Unit>,
    /// Used units before those that use them, the root last.
    order: Vec<UnitId>,
    /// What any file can `use`.
    all: Vec<(String, Vec<(String, String)>)>,
    /// By a name: which `use` gives it. It is found when somebody asks.
    givers: OnceLock<BTreeMap<String, Giver>>,
}

/// One file, or one folder: what shares a scope.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its files.
    pub files: Vec<FileId>,
    /// What it uses, as far as it was found, and where it says so.
    pub uses: Vec<(UnitId, Span)>,
    /// The units that its slots use.
    implied: Vec<UnitId>,
    /// The services it declares.
    pub services: Vec<ast::Service>,
    /// The layers it declares, each with all its items.
    pub layers: Vec<ast::Layer>,
    /// Items that belong to no layer.
    pub items: Vec<ast::Item>,
    /// The stacks it declares, without slots.
    pub stacks: Vec<ast::Stack>,
    /// The policies it declares, for slots of its own and of those that use it.
    policies: Vec<ast::Policy>,
}

impl Unit {
    /// Returns the units that it uses, and those that its slots use.
    fn all_used(&self) -> impl Iterator<Item = UnitId> {
        let written = self.uses.iter().map(|(used, _)| *used);
        written.chain(self.implied.iter().copied())
    }

    /// The names that it gives to those that use it.
    pub fn gives(&self) -> Vec<&ast::Name> {
        let layers = self.layers.iter().map(|layer| &layer.name);
        let services = self.services.iter().map(|service| &service.name);
        let items = self.items.iter().filter_map(|item| match item {
            ast::Item::Constant(item) => Some(&item.name),
            ast::Item::Type(item) => Some(&item.name),
            ast::Item::Record(item) => Some(&item.name),
            ast::Item::Filter(item) => Some(&item.name),
            ast::Item::Function(item) => Some(&item.name),
            ast::Item::Enum(item) => Some(&item.name),
            ast::Item::Attribute(_)
            | ast::Item::Header(_)
            | ast::Item::Instance(_)
            | ast::Item::Process(_)
            | ast::Item::Finder(_)
            | ast::Item::Handler(_) => None,
        });
        let policies = self.policies.iter().map(|policy| &policy.name);
        layers
            .chain(services)
            .chain(items)
            .chain(policies)
            .collect()
    }
}

/// A file of the library that gives a name.
#[derive(Clone, Debug)]
struct Giver {
    path: String,
    is_layer: bool,
}

impl Files {
    /// Says which `use` would give a name that stands for nothing, if the library knows one. All
    /// that one `use` would give is one mistake.
    pub fn suggest_use(&self, unknown: Diagnostic, name: &str) -> Diagnostic {
        match self.given_by(name) {
            None => unknown,
            Some(path) => {
                let unknown = unknown.cause(format!("use {path}"));
                unknown.help(format!("add `use {path}` at the top of the file"))
            }
        }
    }

    /// Says in which folder of the library a file is that was looked for by its name alone.
    fn suggest_path(&self, missing: &mut Diagnostic, sources: &Sources) {
        if missing.id != Id::UseNotFound {
            return;
        }
        let end = format!(".{}", sources.slice(missing.primary.span));
        let mut paths = self.all.iter().map(|(path, _)| path);
        if let Some(path) = paths.find(|path| path.ends_with(&end)) {
            missing.help = Some(format!("did you mean `use {path}`?"));
        }
    }

    /// Returns whether the library gives a layer of this name.
    pub fn gives_layer(&self, name: &str) -> bool {
        self.givers().get(name).is_some_and(|giver| giver.is_layer)
    }

    /// Returns the layer of the library whose name is most like this one, and the path of its
    /// file; none if none is like it.
    pub fn layer_like(&self, name: &str) -> Option<(&str, &str)> {
        let layers = self.givers().iter().filter(|(_, giver)| giver.is_layer);
        let layers = layers.filter(|(name, _)| !is_part_of_slots(name));
        let known: Vec<&str> = layers.map(|(name, _)| name.as_str()).collect();
        let like = nearest(name, &known)?;
        Some((like, self.given_by(like)?))
    }

    fn given_by(&self, name: &str) -> Option<&str> {
        self.givers().get(name).map(|giver| &*giver.path)
    }

    fn givers(&self) -> &BTreeMap<String, Giver> {
        self.givers.get_or_init(|| {
            let mut givers = BTreeMap::new();
            for (path, texts) in &self.all {
                let mut sources = Sources::new();
                let (files, _) = load(&mut sources, texts.clone(), &Alone);
                let unit = files.unit(files.root());
                for name in unit.gives() {
                    let mut layers = unit.layers.iter();
                    givers.entry(name.text.clone()).or_insert_with(|| Giver {
                        path: path.clone(),
                        is_layer: layers.any(|layer| layer.name.text == name.text),
                    });
                }
            }
            givers
        })
    }

    /// What was asked for.
    pub fn root(&self) -> UnitId {
        UnitId(0)
    }

    /// The service of what a layer passes on that names none.
    pub fn built_in(&self) -> UnitId {
        UnitId(1)
    }

    /// One of them.
    pub fn unit(&self, unit: UnitId) -> &Unit {
        &self.units[unit.0 as usize]
    }

    /// All, used ones before those that use them.
    pub fn in_order_of_use(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.order.iter().copied()
    }

    /// The unit itself, what it uses, what that uses, and so on, each once: the order in which a
    /// name is looked for.
    pub fn visible(&self, unit: UnitId) -> Vec<UnitId> {
        let mut visible = vec![unit];
        let mut at = 0;
        while at < visible.len() {
            for used in self.unit(visible[at]).all_used() {
                if !visible.contains(&used) {
                    visible.push(used);
                }
            }
            at += 1;
        }
        if !visible.contains(&self.built_in()) {
            visible.push(self.built_in());
        }
        visible
    }

    /// The layer of a name, as a unit sees it.
    fn layer_in_sight(&self, unit: UnitId, name: &str) -> Option<&ast::Layer> {
        let visible = self.visible(unit).into_iter();
        let mut layers = visible.flat_map(|unit| &self.unit(unit).layers);
        layers.find(|layer| layer.name.is(name))
    }
}

/// No library: a file is looked at by itself.
struct Alone;

impl Library for Alone {
    fn find(&self, _user: &str, _path: &str) -> Result<Vec<(String, String)>, Missing> {
        Err(Missing::Nowhere(Vec::new()))
    }
}

/// Where the compiler's own service stands.
const BUILT_IN: &str = "(built in)/messages.loom";

/// What layers pass on that say of no service: messages without attributes.
const MESSAGES: &str = "\
/// messages: what a layer gives and takes that names no service
service messages {
    notice grant_delivers(messages: u32) down     // so many more may come up
    notice grant_sends(messages: u32) up          // so many more may go down
}
";

/// Reads a file, or all files of a folder, and what they use.
pub fn load(
    sources: &mut Sources,
    root: Vec<(String, String)>,
    library: &dyn Library,
) -> (Files, Vec<Diagnostic>) {
    let mut loader = Loader {
        sources,
        library,
        diagnostics: Vec::new(),
        files: Files::default(),
        by_name: BTreeMap::new(),
        wanted: VecDeque::new(),
    };
    loader.unit(root);
    loader.unit(vec![(BUILT_IN.to_string(), MESSAGES.to_string())]);
    loader.follow_all();
    loader.expand_slots();
    loader.follow_all();
    let Loader {
        mut files,
        mut diagnostics,
        ..
    } = loader;
    let mut ordering = Ordering {
        files: &files,
        met: vec![Met::Never; files.units.len()],
        order: Vec::new(),
        circles: Vec::new(),
    };
    for unit in [files.built_in(), files.root()] {
        ordering.put(unit);
    }
    diagnostics.extend(ordering.circles.into_iter().map(circle));
    files.order = ordering.order;
    files.all = library.all();
    for missing in &mut diagnostics {
        files.suggest_path(missing, sources);
    }
    (files, diagnostics)
}

struct Loader<'a> {
    sources: &'a mut Sources,
    library: &'a dyn Library,
    diagnostics: Vec<Diagnostic>,
    files: Files,
    /// Units by the name of their first file.
    by_name: BTreeMap<String, UnitId>,
    /// What is still to be looked for, and for whom.
    wanted: VecDeque<(UnitId, ast::Use, Why)>,
}

/// Why a unit uses another.
#[derive(Clone, Copy)]
enum Why {
    /// It says so.
    Written,
    /// A stack of it has slots.
    ForSlots,
}

impl Loader<'_> {
    /// Parses the files of a unit, unless it is here already.
    fn unit(&mut self, texts: Vec<(String, String)>) -> UnitId {
        let first = texts
            .first()
            .map_or(String::new(), |(name, _)| name.clone());
        if let Some(unit) = self.by_name.get(&first) {
            return *unit;
        }
        let id = UnitId(self.files.units.len() as u32);
        self.by_name.insert(first, id);
        let mut unit = Unit {
            files: Vec::new(),
            uses: Vec::new(),
            implied: Vec::new(),
            services: Vec::new(),
            layers: Vec::new(),
            items: Vec::new(),
            stacks: Vec::new(),
            policies: Vec::new(),
        };
        let (alone, told) = (texts.len() == 1, self.diagnostics.len());
        for (name, text) in texts {
            let file = self.sources.add(name, text);
            let (tree, diagnostics) = parse(file, self.sources);
            self.diagnostics.extend(diagnostics);
            unit.files.push(file);
            for declaration in tree.declarations {
                match declaration {
                    ast::Declaration::Service(service) => unit.services.push(service),
                    ast::Declaration::Layer(layer) => unit.layers.push(layer),
                    ast::Declaration::Item(item) => unit.items.push(item),
                    ast::Declaration::Stack(stack) => unit.stacks.push(stack),
                    ast::Declaration::Policy(policy) => unit.policies.push(policy),
                }
            }
            let wanted = tree.uses.into_iter();
            self.wanted
                .extend(wanted.map(|wanted| (id, wanted, Why::Written)));
        }
        let is_read = self.diagnostics.len() == told;
        let layers = unit.layers.iter().map(|layer| &layer.name);
        refuse_repeated(layers, &mut self.diagnostics);
        let policies = unit.policies.iter().map(|policy| &policy.name);
        refuse_repeated(policies, &mut self.diagnostics);
        let stacks = unit.stacks.iter().map(|stack| &stack.name);
        if is_read {
            refuse_repeated(stacks, &mut self.diagnostics);
        }
        if !alone && let Some(layer) = unit.layers.first_mut() {
            layer.items.append(&mut unit.items);
        }
        self.files.units.push(unit);
        id
    }

    /// Looks for all that is wanted, and for what that wants.
    fn follow_all(&mut self) {
        while let Some((user, wanted, why)) = self.wanted.pop_front() {
            self.follow(user, &wanted, why);
        }
    }

    /// Replaces the slots of all stacks by layers, which are wanted then.
    fn expand_slots(&mut self) {
        for id in (0..self.files.units.len() as u32).map(UnitId) {
            let mut stacks = std::mem::take(&mut self.files.units[id.0 as usize].stacks);
            if !stacks.is_empty() {
                let policies = self.policies_in_sight(id);
                for stack in &mut stacks {
                    let names = slot_names(&stack.nodes);
                    refuse_repeated(names.iter(), &mut self.diagnostics);
                    let used = without_slots(stack, self.sources, |slot, has_label| {
                        let layer = |name: &str| self.files.layer_in_sight(id, name);
                        check_parameters(slot, &mut self.diagnostics);
                        check_key(slot, has_label, &mut self.diagnostics);
                        refuse_headers(slot, layer, &mut self.diagnostics);
                        layers_of(slot, &policies, &mut self.diagnostics)
                    });
                    let used = used.into_iter().map(|used| (id, used, Why::ForSlots));
                    self.wanted.extend(used);
                }
            }
            self.files.units[id.0 as usize].stacks = stacks;
        }
    }

    /// The policies that a unit sees, by their names.
    fn policies_in_sight(&self, unit: UnitId) -> BTreeMap<String, ast::Policy> {
        let mut policies = BTreeMap::new();
        for unit in self.files.visible(unit) {
            for policy in &self.files.unit(unit).policies {
                let name = policy.name.text.clone();
                policies.entry(name).or_insert_with(|| policy.clone());
            }
        }
        policies
    }

    /// Looks for what a unit uses.
    fn follow(&mut self, user: UnitId, wanted: &ast::Use, why: Why) {
        let names: Vec<_> = wanted.path.names.iter().map(|name| &*name.text).collect();
        let from = self.sources.name(wanted.span.file).to_string();
        match self.library.find(&from, &names.join("/")) {
            Ok(texts) => {
                let used = self.unit(texts);
                let user = &mut self.files.units[user.0 as usize];
                match why {
                    Why::Written => user.uses.push((used, wanted.span)),
                    Why::ForSlots => user.implied.push(used),
                }
            }
            Err(missing) => self.diagnostics.push(not_found(&wanted.path, missing)),
        }
    }
}

fn not_found(path: &ast::Path, missing: Missing) -> Diagnostic {
    let about = |title| Diagnostic::error(Id::UseNotFound, title, path.span, "");
    match missing {
        Missing::Nowhere(places) => about(format!("`{path}` was not found"))
            .why(format!("The compiler searched {}.", places.join(", ")))
            .help(
                "`use order.sequencer` names the file `order/sequencer.loom` or the folder \
                `order/sequencer`",
            ),
        Missing::Unreadable(reason) => {
            about(format!("`{path}` cannot be read")).why(format!("{reason}."))
        }
    }
}

/// Puts used units first.
struct Ordering<'a> {
    files: &'a Files,
    met: Vec<Met>,
    order: Vec<UnitId>,
    /// Each `use` that leads back to where it comes from.
    circles: Vec<Span>,
}

/// How far a unit has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Met {
    Never,
    /// What it uses is being put before it.
    Begun,
    Done,
}

impl Ordering<'_> {
    fn put(&mut self, unit: UnitId) {
        self.met[unit.0 as usize] = Met::Begun;
        for (used, span) in &self.files.unit(unit).uses {
            match self.met[used.0 as usize] {
                Met::Never => self.put(*used),
                Met::Begun => self.circles.push(*span),
                Met::Done => {}
            }
        }
        for used in &self.files.unit(unit).implied {
            if self.met[used.0 as usize] == Met::Never {
                self.put(*used);
            }
        }
        self.met[unit.0 as usize] = Met::Done;
        self.order.push(unit);
    }
}

fn circle(span: Span) -> Diagnostic {
    let title = "files use each other in a cycle";
    Diagnostic::error(Id::UseCircle, title, span, "this `use` closes the cycle")
        .help("move the declarations that both files need into a third file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(texts: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(name, text): &(&str, &str)| (name.to_string(), text.to_string());
        texts.iter().map(owned).collect()
    }

    #[test]
    fn what_is_used_is_read_once_and_comes_first() {
        let library = library(&[
            ("a/one.loom", "use b.service\nservice one {}\n"),
            ("b/service.loom", "service two {}\n"),
        ]);
        let root = "use a.one\nuse b.service\n".to_string();
        let mut sources = Sources::new();
        let root = vec![("root.loom".to_string(), root)];
        let (files, diagnostics) = load(&mut sources, root, &library);
        assert_eq!(diagnostics, []);
        let order: Vec<_> = files.in_order_of_use().map(|unit| unit.0).collect();
        assert_eq!(order, [1, 3, 2, 0]);
        assert_eq!(files.visible(files.root()).len(), 4);
    }

    #[test]
    fn the_files_of_a_folder_share_one_layer() {
        let library = library(&[
            ("x/tcp/scan.loom", "const few: u8 = 3\n"),
            ("x/tcp/tcp.loom", "worker tcp\n"),
            ("x/tcp/deeper/not.loom", "worker not\n"),
        ]);
        let mut sources = Sources::new();
        let root = vec![("root.loom".to_string(), "use x.tcp\n".to_string())];
        let (files, diagnostics) = load(&mut sources, root, &library);
        assert_eq!(diagnostics, []);
        let unit = files.unit(files.unit(files.root()).uses[0].0);
        assert_eq!(
            (unit.files.len(), unit.layers.len(), unit.items.len()),
            (2, 1, 0)
        );
        assert_eq!(unit.layers[0].items.len(), 1);
    }

    #[test]
    fn what_is_not_found_is_said_with_the_places() {
        let mut sources = Sources::new();
        let root = vec![("root.loom".to_string(), "use no.such\n".to_string())];
        let (_, diagnostics) = load(&mut sources, root, &library(&[]));
        assert_eq!(diagnostics[0].id, Id::UseNotFound);
        let why = diagnostics[0].why.as_deref();
        assert_eq!(why, Some("The compiler searched no/such.loom, no/such/."));
    }
}
