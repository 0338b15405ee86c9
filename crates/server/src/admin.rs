//! The admin listener: metrics and probes, on a thread of their own, so that whoever asks waits for no message and no
//! message waits for them.

use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use myelin_channel::LocalFuture;
use myelin_engine::Bus;
use myelin_http::{ConnectionCount, Listener, ServerOptions, Service, Stop, bind, serve};
use myelin_manage::{FaultCounters, Gauges, Management, Process, Server, Stage, Standing};
use myelin_message::{Arrival, Message};
use tokio::sync::mpsc;

use crate::admin_options::AdminOptions;
use crate::listeners::refuse_if_taken;
use crate::process_usage::process_usage;
use crate::standing::StandingCell;
use crate::swap::Swap;
use crate::under_way::{Askers, ThreadReport};

/// How many clients may be connected: operators and their programs are few, but each asks by a connection of its own.
const CONNECTIONS: usize = 256;

/// How long all threads together may take to say what is under way on them.
const ASKED: Duration = Duration::from_millis(500);

/// The process as the admin listener sees it.
pub(crate) struct Served {
    pub(crate) swap: Swap,
    pub(crate) standing: Arc<StandingCell>,
    pub(crate) askers: Askers,
    pub(crate) stop: Stop,
}

impl Process for Served {
    fn bus(&self) -> Arc<Bus> {
        self.swap.bus()
    }

    fn standing(&self) -> Standing {
        let stage = if self.stop.is_asked() || self.standing.is_leaving() { Stage::Draining } else { Stage::Serving };
        Standing { stage, ..self.standing.get() }
    }

    fn gauges(&self) -> Gauges {
        let (ThreadReport { under_way, pool, work_waiting }, silent_threads) = self.askers.ask(ASKED);
        Gauges {
            client_connections: under_way.clients,
            exchanges: under_way.exchanges,
            branches: under_way.branches,
            used_backend_connections: pool.used,
            idle_backend_connections: pool.idle,
            waiting_for_backends: pool.waiting,
            waiting_work: work_waiting,
            memory_bytes: under_way.memory_bytes,
            silent_threads,
            process: process_usage(),
        }
    }
}

struct AdminService(Management);

impl Service for AdminService {
    fn serve<'a>(&'a self, request: Message, _: Arrival<'a>) -> LocalFuture<'a, Message> {
        Box::pin(std::future::ready(self.0.answer(&request)))
    }
}

/// An admin listener that is open, and answers nobody yet.
pub(crate) struct Opened {
    socket: TcpListener,
    /// Its URL, with its real port.
    pub(crate) url: String,
}

/// Opens the admin listener; `None` where nobody named the address and another process has it.
///
/// Errors: the address that somebody named cannot be had.
pub(crate) fn listen(AdminOptions { address, is_wanted }: AdminOptions) -> anyhow::Result<Option<Opened>> {
    match refuse_if_taken(address).and_then(|()| Ok(bind(address)?)) {
        Ok(socket) => Ok(Some(Opened { url: format!("http://{}", socket.local_addr()?), socket })),
        Err(error) if is_wanted => Err(error).context("[myelin.admin] listen"),
        Err(_) => {
            tracing::warn!(
                "the bus has no metrics and no probes: another process listens on {address}; \
                 --admin names another address, and --admin off silences this"
            );
            Ok(None)
        }
    }
}

/// Answers at that listener from now on, for a bus whose clients come to `port`.
///
/// Errors: there is no thread to be had.
pub(crate) fn answer(opened: Opened, port: u16, served: Served, faults: Arc<FaultCounters>) -> anyhow::Result<()> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let stop = served.stop.clone();
    let management = Management::new(Box::new(served), Server { host, port, started: SystemTime::now() }, faults);
    std::thread::Builder::new().name("bus-admin".to_owned()).spawn(move || {
        let listener = Listener { socket: opened.socket, tls: None, inbound: None };
        if let Err(error) = run(listener, management, stop) {
            tracing::error!("the admin listener failed: {error:#}");
        }
    })?;
    Ok(())
}

/// Answers until the bus has nothing left to serve, so that probes hear of its end.
fn run(listener: Listener, management: Management, stop: Stop) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    // The process ends when its serving threads have; until then whoever asks shall hear that it stops.
    let ends = Stop::default();
    let options = ServerOptions { connections: CONNECTIONS, drain: Duration::ZERO, ..ServerOptions::default() };
    local.block_on(&runtime, async move {
        let (_commands, commands) = mpsc::unbounded_channel();
        let service = Rc::new(AdminService(management));
        let stopping = ends.clone();
        tokio::task::spawn_local(async move {
            stop.asked_at_once().await;
            stopping.stop_at_once();
        });
        serve(vec![listener], service, options, ConnectionCount::default(), ends, commands).await
    })?;
    Ok(())
}
