//! A target at work: started with its configuration, or found where it runs.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use myelin_testkit::port;
use tempfile::TempDir;

use super::certificates::Certificates;
use super::configuration::{self, Backends, POOL};
use super::kit::{Kit, Places, checksum};
use super::scenario::{Besides, ROUTING, Scenario};
use super::secured::{self, Secured};
use super::server::{self, Server};
use super::target::{Source, Target};
use super::task::Task;
use crate::load::Client;
use crate::results::ConfigurationFile;
use crate::suite;

/// What all targets of a run have in common.
#[derive(Debug)]
pub(super) struct Stage {
    /// The binary `myelin`, which is a target, the relay and the backends.
    pub(super) myelin: PathBuf,
    pub(super) backends: Backends,
    /// The process of the backend.
    pub(super) echo_process: u32,
    /// Threads or workers of each target.
    pub(super) threads: usize,
    /// Where kits keep what they fetched.
    pub(super) cache: PathBuf,
    /// The keys of `secure-legacy`.
    pub(super) keys: Option<PathBuf>,
    /// What targets show by HTTPS.
    pub(super) certificates: Certificates,
    /// Processes of targets that run already.
    pub(super) processes: Vec<(String, u32)>,
}

/// A target at work; dropping it stops what was started.
#[derive(Debug)]
pub(super) struct Contender {
    pub(super) target: Target,
    /// From the start of its process until it answered as it should; `None` where it ran before.
    pub(super) start: Option<Duration>,
    pub(super) told: Vec<Told>,
    /// Whoever asks it has to secure the requests.
    pub(super) client: Option<Client>,
    /// Whom to trust by HTTPS; `None` where it is asked plainly.
    pub(super) authority: Option<PathBuf>,
    /// Host and port; empty where the target has its own URL.
    address: String,
    server: Option<Server>,
    /// Those of a target that was not started here.
    processes: Vec<u32>,
    /// When it has to answer as it should.
    pub(super) deadline: Instant,
    begin: Instant,
    /// Its configuration and logs lie here as long as it runs.
    pub(super) folder: TempDir,
}

/// A file that a target was told something by.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) file: ConfigurationFile,
}

impl Told {
    fn new(name: &str, text: String, checksum: String) -> Told {
        Told { text, file: ConfigurationFile { name: name.to_owned(), sha256: checksum } }
    }
}

/// A free port of this machine.
const ANYWHERE: &str = "127.0.0.1:0";

/// How long what a kit fetches may take, from registries that are slow.
const FETCH: Duration = Duration::from_secs(15 * 60);
/// How long our own programs and servers that run already may take until they answer as they should.
const READY: Duration = Duration::from_secs(20);

impl Contender {
    /// Writes the configuration, starts the process and waits until it accepts connections.
    ///
    /// Errors: it cannot be started, or is not ready in time; what it said is in the error.
    pub(super) fn start(target: &Target, task: Task, stage: &Stage) -> anyhow::Result<Contender> {
        let folder = tempfile::tempdir()?;
        let begin = Instant::now();
        let Stage { myelin, backends, threads, certificates, .. } = stage;
        let scenario = task.scenario;
        let certificates = Some(certificates).filter(|_| task.besides.tls);
        let mut contender = Contender {
            target: target.clone(),
            start: None,
            told: Vec::new(),
            client: None,
            authority: certificates.map(|certificates| certificates.authority.clone()),
            address: String::new(),
            server: None,
            processes: Vec::new(),
            deadline: begin + READY,
            begin,
            folder,
        };
        let folder = contender.folder.path().to_owned();
        match &target.source {
            Source::Myelin | Source::Direct => {
                let secured = match target.source {
                    Source::Myelin => Secured::prepare(scenario, &folder, stage.keys.as_deref())?,
                    _ => None,
                };
                let bus = Bus {
                    scenario,
                    backends: *backends,
                    threads: *threads,
                    secured: secured.as_ref(),
                    certificates,
                    access_log: task.besides.access_log,
                    // Metrics and probes are on unless somebody switches them off; each process needs a port of its own.
                    admin: ANYWHERE,
                    settings: "",
                };
                let (server, text) = bus.start(server::program(myelin), &folder)?;
                let template = configuration::template();
                contender.told.push(Told::new("synapse.xml", text, checksum(template.as_bytes())));
                contender.client = secured.map(|secured| secured.client);
                contender.server = Some(server);
            }
            Source::Relay => contender.server = Some(server::relay(myelin, backends.echo, *threads, &folder)?),
            Source::Backend => {
                contender.address = backends.echo.to_string();
                contender.processes = vec![stage.echo_process];
            }
            Source::Url(_) => {
                let own = stage.processes.iter().filter(|(name, _)| *name == target.name).map(|(_, process)| *process);
                contender.processes = own.collect();
            }
            Source::Kit(kit) => contender.start_kit(kit, task, stage, &folder)?,
        }
        if let Some(server) = &contender.server {
            contender.address = server.address.to_string();
        }
        Ok(contender)
    }

    fn start_kit(&mut self, kit: &Kit, task: Task, stage: &Stage, folder: &Path) -> anyhow::Result<()> {
        if let Some(missing) = kit.missing() {
            bail!("{missing}");
        }
        fetch(kit, &stage.cache)?;
        // Fetching is no part of starting.
        self.begin = Instant::now();
        let listen = port::free()?;
        let places = kit.with_own(places(kit, stage, listen, folder)?, task.size, task.besides)?;
        self.told = configure(kit, &places, stage.backends, folder)?;
        if let Some(secured) = Secured::prepare(task.scenario, folder, stage.keys.as_deref())? {
            self.client = Some(secured.client);
        }
        let mut command = command(kit, &kit.manifest.start, &places)?.context("the kit names no program to start")?;
        command.current_dir(folder);
        self.deadline = self.begin + Duration::from_secs(kit.manifest.ready_seconds);
        let mut server = Server::at(command, folder, listen)?;
        if let Err(error) = server.waits(self.deadline) {
            bail!("{error:#}:\n{}", server.last_words());
        }
        self.server = Some(server);
        Ok(())
    }

    /// Starts Myelin with one thread in a program that watches it, as `command` begins.
    ///
    /// Errors: as [`Contender::start`].
    pub(super) fn watched(
        command: Command,
        scenario: Scenario,
        backends: Backends,
        settings: &str,
    ) -> anyhow::Result<Contender> {
        let folder = tempfile::tempdir()?;
        let secured = Secured::prepare(scenario, folder.path(), None)?;
        let begin = Instant::now();
        let bus = Bus {
            scenario,
            backends,
            threads: 1,
            secured: secured.as_ref(),
            certificates: None,
            access_log: false,
            admin: if scenario == Scenario::Observed { ANYWHERE } else { "off" },
            settings,
        };
        let (server, _) = bus.start(command, folder.path())?;
        Ok(Contender {
            target: Target { name: "myelin".to_owned(), source: Source::Myelin },
            start: None,
            told: Vec::new(),
            client: secured.map(|secured| secured.client),
            authority: None,
            address: server.address.to_string(),
            server: Some(server),
            processes: Vec::new(),
            deadline: begin + READY,
            begin,
            folder,
        })
    }

    /// Notes that it answered as it should.
    pub(super) fn is_ready(&mut self) {
        if self.server.is_some() && self.start.is_none() {
            self.start = Some(self.begin.elapsed());
        }
    }

    /// Where it is asked to do a scenario.
    pub(super) fn url(&self, scenario: Scenario) -> String {
        self.target.url(scenario, self.authority.is_some(), &self.address)
    }

    /// The process that was started.
    pub(super) fn process(&self) -> Option<u32> {
        self.server.as_ref().map(Server::process)
    }

    /// Its processes, the workers included.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.server.as_ref().map_or_else(|| self.processes.clone(), Server::processes)
    }

    /// How its process ended, if it did.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.server.as_mut().and_then(Server::ended)
    }

    /// The end of what it wrote.
    pub(super) fn last_words(&self) -> String {
        self.server.as_ref().map(Server::last_words).unwrap_or_default()
    }
}

/// Writes the configuration of a kit into a folder: its files with the places filled in, and what its server reads of
/// the scenarios.
fn configure(kit: &Kit, places: &Places, backends: Backends, folder: &Path) -> anyhow::Result<Vec<Told>> {
    let mut written = Vec::new();
    for (name, text, checksum) in kit.filled_in(places)? {
        let path = folder.join(&name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(Told::new(&name, text, checksum));
    }
    if kit.manifest.stylesheets {
        configuration::write_stylesheets(folder)?;
    }
    if kit.manifest.synapse {
        let text = configuration::write_synapse(&folder.join("synapse.xml"), backends, "")?;
        written.push(Told::new("synapse.xml", text, checksum(configuration::template().as_bytes())));
    }
    Ok(written)
}

/// Writes the configuration of a kit whose server is started by hand; its files.
///
/// Errors: a file cannot be written.
pub(super) fn write(kit: &Kit, folder: &Path, listen: SocketAddr, echo: SocketAddr) -> anyhow::Result<Vec<PathBuf>> {
    let folder = std::path::absolute(folder)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let stage = Stage {
        myelin: PathBuf::new(),
        backends: Backends { echo, quotes: echo, pool: [echo; POOL] },
        echo_process: 0,
        threads: 2,
        cache: super::kit::cache(),
        keys: None,
        certificates: Certificates::make(&folder)?,
        processes: Vec::new(),
    };
    let places = kit.with_own(places(kit, &stage, listen, &folder)?, 0, Besides::default())?;
    let written = configure(kit, &places, stage.backends, &folder)?;
    Ok(written.iter().map(|told| folder.join(&told.file.name)).collect())
}

/// What a target says of its version; empty where it cannot be asked.
pub(super) fn version(target: &Target, stage: &Stage) -> String {
    match &target.source {
        Source::Myelin | Source::Direct | Source::Relay | Source::Backend => {
            let mut command = Command::new(&stage.myelin);
            command.arg("--version");
            server::first_line(command)
        }
        Source::Kit(kit) => {
            let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
            let places = places(kit, stage, nowhere, Path::new(".")).ok();
            let command = places.and_then(|places| command(kit, &kit.manifest.version, &places).ok()?);
            command.map(server::first_line).unwrap_or_default()
        }
        Source::Url(_) => String::new(),
    }
}

/// A command of a kit's manifest with the places filled in; `None` where the manifest has none.
///
/// Errors: it names a place that there is none of; its author's.
fn command(kit: &Kit, words: &[String], places: &Places) -> anyhow::Result<Option<Command>> {
    let words = kit.command(words, places)?;
    Ok(words.split_first().map(|(program, arguments)| {
        let mut command = server::program(program);
        command.args(arguments);
        command
    }))
}

/// What is filled in for a kit.
fn places(kit: &Kit, stage: &Stage, listen: SocketAddr, folder: &Path) -> anyhow::Result<Places> {
    let home = std::path::absolute(stage.cache.join(&kit.name))?;
    let keys = stage.keys.as_deref().map(std::path::absolute).transpose()?.unwrap_or_default();
    let quotes = format!("{}{}", stage.backends.quotes, crate::stockquote::PATH);
    let pool = stage.backends.pool.iter().zip(1..).flat_map(|(backend, number)| {
        [(format!("pool_{number}"), backend.to_string()), (format!("pool_{number}_port"), backend.port().to_string())]
    });
    let texts = [
        ("listen", listen.to_string()),
        ("port", listen.port().to_string()),
        ("backend", stage.backends.echo.to_string()),
        ("backend_host", stage.backends.echo.ip().to_string()),
        ("backend_port", stage.backends.echo.port().to_string()),
        ("quotes", quotes),
        ("folder", folder.display().to_string()),
        ("cache", home.join("fetched").display().to_string()),
        ("kit", home.join("kit").display().to_string()),
        ("threads", stage.threads.to_string()),
        ("keys", keys.display().to_string()),
        ("routing", ROUTING.1.to_owned()),
        ("certificate", stage.certificates.certificate.display().to_string()),
        ("key", stage.certificates.key.display().to_string()),
        ("certificate_and_key", stage.certificates.both.display().to_string()),
    ];
    Ok(texts.into_iter().map(|(name, text)| (name.to_owned(), text)).chain(pool).collect())
}

/// Brings what a kit needs, unless it was brought before by the same kit.
///
/// Errors: the kit's command fails or takes too long, the disk's.
pub(super) fn fetch(kit: &Kit, cache: &Path) -> anyhow::Result<()> {
    let home = std::path::absolute(cache.join(&kit.name))?;
    let (mark, checksum) = (home.join("brought-by"), kit.checksum());
    if fs::read_to_string(&mark).is_ok_and(|known| known == checksum) {
        return Ok(());
    }
    let (unpacked, fetched) = (home.join("kit"), home.join("fetched"));
    for folder in [&unpacked, &fetched] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    kit.unpack(&unpacked)?;
    let places = [("kit", &unpacked), ("cache", &fetched)];
    let places = places.map(|(name, path)| (name.to_owned(), path.display().to_string())).into();
    if let Some(mut command) = command(kit, &kit.manifest.fetch, &places)? {
        command.current_dir(&fetched);
        server::finishes(command, &home.join("fetch.log"), FETCH).context("fetching what the kit needs")?;
    }
    fs::write(&mark, checksum).with_context(|| format!("cannot write {}", mark.display()))
}

/// Myelin, as it is told what to do.
struct Bus<'a> {
    scenario: Scenario,
    backends: Backends,
    threads: usize,
    secured: Option<&'a Secured>,
    /// What it shows by HTTPS; `None` where it is asked plainly.
    certificates: Option<&'a Certificates>,
    access_log: bool,
    /// Where it answers metrics and probes, or `off`.
    admin: &'a str,
    /// The beginning of its `deployment.toml`.
    settings: &'a str,
}

impl Bus<'_> {
    /// Writes its configuration into a folder and starts it; `command` is its program. Gives its configuration, too.
    fn start(&self, mut command: Command, folder: &Path) -> anyhow::Result<(Server, String)> {
        let file = folder.join("synapse.xml");
        let more = self.secured.map(|secured| secured::proxy(self.scenario, &secured.policy));
        let text = configuration::write_synapse(&file, self.backends, more.as_deref().unwrap_or_default())?;
        command.arg("run").arg(&file);
        if self.scenario.service().is_some() {
            command.args(suite::write(folder, &self.backends.echo.to_string())?);
        }
        command.args(["--threads", &self.threads.to_string()]);
        let mark = match self.certificates {
            None => {
                command.args(["--http", "127.0.0.1:0"]);
                "http://"
            }
            Some(Certificates { certificate, key, .. }) => {
                command.args(["--https", "127.0.0.1:0", "--cert"]).arg(certificate).arg("--key").arg(key);
                "https://"
            }
        };
        let all_on = self.scenario == Scenario::Observed;
        if self.access_log || all_on {
            command.arg("--access-log").arg(folder.join("access.log"));
        }
        if all_on {
            command.arg("--correlation-id");
        }
        command.args(["--admin", self.admin]);
        let settings = self.settings.to_owned() + &self.secured.map(Secured::settings).unwrap_or_default();
        if !settings.is_empty() {
            let file = folder.join("deployment.toml");
            fs::write(&file, settings)?;
            command.arg("--config").arg(file);
        }
        Ok((Server::announced(command, folder, mark)?, text))
    }
}
