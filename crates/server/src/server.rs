//! A running bus: one thread per core, each with its own listeners, connections and engine.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, anyhow, bail};
use myelin_engine::Bus;
use myelin_engine::observer::{Part, TimeCounters};
use myelin_engine::recorder::RecorderSource;
use myelin_engine::transport::Transport;
use myelin_http::{
    Client, ClientOptions, ConnectionCount, Listener, ListenerCommand, ServerOptions, Stop, Trust, kept_bytes, serve,
};
use myelin_local::{LocalSender, Serve};
use myelin_logging::{Log, StepLog};
use myelin_manage::api::Api;
use myelin_manage::{FaultCounters, Management, Server, ThreadCounters};
use myelin_observe::messages::MessageTracing;
use myelin_telemetry::{SpanRecorderSource, Telemetry, TelemetryOptions};
use tokio::sync::mpsc;
use tracing::level_filters::LevelFilter;

use crate::access_log::{self, AccessLogOptions, Destination, LineFormat, Lines, Reopener, Writer};
use crate::admin;
use crate::admin_options::AdminOptions;
use crate::bus_service::BusService;
use crate::certificates::Certificates;
use crate::control::Control;
use crate::engine_transport::EngineTransport;
use crate::exchange_observer::ExchangeObserver;
use crate::inbound::InboundPorts;
use crate::listeners::{Listen, Opened, open_listeners};
use crate::management::{self, ManagementOptions, Served, ServedParts};
use crate::monitor::can_monitor;
use crate::runtime::{ThreadRuntime, thread_count};
use crate::standing::StandingCell;
use crate::swap::Swap;
use crate::under_way::{Askers, ThreadReport, UnderWay};
use crate::worker::WorkOptions;
use crate::{correlation, monitor, tasks};

/// How to serve, apart from the configuration.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// At least one address; port 0 finds a free one.
    pub listen: Vec<Listen>,
    /// Threads; 0 is one per core.
    pub threads: usize,
    /// Limits and deadlines towards clients.
    pub server: ServerOptions,
    /// Limits and deadlines towards backends.
    pub client: ClientOptions,
    /// How much long work may wait for its turn.
    pub work: WorkOptions,
    /// PEM files of the roots that `https` endpoints are trusted by; none means the system's.
    pub roots: Vec<PathBuf>,
    /// How a line is written for each request, if one is.
    pub access_log: Option<AccessLogOptions>,
    /// The log of the process, for those who read it and change its levels; `None` where somebody else writes it.
    pub log: Option<Log>,
    /// Whether requests without an `activityid` get one.
    pub correlate: bool,
    /// Where an operator asks; `None` where nothing is to be observed.
    pub admin: Option<AdminOptions>,
    /// Where the management API is; `None` for nowhere.
    pub management: Option<ManagementOptions>,
    /// Where traces and lines of the log go; `None` where they go nowhere.
    pub telemetry: Option<TelemetryOptions>,
    /// What records exchanges; `None` where nobody can want that.
    pub tracing: Option<Arc<MessageTracing>>,
}

/// A bus that serves. Dropping it lets it serve on; [`Running::stop`] ends it.
pub struct Running {
    /// The addresses it listens on, as URLs, with their real ports.
    pub urls: Vec<String>,
    /// The URL of the admin listener, if there is one.
    pub admin: Option<String>,
    /// The URL of the management API, if there is one.
    pub management: Option<String>,
    control: Control,
    stop: Stop,
    standing: Arc<StandingCell>,
    swap: Swap,
    askers: Askers,
    certificates: Certificates,
    access_log: Reopener,
    cut: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<anyhow::Result<()>>>,
    log: Option<JoinHandle<()>>,
    telemetry: Option<Telemetry>,
}

impl Running {
    /// What puts another bus in the place of the one that serves.
    pub fn swap(&self) -> Swap {
        self.swap.clone()
    }

    /// What reads the certificates of its listeners again.
    pub(crate) fn certificates(&self) -> Certificates {
        self.certificates.clone()
    }

    /// What opens its access log again.
    pub(crate) fn access_log(&self) -> Reopener {
        self.access_log.clone()
    }

    /// How its configuration stands, as it tells whoever asks.
    pub(crate) fn standing(&self) -> Arc<StandingCell> {
        Arc::clone(&self.standing)
    }

    /// How operators give orders to it.
    pub(crate) fn control(&self) -> Control {
        self.control.clone()
    }

    /// What is under way; asks each thread, and waits for it.
    pub fn under_way(&self) -> UnderWay {
        self.askers.ask(THREAD_ANSWERS).0.under_way
    }

    /// Stops accepting, lets requests under way finish within the drain time, and waits for that.
    ///
    /// Errors: a thread that failed.
    pub fn stop(self) -> anyhow::Result<()> {
        self.stop.stop();
        self.wait().map(drop)
    }

    /// What stops it from elsewhere, as a signal handler does.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Waits until it has been stopped; returns how many connections were still in use, and were cut.
    ///
    /// Errors: as [`Running::stop`].
    pub fn wait(self) -> anyhow::Result<usize> {
        for thread in self.threads {
            thread.join().map_err(|_| anyhow!("a serving thread failed; this is a bug of the bus"))??;
        }
        if let Some(log) = self.log {
            // The last lines are written when the last thread is gone.
            let _ = log.join();
        }
        if let Some(telemetry) = self.telemetry {
            // The last spans have ended with the last thread.
            telemetry.shut_down();
        }
        // Nobody is left of whom the admin listener could tell.
        self.stop.stop_at_once();
        Ok(self.cut.load(Ordering::Acquire))
    }
}

/// How long threads may take to say what is under way on them, where somebody has to know.
const THREAD_ANSWERS: Duration = Duration::from_secs(60);

/// How often a thread that stops asks whether flows still go on behind their answers.
const BRANCHES_ASKED: Duration = Duration::from_millis(10);

/// How long a thread that stops waits for what is still done beside it, and nobody waits for any more.
const LEFT_BEHIND: Duration = Duration::from_secs(1);

/// What every thread needs to begin.
#[derive(Clone)]
struct ThreadPlan {
    swap: Swap,
    settings: Settings,
    trust: Trust,
    writer: Option<(Arc<Writer>, LineFormat)>,
    connections: ConnectionCount,
    stop: Stop,
    /// How many connections were cut in the end.
    cut: Arc<AtomicUsize>,
    /// Its number; the first does what is done once for all: monitors, tasks.
    number: usize,
    /// Where faults are counted; `None` where nothing is observed.
    faults: Option<Arc<FaultCounters>>,
    /// Whether requests without a correlation id get one.
    correlates: Arc<AtomicBool>,
    /// Where spans go, if anywhere.
    telemetry: Option<Telemetry>,
    /// How late the thread is with what is due on it.
    lag: Arc<TimeCounters>,
}

/// How often it is measured how late a thread is.
const LAG_MEASURED: Duration = Duration::from_millis(500);

/// Measures again and again how late the thread is with what is due on it: what ran meanwhile kept everybody waiting.
async fn measure_lag(lag: Arc<TimeCounters>, part: Part) {
    let mut due = tokio::time::Instant::now();
    loop {
        tokio::time::sleep_until(due).await;
        lag.add(part, due.elapsed());
        due = tokio::time::Instant::now() + LAG_MEASURED;
    }
}

/// Starts serving a bus; when this returns, connections are accepted.
///
/// Errors: an address cannot be had, certificates or keys cannot be used, the access log cannot be opened, what the
/// bus is to monitor cannot be.
pub fn start(bus: Arc<Bus>, settings: Settings) -> anyhow::Result<Running> {
    if settings.listen.is_empty() {
        bail!("no address to listen on");
    }
    can_monitor(&bus)?;
    let count = thread_count(settings.threads);
    let Opened { addresses, urls, per_thread, shown } = open_listeners(&settings.listen, count)?;
    let admin = settings.admin.map(admin::listen).transpose()?.flatten();
    let management = settings.management.as_ref().map(management::listen).transpose()?.flatten();
    let (writer, log) = match settings.access_log.as_ref() {
        None => (None, None),
        Some(options) => {
            let (writer, thread) = access_log::open(&options.destination).context("access log")?;
            (Some((writer, options.format().clone())), Some(thread))
        }
    };
    let access_log = writer.as_ref().map(|(writer, _)| Reopener::new(writer)).unwrap_or_default();
    let telemetry = settings.telemetry.clone().map(Telemetry::start).transpose().context("OpenTelemetry")?;
    if let (Some(log), Some(telemetry)) = (&settings.log, &telemetry) {
        myelin_telemetry::forward(log, telemetry);
    }
    let trust = Trust::new(&settings.roots)?;
    let cut = Arc::new(AtomicUsize::new(0));
    let (stop, swap) = (Stop::default(), Swap::new(bus));
    let connections = ConnectionCount::default();
    // Where nobody can ask, nothing is counted.
    let faults = (admin.is_some() || management.is_some()).then(Arc::<FaultCounters>::default);
    let lag = Arc::<TimeCounters>::default();
    let port = addresses.first().map_or(0, SocketAddr::port);
    let is_secure = settings.listen.iter().all(|listen| !matches!(listen, Listen::Http(_)));
    let correlates = Arc::new(AtomicBool::new(settings.correlate));
    let access_file = match &settings.access_log {
        Some(options) => match &options.destination {
            Destination::File(path) => Some(path.clone()),
            Destination::Standard => None,
        },
        None => None,
    };
    let options = settings.management.clone();
    let process_log = settings.log.clone();
    let tracing = settings.tracing.clone();
    let plan = ThreadPlan {
        swap: swap.clone(),
        settings,
        trust,
        writer,
        connections: connections.clone(),
        stop: stop.clone(),
        cut: Arc::clone(&cut),
        number: 0,
        faults: faults.clone(),
        correlates: Arc::clone(&correlates),
        telemetry: telemetry.clone(),
        lag: Arc::clone(&lag),
    };
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::unbounded_channel()).unzip();
    let certificates = Certificates::new(shown, senders.clone());
    let mut ports = InboundPorts::new(addresses, senders);
    ports.follow(&swap.bus());
    let mut ports = Some(ports);
    let (ready, begun) = channel();
    let (mut threads, mut askers) = (Vec::new(), Vec::new());
    for (index, (listeners, commands)) in per_thread.into_iter().zip(receivers).enumerate() {
        let ports = (ports.take(), commands);
        let (plan, ready) = (ThreadPlan { number: index, ..plan.clone() }, ready.clone());
        let (asker, asked) = mpsc::unbounded_channel();
        askers.push(asker);
        let builder = std::thread::Builder::new().name(format!("bus-{index}"));
        threads.push(builder.spawn(move || run_thread(plan, listeners, &ready, asked, ports))?);
    }
    drop((plan, ready));
    // Each thread says that it serves; one that fails to hangs up instead, and its error is the reason.
    let has_begun = begun.iter().take(count).count() == count;
    let askers = Askers { threads: askers, connections };
    let standing = Arc::<StandingCell>::default();
    let mut running = Running {
        urls,
        admin: None,
        management: None,
        control: Control::default(),
        stop,
        standing,
        swap,
        askers,
        certificates,
        access_log,
        cut,
        threads,
        log,
        telemetry,
    };
    if let Some(faults) = faults.filter(|_| has_begun) {
        let served = Arc::new(Served::new(ServedParts {
            swap: running.swap.clone(),
            standing: Arc::clone(&running.standing),
            askers: running.askers.clone(),
            stop: running.stop.clone(),
            control: running.control.clone(),
            correlates,
            access_log: access_file,
            access_log_writer: running.access_log.clone(),
            lag,
            log: process_log,
            threads: count,
            telemetry: running.telemetry.clone(),
            tracing,
        }));
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let server = Server { host, port, started: SystemTime::now(), is_secure };
        let mut api = None;
        if let (Some(opened), Some(options)) = (management, options) {
            served.keeps_users_in(options.users);
            let made = Api::new(served.clone(), server.clone(), Arc::clone(&faults), opened.users.clone(), options.api);
            let made = Arc::new(made);
            running.management = Some(opened.url.clone());
            management::answer(opened, Arc::clone(&made), running.stop.clone())?;
            api = Some(made);
        }
        if let Some(admin) = admin {
            running.admin = Some(admin.url.clone());
            admin::answer(admin, Management::new(served, server, faults), api, running.stop.clone())?;
        }
    }
    if !has_begun {
        running.stop()?;
        bail!("a serving thread did not start");
    }
    Ok(running)
}

/// Serves what a flow of the bus sends to a service of it, as long as the thread has a bus.
fn serve_own(service: &Rc<BusService>) -> Rc<Serve> {
    let service = Rc::downgrade(service);
    Rc::new(move |request, arrival| {
        let engine = service.upgrade()?.engine();
        Some(Box::pin(async move { engine.serve_own(request, arrival).await }))
    })
}

fn run_thread(
    plan: ThreadPlan,
    listeners: Vec<Listener>,
    ready: &Sender<()>,
    mut asked: mpsc::UnboundedReceiver<Sender<ThreadReport>>,
    (ports, commands): (Option<InboundPorts>, mpsc::UnboundedReceiver<ListenerCommand>),
) -> anyhow::Result<()> {
    // The thread for long work is the bus's, too, whoever counts.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().thread_name("bus-work").build()?;
    let local = tokio::task::LocalSet::new();
    let served = local.block_on(&runtime, async move {
        let ThreadPlan {
            swap,
            settings,
            trust,
            writer,
            connections,
            stop,
            cut,
            number,
            faults,
            lag,
            correlates,
            telemetry,
        } = plan;
        let server = settings.server;
        let client = Client::new(settings.client, server.expect, server.pace, trust);
        let asks_engine = writer.as_ref().is_some_and(|(_, format)| format.asks_engine());
        let access_log = writer.map(|(writer, format)| Lines::new(writer, format));
        if let Some(lines) = &access_log {
            let lines = Rc::downgrade(lines);
            tokio::task::spawn_local(async move {
                loop {
                    tokio::time::sleep(access_log::FLUSH).await;
                    let Some(lines) = lines.upgrade() else { break };
                    lines.flush();
                }
            });
        }
        let runtime = Rc::new(ThreadRuntime::new(settings.work));
        let transport = Rc::new(EngineTransport::new(Rc::clone(&client), Rc::clone(&runtime)));
        let service = BusService::new(&swap, Rc::clone(&transport) as Rc<dyn Transport>, correlates, access_log);
        let part = faults.as_ref().map(|_| Part::of_thread(number));
        let counts = faults.map(|faults| ThreadCounters::new(number, faults));
        // Where nobody can ask, nobody changes levels either.
        let logs_steps = settings.log.is_some() && (counts.is_some() || LevelFilter::current() >= LevelFilter::TRACE);
        let steps = logs_steps.then(|| Rc::new(StepLog) as Rc<dyn RecorderSource>);
        let spans = telemetry.as_ref().and_then(SpanRecorderSource::new);
        let spans = spans.map(|source| Rc::new(source) as Rc<dyn RecorderSource>);
        let messages = settings.tracing.as_ref().map(MessageTracing::recorder_source);
        let recorder_sources = steps.into_iter().chain(spans).chain(messages).collect();
        let observer = (counts.is_some() || asks_engine).then(|| Rc::new(ExchangeObserver::new(counts)));
        let service = Rc::new(service.observed_by(observer).recorded_by(recorder_sources));
        if let Some(part) = part {
            tokio::task::spawn_local(measure_lag(lag, part));
        }
        transport.set_local(LocalSender::new(serve_own(&service), correlation::here));
        if number == 0 {
            tokio::task::spawn_local(monitor::keep_up(swap.clone(), transport));
            tokio::task::spawn_local(tasks::keep_up(Rc::clone(&service), swap.clone(), stop.clone()));
        }
        if let Some(ports) = ports {
            tokio::task::spawn_local(ports.keep_up(swap.clone()));
        }
        tokio::task::spawn_local(Rc::clone(&service).keep_up(swap));
        tokio::task::spawn_local({
            let service = Rc::clone(&service);
            async move {
                while let Some(answer) = asked.recv().await {
                    let (exchanges, branches) = service.under_way();
                    let (pool, memory_bytes) = (client.usage(), kept_bytes());
                    let backends = pool.used + pool.waiting;
                    let under_way = UnderWay { clients: 0, exchanges, branches, backends, memory_bytes };
                    let work_waiting = runtime.work_waiting();
                    // Who asked may have gone.
                    let _ = answer.send(ThreadReport { under_way, pool, work_waiting });
                }
            }
        });
        // The one that waits may have given up on the start.
        let _ = ready.send(());
        let asked = stop.clone();
        let stopped = tokio::task::spawn_local(async move {
            asked.asked().await;
            Instant::now()
        });
        let (branches, drain, ending) = (Rc::clone(&service), server.drain, stop.clone());
        // A task of its own is polled when it has something to do; this one, whenever any task of the thread has.
        let serving = tokio::task::spawn_local(serve(listeners, service, server, connections, stop, commands));
        cut.fetch_add(serving.await??, Ordering::AcqRel);
        // Flows that go on behind an answer have the rest of the drain time.
        let stopped = stopped.await?;
        while branches.under_way().1 > 0 && stopped.elapsed() < drain && !ending.is_at_once() {
            tokio::time::sleep(BRANCHES_ASKED).await;
        }
        anyhow::Ok(())
    });
    drop(local);
    // Nothing ends a step of a file system that hangs, nor long work that does not look at the clock.
    runtime.shutdown_timeout(LEFT_BEHIND);
    served
}
