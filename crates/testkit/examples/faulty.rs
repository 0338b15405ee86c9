//! A faulty backend by hand: `cargo run -p myelin-testkit --example faulty -- half-answer 127.0.0.1:9002`.

#![expect(clippy::print_stdout, reason = "a command that people run speaks on standard output")]

use std::process::ExitCode;
use std::time::Duration;

use myelin_testkit::faulty::{Backend, DEFECTS, named};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (name, address) = (arguments.next().unwrap_or_default(), arguments.next());
    let Some(defect) = named(&name) else {
        println!("usage: faulty DEFECT [ADDRESS]; defects:");
        for defect in DEFECTS {
            println!("  {} ({:?})", defect.name, defect.outcome);
        }
        return ExitCode::FAILURE;
    };
    let backend = match Backend::listen(address.as_deref().unwrap_or("127.0.0.1:0"), (defect.script)()) {
        Ok(backend) => backend,
        Err(error) => {
            println!("cannot listen: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{} on {}; Ctrl-C ends it", defect.name, backend.address());
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}
