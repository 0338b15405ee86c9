//! Ports of inbound endpoints, and tasks, in a bus that serves and is reloaded.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Bus, definitions, load, settings};
use myelin_engine::Settings;
use myelin_testkit::eventually;
use myelin_testkit::port;
use myelin_testkit::raw::Client;
use myelin_testkit::service::{Response, Service};

/// A port that nobody has.
fn free_port() -> u16 {
    port::free().unwrap().port()
}

/// An inbound endpoint whose sequence answers with a header line, on these ports.
fn configuration(ports: &[u16]) -> String {
    let inbound = |port: &u16| {
        format!(
            r#"<inboundEndpoint name="in-{port}" protocol="http" sequence="s"><parameters>
            <parameter name="inbound.http.port">{port}</parameter></parameters></inboundEndpoint>"#
        )
    };
    let inbounds: String = ports.iter().map(inbound).collect();
    definitions(&format!(
        r#"{inbounds}<sequence name="s"><property name="X-In" expression="$ctx:inbound.endpoint.name" scope="transport"/><respond/></sequence>
        <proxy name="P"><target><inSequence><property name="X-P" value="p" scope="transport"/><respond/></inSequence></target></proxy>"#
    ))
}

const REQUEST: &[u8] = b"POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Length: 2\r\n\r\nhi";

/// What a port answers with: the status, and whether it is the inbound endpoint.
fn ask(client: &mut Client, port: u16) -> (u16, bool) {
    client.send(REQUEST).unwrap();
    let answer = client.answer().unwrap();
    (answer.status, answer.header("X-In") == Some(&format!("in-{port}")))
}

fn at(port: u16) -> SocketAddr {
    ([127, 0, 0, 1], port).into()
}

#[test]
fn ports_are_opened_and_closed_as_the_configuration_has_them() {
    let (first, second) = (free_port(), free_port());
    let settings = myelin_server::Settings { threads: 2, ..settings() };
    let bus = Bus::with(&configuration(&[first]), settings);
    let mut kept = Client::connect(at(first)).unwrap();
    assert_eq!(ask(&mut kept, first), (200, true));
    let mut own = Client::connect(bus.address).unwrap();
    own.send(REQUEST).unwrap();
    assert_eq!(own.answer().unwrap().header("X-P"), Some("p"));
    bus.swap_to(load(&configuration(&[second]), &Settings::default()));
    eventually("the new port is open", || TcpStream::connect(at(second)).is_ok());
    assert_eq!(ask(&mut Client::connect(at(second)).unwrap(), second), (200, true));
    eventually("the old port is closed", || TcpStream::connect(at(first)).is_err());
    // Who is still connected there gets nowhere, least of all to what is served elsewhere.
    assert_eq!(ask(&mut kept, first), (404, false));
    assert!(bus.stop());
    eventually("nobody listens any more", || TcpStream::connect(at(second)).is_err());
}

#[test]
fn a_port_that_cannot_be_had_leaves_the_rest_as_it_is_and_is_opened_once_it_can() {
    let (taken, free) = (free_port(), free_port());
    let holder = TcpListener::bind(at(taken)).unwrap();
    let bus = Bus::with(&configuration(&[taken, free]), settings());
    assert_eq!(ask(&mut Client::connect(at(free)).unwrap(), free), (200, true));
    // The holder answers nobody: what does is the bus.
    drop(holder);
    eventually("the port is open", || TcpStream::connect(at(taken)).is_ok());
    assert_eq!(ask(&mut Client::connect(at(taken)).unwrap(), taken), (200, true));
    assert!(bus.stop());
}

#[test]
fn tasks_run_on_one_thread_and_end_with_the_bus() {
    let count = Arc::new(AtomicUsize::new(0));
    let backend = Service::start({
        let count = Arc::clone(&count);
        move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Response::default()
        }
    })
    .unwrap();
    let runs = || count.load(Ordering::Relaxed);
    let configuration = definitions(&format!(
        r#"<task name="t" class="org.apache.synapse.startup.tasks.MessageInjector"><trigger once="true"/>
        <property name="message"><a xmlns=""/></property><property name="injectTo" value="sequence"/>
        <property name="sequenceName" value="s"/></task>
        <sequence name="s"><call><endpoint><address uri="http://{}/"/></endpoint></call></sequence>"#,
        backend.address()
    ));
    let mediation = Settings::default();
    let bus = Bus::mediating(&configuration, &mediation, myelin_server::Settings { threads: 2, ..settings() });
    eventually("the task has run", || runs() > 0 && bus.under_way().branches == 0);
    // A reload that changes nothing does not run it again.
    bus.swap_to(load(&configuration, &mediation));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(runs(), 1);
    assert!(bus.stop());
}
