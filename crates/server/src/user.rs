//! `myelin user`: the file of users of the management API.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail, ensure};
use myelin_manage::api::{ADMIN, User, Users};
use myelin_spelling::suggestion;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::deployment::{self, ReadOptions};
use crate::management::users;

/// What is done with users.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Add a user; the password is asked for, or read from standard input
    Add {
        /// The name
        name: String,
        /// Let the user change things, and not only read
        #[arg(long)]
        admin: bool,
        #[command(flatten)]
        store: Store,
    },
    /// Change the password of a user; it is asked for, or read from standard input
    Passwd {
        /// The name
        name: String,
        #[command(flatten)]
        store: Store,
    },
    /// Make a user an admin, who may change things, or one who may only read
    Role {
        /// The name
        name: String,
        /// What the user may do
        role: Role,
        /// Take the role from the last admin, too
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        store: Store,
    },
    /// Remove a user
    Remove {
        /// The name
        name: String,
        /// Remove the last admin, too
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        store: Store,
    },
    /// List the users and their roles
    List {
        #[command(flatten)]
        store: Store,
    },
}

/// What a user may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Role {
    /// Change things
    Admin,
    /// Only read
    Reader,
}

/// Where the users are.
#[derive(Debug, clap::Args)]
pub struct Store {
    /// The file of users. Default: the one that --config names, or conf/users.toml
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The deployment.toml of the bus, which names the file of users or has it beside itself
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Store {
    fn path(&self) -> anyhow::Result<PathBuf> {
        if let Some(file) = &self.file {
            return Ok(file.clone());
        }
        let deployment = self
            .config
            .as_deref()
            .map(|path| deployment::read(path, ReadOptions::default()))
            .transpose()?
            .unwrap_or_default();
        Ok(deployment.users_file(&[]))
    }
}

/// Does it.
///
/// Errors: the file cannot be read or written; there is no such user, or there is one already; no password is given.
pub(crate) fn run(command: &Command, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match command {
        Command::Add { name, admin, store } => {
            let path = store.path()?;
            let taken = || format!("there is a user {name:?} already; `myelin user passwd` changes the password");
            // What cannot be done is told before anybody types a password.
            ensure!(users::read(&path)?.find(name).is_none(), taken());
            let user = User::new(name, &password(name)?, *admin)?;
            change(&path, |known| {
                ensure!(known.find(name).is_none(), taken());
                ensure!(known.add(user), "there is no room for more users");
                Ok(())
            })?;
            let role = if *admin { "an admin" } else { "who may read" };
            writeln!(out, "added user {name}, {role}, to {}", path.display())?;
        }
        Command::Passwd { name, store } => {
            let path = store.path()?;
            found(&users::read(&path)?, name, &path)?;
            let password = password(name)?;
            change(&path, |known| {
                let user = known.find_mut(name).with_context(|| format!("there is no user {name:?}"))?;
                Ok(user.set_password(&password)?)
            })?;
            writeln!(out, "changed the password of {name} in {}", path.display())?;
        }
        Command::Role { name, role, force, store } => {
            let path = store.path()?;
            change(&path, |known| {
                found(known, name, &path)?;
                if *role == Role::Reader && !force {
                    refuse_last_admin(known, name)?;
                }
                let user = known.find_mut(name).with_context(|| format!("there is no user {name:?}"))?;
                match role {
                    Role::Admin => user.roles.insert(ADMIN.to_owned()),
                    Role::Reader => user.roles.remove(ADMIN),
                };
                Ok(())
            })?;
            let role = if *role == Role::Admin { "an admin" } else { "one who may read" };
            writeln!(out, "made user {name} {role} in {}", path.display())?;
        }
        Command::Remove { name, force, store } => {
            let path = store.path()?;
            change(&path, |known| {
                found(known, name, &path)?;
                if !force {
                    refuse_last_admin(known, name)?;
                }
                known.remove(name);
                Ok(())
            })?;
            writeln!(out, "removed user {name} from {}", path.display())?;
        }
        Command::List { store } => {
            let known = users::read(&store.path()?)?;
            for user in known.all() {
                let roles: Vec<&str> = user.roles.iter().map(String::as_str).collect();
                writeln!(out, "{}\t{}", user.name, roles.join(" "))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Changes the users of a file, as nobody else does meanwhile.
fn change(path: &Path, change: impl FnOnce(&mut Users) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let _lock = users::lock(path)?;
    let mut known = users::read(path)?;
    change(&mut known)?;
    users::write(path, &known.to_text())
}

/// A user of that name.
///
/// Errors: there is none.
fn found<'a>(known: &'a Users, name: &str, path: &Path) -> anyhow::Result<&'a User> {
    known.find(name).ok_or_else(|| {
        let names = known.all().map(|user| user.name.as_str());
        let hint = suggestion(name, names);
        anyhow!("there is no user {name:?} in {}{hint}", path.display())
    })
}

/// Complains where a user is the one admin that is left: over the management API nobody could change anything.
fn refuse_last_admin(known: &Users, name: &str) -> anyhow::Result<()> {
    let mut others = known.all().filter(|user| user.name != name);
    let is_admin = known.find(name).is_some_and(User::is_admin);
    ensure!(
        !is_admin || others.any(User::is_admin),
        "{name} is the last admin, and nobody could change anything over the management API; make another user one \
         with `myelin user role NAME admin`, or say --force"
    );
    Ok(())
}

/// Asks for a password twice at a terminal, where it is not shown; otherwise the first line of standard input is it.
///
/// It is no argument, as every user of the machine sees those.
fn password(name: &str) -> anyhow::Result<String> {
    if !stdin().is_terminal() {
        return line().context("the password is read from standard input");
    }
    let first = ask(&format!("Password of {name}: "))?;
    if ask("The same again: ")? != first {
        bail!("the two passwords differ");
    }
    Ok(first)
}

/// Asks for the password of a user once, or reads it from standard input.
pub(crate) fn known_password(name: &str) -> anyhow::Result<String> {
    if !stdin().is_terminal() {
        return line().context("the password is read from standard input");
    }
    ask(&format!("Password of {name}: "))
}

fn ask(prompt: &str) -> anyhow::Result<String> {
    write!(stderr(), "{prompt}")?;
    stderr().flush()?;
    let _hidden = Hidden::begin()?;
    let line = line();
    writeln!(stderr())?;
    line
}

fn line() -> anyhow::Result<String> {
    let mut line = String::new();
    stdin().lock().read_line(&mut line)?;
    let line = line.trim_end_matches(['\n', '\r']).to_owned();
    if line.is_empty() {
        bail!("the password is empty");
    }
    Ok(line)
}

/// A terminal that does not show what is typed, until dropped.
struct Hidden(rustix::termios::Termios);

impl Hidden {
    fn begin() -> anyhow::Result<Hidden> {
        let before = tcgetattr(stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Hidden(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}
