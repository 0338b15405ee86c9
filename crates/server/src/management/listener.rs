//! The HTTPS listener of the management API.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, anyhow};
use aws_lc_rs::digest;
use myelin_channel::{ClientCertificates, PortTls};
use myelin_http::{ConnectionCount, Listener, ServerConfig, ServerOptions, Stop, bind, serve, server_config_of};
use myelin_manage::api::{Api, PREFIX, User, Users};
use tokio::sync::mpsc;

use super::service::{ApiService, runtime};
use super::{ManagementOptions, users};
use crate::certificates::{Certificates, Shown};
use crate::listeners::refuse_if_taken;

/// How often it is looked whether the file of users was changed, and months are told apart.
const LOOK: Duration = Duration::from_secs(2);

/// A listener that is open, and answers nobody yet.
pub(crate) struct Opened {
    socket: TcpListener,
    tls: Arc<ServerConfig>,
    /// Where its certificate comes from, if the process did not make it.
    shown: Option<Shown>,
    pub(crate) users: Users,
    options: ManagementOptions,
    /// Its URL, with its real port.
    pub(crate) url: String,
}

/// Opens the listener; `None` where there is no user, or where nobody named the address and another process has it.
///
/// Errors: the address that somebody named cannot be had; the users or the certificate cannot be read.
pub(crate) fn listen(options: &ManagementOptions) -> anyhow::Result<Option<Opened>> {
    let mut known = users::read(&options.users).context("users of the management API")?;
    add_fixed(&mut known, &options.fixed_users);
    if known.is_empty() {
        tracing::info!(
            "the management API is off, as it has no user; `myelin user add NAME --admin --file {}` makes one",
            options.users.display()
        );
        return Ok(None);
    }
    let address = options.address;
    let socket = match refuse_if_taken(address).and_then(|()| Ok(bind(address)?)) {
        Ok(socket) => socket,
        Err(error) if options.is_wanted => return Err(error).context("[myelin.management] listen"),
        Err(_) => {
            tracing::warn!(
                "the bus has no management API: another process listens on {address}; listen of [myelin.management] \
                 names another address, or off"
            );
            return Ok(None);
        }
    };
    let source = options.certificate.clone();
    let (tls, mark) = match &source {
        Some(source) => {
            let read = source.read().context("the certificate of the management API")?;
            (read.config, read.mark)
        }
        None => (own_certificate(&address.ip().to_string())?, 0),
    };
    let local = socket.local_addr()?;
    let url = format!("https://{local}{PREFIX}");
    let shown = source.map(|source| Shown { url: url.clone(), port: local.port(), source, mark });
    Ok(Some(Opened { socket, tls, shown, users: known, options: options.clone(), url }))
}

fn add_fixed(users: &mut Users, fixed: &[User]) {
    for user in fixed {
        let mut fixed = user.clone();
        fixed.is_fixed = true;
        if !users.add(fixed) {
            tracing::warn!("user {:?} of deployment.toml is in the file of users, too, which counts", user.name);
        }
    }
}

/// A certificate that this process makes for itself, and that ends with it.
fn own_certificate(address: &str) -> anyhow::Result<Arc<ServerConfig>> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned(), address.to_owned(), host];
    names.sort_unstable();
    names.dedup();
    let made = rcgen::generate_simple_self_signed(names).context("a certificate for the management API")?;
    let certificate = made.cert.der().to_vec();
    let mut print = String::new();
    for byte in digest::digest(&digest::SHA256, &certificate).as_ref() {
        // Writing into a string cannot fail.
        let _ = write!(print, "{}{byte:02X}", if print.is_empty() { "" } else { ":" });
    }
    tracing::info!(
        "the management API shows a certificate that this process made for itself; its SHA-256 fingerprint is {print}"
    );
    let tls = PortTls {
        chain: vec![certificate],
        key: made.signing_key.serialize_der().into(),
        clients: ClientCertificates::NotAsked,
        has_1_2: true,
        has_1_3: true,
    };
    server_config_of(&tls).map_err(|reason| anyhow!("a certificate for the management API: {reason}"))
}

/// Answers at that listener until the bus has ended.
///
/// Errors: there is no thread to be had.
pub(crate) fn answer(opened: Opened, api: Arc<Api>, stop: Stop) -> anyhow::Result<()> {
    std::thread::Builder::new().name("bus-management".to_owned()).spawn(move || {
        if let Err(error) = run(opened, api, stop) {
            tracing::error!("the management API failed: {error:#}");
        }
    })?;
    Ok(())
}

fn run(opened: Opened, api: Arc<Api>, stop: Stop) -> anyhow::Result<()> {
    let Opened { socket, tls, shown, options, .. } = opened;
    let listener = Listener { socket, tls: Some(tls), inbound: None };
    let runtime = runtime()?;
    let local = tokio::task::LocalSet::new();
    // The process ends when its serving threads have; until then whoever asks shall be answered.
    let ends = Stop::default();
    let server = ServerOptions {
        connections: options.connections,
        head_timeout: Duration::from_secs(10),
        keep_alive: Duration::from_secs(60),
        idle: Duration::from_secs(30),
        body_bytes: Some(options.api.upload_bytes),
        drain: Duration::ZERO,
        ..ServerOptions::default()
    };
    local.block_on(&runtime, async move {
        let (orders, commands) = mpsc::unbounded_channel();
        let certificates = Certificates::new(shown.into_iter().collect(), vec![orders]);
        let service = Rc::new(ApiService::new(Arc::clone(&api)));
        let stopping = ends.clone();
        tokio::task::spawn_local(async move {
            stop.asked_at_once().await;
            stopping.stop_at_once();
        });
        tokio::task::spawn_local(keep_up(api, options, certificates));
        serve(vec![listener], service, server, ConnectionCount::default(), ends, commands).await
    })?;
    Ok(())
}

/// What tells a file from what it was before; `None` where it is not there.
fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let found = std::fs::metadata(file).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// Takes users and certificate anew when their files were changed, and does what is due every so often.
async fn keep_up(api: Arc<Api>, options: ManagementOptions, mut certificates: Certificates) {
    let options = Arc::new(options);
    let mut seen = stamp(&options.users);
    let marks = |certificates: &Certificates| certificates.files().map(stamp).collect::<Vec<_>>();
    let mut shown = marks(&certificates);
    loop {
        tokio::time::sleep(LOOK).await;
        let (looked, api) = (Arc::clone(&options), Arc::clone(&api));
        let (last, last_shown) = (seen, shown.clone());
        // A disk may be slow, and who logs in does not wait for it.
        let look = tokio::task::spawn_blocking(move || {
            api.tick();
            let now_shown = marks(&certificates);
            if now_shown != last_shown {
                certificates.reload(None);
            }
            let now = stamp(&looked.users);
            if now == last {
                return (now, now_shown, certificates);
            }
            let read = || {
                let mut users = users::read(&looked.users)?;
                add_fixed(&mut users, &looked.fixed_users);
                anyhow::Ok(users)
            };
            match api.renew_users(read) {
                Ok(()) => tracing::info!("the users of the management API were read anew"),
                Err(error) => tracing::error!("the users of the management API stay as they were: {error:#}"),
            }
            (now, now_shown, certificates)
        });
        let Ok(looked) = look.await else {
            return tracing::error!("the management API looks for changes no more; this is a bug of the bus");
        };
        (seen, shown, certificates) = looked;
    }
}
