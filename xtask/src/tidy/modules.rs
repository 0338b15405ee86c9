//! The modules of a crate, and which file uses what of which other file.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::source::{Token, after_group, tokens};

/// The files of a crate as modules, with what each uses of the others.
#[derive(Clone)]
pub(super) struct Modules {
    /// Each file by its path below `src`, without ending: `parser/text`; the root is `lib` or `main`.
    pub(super) names: Vec<String>,
    /// For each file the files it uses, and the names that it uses of them.
    pub(super) uses: Vec<BTreeMap<usize, BTreeSet<String>>>,
}

/// What a module says; `mod a { … }` within a file is a module of its own.
#[derive(Default)]
struct Module {
    file: usize,
    children: HashSet<String>,
    definitions: HashSet<String>,
    imports: Vec<Import>,
    /// Paths in the code, outside of imports.
    paths: Vec<Vec<String>>,
    /// Names in the code that stand alone or at the head of a path.
    words: HashSet<String>,
}

struct Import {
    /// The name in this module; `*` for everything.
    name: String,
    path: Vec<String>,
    public: bool,
}

/// Names from the root of the crate.
type ModulePath = Vec<String>;

/// Gives the text of a file, if there is one.
type Files<'f> = &'f dyn Fn(&Path) -> Option<String>;

impl Modules {
    /// Reads the crate whose root is `file`, such as `src/lib.rs`, and follows its `mod` declarations.
    pub(super) fn read(file: &Path) -> Self {
        Self::read_from(file, &|path| fs::read_to_string(path).ok())
    }

    fn read_from(root: &Path, files: Files<'_>) -> Self {
        let mut reader = Reader { files, names: Vec::new(), modules: HashMap::new() };
        reader.read_file(root, root.parent().expect("a file lies in a folder"), &[]);
        let Reader { names, modules, .. } = reader;
        let mut uses = vec![BTreeMap::<usize, BTreeSet<String>>::new(); names.len()];
        for (path, module) in &modules {
            for (target, name) in module.used(path, &modules).into_iter().filter(|(target, _)| *target != module.file) {
                uses[module.file].entry(target).or_default().insert(name);
            }
        }
        Self { names, uses }
    }
}

struct Reader<'f> {
    files: Files<'f>,
    names: Vec<String>,
    modules: HashMap<ModulePath, Module>,
}

impl Reader<'_> {
    /// `folder` holds the files of the children.
    fn read_file(&mut self, file: &Path, folder: &Path, path: &[String]) {
        let text = (self.files)(file).unwrap_or_else(|| panic!("{} cannot be read", file.display()));
        let index = self.names.len();
        let root = file.file_stem().unwrap_or_default().to_string_lossy();
        self.names.push(if path.is_empty() { root.into_owned() } else { path.join("/") });
        for child in self.read_module(&tokens(&text), index, path) {
            let inner: PathBuf = folder.join(child[path.len()..].join("/"));
            let candidates = [inner.with_extension("rs"), inner.join("mod.rs")];
            let file = candidates.iter().find(|candidate| (self.files)(candidate).is_some());
            let file = file.unwrap_or_else(|| panic!("there is no file for the module at {}", inner.display()));
            self.read_file(file, &inner, &child);
        }
    }

    /// Gives the modules that lie in files of their own.
    fn read_module(&mut self, tokens: &[Token], file: usize, path: &[String]) -> Vec<ModulePath> {
        let mut module = Module { file, ..Module::default() };
        let mut outside = Vec::new();
        // Definitions count where they stand in no braces.
        let mut depth = 0_usize;
        let mut public = false;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let was_public = std::mem::take(&mut public);
            let next = tokens.get(at + 1).and_then(Token::word);
            at += match (token.word(), next) {
                (None, _) => {
                    depth = (depth + usize::from(token.is('{'))).saturating_sub(usize::from(token.is('}')));
                    1
                }
                // A field or a method; behind two dots anything may stand.
                (Some(_), _) if at > 0 && tokens[at - 1].is('.') && !(at > 1 && tokens[at - 2].is('.')) => 1,
                (Some("pub"), _) => {
                    public = true;
                    if tokens.get(at + 1).is_some_and(|next| next.is('(')) {
                        after_group(tokens, at + 1) - at
                    } else {
                        1
                    }
                }
                (Some("mod"), Some(name)) => {
                    let child: ModulePath = path.iter().cloned().chain([name.to_owned()]).collect();
                    module.children.insert(name.to_owned());
                    if tokens.get(at + 2).is_some_and(|token| token.is('{')) {
                        let end = after_group(tokens, at + 2);
                        outside.extend(self.read_module(&tokens[at + 3..end - 1], file, &child));
                        end - at
                    } else {
                        outside.push(child);
                        2
                    }
                }
                (Some("use"), _) => {
                    let length = tokens[at..].iter().position(|token| token.is(';')).unwrap_or(tokens.len() - at);
                    import(&tokens[at + 1..at + length], &[], was_public, &mut module.imports);
                    length
                }
                (Some(word), Some(name)) if depth == 0 && DEFINING.contains(&word) => {
                    module.definitions.insert(name.to_owned());
                    2
                }
                // The name of a field, an argument or a variable.
                (Some(_), _) if tokens.get(at + 1).is_some_and(|token| token.is(':')) => 1,
                (Some(word), _) => {
                    module.words.insert(word.to_owned());
                    let mut segments = vec![word.to_owned()];
                    while let (Some(Token::PathSeparator), Some(Token::Word(segment))) =
                        (tokens.get(at + 2 * segments.len() - 1), tokens.get(at + 2 * segments.len()))
                    {
                        segments.push(segment.clone());
                    }
                    let length = 2 * segments.len() - 1;
                    module.paths.extend((segments.len() > 1).then_some(segments));
                    length
                }
            };
        }
        self.modules.insert(path.to_vec(), module);
        outside
    }
}

/// The words before a name that is defined.
const DEFINING: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

/// Reads what follows `use`.
fn import(tokens: &[Token], before: &[String], public: bool, imports: &mut Vec<Import>) {
    let mut path = before.to_vec();
    let mut name = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Word(word) if word == "as" => {
                name = tokens.get(at + 1).and_then(Token::word).map(str::to_owned);
                break;
            }
            Token::Word(word) if word == "self" && !path.is_empty() => {}
            Token::Word(word) => path.push(word.clone()),
            Token::Mark('*') => name = Some("*".to_owned()),
            Token::Mark('{') => {
                let end = after_group(tokens, at) - 1;
                for part in parts(&tokens[at + 1..end]) {
                    import(part, &path, public, imports);
                }
                return;
            }
            _ => {}
        }
        at += 1;
    }
    if let Some(name) = name.or_else(|| path.last().cloned()) {
        imports.push(Import { name, path, public });
    }
}

/// Splits at the commas that lie in no braces.
fn parts(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_usize;
    let split = tokens.split(|token| {
        match token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => depth -= 1,
            _ => {}
        }
        depth == 0 && token.is(',')
    });
    split.filter(|part| !part.is_empty()).collect()
}

/// How often a name may be handed on; a circle of re-exports ends here.
const HANDED_ON: usize = 16;

impl Module {
    /// Whether a path may start with `head` here.
    fn knows(&self, head: &str) -> bool {
        self.children.contains(head) || self.imports.iter().any(|import| import.name == head && import.path[0] != head)
    }

    /// Each use of a file: its index, and the name that is used.
    ///
    /// A re-export is no use where the file does not name itself what it hands on.
    fn used(&self, path: &[String], modules: &HashMap<ModulePath, Module>) -> Vec<(usize, String)> {
        let mut leads = Vec::new();
        for import in &self.imports {
            if import.name == "*" {
                let lead = follow(modules, path, &import.path, HANDED_ON);
                if let Lead::Inside(Target { module, name: None, .. }) = &lead {
                    leads.extend(self.words.iter().filter_map(|word| provided(modules, module, word, HANDED_ON)));
                }
                // The variants of an enum, for example.
                leads.extend((!import.public).then_some(lead));
            } else if !import.public || self.words.contains(&import.name) {
                leads.push(follow(modules, path, &import.path, HANDED_ON));
            }
        }
        for inline in &self.paths {
            if matches!(inline[0].as_str(), "crate" | "super" | "self") || self.knows(&inline[0]) {
                leads.push(follow(modules, path, inline, HANDED_ON));
            }
        }
        let inside = leads.into_iter().filter_map(|lead| match lead {
            Lead::Inside(target) => Some((target.file, target.name.unwrap_or_else(|| "self".to_owned()))),
            Lead::Outside => None,
        });
        inside.collect()
    }
}

/// Where a path leads.
enum Lead {
    Inside(Target),
    /// To another crate.
    Outside,
}

/// A file of this crate, and what of it.
struct Target {
    module: ModulePath,
    file: usize,
    /// Nothing where the path leads to the module itself.
    name: Option<String>,
}

/// Follows a path that stands in the module `from`.
fn follow(modules: &HashMap<ModulePath, Module>, from: &[String], path: &[String], fuel: usize) -> Lead {
    let mut segments = path;
    let mut module = from.to_vec();
    match path.first().map(String::as_str) {
        Some("crate") => {
            module.clear();
            segments = &path[1..];
        }
        Some("self") => segments = &path[1..],
        Some("super") => {}
        Some(head) if modules[from].knows(head) => {}
        _ => return Lead::Outside,
    }
    while segments.first().is_some_and(|segment| segment == "super") {
        module.pop();
        segments = &segments[1..];
    }
    for segment in segments {
        match provided(modules, &module, segment, fuel) {
            Some(Lead::Inside(Target { module: inner, name: None, .. })) => module = inner,
            Some(lead) => return lead,
            // Made by a macro, for example.
            None => {
                let file = modules[&module].file;
                return Lead::Inside(Target { module, file, name: Some(segment.clone()) });
            }
        }
    }
    let file = modules[&module].file;
    Lead::Inside(Target { module, file, name: None })
}

/// What the module `path` calls `name`: a child, a definition or an import.
fn provided(modules: &HashMap<ModulePath, Module>, path: &[String], name: &str, fuel: usize) -> Option<Lead> {
    let module = modules.get(path)?;
    let fuel = fuel.checked_sub(1)?;
    if module.children.contains(name) {
        let child: ModulePath = path.iter().cloned().chain([name.to_owned()]).collect();
        let file = modules[&child].file;
        return Some(Lead::Inside(Target { module: child, file, name: None }));
    }
    if module.definitions.contains(name) {
        let target = Target { module: path.to_vec(), file: module.file, name: Some(name.to_owned()) };
        return Some(Lead::Inside(target));
    }
    if let Some(import) = module.imports.iter().find(|import| import.name == name) {
        return Some(follow(modules, path, &import.path, fuel));
    }
    let globs = module.imports.iter().filter(|import| import.name == "*");
    globs.map(|import| follow(modules, path, &import.path, fuel)).find_map(|lead| match lead {
        Lead::Inside(Target { module, name: None, .. }) => provided(modules, &module, name, fuel),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new("src").join(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let modules = Modules::read_from(Path::new("src/lib.rs"), &read);
        let mut found = Vec::new();
        for (file, uses) in modules.uses.iter().enumerate() {
            for (other, names) in uses {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                found.push(format!("{} {} {}", modules.names[file], modules.names[*other], names.join(",")));
            }
        }
        found.sort();
        assert_eq!(found, expected, "{files:?}");
    }

    #[test]
    fn imports_and_paths_lead_to_where_a_name_is_defined() {
        let a = "pub struct A; pub enum E { F } pub mod inner { pub struct G; }";
        check(
            &[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", "use super::a::{A, E::*, inner};")],
            &["b a A,E,self"],
        );
        check(&[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", "fn f() { crate::a::inner::G }")], &["b a G"]);
        check(&[("lib.rs", "mod a; fn f() { a::A }"), ("a.rs", a)], &["lib a A"]);
        check(&[("lib.rs", "mod a; pub use a::A; mod b;"), ("a.rs", a), ("b.rs", "use crate::A;")], &["b a A"]);
        check(
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", a),
                ("b.rs", "mod c; use super::a::A as B;"),
                ("b/c.rs", "use super::B;"),
            ],
            &["b a A", "b/c a A"],
        );
        check(&[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", "use super::a::*; fn f() { A }")], &["b a A,self"]);
        check(&[("lib.rs", "mod a; mod b;"), ("a.rs", "use std::fmt; fn f() {}"), ("b.rs", "use super::a::fmt;")], &[]);
    }

    #[test]
    fn what_a_file_hands_on_it_uses_only_where_it_names_it() {
        let a = ("a.rs", "pub struct A;");
        check(&[("lib.rs", "mod a; pub use a::A;"), a], &[]);
        check(&[("lib.rs", "mod a; pub use a::A; fn f() -> A {}"), a], &["lib a A"]);
        check(&[("lib.rs", "mod a; pub use a::A; struct B { A: C }"), a], &[]);
        check(&[("lib.rs", "mod a; pub(crate) use a::A; struct B { b: C, d: A }"), a], &["lib a A"]);
    }

    #[test]
    fn tests_do_not_count() {
        check(&[("lib.rs", "mod a; #[cfg(test)] mod tests { use super::a::A; }"), ("a.rs", "pub struct A;")], &[]);
    }
}
