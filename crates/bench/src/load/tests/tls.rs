//! Load over TLS: who is trusted, what the client shows, and sessions that are resumed.

use super::*;

/// A TLS server that answers every request with `hello`; its certificate, in PEM, is for `localhost`. It wants the
/// certificate of the client where one is given.
fn secure_backend(client: Option<&rcgen::Certificate>) -> (u16, String) {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = rustls_pki_types::PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config =
        rustls::ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let config = match client {
        None => config.with_no_client_auth(),
        Some(client) => {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(client.der().clone()).unwrap();
            let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            config.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let config = config.with_single_cert(vec![cert.der().clone()], key).unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(stream), config) = (stream, config.clone()) else { continue };
            std::thread::spawn(move || {
                let session = rustls::ServerConnection::new(config).unwrap();
                let mut stream = rustls::StreamOwned::new(session, stream);
                let mut request = vec![0; 65_536];
                while let Ok(1..) = stream.read(&mut request) {
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, cert.pem())
}

#[test]
fn https_is_spoken_to_those_whose_certificate_is_trusted_and_to_nobody_else() {
    let (port, certificate) = secure_backend(None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authorities.pem");
    std::fs::write(&file, certificate).unwrap();
    let mut plan = Plan::new(&format!("https://localhost:{port}/")).unwrap();
    (plan.requests, plan.connections) = (Some(20), 2);
    plan.verify = Verify::Contains("hello".to_owned());
    plan.authorities = Some(file.clone());
    plan.timeout = Duration::from_secs(20);
    let outcome = plan.run().unwrap();
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    assert_eq!(outcome.connects, 2);

    // The name in the certificate is another one.
    plan.target = format!("https://127.0.0.1:{port}/").parse().unwrap();
    plan.requests = Some(2);
    assert_eq!(only(&plan.run().unwrap()), ("connect", 2));
    std::fs::write(&file, "no certificate").unwrap();
    assert!(plan.run().is_err());
}

#[test]
fn sessions_of_tls_are_resumed_unless_they_are_not_to_be() {
    let (port, certificate) = secure_backend(None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authorities.pem");
    std::fs::write(&file, certificate).unwrap();
    let mut plan = Plan::new(&format!("https://localhost:{port}/")).unwrap();
    (plan.requests, plan.keep_alive, plan.authorities) = (Some(10), false, Some(file));
    plan.timeout = Duration::from_secs(20);
    for (resumption, resumed) in [(true, 9), (false, 0)] {
        plan.resumption = resumption;
        let outcome = plan.run().unwrap();
        assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
        assert_eq!((outcome.connects, outcome.resumed), (10, resumed));
    }
}

#[test]
fn a_service_that_wants_a_certificate_gets_the_one_that_was_named() {
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(vec!["us".to_owned()]).unwrap();
    let (port, authority) = secure_backend(Some(&cert));
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let mut plan = Plan::new(&format!("https://localhost:{port}/")).unwrap();
    plan.authorities = Some(file("authorities.pem", &authority));
    plan.timeout = Duration::from_secs(20);
    assert!(!plan.run().unwrap().is_clean());

    plan.certificate = Some(file("client.pem", &cert.pem()));
    plan.key = Some(file("key.pem", &signing_key.serialize_pem()));
    let outcome = plan.run().unwrap();
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    plan.certificate = Some(file("both.pem", &format!("{}{}", cert.pem(), signing_key.serialize_pem())));
    plan.key = None;
    assert!(plan.run().unwrap().is_clean());

    let refused = |certificate: &str, key: &str, wanted: &str| {
        let (certificate, key) = (Some(folder.path().join(certificate)), Some(folder.path().join(key)));
        let error = format!("{:#}", Plan { certificate, key, ..plan.clone() }.run().unwrap_err());
        assert!(error.contains(wanted), "{error}");
    };
    refused("client.pem", "client.pem", "cannot read a key in PEM");
    refused("key.pem", "key.pem", "holds no certificate");
    let other = rcgen::KeyPair::generate().unwrap();
    file("other.pem", &other.serialize_pem());
    refused("client.pem", "other.pem", "do not belong together");
}
