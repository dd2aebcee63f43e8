//! The modules of a crate, with the file that defines each name used in its code.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, ImplItem, Item, ItemImpl, ItemMod, ItemUse, Macro, Meta, Path, Type, UseTree,
    Visibility,
    visit::{self, Visit},
};

use crate::repository::File;

/// Maximum re-exports followed from one name to its definition: a cycle of `pub use` ends here.
const STEPS_MAX: usize = 16;

/// The names used in a crate's code, file by file, without code that is only compiled for tests.
#[derive(Debug, Default)]
pub(crate) struct ModuleTree {
    modules: Vec<Module>,
    references: Vec<Reference>,
    problems: Vec<String>,
}

/// A file, or a `mod name { .. }` within one.
#[derive(Debug)]
struct Module {
    /// Path of its file from the repository's root.
    file: String,
    /// Directory of the files of its child modules.
    directory: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    uses: Vec<Use>,
}

/// One name that a `use` imports into a module.
#[derive(Debug, Clone)]
struct Use {
    /// The local name; `None` for `*`.
    name: Option<String>,
    path: Vec<String>,
    /// A re-export is no dependency until its own file uses the name.
    reexport: bool,
}

/// A path as written in the code.
#[derive(Debug)]
struct Reference {
    module: usize,
    path: Vec<String>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A `use` that is not a re-export, or a path of two or more segments.
    Path,
    /// A single name: it was counted at its import, unless that was a re-export.
    Name,
    /// The type of an `impl` block without a trait.
    Impl,
}

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Module(usize),
    Item { module: usize, name: String },
}

/// Names of other files that one file uses.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependencies {
    /// Each used file with the names that it defines and this file uses.
    pub(crate) uses: BTreeMap<String, BTreeSet<String>>,
    /// Types of other files that are extended with methods here: (file, type).
    pub(crate) continues: BTreeSet<(String, String)>,
}

impl ModuleTree {
    /// Reads the modules below `src/lib.rs` or `src/main.rs`.
    pub(crate) fn read(sources: &[File]) -> Self {
        let mut tree = Self::default();
        let root = sources
            .iter()
            .find(|file| file.path.ends_with("/src/lib.rs") || file.path.ends_with("/src/main.rs"));
        if let Some(root) = root {
            let directory = directory_of(&root.path);
            tree.add_file(sources, root, directory, None);
        }
        tree
    }

    /// The dependencies of each file on the others.
    pub(crate) fn dependencies(&self) -> BTreeMap<String, Dependencies> {
        let mut all: BTreeMap<String, Dependencies> = BTreeMap::new();
        for module in &self.modules {
            all.entry(module.file.clone()).or_default();
        }
        for reference in &self.references {
            let from = &self.modules[reference.module].file;
            let targets = match reference.kind {
                Kind::Name => self.through_reexport(reference.module, &reference.path[0]),
                Kind::Path | Kind::Impl => self.resolve(reference.module, &reference.path, 0),
            };
            let dependencies = all.entry(from.clone()).or_default();
            for target in targets {
                let Target::Item { module, name } = target else {
                    continue;
                };
                let file = &self.modules[module].file;
                if file == from {
                    continue;
                }
                if reference.kind == Kind::Impl {
                    dependencies.continues.insert((file.clone(), name));
                } else {
                    dependencies
                        .uses
                        .entry(file.clone())
                        .or_default()
                        .insert(name);
                }
            }
        }
        all
    }

    /// Unreadable files, and paths within the crate that could not be resolved: the graph would be incomplete.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = self.problems.clone();
        for reference in &self.references {
            let within = ["crate", "super", "self"].contains(&reference.path[0].as_str());
            if within
                && self
                    .resolve(reference.module, &reference.path, 0)
                    .is_empty()
            {
                problems.push(format!(
                    "{}: {} leads nowhere",
                    self.modules[reference.module].file,
                    reference.path.join("::")
                ));
            }
        }
        problems
    }

    fn add_file(
        &mut self,
        sources: &[File],
        file: &File,
        directory: String,
        parent: Option<usize>,
    ) -> usize {
        let module = self.add_module(file.path.clone(), directory, parent);
        match syn::parse_file(&file.text) {
            Ok(parsed) => {
                let mut reader = Reader {
                    tree: self,
                    sources,
                    module,
                };
                reader.visit_file(&parsed);
            }
            Err(error) => self.problems.push(format!("{}: {error}", file.path)),
        }
        module
    }

    fn add_module(&mut self, file: String, directory: String, parent: Option<usize>) -> usize {
        self.modules.push(Module {
            file,
            directory,
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            uses: Vec::new(),
        });
        self.modules.len() - 1
    }

    fn resolve(&self, from: usize, path: &[String], steps: usize) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let mut targets = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(from)],
            "super" => self.parent(from).into_iter().collect(),
            name => self.lookup(from, name, steps),
        };
        for segment in rest {
            let modules: Vec<usize> = targets
                .iter()
                .filter_map(|target| match target {
                    Target::Module(module) => Some(*module),
                    Target::Item { .. } => None,
                })
                .collect();
            if modules.is_empty() {
                // A variant or an associated item: the type has been found.
                break;
            }
            targets = modules
                .into_iter()
                .flat_map(|module| match segment.as_str() {
                    "super" => self.parent(module).into_iter().collect(),
                    "self" => vec![Target::Module(module)],
                    name => self.lookup(module, name, steps),
                })
                .collect();
        }
        targets
    }

    fn parent(&self, module: usize) -> Option<Target> {
        self.modules[module].parent.map(Target::Module)
    }

    /// Everything of this name in a module: a child module, an item, an import.
    fn lookup(&self, module: usize, name: &str, steps: usize) -> Vec<Target> {
        if steps == STEPS_MAX {
            return Vec::new();
        }
        let here = &self.modules[module];
        let mut targets = BTreeSet::new();
        targets.extend(here.children.get(name).map(|child| Target::Module(*child)));
        if here.items.contains(name) {
            targets.insert(Target::Item {
                module,
                name: name.to_owned(),
            });
        }
        for one in &here.uses {
            match &one.name {
                Some(local) if local == name => {
                    targets.extend(self.resolve(module, &one.path, steps + 1));
                }
                Some(_) => {}
                None if targets.is_empty() => {
                    for target in self.resolve(module, &one.path, steps + 1) {
                        if let Target::Module(globbed) = target {
                            targets.extend(self.lookup(globbed, name, steps + 1));
                        }
                    }
                }
                None => {}
            }
        }
        targets.into_iter().collect()
    }

    fn through_reexport(&self, module: usize, name: &str) -> Vec<Target> {
        let reexports = self.modules[module]
            .uses
            .iter()
            .filter(|one| one.reexport && one.name.as_deref() == Some(name));
        reexports
            .flat_map(|one| self.resolve(module, &one.path, 0))
            .collect()
    }
}

/// Collects the modules, items and references of one file.
struct Reader<'a> {
    tree: &'a mut ModuleTree,
    sources: &'a [File],
    module: usize,
}

impl Reader<'_> {
    fn refer(&mut self, path: Vec<String>, kind: Kind) {
        self.tree.references.push(Reference {
            module: self.module,
            path,
            kind,
        });
    }

    fn refer_to(&mut self, path: Vec<String>) {
        let kind = if path.len() > 1 {
            Kind::Path
        } else {
            Kind::Name
        };
        self.refer(path, kind);
    }

    /// The paths in the tokens of a macro or an attribute.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.flush(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => self.scan(group.stream()),
                TokenTree::Literal(literal) => self.scan_text(&literal.to_string()),
                TokenTree::Punct(_) => {}
            }
            self.flush(&mut path);
            colons = 0;
        }
        self.flush(&mut path);
    }

    /// A path in a string: `#[serde(with = "crate::compact")]`.
    fn scan_text(&mut self, literal: &str) {
        let text = literal.trim_matches('"');
        let is_path = |segment: &str| {
            !segment.is_empty() && segment.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        if text.contains("::") && text.split("::").all(is_path) {
            self.refer_to(text.split("::").map(str::to_owned).collect());
        }
    }

    fn flush(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.refer_to(std::mem::take(path));
        }
    }

    fn add_use(&mut self, tree: &UseTree, prefix: &[String], reexport: bool) {
        let (name, last) = match tree {
            UseTree::Path(path) => {
                let prefix = [prefix, &[path.ident.to_string()]].concat();
                return self.add_use(&path.tree, &prefix, reexport);
            }
            UseTree::Group(group) => {
                for item in &group.items {
                    self.add_use(item, prefix, reexport);
                }
                return;
            }
            UseTree::Name(name) => (Some(name.ident.to_string()), Some(name.ident.to_string())),
            UseTree::Rename(rename) => (
                Some(rename.rename.to_string()),
                Some(rename.ident.to_string()),
            ),
            UseTree::Glob(_) => (None, None),
        };
        let mut path = prefix.to_vec();
        // `use a::{self}` is `use a`.
        let is_self = last.as_deref() == Some("self") && !prefix.is_empty();
        path.extend(last.filter(|_| !is_self));
        let name = if is_self && name.as_deref() == Some("self") {
            prefix.last().cloned()
        } else {
            name
        };
        let module = &mut self.tree.modules[self.module];
        module.uses.push(Use {
            name,
            path: path.clone(),
            reexport,
        });
        if !reexport {
            self.refer(path, Kind::Path);
        }
    }

    fn add_item(&mut self, item: &Item) {
        let ident = match item {
            Item::Const(it) => &it.ident,
            Item::Enum(it) => &it.ident,
            Item::Fn(it) => &it.sig.ident,
            Item::Macro(it) => match &it.ident {
                Some(ident) => ident,
                None => return,
            },
            Item::Static(it) => &it.ident,
            Item::Struct(it) => &it.ident,
            Item::Trait(it) => &it.ident,
            Item::TraitAlias(it) => &it.ident,
            Item::Type(it) => &it.ident,
            Item::Union(it) => &it.ident,
            _ => return,
        };
        let module = &mut self.tree.modules[self.module];
        module.items.insert(ident.to_string());
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !only_for_tests(attributes(item)) {
            self.add_item(item);
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(it) => &it.attrs,
            ImplItem::Fn(it) => &it.attrs,
            ImplItem::Type(it) => &it.attrs,
            _ => &Vec::new(),
        };
        if !only_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let name = item.ident.to_string();
        let here = &self.tree.modules[self.module];
        let directory = format!("{}/{name}", here.directory);
        let child = if let Some((_, items)) = &item.content {
            let file = here.file.clone();
            let child = self.tree.add_module(file, directory, Some(self.module));
            let outer = std::mem::replace(&mut self.module, child);
            for item in items {
                self.visit_item(item);
            }
            self.module = outer;
            child
        } else {
            let places = [format!("{directory}.rs"), format!("{directory}/mod.rs")];
            let Some(file) = self.sources.iter().find(|file| places.contains(&file.path)) else {
                self.tree
                    .problems
                    .push(format!("{}: mod {name} has no file", here.file));
                return;
            };
            self.tree
                .add_file(self.sources, file, directory, Some(self.module))
        };
        let here = &mut self.tree.modules[self.module];
        here.children.insert(name, child);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let reexport = !matches!(item.vis, Visibility::Inherited);
        self.add_use(&item.tree, &[], reexport);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if item.trait_.is_none()
            && let Type::Path(own) = &*item.self_ty
        {
            self.refer(segments(&own.path), Kind::Impl);
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.refer_to(segments(path));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.visit_path(&mac.path);
        self.scan(mac.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        match &attribute.meta {
            Meta::Path(_) => {}
            Meta::List(list) => self.scan(list.tokens.clone()),
            // Mostly documentation, in which a path is not a dependency.
            Meta::NameValue(_) => {}
        }
    }
}

fn segments(path: &Path) -> Vec<String> {
    let segments = path.segments.iter();
    segments.map(|segment| segment.ident.to_string()).collect()
}

fn directory_of(path: &str) -> String {
    let (directory, _) = path.rsplit_once('/').unwrap_or(("", path));
    directory.to_owned()
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::ExternCrate(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::ForeignMod(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::TraitAlias(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// True for `#[cfg(test)]`, also as one condition of `all(..)`.
fn only_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else {
            return false;
        };
        let condition = list.tokens.to_string();
        list.path.is_ident("cfg") && (condition == "test" || condition.starts_with("all (test"))
    })
}
