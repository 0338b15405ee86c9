//! `myelin`: arguments in, exit status out.

use std::process::ExitCode;

use clap::Parser;
use myelin_server::Arguments;

fn main() -> ExitCode {
    Arguments::parse().command.run()
}
