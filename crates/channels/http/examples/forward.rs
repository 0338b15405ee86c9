//! The smallest service: one thread that forwards every request to one backend.
//!
//! `cargo run --release --example forward -- 127.0.0.1:8280 http://127.0.0.1:9000`

use std::rc::Rc;

use http::{StatusCode, Uri};
use myelin_channel::{LocalFuture, Sender, Sent};
use myelin_http::{
    Client, ClientOptions, ConnectionCount, Expect, Listener, Pace, ServerOptions, Service, Stop, Trust, bind, serve,
};
use myelin_message::{Address, Arrival, Body, Manner, Message, Method, Outgoing};

struct Forward {
    client: Rc<Client>,
    backend: Uri,
}

impl Service for Forward {
    fn serve<'a>(&'a self, message: Message, _: Arrival<'a>) -> LocalFuture<'a, Message> {
        Box::pin(async move {
            let Message { head, body, .. } = message;
            let address = Address::Uri(self.backend.clone());
            let (method, manner) = (Method::AsCame, Manner::default());
            let request = Outgoing { method, address, head, body, timeout: None, host: None, manner };
            match self.client.send(request).await {
                Ok(Sent::Response(response)) => response,
                Ok(Sent::Accepted) => Message::answer(StatusCode::ACCEPTED, Body::Empty),
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
        let (_commands, received) = tokio::sync::mpsc::unbounded_channel();
        serve(vec![listener], service, ServerOptions::default(), ConnectionCount::default(), Stop::default(), received)
            .await?;
        Ok(())
    })
}
