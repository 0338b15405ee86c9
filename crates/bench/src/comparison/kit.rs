//! Kits: how a server that is not ours is fetched, configured, started and asked.
//!
//! A kit is a folder with a `kit.toml` and what that names. Those in `bench/kits` are in the binary too; users add their
//! own by the path of its folder. The [README](../../../../bench/kits/README.md) there says what can stand in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use include_dir::{Dir, include_dir};
use myelin_spelling::suggestion;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::scenario::{Besides, Likeness, Scenario};
use super::server::is_installed;
use crate::units;

static KITS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../bench/kits");

const MANIFEST: &str = "kit.toml";
const README: &str = "README.md";
/// The key that names another kit, of which this one is a variety.
const LIKE: &str = "like";
/// Files of a kit are read into memory.
const LARGEST_BYTES: u64 = 16 << 20;

/// A kit as it was read.
#[derive(Clone, Debug)]
pub struct Kit {
    /// Its name in reports: that of its folder.
    pub name: String,
    pub(super) manifest: Manifest,
    /// All its files, by their paths inside the folder.
    files: Files,
}

/// The bytes of files, by their paths.
type Files = BTreeMap<String, Vec<u8>>;

/// What stands in `kit.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// One line that describes the server.
    pub(super) about: String,
    /// Programs that have to be on the search path.
    #[serde(default)]
    pub(super) needs: Vec<String>,
    /// Tells the version, in its first line.
    #[serde(default)]
    pub(super) version: Vec<String>,
    /// Brings what the kit needs into `@cache@`; run once.
    #[serde(default)]
    pub(super) fetch: Vec<String>,
    /// Starts the server, in the foreground.
    #[serde(default)]
    pub(super) start: Vec<String>,
    /// How long it may take until it answers as it should.
    #[serde(default = "ready_seconds")]
    pub(super) ready_seconds: u64,
    /// Whether it compiles its code while it runs, and so has to be driven for a while before it is measured.
    #[serde(default)]
    pub(super) compiles: bool,
    /// Files in which the places are filled in, and which are written to `@folder@`.
    #[serde(default)]
    pub(super) files: Vec<String>,
    /// Whether it reads Synapse's language: then `synapse.xml` is in `@folder@`, with a proxy service for each scenario.
    #[serde(default)]
    pub(super) synapse: bool,
    /// Whether the stylesheets of the scenarios are to be in `@folder@`.
    #[serde(default)]
    pub(super) stylesheets: bool,
    /// Places of its own.
    #[serde(default)]
    values: Places,
    /// The same where clients come by HTTPS; without this table it cannot do so.
    tls: Option<Places>,
    /// The same where each request gets a line in an access log; without this table it cannot write one.
    access_log: Option<Places>,
    /// Places whose text depends on the size of the messages.
    #[serde(default)]
    sizes: Vec<BySize>,
    /// What it can do.
    pub(super) scenarios: BTreeMap<String, Offer>,
    /// Why nobody could try this kit here.
    pub(super) untested: Option<String>,
}

/// What is filled in for messages up to a size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BySize {
    up_to: String,
    values: Places,
}

/// A scenario that a kit can do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Offer {
    /// The path of the URL.
    pub(super) path: String,
    /// The path of the service that leaves the answer as it is, where the scenario undoes on the way back what it did.
    pub(super) there: Option<String>,
    /// How like the expected answer its answers are.
    #[serde(default)]
    pub(super) answer: Likeness,
}

fn ready_seconds() -> u64 {
    20
}

/// The places that are filled in for every kit, as `places` of the contender has them.
#[cfg(test)]
const PLACES: [&str; 23] = [
    "listen",
    "port",
    "backend",
    "backend_host",
    "backend_port",
    "pool_1",
    "pool_2",
    "pool_3",
    "pool_4",
    "pool_1_port",
    "pool_2_port",
    "pool_3_port",
    "pool_4_port",
    "quotes",
    "folder",
    "cache",
    "kit",
    "threads",
    "keys",
    "routing",
    "certificate",
    "key",
    "certificate_and_key",
];

/// What is filled in, by the names of the places.
pub(super) type Places = BTreeMap<String, String>;

impl Kit {
    /// The kit of that name in the binary, or in the folder at that path, which has a `/` in it.
    ///
    /// Errors: there is none, or its manifest is none; the user's.
    pub fn find(name_or_path: &str) -> anyhow::Result<Kit> {
        if name_or_path.contains('/') {
            return Kit::in_folder(Path::new(name_or_path));
        }
        Kit::new(name_or_path, files_of(name_or_path)?)
    }

    /// The names of the kits in the binary.
    pub fn names() -> Vec<String> {
        KITS.dirs().map(|folder| folder.path().display().to_string()).collect()
    }

    fn in_folder(path: &Path) -> anyhow::Result<Kit> {
        let path = path.canonicalize().with_context(|| format!("there is no folder {} with a kit", path.display()))?;
        let mut files = Files::new();
        read_folder(&path, &path, &mut files)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Kit::new(&name, files).with_context(|| format!("the kit in {}", path.display()))
    }

    fn new(name: &str, mut files: Files) -> anyhow::Result<Kit> {
        let about = || format!("{MANIFEST} of the kit {name}");
        let mut manifest = table(&files).with_context(about)?;
        if let Some(toml::Value::String(other)) = manifest.remove(LIKE) {
            let others = files_of(&other).with_context(about)?;
            for (key, value) in table(&others)? {
                manifest.entry(key).or_insert(value);
            }
            for (file, bytes) in others {
                files.entry(file).or_insert(bytes);
            }
        }
        let manifest: Manifest = manifest.try_into().with_context(about)?;
        let known = |name: &&String| Scenario::of(name).is_none();
        if let Some(unknown) = manifest.scenarios.keys().find(known) {
            bail!("{MANIFEST} of the kit {name}: there is no scenario `{unknown}`");
        }
        if let Some(missing) = manifest.files.iter().find(|file| !files.contains_key(*file)) {
            bail!("{MANIFEST} of the kit {name} names the file {missing}, which is not in its folder");
        }
        for by_size in &manifest.sizes {
            units::size(&by_size.up_to)
                .map_err(anyhow::Error::msg)
                .with_context(|| format!("{MANIFEST} of the kit {name}: up_to"))?;
        }
        Ok(Kit { name: name.to_owned(), manifest, files })
    }

    /// How the kit does a scenario, if it can.
    pub(super) fn offer(&self, scenario: Scenario) -> Option<&Offer> {
        self.manifest.scenarios.get(&scenario.done_as().name())
    }

    /// What its README says.
    pub fn readme(&self) -> String {
        self.files.get(README).map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default()
    }

    /// One line that describes the server.
    pub fn about(&self) -> &str {
        &self.manifest.about
    }

    /// Why nobody could try it where this program was made, if so.
    pub fn untested(&self) -> Option<&str> {
        self.manifest.untested.as_deref()
    }

    /// What it can do.
    pub fn scenarios(&self) -> impl Iterator<Item = &str> {
        self.manifest.scenarios.keys().map(String::as_str)
    }

    /// What keeps it from running on this machine.
    pub fn missing(&self) -> Option<String> {
        if self.manifest.start.is_empty() {
            return Some(format!("it is started by hand, as `myelin bench kits {}` tells", self.name));
        }
        let missing: Vec<&str> =
            self.manifest.needs.iter().map(String::as_str).filter(|program| !is_installed(program)).collect();
        (!missing.is_empty()).then(|| format!("{} is not installed", missing.join(", ")))
    }

    /// Writes all its files into a folder, as they are.
    ///
    /// Errors: the disk's.
    pub(super) fn unpack(&self, folder: &Path) -> anyhow::Result<()> {
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).with_context(|| format!("cannot make the folder {}", parent.display()))?;
            }
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// The SHA-256 of all its files, in hexadecimal digits.
    pub(super) fn checksum(&self) -> String {
        let mut hash = Sha256::new();
        for (name, bytes) in &self.files {
            for part in [name.as_bytes(), bytes] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
        }
        hexadecimal(&hash.finalize())
    }

    /// Its configuration files with the places filled in, and the checksums of what they were before.
    ///
    /// Errors: a file is no text, or names a place that there is none of; its author's.
    pub(super) fn filled_in(&self, places: &Places) -> anyhow::Result<Vec<(String, String, String)>> {
        let fill = |name: &String| {
            let bytes = &self.files[name];
            let text = std::str::from_utf8(bytes).with_context(|| format!("{name} of the kit {}", self.name))?;
            let filled = fill_in(text, places).with_context(|| format!("{name} of the kit {}", self.name))?;
            Ok((name.clone(), filled, checksum(bytes)))
        };
        self.manifest.files.iter().map(fill).collect()
    }

    /// A command of the manifest with the places filled in.
    ///
    /// Errors: as [`Kit::filled_in`].
    pub(super) fn command(&self, words: &[String], places: &Places) -> anyhow::Result<Vec<String>> {
        let fill =
            |word: &String| fill_in(word, places).with_context(|| format!("{MANIFEST} of the kit {}", self.name));
        words.iter().map(fill).collect()
    }

    /// These places and its own, in whose texts these are filled in.
    ///
    /// Errors: as [`Kit::filled_in`].
    pub(super) fn with_own(&self, mut places: Places, size: u64, besides: Besides) -> anyhow::Result<Places> {
        for (name, text) in self.places_for(size, besides) {
            let text = fill_in(&text, &places).with_context(|| format!("{MANIFEST} of the kit {}", self.name))?;
            places.insert(name, text);
        }
        Ok(places)
    }

    /// Whether its server can be told to do that besides.
    pub(super) fn can(&self, besides: Besides) -> bool {
        (self.manifest.tls.is_some() || !besides.tls) && (self.manifest.access_log.is_some() || !besides.access_log)
    }

    /// The places of its own, for messages of a size.
    pub(super) fn places_for(&self, size: u64, besides: Besides) -> Places {
        let fits = |by_size: &&BySize| units::size(&by_size.up_to).is_ok_and(|up_to| size <= up_to);
        let by_size = self.manifest.sizes.iter().find(fits).or(self.manifest.sizes.last());
        let mut places = self.manifest.values.clone();
        places.extend(by_size.map(|by_size| by_size.values.clone()).unwrap_or_default());
        places.extend(self.manifest.tls.clone().filter(|_| besides.tls).unwrap_or_default());
        places.extend(self.manifest.access_log.clone().filter(|_| besides.access_log).unwrap_or_default());
        places
    }
}

/// What `kit.toml` says, as it stands there.
fn table(files: &Files) -> anyhow::Result<toml::Table> {
    let bytes = files.get(MANIFEST).context("there is no such file")?;
    Ok(std::str::from_utf8(bytes)?.parse()?)
}

/// The files of a kit in the binary.
///
/// Errors: there is none of that name.
fn files_of(name: &str) -> anyhow::Result<Files> {
    let Some(folder) = KITS.get_dir(name) else {
        let suggestion = suggestion(name, Kit::names().iter().map(String::as_str));
        bail!(
            "there is no kit {name}{suggestion} (`myelin bench kits` lists them; a kit of your own is named by the path \
             of its folder, as in ./{name})"
        );
    };
    let mut files = Files::new();
    embedded(folder, folder.path(), &mut files);
    Ok(files)
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub(super) fn checksum(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A text with each `@name@` replaced by what is filled in there.
///
/// Errors: there is no such place.
fn fill_in(text: &str, places: &Places) -> anyhow::Result<String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('@') {
        filled.push_str(before);
        // An @ that does not enclose a name in small letters is kept as it is.
        let name = behind.split_once('@').filter(|(name, _)| is_place(name));
        rest = match name {
            None => {
                filled.push('@');
                behind
            }
            Some((name, behind)) => {
                let Some(value) = places.get(name) else {
                    let known: Vec<&str> = places.keys().map(String::as_str).collect();
                    bail!("@{name}@ is none of the places that are filled in: {}", known.join(", "));
                };
                filled.push_str(value);
                behind
            }
        };
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Whether a text can be the name of a place: a letter, and letters, digits and `_` behind it.
fn is_place(name: &str) -> bool {
    let is_in_a_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_in_a_name)
}

fn embedded(folder: &Dir<'_>, root: &Path, files: &mut Files) {
    for file in folder.files() {
        let name = file.path().strip_prefix(root).unwrap_or(file.path());
        files.insert(name.display().to_string(), file.contents().to_vec());
    }
    folder.dirs().for_each(|inner| embedded(inner, root, files));
}

fn read_folder(folder: &Path, root: &Path, files: &mut Files) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let about = || format!("cannot read {}", path.display());
        let known = fs::metadata(&path).with_context(about)?;
        if known.is_dir() {
            read_folder(&path, root, files)?;
            continue;
        }
        ensure!(
            known.len() <= LARGEST_BYTES,
            "{} is too large for a file of a kit: let `fetch` bring it",
            path.display()
        );
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        files.insert(name, fs::read(&path).with_context(about)?);
    }
    Ok(())
}

/// Where kits keep what they fetched.
///
/// Source: XDG Base Directory Specification.
pub(super) fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).or_else(home);
    folder.unwrap_or_else(std::env::temp_dir).join("myelin/kits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kit_in_the_binary_is_sound() {
        let names = Kit::names();
        assert!(names.contains(&"nginx".to_owned()), "{names:?}");
        for name in names {
            let kit = Kit::find(&name).unwrap();
            assert!(!kit.about().is_empty() && kit.readme().starts_with("# "), "{name} says what it is");
            assert_eq!(kit.offer(Scenario::Many).is_some(), kit.offer(Scenario::Direct).is_some());
            let places = PLACES.iter().map(|place| ((*place).to_owned(), "x".to_owned())).collect();
            let places = kit.with_own(places, 1, Besides { tls: true, access_log: true }).unwrap();
            kit.filled_in(&places).unwrap();
            for command in [&kit.manifest.start, &kit.manifest.fetch, &kit.manifest.version] {
                kit.command(command, &places).unwrap();
            }
        }
    }

    #[test]
    fn places_are_filled_in_and_other_signs_stay() {
        let places =
            Places::from([("port", "80"), ("folder", "/f")].map(|(name, text)| (name.to_owned(), text.to_owned())));
        let filled = |text: &str| fill_in(text, &places);
        assert_eq!(filled("listen @port@; root @folder@/a;").unwrap(), "listen 80; root /f/a;");
        assert_eq!(filled("a@b.org, @ @port@@port@ @Port@").unwrap(), "a@b.org, @ 8080 @Port@");
        assert!(filled("@prot@").unwrap_err().to_string().contains("@prot@ is none of the places"));
    }

    #[test]
    fn a_kit_of_ones_own_is_a_folder_and_its_mistakes_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine");
        fs::create_dir(&path).unwrap();
        let told = |manifest: &str| {
            fs::write(path.join(MANIFEST), manifest).unwrap();
            Kit::find(path.to_str().unwrap()).map(|kit| kit.name).map_err(|error| format!("{error:#}"))
        };
        let sound = "about = 'a'\nstart = ['true']\n[scenarios.direct]\npath = '/'\n";
        assert_eq!(told(sound), Ok("mine".to_owned()));
        assert!(told(&sound.replace("start", "strat")).unwrap_err().contains("unknown field `strat`"));
        assert!(told(&sound.replace("direct", "dirct")).unwrap_err().contains("no scenario `dirct`"));
        assert!(told(&format!("files = ['a.conf']\n{sound}")).unwrap_err().contains("the file a.conf"));
        assert!(Kit::find("ngnix").unwrap_err().to_string().contains("did you mean nginx?"));
        assert!(Kit::find("./nowhere").unwrap_err().to_string().contains("nowhere"));
    }

    #[test]
    fn what_depends_on_the_size_is_the_first_that_is_large_enough() {
        let kit = Kit::find("nginx").unwrap();
        assert_eq!(kit.places_for(500, Besides::default())["buffer"], "16k");
        assert_eq!(kit.places_for(1 << 20, Besides::default())["buffer"], "128k");
    }
}
