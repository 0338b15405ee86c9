//! Two ends of a connection in one process.

use std::future::poll_fn;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::{PrivatePkcs8KeyDer, ServerName};
use tokio::net::TcpListener;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::*;

/// A client and a server whose handshake is done.
async fn pair() -> (Tls, Tls) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).expect("a key");
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).expect("a certificate");
    let provider = Arc::new(aws_lc_rs::default_provider());
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into())
        .expect("a key for the certificate");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let socket = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("it listens");
    let name = ServerName::try_from("localhost").expect("a name");
    let connector = TlsConnector::from(Arc::new(client));
    let accept = async {
        let (socket, _) = listener.accept().await.expect("a client");
        TlsAcceptor::from(Arc::new(server)).accept(socket).await.expect("a handshake")
    };
    let (client, server) = tokio::join!(connector.connect(name, socket), accept);
    let (socket, session) = client.expect("a handshake").into_inner();
    let client = Tls::new(socket, session.into());
    let (socket, session) = server.into_inner();
    (client, Tls::new(socket, session.into()))
}

async fn read(end: &mut Tls, room: usize) -> io::Result<Vec<u8>> {
    let mut out = vec![0; room];
    let length = poll_fn(|cx| end.poll_read(cx, &mut out)).await?;
    out.truncate(length);
    Ok(out)
}

async fn write(end: &mut Tls, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let (one, other) = bytes.split_at(bytes.len() / 3);
        let slices = [IoSlice::new(one), IoSlice::new(other)];
        let sent = poll_fn(|cx| end.poll_write_vectored(cx, &slices)).await.expect("it is sent");
        bytes = &bytes[sent..];
    }
    poll_fn(|cx| end.poll_flush(cx)).await.expect("it is sent");
}

fn numbers(length: usize) -> Vec<u8> {
    (0..length).map(|number| (number % 251) as u8).collect()
}

#[tokio::test]
async fn bytes_come_whole_whatever_room_their_reader_has() {
    for (length, room) in
        [(1, 1), (5_000, 1), (40_000, 100), (300_000, 16 << 10), (1 << 20, 128 << 10), (1 << 20, 1 << 20)]
    {
        let (mut client, mut server) = pair().await;
        let bytes = numbers(length);
        let send = async {
            write(&mut client, &bytes).await;
            poll_fn(|cx| client.poll_shutdown(cx)).await.expect("it ends");
        };
        let receive = async {
            let mut all = Vec::new();
            loop {
                let more = read(&mut server, room).await.expect("it comes");
                if more.is_empty() {
                    break all;
                }
                all.extend_from_slice(&more);
            }
        };
        let ((), all) = tokio::join!(send, receive);
        assert!(all == bytes, "{length} bytes into {room}");
        assert!(read(&mut server, room).await.expect("it has ended").is_empty());
    }
}

#[tokio::test]
async fn an_end_that_nobody_told_is_an_error_behind_what_came_before_it() {
    let (mut client, mut server) = pair().await;
    write(&mut client, b"half").await;
    poll_fn(|cx| Pin::new(&mut client.socket).poll_shutdown(cx)).await.expect("it ends");
    assert_eq!(read(&mut server, 100).await.expect("it came"), b"half");
    assert_eq!(read(&mut server, 100).await.map_err(|error| error.kind()), Err(ErrorKind::UnexpectedEof));
}

#[tokio::test]
async fn what_is_no_tls_is_an_error_behind_what_came_before_it() {
    let (mut client, mut server) = pair().await;
    write(&mut client, b"good").await;
    // A record of application data that no key has sealed.
    let forged = [&[0x17, 3, 3, 0, 40][..], &[7; 40]].concat();
    poll_fn(|cx| Pin::new(&mut client.socket).poll_write(cx, &forged)).await.expect("it is sent");
    server.socket.readable().await.expect("it came");
    let mut got = Vec::new();
    let kind = loop {
        match read(&mut server, 100).await {
            Ok(more) => got.extend_from_slice(&more),
            Err(error) => break error.kind(),
        }
    };
    assert_eq!((got.as_slice(), kind), (&b"good"[..], ErrorKind::InvalidData));
    // The peer is told.
    let told = read(&mut client, 100).await.expect_err("an alert");
    assert!(told.to_string().contains("alert"), "{told}");
}
