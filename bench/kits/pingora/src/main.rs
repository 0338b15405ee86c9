//! A reverse proxy on Pingora: `pingora-kit KEY=VALUE...`, with `listen`, `backend`, `pool` (with commas), `threads` and
//! `routing`, with `certificate` and `key` where clients come by HTTPS, and with `access_log` where a file is to have a
//! line for each request.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use pingora::ErrorType::InternalError;
use pingora::lb::LoadBalancer;
use pingora::lb::selection::RoundRobin;
use pingora::listeners::tls::TlsSettings;
use pingora::prelude::{Error, HttpPeer, ProxyHttp, Result, Server, Session, http_proxy_service};
use pingora::protocols::ALPN;
use pingora::server::configuration::ServerConf;

struct Bus {
    backend: String,
    pool: LoadBalancer<RoundRobin>,
    routing: Vec<u8>,
    log: Option<Mutex<BufWriter<File>>>,
}

#[async_trait]
impl ProxyHttp for Bus {
    type CTX = ();

    fn new_ctx(&self) {}

    /// Keeps back what has not the header that `header` routes on.
    async fn request_filter(&self, session: &mut Session, _: &mut ()) -> Result<bool> {
        let head = session.req_header();
        let routed = || head.headers.get("routing").is_some_and(|value| value.as_bytes() == self.routing);
        let refused = head.uri.path().starts_with("/services/header") && !routed();
        if refused {
            session.respond_error(404).await?;
        }
        Ok(refused)
    }

    async fn upstream_peer(&self, session: &mut Session, _: &mut ()) -> Result<Box<HttpPeer>> {
        if session.req_header().uri.path().starts_with("/services/pool") {
            let backend = self.pool.select(b"", 1);
            let backend = backend.ok_or_else(|| Error::explain(InternalError, "no backend in the pool"))?;
            return Ok(Box::new(HttpPeer::new(backend, false, String::new())));
        }
        Ok(Box::new(HttpPeer::new(&self.backend, false, String::new())))
    }

    async fn logging(&self, session: &mut Session, _: Option<&Error>, _: &mut ()) {
        let Some(log) = &self.log else { return };
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let client = session.client_addr().map(ToString::to_string).unwrap_or_default();
        let head = session.req_header();
        let status = session.response_written().map_or(0, |answer| answer.status.as_u16());
        let bytes = session.body_bytes_sent();
        let mut log = log.lock().expect("nobody panics while writing");
        // A full disk is no reason to stop serving.
        let _ = writeln!(log, "{client} {seconds:.3} \"{} {}\" {status} {bytes}", head.method, head.uri);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let values: HashMap<&str, &str> = arguments.iter().filter_map(|argument| argument.split_once('=')).collect();
    let configuration = ServerConf {
        threads: values["threads"].parse().expect("a number of threads"),
        upstream_keepalive_pool_size: 4096,
        // It ends at once when it is told to.
        grace_period_seconds: Some(0),
        graceful_shutdown_timeout_seconds: Some(0),
        ..ServerConf::default()
    };
    let mut server = Server::new_with_opt_and_conf(None, configuration);
    server.bootstrap();
    let pool = LoadBalancer::try_from_iter(values["pool"].split(',')).expect("the addresses of the pool");
    let log = values.get("access_log").filter(|path| !path.is_empty());
    let log = log.map(|path| Mutex::new(BufWriter::with_capacity(64 << 10, File::create(path).expect("a log"))));
    let bus = Bus { backend: values["backend"].to_owned(), pool, routing: values["routing"].into(), log };
    let mut service = http_proxy_service(&Arc::clone(&server.configuration), bus);
    match values.get("certificate").filter(|certificate| !certificate.is_empty()) {
        None => service.add_tcp(values["listen"]),
        Some(certificate) => {
            let mut settings = TlsSettings::intermediate(certificate, values["key"]).expect("a certificate and its key");
            settings.set_alpn(ALPN::H1);
            service.add_tls_with_settings(values["listen"], None, settings);
        }
    }
    server.add_service(service);
    server.run_forever();
}
