//! `myelin run`: loads, serves, and stops in order.

use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use myelin_bench::units::address;
use myelin_engine::{Bus, Loaded};
use myelin_http::{ClientOptions, ServerOptions, Stop};
use myelin_manage::Leaving;
use myelin_observe::messages::{MessageTracing, Wish, unknown_service};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::admin_options::AdminOptions;
use crate::deployment::{Deployment, XForwardedMode};
use crate::file_limit::{clients_that_fit, raise_file_limit};
use crate::listeners::Listen;
use crate::memory_limit::set_memory_limit;
use crate::origin::{Origin, Read};
use crate::reload::{Reloader, report_problems, warn_of, warn_of_settings};
use crate::runtime::thread_count;
use crate::server::{Settings, start};
use crate::standing::StandingCell;
use crate::{debugger, logging, trace_printer};

/// How long past the drain time the process waits for its threads before it leaves without them.
const LEAVE_AFTER: Duration = Duration::from_secs(2);

/// Room for fewer clients than this is a warning.
const FEW_CLIENTS: usize = 1024;

/// How long the answer to an order to leave may take to leave first.
const ANSWERED: Duration = Duration::from_millis(200);

/// How long the last lines of the log have to be written.
const LOG_WRITTEN: Duration = Duration::from_millis(100);

/// The arguments of `myelin run`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Configuration files, .car archives, or folders: synapse-configs, projects, homes of Micro Integrator
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Serve plain HTTP on this address; may be repeated. Default: 0.0.0.0:8280, or the port of --config
    ///
    /// An address is 127.0.0.1:8280, [::1]:8280, localhost:8280, or a port alone for every interface
    #[arg(long, value_name = "ADDR", value_parser = address)]
    http: Vec<SocketAddr>,
    /// Serve HTTPS on this address; may be repeated. Default: the port of --config, if it names one
    #[arg(long, value_name = "ADDR", requires = "cert", requires = "key", value_parser = address)]
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
    /// Leave out artefacts that refer to what is not there or hold a misspelt name, where else only a step fails or a setting has no effect
    #[arg(long)]
    strict: bool,
    /// A deployment.toml: ports, offset, timeouts and sizes; its [myelin] table holds all other settings
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Add this to the ports of --config instead of its [server] offset
    #[arg(long, value_name = "N", requires = "config")]
    port_offset: Option<u16>,
    /// Take connections of the debugger of WSO2's tools on 127.0.0.1:9005 and 9006, and answer that breakpoints have no
    /// effect, so that they go on without
    #[arg(long)]
    debugger: bool,
    /// Write a line for each request to this file, or to standard output for -
    #[arg(long, value_name = "FILE")]
    access_log: Option<String>,
    /// What such a line holds: `myelin`, `common`, `combined`, `json`, or letters such as %h %t "%r" %s %b
    #[arg(long, value_name = "FORMAT")]
    access_log_format: Option<String>,
    /// Answer metrics and probes on this address, or `off` for none. Default: 127.0.0.1:9201, or the address of --config
    #[arg(long, value_name = "ADDR", value_parser = admin_address)]
    admin: Option<AdminAddress>,
    /// Add an activityid header to requests without one, and to their answers
    #[arg(long)]
    correlation_id: bool,
    /// Trace the exchanges of these services, or of all, step by step, and write each trace to standard error
    #[arg(long, value_name = "SERVICE,…", num_args = 0..=1, require_equals = true, default_missing_value = "*", value_delimiter = ',')]
    trace: Vec<String>,
    /// Send backends the client's Host instead of their own name
    #[arg(long)]
    preserve_host: bool,
    /// Add Via to requests
    #[arg(long)]
    via: bool,
    /// Tell backends in X-Forwarded-For, -Proto and -Host who asked: `replace`, the default, drops what the client said
    /// of that, and `append` believes it, for a bus behind a proxy
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "replace", hide_possible_values = true)]
    x_forwarded: Option<XForwardedMode>,
}

/// What `--admin` names.
#[derive(Clone, Copy, Debug)]
enum AdminAddress {
    Off,
    At(SocketAddr),
}

fn admin_address(text: &str) -> Result<AdminAddress, String> {
    if text == "off" { Ok(AdminAddress::Off) } else { address(text).map(AdminAddress::At) }
}

/// Serves until SIGTERM or SIGINT, reloading what was changed.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let logging = logging::start()?;
    let files = raise_file_limit();
    let origin = Origin::new(&arguments.paths, arguments.config.as_deref(), arguments.port_offset)?;
    let origin =
        origin.listening(&arguments.http, &arguments.https).on_threads(arguments.threads).strict(arguments.strict);
    let Read { loaded: Loaded { bus, report, sources }, deployment } = origin.read()?;
    let log = logging.handle();
    log.apply(&deployment.log())?;
    let mut settings = settings(arguments, &deployment)?;
    settings.log = Some(log.log.clone());
    let clients = clients_that_fit(files, thread_count(settings.threads));
    if clients < settings.server.connections {
        let wanted = settings.server.connections;
        let told = format!(
            "the limit of {files} file descriptors leaves room for {clients} clients beside their backends, instead of \
             the {wanted} of myelin.server.connections; raise it with `ulimit -n`, or LimitNOFILE of systemd"
        );
        if clients < FEW_CLIENTS {
            tracing::warn!("{told}");
        } else {
            tracing::info!("{told}");
        }
        settings.server.connections = clients;
    }
    for artefact in &report.artefacts {
        report_problems(artefact);
        warn_of(artefact);
    }
    if report.ok() == 0 {
        bail!("no artefact of this configuration can run; `myelin check` reports the reasons");
    }
    let is_plain = |listen: &Listen| matches!(listen, Listen::Http(_));
    let (http, https) = (settings.listen.iter().any(is_plain), !settings.listen.iter().all(is_plain));
    for name in bus.unreachable_proxies(http, https) {
        let missing = if https { "plain HTTP (--http)" } else { "HTTPS (--https, or [transport.https] of --config)" };
        tracing::warn!(
            "proxy {name}: no client reaches it, as its transports ask for {missing}, and no listener has it"
        );
    }
    let tracing = tracing(&arguments.trace, &deployment, &bus)?;
    settings.tracing = Some(Arc::clone(&tracing));
    if !arguments.trace.is_empty() {
        trace_printer::start(&tracing)?;
    }
    let drain = settings.server.drain;
    let flush = settings.telemetry.as_ref().map(|telemetry| telemetry.flush).unwrap_or_default();
    for destination in settings.telemetry.iter().flat_map(|it| [("traces", &it.traces), ("logs", &it.logs)]) {
        if let (signal, Some(destination)) = destination {
            tracing::info!("{signal} go to {destination}");
        }
    }
    // Handlers stand before the ready line: who reads it may stop us at once.
    let signals = Signals::install()?;
    let running = start(Arc::new(bus), settings)?;
    if arguments.debugger {
        debugger::answer()?;
    }
    let took = begun.elapsed().as_millis();
    let (ok, faulty) = (report.ok(), report.faulty());
    let (delay, standing) = (deployment.drain_delay(), running.standing());
    let watch = deployment.watch();
    let reloader = Reloader::new(origin, &running, report, deployment, sources, log);
    let restarts = Arc::<AtomicBool>::default();
    let way_out = WayOut { drain, delay, flush, standing, restarts: Arc::clone(&restarts) };
    signals.heed(reloader, watch, running.stopper(), way_out);
    if let Some(admin) = &running.admin {
        tracing::info!("metrics and probes are on {admin}");
    }
    if let Some(management) = &running.management {
        let origin = management.trim_end_matches("/management");
        tracing::info!("the management API is on {management}, and the console on {origin}/console");
    }
    writeln!(
        out,
        "myelin ready on {} (artefacts that run: {ok}, faulty: {faulty}; {took} ms)",
        running.urls.join(" ")
    )?;
    out.flush()?;
    let cut = running.wait()?;
    if restarts.load(Ordering::Acquire) {
        tracing::info!("restarting");
        drop(logging);
        return Err(begin_anew());
    }
    if cut > 0 {
        tracing::error!("stopped; connections that were cut in use: {cut}");
        return Ok(ExitCode::FAILURE);
    }
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Message tracing as the command line and the settings want it; a service that the bus does not have is a warning, as a
/// reload may bring it.
fn tracing(services: &[String], deployment: &Deployment, bus: &Bus) -> anyhow::Result<Arc<MessageTracing>> {
    let (limits, mut wishes) = deployment.trace();
    let named = |service: &String| Some(service.clone()).filter(|service| service != "*");
    wishes.extend(services.iter().map(|service| Wish { service: named(service), ..Wish::default() }));
    let tracing = MessageTracing::new(limits);
    let known = bus.services();
    let known = known.iter().map(|service| (service.kind.element(), service.name));
    for wish in wishes {
        if let Some(problem) = wish.service.as_deref().and_then(|wanted| unknown_service(wanted, known.clone())) {
            tracing::warn!("[myelin.trace] and --trace: {problem}");
        }
        tracing.select(wish).map_err(anyhow::Error::msg).context("[myelin.trace] and --trace")?;
    }
    Ok(tracing)
}

fn settings(arguments: &Arguments, deployment: &Deployment) -> anyhow::Result<Settings> {
    let (mut server, mut client) = (ServerOptions::default(), ClientOptions::default());
    deployment.apply(&mut server, &mut client);
    set_memory_limit(deployment.memory_bytes());
    warn_of_settings(&deployment.remarks);
    client.preserve_host |= arguments.preserve_host;
    server.forwarded.via |= arguments.via;
    if let Some(mode) = arguments.x_forwarded {
        server.forwarded.x_forwarded = mode.into();
    }
    let mut listen: Vec<Listen> = arguments.http.iter().copied().map(Listen::Http).collect();
    if listen.is_empty() && arguments.https.is_empty() {
        listen.extend(deployment.http.map(Listen::Http));
    }
    for &address in &arguments.https {
        let chain = arguments.cert.clone().context("--https needs --cert")?;
        let key = arguments.key.clone().context("--https needs --key")?;
        listen.push(Listen::Https { address, chain, key });
    }
    if arguments.https.is_empty() {
        listen.extend(deployment.https()?.map(|(address, store)| Listen::Deployed(address, store)));
    }
    Ok(Settings {
        listen,
        threads: arguments.threads,
        server,
        client,
        work: deployment.work(),
        roots: arguments.ca.clone(),
        access_log: deployment.access_log(arguments.access_log.as_deref(), arguments.access_log_format.as_deref())?,
        correlate: arguments.correlation_id,
        log: None,
        tracing: None,
        admin: match arguments.admin {
            Some(AdminAddress::Off) => None,
            Some(AdminAddress::At(address)) => Some(AdminOptions { address, is_wanted: true }),
            None => deployment.admin()?,
        },
        management: deployment.management(&arguments.paths)?,
        telemetry: deployment.telemetry()?,
    })
}

/// How the process leaves.
struct WayOut {
    /// How long requests under way may take once listeners are closed.
    drain: Duration,
    /// How long probes say that it leaves before listeners close.
    delay: Duration,
    /// How long spans that wait have to be sent.
    flush: Duration,
    standing: Arc<StandingCell>,
    /// Whether it begins anew when it has left.
    restarts: Arc<AtomicBool>,
}

/// Puts the same program with the same arguments in the place of this process; the error where that cannot be done.
fn begin_anew() -> anyhow::Error {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return anyhow::Error::new(error).context("restart"),
    };
    // Files and sockets close by themselves, and the new program finds them free.
    let error = Command::new(&program).args(std::env::args_os().skip(1)).exec();
    anyhow::Error::new(error).context(format!("restart of {}", program.display()))
}

/// Handlers of SIGTERM, SIGINT, SIGHUP and SIGUSR1, with the runtime that hears them.
struct Signals {
    runtime: tokio::runtime::Runtime,
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    user: Signal,
}

impl Signals {
    fn install() -> anyhow::Result<Signals> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let _entered = runtime.enter();
        let [terminate, interrupt, hangup, user] =
            [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), SignalKind::user_defined1()]
                .map(signal);
        let (terminate, interrupt, hangup, user) = (terminate?, interrupt?, hangup?, user?);
        // Heard for good: a file that becomes larger than the process may write is an error of its writer then, and not
        // the end of the process.
        drop(signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?);
        drop(_entered);
        Ok(Signals { runtime, terminate, interrupt, hangup, user })
    }

    /// Reloads on SIGHUP, and whenever the configuration was changed if that is watched; stops the bus on the first of
    /// the other signals, and cuts what is under way on the second or when draining takes too long.
    fn heed(mut self, mut reloader: Reloader, watch: Option<Duration>, stop: Stop, way_out: WayOut) {
        let WayOut { drain, delay, flush, standing, restarts } = way_out;
        std::thread::spawn(move || {
            self.runtime.block_on(async {
                let mut leaving = Leaving { restarts: false, drains: true };
                tokio::select! {
                    _ = self.terminate.recv() => {}
                    _ = self.interrupt.recv() => {}
                    ordered = reloader.keep_up(&mut self.hangup, &mut self.user, watch) => {
                        leaving = ordered;
                        // The answer to whoever ordered it leaves first.
                        tokio::time::sleep(ANSWERED).await;
                    }
                }
                restarts.store(leaving.restarts, Ordering::Release);
                standing.leave();
                let drain = if leaving.drains { drain } else { Duration::ZERO };
                if !delay.is_zero() && leaving.drains {
                    tracing::info!("stopping: probes say so for {} s before listeners close", delay.as_secs());
                    tokio::select! {
                        _ = self.terminate.recv() => {}
                        _ = self.interrupt.recv() => {}
                        () = tokio::time::sleep(delay) => {}
                    }
                }
                tracing::info!("stopping: requests in progress have {} s to finish", drain.as_secs());
                stop.stop();
                tokio::select! {
                    _ = self.terminate.recv() => {}
                    _ = self.interrupt.recv() => {}
                    () = tokio::time::sleep(drain) => {}
                }
                stop.stop_at_once();
                tokio::time::sleep(LEAVE_AFTER + flush).await;
                tracing::error!("threads that serve do not end; the process leaves without them");
                // The log is written by a thread of its own.
                tokio::time::sleep(LOG_WRITTEN).await;
            });
            if restarts.load(Ordering::Acquire) {
                let error = begin_anew();
                tracing::error!("{error:#}");
            }
            std::process::exit(1);
        });
    }
}
