//! The registry as files, with media types and properties beside them.
//!
//! Source: Micro Integrator's `MicroIntegratorRegistry`: `registry/config/a/b.xml` has its properties in
//! `b.xml.properties`, and its media type in `.metadata/b.xml.meta` of the same folder.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

use myelin_manage::{Refusal, RegistryEntry};

use crate::control::Control;

/// How many entries of a folder are told.
const ENTRIES: usize = 10_000;

/// The largest resource that is read.
const RESOURCE_BYTES: u64 = 64 << 20;

/// The largest file of properties or of a media type.
const PROPERTIES_BYTES: u64 = 1 << 20;

/// What stands beside resources, and is none.
const METADATA: &str = ".metadata";
const PROPERTIES: &str = ".properties";

/// The folder `registry` of the configuration.
///
/// Errors: it has none.
pub(super) fn root(control: &Control) -> Result<PathBuf, Refusal> {
    let paths = control.origin()?.paths();
    // Beside a configuration, or above it, as the loader finds it.
    let near = paths.iter().flat_map(|path| path.ancestors().take(7).map(|folder| folder.join("registry")));
    near.into_iter().find(|folder| folder.is_dir()).ok_or_else(|| {
        Refusal::Missing("The configuration has no registry: a folder `registry` in its home".to_owned())
    })
}

fn missing(path: &str) -> Refusal {
    Refusal::Missing(format!("Can not find the registry: {path}"))
}

/// Where a path leads: below the root, whatever it says and wherever links lead.
///
/// The path may begin with `registry/`, as the API has it, and with a slash.
fn place(root: &Path, path: &str) -> Result<PathBuf, Refusal> {
    let wrong = || Refusal::Invalid(format!("The registry path '{path}' is not valid"));
    let inside = path.trim_matches('/');
    let inside = inside.strip_prefix("registry").map_or(inside, |rest| rest.strip_prefix('/').unwrap_or(rest));
    let parts: Vec<Component<'_>> = Path::new(inside).components().collect();
    let is_plain = |part: &Component<'_>| matches!(part, Component::Normal(name) if *name != METADATA);
    if inside.contains(['\0', '\\']) || !parts.iter().all(is_plain) || inside.len() > 1024 {
        return Err(wrong());
    }
    let whole = root.join(inside);
    // What is there of it must not lead out by a link.
    let real_root = root.canonicalize().map_err(|_| missing(path))?;
    let there = whole.ancestors().find(|part| part.symlink_metadata().is_ok()).unwrap_or(root);
    match there.canonicalize() {
        Ok(real) if real.starts_with(&real_root) => Ok(whole),
        Ok(_) => Err(wrong()),
        Err(_) => Err(missing(path)),
    }
}

fn is_aside(name: &str, folder: &Path) -> bool {
    let of = name.strip_suffix(PROPERTIES).filter(|of| !of.is_empty());
    name == METADATA || name.starts_with('.') || of.is_some_and(|of| folder.join(of).exists())
}

/// What is in a folder.
pub(super) fn folder(root: &Path, path: &str) -> Result<Vec<RegistryEntry>, Refusal> {
    let place = place(root, path)?;
    let found = fs::read_dir(&place).map_err(|_| missing(path))?;
    let mut entries = Vec::new();
    for one in found.filter_map(Result::ok) {
        let Ok(name) = one.file_name().into_string() else { continue };
        if is_aside(&name, &place) {
            continue;
        }
        if entries.len() == ENTRIES {
            return Err(Refusal::Unable(format!("The folder has more than {ENTRIES} resources")));
        }
        entries.push(of_file(&place.join(&name), name));
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

/// What is known of a resource.
pub(super) fn entry(root: &Path, path: &str) -> Result<RegistryEntry, Refusal> {
    let place = place(root, path)?;
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if place == root || !place.exists() || is_aside(&name, place.parent().unwrap_or(root)) {
        return Err(missing(path));
    }
    Ok(of_file(&place, name))
}

fn of_file(place: &Path, name: String) -> RegistryEntry {
    let is_folder = place.is_dir();
    let media_type = if is_folder { String::new() } else { media_type(place, &name) };
    let properties = text(&beside(place, PROPERTIES)).map(|text| parsed(&text)).unwrap_or_default();
    RegistryEntry { name, is_folder, media_type, properties }
}

/// A file in the same folder whose name has something behind it.
fn beside(place: &Path, suffix: &str) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    place.with_file_name(name)
}

fn metadata(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    place.with_file_name(METADATA).join(format!("{name}.meta"))
}

fn text(path: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(PROPERTIES_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// What was said of it, or else what its name says.
fn media_type(place: &Path, name: &str) -> String {
    let said = text(&metadata(place)).map(|text| parsed(&text)).unwrap_or_default();
    if let Some((_, media_type)) = said.into_iter().find(|(key, _)| key == "mediaType") {
        return media_type;
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "xml" | "wsdl" | "xsd" => "application/xml",
        "xsl" | "xslt" => "application/xslt+xml",
        "json" => "application/json",
        "js" => "application/javascript",
        "txt" | "properties" => "text/plain",
        "csv" => "text/csv",
        "html" => "text/html",
        "yaml" | "yml" => "application/yaml",
        _ => "application/octet-stream",
    }
    .to_owned()
}

/// Lines of `name=value`; escapes as Java writes them are resolved.
fn parsed(text: &str) -> Vec<(String, String)> {
    // What stands at the end belongs to the value.
    let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with(['#', '!']));
    lines.filter_map(split).collect()
}

fn split(line: &str) -> Option<(String, String)> {
    let (mut parts, mut is_value) = ([String::new(), String::new()], false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let part = &mut parts[usize::from(is_value)];
        match letter {
            '\\' => match letters.next()? {
                'n' => part.push('\n'),
                'r' => part.push('\r'),
                't' => part.push('\t'),
                'u' => {
                    let digits: String = letters.by_ref().take(4).collect();
                    part.push(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}'));
                }
                other => part.push(other),
            },
            '=' | ':' if !is_value => is_value = true,
            // Spaces around the sign mean nothing, unless they are escaped.
            ' ' | '\t' if part.is_empty() => {}
            other => part.push(other),
        }
    }
    let [name, value] = parts;
    Some((name.trim_end().to_owned(), value)).filter(|(name, _)| !name.is_empty())
}

fn written(properties: &[(String, String)]) -> String {
    let escaped = |text: &str| -> String {
        let mut out = String::new();
        for letter in text.chars() {
            match letter {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\\' | '=' | ':' | '#' | '!' | ' ' => out.extend(['\\', letter]),
                other => out.push(other),
            }
        }
        out
    };
    properties.iter().map(|(name, value)| format!("{}={}\n", escaped(name), escaped(value))).collect()
}

/// The media type and the bytes of a resource.
pub(super) fn read(root: &Path, path: &str) -> Result<(String, Vec<u8>), Refusal> {
    let found = entry(root, path)?;
    if found.is_folder {
        return Err(Refusal::Invalid(format!("The registry path '{path}' is that of a folder")));
    }
    let mut bytes = Vec::new();
    let place = place(root, path)?;
    let mut read = || fs::File::open(&place)?.take(RESOURCE_BYTES + 1).read_to_end(&mut bytes);
    read().map_err(|_: std::io::Error| missing(path))?;
    if bytes.len() as u64 > RESOURCE_BYTES {
        return Err(Refusal::Unable(format!("The resource is larger than {RESOURCE_BYTES} bytes")));
    }
    Ok((found.media_type, bytes))
}

/// Writes a resource, which has to be new or to be there; whoever reads it meanwhile sees the old one or the new one.
pub(super) fn write(
    root: &Path,
    path: &str,
    media_type: Option<&str>,
    bytes: &[u8],
    is_new: bool,
) -> Result<(), Refusal> {
    let place = place(root, path)?;
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = place.parent().unwrap_or(root).to_owned();
    if place == root || is_aside(&name, &folder) || place.is_dir() {
        return Err(Refusal::Invalid(format!("The registry path '{path}' is not that of a resource")));
    }
    match (is_new, place.exists()) {
        (true, true) => return Err(Refusal::Unable(format!("Registry already exists. Can not POST to {path}"))),
        (false, false) => return Err(missing(path)),
        _ => {}
    }
    let failed = |error: std::io::Error| Refusal::Unable(format!("The resource cannot be written: {error}"));
    fs::create_dir_all(&folder).map_err(failed)?;
    replace(&place, bytes).map_err(failed)?;
    if let Some(media_type) = media_type {
        let meta = metadata(&place);
        fs::create_dir_all(meta.parent().unwrap_or(root)).map_err(failed)?;
        replace(&meta, written(&[("mediaType".to_owned(), media_type.to_owned())]).as_bytes()).map_err(failed)?;
    }
    Ok(())
}

fn replace(place: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(".").suffix(".upload").tempfile_in(folder)?;
    let mode = fs::metadata(place).map(|found| found.permissions());
    let mut out = OpenOptions::new().write(true).open(file.path())?;
    out.write_all(bytes)?;
    out.sync_all()?;
    if let Ok(mode) = mode {
        fs::set_permissions(file.path(), mode)?;
    }
    file.persist(place).map_err(|error| error.error)?;
    Ok(())
}

/// Removes a resource with what stands beside it.
pub(super) fn remove(root: &Path, path: &str) -> Result<(), Refusal> {
    let found = entry(root, path)?;
    let place = place(root, path)?;
    if found.is_folder {
        return Err(Refusal::Invalid(format!("The registry path '{path}' is that of a folder")));
    }
    fs::remove_file(&place).map_err(|error| Refusal::Unable(format!("The resource cannot be removed: {error}")))?;
    for aside in [beside(&place, PROPERTIES), metadata(&place)] {
        match fs::remove_file(&aside) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Refusal::Unable(format!("The resource is removed, its properties are not: {error}")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Gives a resource these properties and no others.
pub(super) fn set_properties(root: &Path, path: &str, properties: &[(String, String)]) -> Result<(), Refusal> {
    let found = entry(root, path)?;
    if found.is_folder {
        return Err(Refusal::Invalid("Only resources have properties here, and no folders".to_owned()));
    }
    let place = beside(&place(root, path)?, PROPERTIES);
    let outcome =
        if properties.is_empty() { fs::remove_file(&place) } else { replace(&place, written(properties).as_bytes()) };
    match outcome {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Refusal::Unable(format!("The properties cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_written_read_and_removed_with_what_is_known_of_them() {
        let folder_of = tempfile::tempdir().unwrap();
        let root = folder_of.path();
        let path = "registry/config/a/b.txt";
        assert!(matches!(write(root, path, None, b"1", false), Err(Refusal::Missing(_))));
        write(root, path, Some("text/x"), b"1", true).unwrap();
        assert!(matches!(write(root, path, None, b"1", true), Err(Refusal::Unable(_))));
        write(root, path, None, b"22", false).unwrap();
        assert_eq!(read(root, path).unwrap(), ("text/x".to_owned(), b"22".to_vec()));
        let properties = vec![("a b=c".to_owned(), " x\ny\\: ".to_owned())];
        set_properties(root, path, &properties).unwrap();
        let found = folder(root, "/registry/config/a/").unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&*found[0].name, &found[0].properties), ("b.txt", &properties));
        remove(root, path).unwrap();
        assert!(folder(root, "registry/config/a").unwrap().is_empty());
        assert!(
            !root.join("config/a/b.txt.properties").exists() && !root.join("config/a/.metadata/b.txt.meta").exists()
        );
    }

    #[test]
    fn no_path_leads_out() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("canary"), "canary").unwrap();
        let folder_of = tempfile::tempdir().unwrap();
        let root = folder_of.path().join("registry");
        fs::create_dir_all(root.join("config")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("config/link")).unwrap();
        for path in [
            "registry/../secret",
            "registry/config/../../x",
            "..",
            "registry/config/link/canary",
            "config\\x",
            "config/.metadata/x.meta",
            "config/\0",
        ] {
            assert!(read(&root, path).is_err(), "{path:?}");
            assert!(write(&root, path, None, b"x", true).is_err(), "{path:?}");
            assert!(remove(&root, path).is_err(), "{path:?}");
            assert!(folder(&root, path).is_err() || path == "registry/config", "{path:?}");
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}
