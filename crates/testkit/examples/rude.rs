//! A rude backend by hand: `cargo run -p myelin-testkit --example rude -- half-answer 127.0.0.1:9002`.

#![expect(clippy::print_stdout, reason = "a command that people run speaks on standard output")]

use std::process::ExitCode;
use std::time::Duration;

use myelin_testkit::rude::{Backend, MANNERS, named};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (name, address) = (arguments.next().unwrap_or_default(), arguments.next());
    let Some(manner) = named(&name) else {
        println!("usage: rude MANNER [ADDRESS]; manners:");
        for manner in MANNERS {
            println!("  {} ({:?})", manner.name, manner.outcome);
        }
        return ExitCode::FAILURE;
    };
    let backend = match Backend::listen(address.as_deref().unwrap_or("127.0.0.1:0"), (manner.script)()) {
        Ok(backend) => backend,
        Err(error) => {
            println!("cannot listen: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{} on {}; Ctrl-C ends it", manner.name, backend.address());
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}
