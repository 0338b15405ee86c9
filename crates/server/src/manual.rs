//! `myelin completions` and `myelin man`: what shells and `man` are told of the commands, made from their definitions.

use std::io::{Cursor, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::command;

/// The arguments of `myelin completions`.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// The arguments of `myelin man`.
#[derive(Debug, clap::Args)]
pub struct Man {
    /// The command to describe, as run; all of them by default
    command: Option<String>,
}

/// Prints the completions of a shell.
///
/// Errors: the output cannot be written.
pub(crate) fn completions(arguments: &Completions, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let mut script = Cursor::new(Vec::new());
    clap_complete::generate(arguments.shell, &mut command::Arguments::command(), "myelin", &mut script);
    out.write_all(script.get_ref())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a manual page in the form of `man(7)`.
///
/// Errors: there is no such command, which is the user's, or the output cannot be written.
pub(crate) fn man(arguments: &Man, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let mut all = command::Arguments::command();
    // Gives the commands their full names, as `myelin run`.
    all.build();
    let page = match &arguments.command {
        None => all,
        Some(name) => {
            let known = all.find_subcommand(name).filter(|known| !known.is_hide_set());
            let Some(known) = known else {
                let names: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
                let suggestion = myelin_spelling::suggestion(name, names);
                bail!("there is no command {name:?}{suggestion}");
            };
            known.clone()
        }
    };
    clap_mangen::Man::new(page).render(out).context("writing the manual page")?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
