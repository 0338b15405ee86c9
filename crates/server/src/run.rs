//! `myelin run`: loads, serves, and stops in order.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, bail};
use myelin_mediation::{Loaded, load};
use myelin_transport::{ClientOptions, ServerOptions, Stop};
use tokio::signal::unix::{SignalKind, signal};

use crate::command::raise_file_limit;
use crate::deployment::{self, Deployment, HTTP_PORT};
use crate::server::{Listen, Settings, start};
use crate::{Destination, logging};

/// How long past the drain time the process waits for its threads before it leaves without them.
const LEAVE_AFTER: Duration = Duration::from_secs(2);

/// The arguments of `myelin run`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Configuration files, or folders such as synapse-configs/default
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Serve plain HTTP on this address; may be repeated. Default: 0.0.0.0:8280, or the port of --config
    #[arg(long, value_name = "ADDR")]
    http: Vec<SocketAddr>,
    /// Serve HTTPS on this address; may be repeated
    #[arg(long, value_name = "ADDR", requires = "cert", requires = "key")]
    https: Vec<SocketAddr>,
    /// PEM file of the certificate chain for --https, leaf first
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// PEM file of the private key for --https
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// PEM file of roots to trust for https endpoints, instead of the system's; may be repeated
    #[arg(long, value_name = "FILE")]
    ca: Vec<PathBuf>,
    /// Threads to serve with; one per core by default
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// A deployment.toml: ports, offset, time-outs, sizes; limits of our own in its [myelin] table
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Write a line for each request to this file, or to standard output for -
    #[arg(long, value_name = "FILE")]
    access_log: Option<String>,
    /// Give requests without an activityid header one, and answers too
    #[arg(long)]
    correlation_id: bool,
    /// Send backends the client's Host instead of their own name
    #[arg(long)]
    preserve_host: bool,
    /// Add Via to requests
    #[arg(long)]
    via: bool,
    /// Add X-Forwarded-For, -Proto and -Host to requests
    #[arg(long)]
    x_forwarded: bool,
}

/// Serves until SIGTERM or SIGINT.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let _log = logging::start();
    raise_file_limit();
    let mut limits = myelin_mediation::Settings::default();
    let settings = settings(arguments, &mut limits)?;
    if let Some(body_bytes) = settings.server.body_bytes {
        limits.body_limit_bytes = limits.body_limit_bytes.min(body_bytes);
    }
    let Loaded { bus, report, .. } = load(&arguments.paths, &limits);
    for artefact in &report.artefacts {
        for problem in &artefact.problems {
            tracing::error!("{} {} is not offered: {problem}", artefact.kind, artefact.name);
        }
        for warning in &artefact.warnings {
            tracing::warn!("{} {}: {warning}", artefact.kind, artefact.name);
        }
    }
    if report.ok() == 0 {
        bail!("nothing of this configuration can run; `myelin check` says why");
    }
    let drain = settings.server.drain;
    // Handlers stand before the ready line: who reads it may stop us at once.
    let signals = Signals::install()?;
    let running = start(Arc::new(bus), settings)?;
    signals.stop_on(running.stopper(), drain);
    let took = begun.elapsed().as_millis();
    let (ok, faulty) = (report.ok(), report.faulty());
    writeln!(out, "myelin ready on {} ({ok} artefacts run, {faulty} do not; {took} ms)", running.urls.join(" "))?;
    out.flush()?;
    running.wait()?;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

fn settings(arguments: &Arguments, content: &mut myelin_mediation::Settings) -> anyhow::Result<Settings> {
    let (mut server, mut client) = (ServerOptions::default(), ClientOptions::default());
    let mut port = HTTP_PORT;
    let deployment = arguments.config.as_deref().map(deployment::read).transpose()?;
    content.security.now = Some(SystemTime::now());
    content.security.replays = Arc::new(deployment.as_ref().unwrap_or(&Deployment::default()).replays()?);
    if let Some(deployment) = deployment {
        deployment.apply(&mut server, &mut client);
        deployment.apply_content(content);
        deployment.apply_security(content)?;
        port = deployment.http_port;
        if let Some(hostname) = deployment.hostname {
            tracing::info!("this bus is called {hostname}");
        }
    }
    client.preserve_host |= arguments.preserve_host;
    server.forwarded.via |= arguments.via;
    server.forwarded.x_forwarded |= arguments.x_forwarded;
    let mut listen: Vec<Listen> = arguments.http.iter().copied().map(Listen::Http).collect();
    if listen.is_empty() && arguments.https.is_empty() {
        listen.push(Listen::Http(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)));
    }
    for &address in &arguments.https {
        let chain = arguments.cert.clone().context("--https needs --cert")?;
        let key = arguments.key.clone().context("--https needs --key")?;
        listen.push(Listen::Https { address, chain, key });
    }
    Ok(Settings {
        listen,
        threads: arguments.threads,
        server,
        client,
        roots: arguments.ca.clone(),
        access_log: arguments.access_log.as_deref().map(Destination::from),
        correlate: arguments.correlation_id,
    })
}

/// Handlers of SIGTERM and SIGINT, with the runtime that hears them.
struct Signals {
    runtime: tokio::runtime::Runtime,
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn install() -> anyhow::Result<Signals> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let _entered = runtime.enter();
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        drop(_entered);
        Ok(Signals { runtime, terminate, interrupt })
    }

    /// Stops the bus on the first signal, and leaves at once on the second or when draining takes too long.
    fn stop_on(mut self, stop: Stop, drain: Duration) {
        std::thread::spawn(move || {
            self.runtime.block_on(async {
                tokio::select! {
                    _ = self.terminate.recv() => {}
                    _ = self.interrupt.recv() => {}
                }
                tracing::info!("stopping: requests under way have {} s", drain.as_secs());
                stop.stop();
                tokio::select! {
                    _ = self.terminate.recv() => {}
                    _ = self.interrupt.recv() => {}
                    () = tokio::time::sleep(drain + LEAVE_AFTER) => {}
                }
            });
            std::process::exit(0);
        });
    }
}
