//! Archives that operators add and remove, and the text of files of the configuration.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use myelin_engine::{Artefact, archive_text};
use myelin_manage::Refusal;

use crate::control::Control;
use crate::standing::StandingCell;

/// How many problems of an archive are told.
const TOLD: usize = 5;

/// The largest file of a configuration that is shown.
const TEXT_BYTES: u64 = 16 << 20;

fn unable(what: &str) -> impl Fn(std::io::Error) -> Refusal + '_ {
    move |error| Refusal::Unable(format!("{what}: {error}"))
}

/// What is wrong in some artefacts, in a sentence; `None` where nothing is.
fn problems<'a>(artefacts: impl Iterator<Item = &'a Artefact>) -> Option<String> {
    let problems: Vec<String> = artefacts
        .flat_map(|artefact| {
            let place = artefact.file.rsplit("!/").next().unwrap_or_default();
            let whose = format!("{} {}", artefact.kind, artefact.name);
            artefact.problems.iter().map(move |it| format!("{whose} ({place}:{}): {}", it.line(), it.message()))
        })
        .collect();
    let more = problems.len().saturating_sub(TOLD);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!problems.is_empty())
        .then(|| format!("{}{more}", problems.iter().take(TOLD).cloned().collect::<Vec<_>>().join("; ")))
}

/// Puts an archive of that name where the configuration is, once it was checked whole, and loads anew.
pub(super) fn deploy(control: &Control, standing: &StandingCell, name: &str, archive: &[u8]) -> Result<(), Refusal> {
    let origin = control.origin()?;
    let _changing = control.change();
    let apart = tempfile::tempdir().map_err(unable("There is no room to check the archive"))?;
    let checked = apart.path().join(name);
    fs::write(&checked, archive).map_err(unable("There is no room to check the archive"))?;
    let report = origin.check(&checked).map_err(|error| Refusal::Unable(format!("{error:#}")))?;
    if let Some(problems) = problems(report.artefacts.iter()) {
        // Its path is one that nobody has heard of.
        let problems = problems.replace(&format!("{}/", apart.path().display()), "");
        return Err(Refusal::Invalid(format!("The archive is refused: {problems}")));
    }
    let (target, is_new) = target(origin.paths(), standing, name)?;
    let folder = target.parent().ok_or_else(|| Refusal::Unable("There is no folder for archives".to_owned()))?;
    // In the same folder, under a name that nobody loads, so that it comes into its place at once.
    let mut file = tempfile::Builder::new().prefix(".").suffix(".upload").tempfile_in(folder);
    let file = file.as_mut().map_err(|error| Refusal::Unable(format!("{}: {error}", folder.display())))?;
    file.write_all(archive)
        .and_then(|()| file.as_file().sync_all())
        .map_err(unable("The archive cannot be written"))?;
    let old = if is_new { None } else { Some(fs::read(&target).map_err(unable("The old archive cannot be read"))?) };
    fs::rename(file.path(), &target).map_err(unable("The archive cannot be put into its place"))?;
    let outcome = control.reload(&format!("the archive {name} was added by the management API"));
    let is_there = |artefact: &&Artefact| Path::new(artefact.outer_file()) == target;
    let refused = match outcome {
        Err(sentence) => Some(sentence),
        Ok(()) => {
            let report = standing.report();
            let of_it: Vec<&Artefact> = report.artefacts.iter().filter(is_there).collect();
            if of_it.is_empty() {
                Some("No folder of the configuration takes archives".to_owned())
            } else {
                problems(of_it.into_iter())
            }
        }
    };
    let Some(sentence) = refused else { return Ok(()) };
    let restored = match old {
        Some(old) => fs::write(&target, old),
        None => fs::remove_file(&target),
    };
    restored.map_err(unable("The archive is refused, and what was there before cannot be put back"))?;
    // What serves is as it was, or becomes so again.
    let _ = control.reload(&format!("the archive {name} was taken back"));
    Err(Refusal::Invalid(format!("The archive is refused: {sentence}")))
}

/// Where an archive of that name belongs, and whether there is none yet.
fn target(paths: &[PathBuf], standing: &StandingCell, name: &str) -> Result<(PathBuf, bool), Refusal> {
    let is_it = |path: &Path| path.file_name().is_some_and(|known| known.to_string_lossy() == name);
    let report = standing.report();
    let known = report.artefacts.iter().map(|artefact| Path::new(artefact.outer_file())).find(|path| is_it(path));
    if let Some(known) = known {
        return Ok((known.to_owned(), false));
    }
    let folders = paths.iter().filter(|path| path.is_dir());
    let candidates = folders.flat_map(|path| {
        let home = path.join("repository/deployment/server");
        if home.is_dir() {
            let archives = home.join("carbonapps");
            // A home has it, if only from now on.
            let _ = fs::create_dir_all(&archives);
            return vec![archives];
        }
        vec![path.join("carbonapps"), path.clone()]
    });
    let folder = candidates.into_iter().find(|folder| folder.is_dir()).ok_or_else(|| {
        Refusal::Unable("No folder was given to `myelin run` that an archive could be put into".to_owned())
    })?;
    let target = folder.join(name);
    let is_new = !target.exists();
    Ok((target, is_new))
}

/// Removes the archive at that path, and loads anew.
pub(super) fn undeploy(control: &Control, path: &str) -> Result<(), Refusal> {
    control.origin()?;
    let _changing = control.change();
    let path = Path::new(path);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let old = fs::read(path).map_err(unable("The archive cannot be read"))?;
    fs::remove_file(path).map_err(unable("The archive cannot be removed"))?;
    let Err(sentence) = control.reload(&format!("the archive {name} was removed by the management API")) else {
        return Ok(());
    };
    fs::write(path, old).map_err(unable("The archive is needed, and cannot be put back"))?;
    let _ = control.reload(&format!("the archive {name} was put back"));
    Err(Refusal::Unable(format!("The archive stays: {sentence}")))
}

/// The text of a file of the configuration.
pub(super) fn text(file: &str) -> Result<String, Refusal> {
    let outer = file.split("!/").next().unwrap_or_default();
    let bytes = bounded(Path::new(outer)).map_err(unable("The file cannot be read"))?;
    if outer == file {
        return String::from_utf8(bytes).map_err(|_| Refusal::Unable("The file is no UTF-8".to_owned()));
    }
    archive_text(&bytes, &file[outer.len()..])
        .map_err(|reason| Refusal::Unable(format!("The file cannot be read: {reason}")))
}

fn bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(4 * TEXT_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The end of a file.
pub(super) fn end_of(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    if length > limit {
        // The first line may lack its beginning.
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.drain(..line);
    }
    Ok(bytes)
}
