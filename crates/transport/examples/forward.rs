//! The smallest service: one thread that forwards every request to one backend.
//!
//! `cargo run --release --example forward -- 127.0.0.1:8280 http://127.0.0.1:9000`

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use http::{StatusCode, Uri};
use myelin_message::{Body, Message};
use myelin_transport::{
    Arrival, Client, ClientOptions, Expect, Gate, Listener, Manner, Pace, Request, ServerOptions, Service, Stop, Trust,
    bind, serve,
};

struct Forward {
    client: Rc<Client>,
    backend: Uri,
}

impl Service for Forward {
    fn serve<'a>(&'a self, message: Message, _: Arrival) -> Pin<Box<dyn Future<Output = Message> + 'a>> {
        Box::pin(async move {
            let Message { head, body, .. } = message;
            let uri = self.backend.clone();
            let request =
                Request { method: None, uri, head, body, timeout: None, host: None, manner: Manner::default() };
            match self.client.send(request).await {
                Ok(response) => response,
                Err(error) => Message::answer(StatusCode::BAD_GATEWAY, Body::Bytes(error.to_string().into_bytes())),
            }
        })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let listen = arguments.next().ok_or("an address to listen on")?.parse()?;
    let backend = arguments.next().ok_or("the address of a backend")?.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async move {
        let client = Client::new(ClientOptions::default(), Expect::Relay, Pace::default(), Trust::default());
        let listener = Listener { socket: bind(listen)?, tls: None, inbound: None };
        let service = Rc::new(Forward { client, backend });
        let (_opener, doors) = tokio::sync::mpsc::unbounded_channel();
        serve(vec![listener], service, ServerOptions::default(), Gate::default(), Stop::default(), doors).await?;
        Ok(())
    })
}
