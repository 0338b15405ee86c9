//! The admin listener: metrics and probes, and for programs of this machine the management API, on a thread of their own, so that whoever asks waits for no message and no
//! message waits for them.

use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use myelin_channel::LocalFuture;
use myelin_http::{ConnectionCount, Listener, ServerOptions, Service, Stop, bind, serve};
use myelin_manage::Management;
use myelin_manage::api::{Api, PREFIX};
use myelin_message::{Arrival, Message};
use tokio::sync::mpsc;

use crate::admin_options::AdminOptions;
use crate::listeners::refuse_if_taken;
use crate::management::{ApiService, runtime};

/// How many clients may be connected: operators and their programs are few, but each asks by a connection of its own.
const CONNECTIONS: usize = 256;

/// What answers at the admin listener.
struct AdminService {
    management: Management,
    /// The management API, where only programs of this machine can ask for it.
    api: Option<ApiService>,
}

impl Service for AdminService {
    fn serve<'a>(&'a self, request: Message, arrival: Arrival<'a>) -> LocalFuture<'a, Message> {
        match self.api.as_ref().filter(|_| is_of_management(request.head.target())) {
            Some(api) => Box::pin(api.answer(request, arrival)),
            None => Box::pin(std::future::ready(self.management.answer(&request))),
        }
    }
}

/// Whether a target lies below the path of the management API.
fn is_of_management(target: &str) -> bool {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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

/// Answers at that listener from now on; the management API is offered there, without TLS, only where the address is one
/// of this machine alone.
///
/// Errors: there is no thread to be had.
pub(crate) fn answer(opened: Opened, management: Management, api: Option<Arc<Api>>, stop: Stop) -> anyhow::Result<()> {
    let is_local = opened.socket.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let api = api.filter(|_| is_local);
    std::thread::Builder::new().name("bus-admin".to_owned()).spawn(move || {
        let listener = Listener { socket: opened.socket, tls: None, inbound: None };
        if let Err(error) = run(listener, management, api, stop) {
            tracing::error!("the admin listener failed: {error:#}");
        }
    })?;
    Ok(())
}

/// Answers until the bus has nothing left to serve, so that probes hear of its end.
fn run(listener: Listener, management: Management, api: Option<Arc<Api>>, stop: Stop) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let local = tokio::task::LocalSet::new();
    // The process ends when its serving threads have; until then whoever asks shall hear that it stops.
    let ends = Stop::default();
    let body_bytes = api.as_ref().map(|api| api.body_bytes());
    let options =
        ServerOptions { connections: CONNECTIONS, drain: Duration::ZERO, body_bytes, ..ServerOptions::default() };
    local.block_on(&runtime, async move {
        let (_commands, commands) = mpsc::unbounded_channel();
        let service = Rc::new(AdminService { management, api: api.map(ApiService::new) });
        let stopping = ends.clone();
        tokio::task::spawn_local(async move {
            stop.asked_at_once().await;
            stopping.stop_at_once();
        });
        serve(vec![listener], service, options, ConnectionCount::default(), ends, commands).await
    })?;
    Ok(())
}
