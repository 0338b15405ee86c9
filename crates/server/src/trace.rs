//! `myelin trace`: asks a running bus for the traces of a service, and writes them as they come.

mod client;

use std::io::{Write, stderr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::json;

use crate::files::percent_encoded;
use crate::trace::client::Client;
use crate::user::known_password;

/// The arguments of `myelin trace`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The service, such as Orders, or "proxy Orders"; all of them without one
    #[arg(value_name = "SERVICE")]
    service: Option<String>,
    /// End when so many traces have come
    #[arg(long, value_name = "N")]
    next: Option<u32>,
    /// Only exchanges with a fault
    #[arg(long)]
    faulted: bool,
    /// Only exchanges for which this Synapse expression or XPath over the request is true
    #[arg(long, value_name = "EXPR")]
    when: Option<String>,
    /// Trace so many seconds at most; the bus ends it by itself then
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Print JSON, a line for each trace
    #[arg(long)]
    json: bool,
    /// Where the management API of the bus is, as the bus logs it when it starts; http:// for the admin listener on this
    /// machine
    #[arg(long, value_name = "URL", default_value = "https://127.0.0.1:9164")]
    url: String,
    /// A user with the role admin; the password is in MYELIN_PASSWORD, or is asked for
    #[arg(long, value_name = "USER", default_value = "admin")]
    user: String,
    /// PEM file of the certificate that the bus shows, or of its issuer. On this machine any certificate is taken
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

/// Follows traces until as many came as are wanted, or until it is interrupted.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let password = match std::env::var("MYELIN_PASSWORD") {
        Ok(password) => password,
        Err(_) => known_password(&arguments.user).context("MYELIN_PASSWORD is not set")?,
    };
    let client = Arc::new(Client::login(&arguments.url, arguments.ca.as_deref(), &arguments.user, &password)?);
    let wish = json!({
        "service": arguments.service, "when": arguments.when, "faulted": arguments.faulted, "next": arguments.next,
        "seconds": arguments.seconds,
    });
    let selection = client.json("POST", "/myelin/traces/selection", Some(&wish))?;
    let (Some(id), Some(after)) = (selection["id"].as_u64(), selection["after"].as_u64()) else {
        bail!("{} does not answer as a bus does: {selection}", arguments.url);
    };
    give_back_when_interrupted(Arc::clone(&client), id)?;
    let whose = arguments.service.as_deref().map_or_else(|| "all services".to_owned(), |name| format!("{name:?}"));
    // Beside the traces, which may go into a file.
    let _ = writeln!(stderr(), "following exchanges of {whose} from now on, for {} s at most", arguments.seconds);
    let end = follow(arguments, &client, (id, after), out);
    if !matches!(end, Ok(End::OfSelection)) {
        let _ = client.json("DELETE", &format!("/myelin/traces/selection?id={id}"), None);
    }
    end.map(|_| ExitCode::SUCCESS)
}

/// Why traces are followed no longer.
enum End {
    /// As many came as are wanted, and the bus may still trace.
    Enough,
    /// The bus traces nothing any more for this process.
    OfSelection,
}

/// Takes the selection back where Ctrl+C ends the process.
fn give_back_when_interrupted(client: Arc<Client>, id: u64) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(move || {
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            let _ = client.json("DELETE", &format!("/myelin/traces/selection?id={id}"), None);
            std::process::exit(130);
        }
    })?;
    Ok(())
}

fn follow(
    arguments: &Arguments,
    client: &Client,
    (selection, mut after): (u64, u64),
    out: &mut dyn Write,
) -> anyhow::Result<End> {
    let began = Instant::now();
    let mut left = arguments.next;
    let mut query = String::new();
    if let Some(service) = &arguments.service {
        query.push_str(&format!("&service={}", percent_encoded(service)));
    }
    if arguments.faulted {
        query.push_str("&faulted=true");
    }
    loop {
        // Looked at first, so that all of its traces are there once it is gone.
        let selections = client.json("GET", "/myelin/traces/selection", None)?;
        let mut selections = selections["list"].as_array().into_iter().flatten();
        let is_over = !selections.any(|other| other["id"].as_u64() == Some(selection));
        let wait = if is_over { 0 } else { 5 };
        let list = client.json("GET", &format!("/myelin/traces?after={after}&wait={wait}{query}"), None)?;
        for id in list["list"].as_array().into_iter().flatten().filter_map(|entry| entry["id"].as_u64()) {
            after = after.max(id);
            let form = if arguments.json { "" } else { "?form=text" };
            // It may have been dropped for a later one meanwhile.
            let Ok(text) = client.text("GET", &format!("/myelin/traces/{id}{form}"), None) else { continue };
            out.write_all(text.as_bytes())?;
            out.flush()?;
            left = left.map(|left| left.saturating_sub(1));
            if left == Some(0) {
                return Ok(if is_over { End::OfSelection } else { End::Enough });
            }
        }
        if is_over {
            // The bus counts from a moment earlier than this process, and in whole seconds.
            let is_time = began.elapsed() + Duration::from_secs(2) >= Duration::from_secs(arguments.seconds.into());
            if !is_time {
                bail!("the bus traces nothing any more: somebody took the selection back, or it started anew");
            }
            let _ = writeln!(stderr(), "{} s are over", arguments.seconds);
            return Ok(End::OfSelection);
        }
    }
}
