//! HTTPS on both sides; names, dates and issuers of backends are always checked.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use crate::support::authority::Authority;
use crate::support::{Bus, DEADLINE, answering, definitions, load, post, proxy, settings};
use myelin_server::Settings;
use myelin_testkit::eventually;
use myelin_testkit::{faulty::whole, port, raw};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion, version};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// The status a plain client gets through a bus that calls an HTTPS backend with those roots.
fn through_tls(backend: &str, roots: Vec<PathBuf>) -> (u16, String) {
    // It is tried each time, however it ended before.
    let configuration = definitions(&format!(
        r#"<proxy name="P"><target><endpoint><address uri="https://{backend}/services/P">
           <suspendOnFailure><errorCodes>-1</errorCodes></suspendOnFailure></address></endpoint></target></proxy>"#
    ));
    let bus = Bus::with(&configuration, Settings { roots, ..settings() });
    let mut last = (0, String::new());
    for _ in 0..2 {
        let answer = raw::exchange(bus.address, &post("<secret/>")).unwrap();
        last = (answer.status, answer.text());
    }
    last
}

#[test]
fn a_message_goes_through_an_https_endpoint_to_an_https_listener() {
    let authority = Authority::new();
    let backend = answering(whole());
    let secure = Bus::with(&proxy(backend.address()), authority.server("localhost", 2090));
    let (status, _) = through_tls(&format!("localhost:{}", secure.address.port()), vec![authority.root()]);
    assert_eq!(status, 200);
    assert!(backend.connections()[0].text().ends_with("<secret/>"));
}

#[test]
fn a_large_message_goes_through_tls_whole() {
    let authority = Authority::new();
    let echo = definitions(r#"<proxy name="P"><target><inSequence><respond/></inSequence></target></proxy>"#);
    let secure = Bus::with(&echo, authority.server("localhost", 2090));
    let configuration = definitions(&format!(
        r#"<proxy name="P"><target><endpoint><address uri="https://localhost:{}/services/P"/></endpoint></target></proxy>"#,
        secure.address.port()
    ));
    let bus = Bus::with(&configuration, Settings { roots: vec![authority.root()], ..settings() });
    let body = "0123456789abcdef".repeat(20_000);
    let answer = raw::exchange(bus.address, &post(&body)).unwrap();
    assert_eq!(answer.status, 200);
    assert!(answer.text() == body, "the body came back changed");
}

#[test]
fn a_certificate_that_is_for_another_name_too_old_or_by_a_stranger_is_refused() {
    let authority = Authority::new();
    let stranger = Authority::new();
    let backend = answering(whole());
    for (name, last_year, root) in [
        ("elsewhere.example", 2090, authority.root()),
        ("localhost", 2021, authority.root()),
        ("localhost", 2090, stranger.root()),
    ] {
        let secure = Bus::with(&proxy(backend.address()), authority.server(name, last_year));
        let (status, text) = through_tls(&format!("localhost:{}", secure.address.port()), vec![root]);
        assert_eq!(status, 502, "{name} until {last_year}");
        assert!(text.contains("101503"), "{text}");
    }
    assert_eq!(backend.connections().len(), 0);
}

/// Whom a client shows itself as, and what it speaks.
pub(crate) struct Caller<'a> {
    pub(crate) trusts: &'a Authority,
    pub(crate) shows: Option<(Vec<u8>, Vec<u8>)>,
    pub(crate) speaks: &'static SupportedProtocolVersion,
}

impl Caller<'_> {
    /// The status and text of what a port answers.
    pub(crate) fn ask(&self, port: u16) -> io::Result<String> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.trusts.root()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[self.speaks]).unwrap();
        let builder = builder.with_root_certificates(roots);
        let config = match self.shows.clone() {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let key = PrivateKeyDer::try_from(key).unwrap();
                builder.with_client_auth_cert(vec![certificate.into()], key).unwrap()
            }
        };
        let socket = TcpStream::connect(("127.0.0.1", port))?;
        socket.set_read_timeout(Some(DEADLINE))?;
        let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
        let mut stream = StreamOwned::new(connection, socket);
        stream.write_all(b"GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

/// An inbound endpoint for HTTPS on a port, with these parameters besides.
fn inbound(port: u16, store: &std::path::Path, parameters: &str) -> String {
    definitions(&format!(
        r#"<inboundEndpoint name="in" protocol="https" sequence="s"><parameters>
          <parameter name="inbound.http.port">{port}</parameter>
          <parameter name="keystore"><KeyStore xmlns=""><Location>{}</Location><Type>PEM</Type></KeyStore></parameter>
          {parameters}</parameters></inboundEndpoint>
        <sequence name="s"><payloadFactory media-type="text"><format>from inside</format></payloadFactory><respond/></sequence>"#,
        store.display()
    ))
}

#[test]
fn an_https_inbound_endpoint_lets_in_who_shows_a_certificate_that_it_trusts() {
    let (authority, partners) = (Authority::new(), Authority::new());
    let port = port::free().unwrap().port();
    let store = authority.store("localhost");
    let trusted = |verify: &str| {
        format!(
            r#"<parameter name="truststore"><TrustStore xmlns=""><Location>{}</Location><Type>PEM</Type></TrustStore>
            </parameter><parameter name="SSLVerifyClient">{verify}</parameter>"#,
            partners.root().display()
        )
    };
    let bus = Bus::with(&inbound(port, &store, &trusted("require")), settings());
    let (partner, stranger) = (partners.client("partner"), authority.client("stranger"));
    let versions = [&version::TLS12, &version::TLS13];
    let passes = |shows: Option<(Vec<u8>, Vec<u8>)>, speaks| {
        let answer = Caller { trusts: &authority, shows, speaks }.ask(port);
        answer.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200") && answer.ends_with("from inside"))
    };
    for speaks in versions {
        assert!(passes(Some(partner.clone()), speaks));
        assert!(!passes(Some(stranger.clone()), speaks));
        assert!(!passes(None, speaks));
    }
    // A reload lets in who shows none, too; a certificate has to be good all the same.
    bus.swap_to(load(&inbound(port, &store, &trusted("optional")), &myelin_engine::Settings::default()));
    eventually("the port lets in who shows no certificate", || passes(None, &version::TLS13));
    assert!(passes(Some(partner), &version::TLS13) && !passes(Some(stranger), &version::TLS13));
    assert!(bus.stop());
}

#[test]
fn an_https_inbound_endpoint_speaks_the_versions_that_it_names() {
    let authority = Authority::new();
    let port = port::free().unwrap().port();
    let versions = r#"<parameter name="HttpsProtocols">TLSv1.2,TLSv1.1</parameter>"#;
    let bus = Bus::with(&inbound(port, &authority.store("localhost"), versions), settings());
    let ask = |speaks| Caller { trusts: &authority, shows: None, speaks }.ask(port);
    assert!(ask(&version::TLS12).unwrap().starts_with("HTTP/1.1 200"));
    assert!(ask(&version::TLS13).is_err());
    // Who speaks plainly is not answered.
    assert!(raw::exchange(([127, 0, 0, 1], port).into(), &post("<a/>")).is_err());
    assert!(bus.stop());
}
