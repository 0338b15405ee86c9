//! One stylesheet on one document, by one of the programs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::list::{Processor, Sheet};

/// The first run of a program on a busy machine included.
const DEADLINE: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(20);

/// Who transforms.
pub(super) enum Program<'p> {
    /// The binary that is tested.
    Own(&'p Path),
    /// The processor that the stylesheet is written for; its results are kept from one run to the next.
    Reference,
}

/// A stylesheet with a document.
pub(super) struct Transformation<'t> {
    pub(super) sheet: &'t Sheet,
    /// Empty: the stylesheet begins without one.
    pub(super) document: &'t Path,
    /// The folder with what was fetched, in which the programs work.
    pub(super) folder: &'t Path,
    /// The document's name in the results.
    pub(super) name: &'t str,
}

/// What a program made.
pub(super) struct Made {
    /// Holds `result.xml` and whatever else was written.
    pub(super) folder: PathBuf,
    pub(super) time: Duration,
}

impl Transformation<'_> {
    /// Transforms; `Err`: what the program says.
    pub(super) fn run(&self, program: &Program<'_>) -> Result<Made, String> {
        let all = self.folder.join("results").join(self.sheet.key).join(self.name);
        let folder = all.join(if matches!(program, Program::Own(_)) { "myelin" } else { "reference" });
        let mut command = match program {
            Program::Own(program) => self.own(program, &folder),
            Program::Reference => self.reference(&folder),
        };
        // The command is the key: what it made stays good as long as it is the same.
        let shown = format!("{command:?}");
        let kept = folder.with_extension("kept");
        if matches!(program, Program::Reference) && fs::read_to_string(&kept).is_ok_and(|kept| kept == shown) {
            return Ok(Made { folder, time: Duration::ZERO });
        }
        // What an earlier run left behind may be there or not.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let said = folder.with_extension("said");
        let output = File::create(&said).map_err(|error| format!("{}: {error}", said.display()))?;
        command.current_dir(self.folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        let begun = Instant::now();
        let succeeded = ends_well(&mut command)?;
        let time = begun.elapsed();
        if !succeeded {
            let said = fs::read(&said).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            let is_error = |line: &&str| !line.contains(": warning: ") && !line.trim().is_empty();
            return Err(said.lines().rfind(is_error).unwrap_or("it fails and says nothing").to_owned());
        }
        if matches!(program, Program::Reference) {
            fs::write(&kept, shown).map_err(|error| format!("{}: {error}", kept.display()))?;
        }
        Ok(Made { folder, time })
    }

    /// The document as the programs are given it, so that URIs are the same each time.
    fn document(&self) -> Option<&Path> {
        let below = self.document.strip_prefix(self.folder).unwrap_or(self.document);
        Some(below).filter(|path| !path.as_os_str().is_empty())
    }

    /// A stylesheet that another one made lies among the results.
    fn stylesheet(&self) -> PathBuf {
        match self.sheet.stylesheet.strip_prefix("results/") {
            Some(_) => PathBuf::from(self.sheet.stylesheet),
            None => Path::new(self.sheet.package).join(self.sheet.stylesheet),
        }
    }

    fn own(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg("xslt").args(["--allow", ".", "--catalog", "catalog.xml", "--output-dir"]).arg(folder);
        command.arg("-o").arg(folder.join("result.xml"));
        for (name, value) in self.sheet.parameters {
            command.args(["--string-param", &format!("{name}={value}")]);
        }
        if let Some(template) = self.sheet.template {
            command.args(["--template", template]);
        }
        command.arg(self.stylesheet()).args(self.document());
        command
    }

    fn reference(&self, folder: &Path) -> Command {
        let result = folder.join("result.xml");
        match self.sheet.processor {
            Processor::Xsltproc => {
                let mut command = Command::new("xsltproc");
                command.env("XML_CATALOG_FILES", "catalog.xml").arg("--nonet").arg("-o").arg(result);
                for (name, value) in self.sheet.parameters {
                    command.args(["--stringparam", name, value]);
                }
                command.arg(self.stylesheet()).args(self.document());
                command
            }
            Processor::Saxon => {
                let jars = "saxon/Saxon-HE.jar:xmlresolver/xmlresolver.jar:xmlresolver-data/xmlresolver-data.jar";
                let mut command = Command::new("java");
                command.args(["-cp", jars, "net.sf.saxon.Transform", "-catalog:catalog.xml"]);
                command.arg(format!("-xsl:{}", self.stylesheet().display())).arg(format!("-o:{}", result.display()));
                command.args(self.document().map(|document| format!("-s:{}", document.display())));
                command.args(self.sheet.template.map(|template| format!("-it:{template}")));
                command.args(self.sheet.parameters.iter().map(|(name, value)| format!("{name}={value}")));
                command
            }
        }
    }
}

/// Runs a command to its end.
fn ends_well(command: &mut Command) -> Result<bool, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let about = |error: std::io::Error| format!("{program}: {error}");
    let mut child = command.spawn().map_err(about)?;
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(about)? {
            return Ok(status.success());
        }
        if begun.elapsed() > DEADLINE {
            child.kill().and_then(|()| child.wait()).map_err(about)?;
            return Err(format!("{program} takes longer than {} s", DEADLINE.as_secs()));
        }
        std::thread::sleep(POLL);
    }
}
