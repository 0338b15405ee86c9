//! The reference of `deployment.toml`, `docs/deployment.md`: every key, what it is, and when a change of it counts.

mod opentelemetry;

use std::fmt::Write as _;

use myelin_engine::Problem;
use toml::de::DeValue;

use super::file_text::FileText;
use super::keys::{Heed, KEYS, Standing};

/// A table below `[myelin]`.
struct Section {
    path: &'static str,
    about: &'static str,
    keys: &'static [(&'static str, Heed)],
}

const fn reloaded(value: &'static str, default: &'static str, meaning: &'static str) -> Heed {
    Heed { value, default, meaning, needs_restart: false }
}

const fn fixed(value: &'static str, default: &'static str, meaning: &'static str) -> Heed {
    Heed { value, default, meaning, needs_restart: true }
}

/// What a default says of a key that has to be there.
#[cfg(test)]
const REQUIRED: &str = "required";

/// The tables of our own; tests hold them against the types that read them.
const OWN: &[Section] = &[
    Section {
        path: "myelin.server",
        about: "Towards clients.",
        keys: &[
            (
                "head_bytes",
                fixed(
                    "bytes",
                    "65536",
                    "start line and header lines together; beyond it 431, or 414 for the request line",
                ),
            ),
            ("head_lines", fixed("number", "128", "header lines, at most 256; beyond it 431")),
            ("head_timeout", fixed("time", "15s", "from the first byte of a head to its last; then 408")),
            ("keep_alive", fixed("time", "75s", "between two requests on a connection")),
            ("idle", fixed("time", "180s", "in which something must move while a message is under way")),
            (
                "least_bytes_per_second",
                fixed(
                    "number",
                    "250",
                    "what a client must send or take on average while the bus waits for it; 0 is no limit",
                ),
            ),
            ("pace_window", fixed("time", "20s", "the span of that average")),
            (
                "body_bytes",
                fixed(
                    "bytes",
                    "",
                    "the largest request body; beyond it 413. No limit where nothing is said: what is relayed takes no memory",
                ),
            ),
            (
                "connections",
                fixed(
                    "number",
                    "20000",
                    "of all clients; beyond it 503 with `Retry-After`; fewer where `ulimit -n` leaves less room",
                ),
            ),
            (
                "heads_bytes",
                fixed(
                    "bytes",
                    "67108864",
                    "of request heads that have come in part, for each thread; above it the slowest clients get 503",
                ),
            ),
            (
                "memory_bytes",
                fixed(
                    "bytes",
                    "268435456",
                    "of bodies that are read or wait for a peer, for each thread; beyond it 503 with `Retry-After`",
                ),
            ),
            (
                "expect",
                fixed(
                    "`relay`, `answer`",
                    "relay",
                    "who answers `Expect: 100-continue`: the backend, or the bus itself",
                ),
            ),
            ("via", fixed("true, false", "false", "whether requests get `Via`")),
            (
                "x_forwarded",
                fixed(
                    "true, false, `replace`, `append`",
                    "false",
                    "`X-Forwarded-For`, `-Proto` and `-Host` of requests: `false` leaves them as they came, `true` and `replace` drop what the client said and tell what the bus sees, `append` believes the client",
                ),
            ),
            (
                "echo_credentials",
                fixed(
                    "true, false",
                    "false",
                    "whether `respond` and TRACE show clients the `Authorization`, cookies and API keys that they sent",
                ),
            ),
            ("drain", fixed("time", "30s", "for requests under way after a stop was asked for")),
        ],
    },
    Section {
        path: "myelin.client",
        about: "Towards backends.",
        keys: &[
            ("head_bytes", fixed("bytes", "65536", "start line and header lines of an answer; beyond it 502")),
            ("head_lines", fixed("number", "128", "header lines of an answer, at most 256; beyond it 502")),
            (
                "connect_timeout",
                fixed(
                    "time",
                    "10s",
                    "name, TCP and TLS together, and the wait for a free connection; an endpoint's own timeout goes first",
                ),
            ),
            (
                "response_timeout",
                fixed(
                    "time",
                    "120s",
                    "from the last byte of the request to the head of the answer; an endpoint's own timeout goes first",
                ),
            ),
            ("idle", fixed("time", "180s", "in which something must move while a message is under way")),
            ("keep_alive", fixed("time", "30s", "of an unused connection")),
            ("life", fixed("time", "10m", "of any connection")),
            ("connections", fixed("number", "16384", "to one backend, for each thread")),
            (
                "waiting",
                fixed(
                    "number",
                    "1024",
                    "requests that wait for one of them, for each thread; beyond it 503, as for one that would wait too long",
                ),
            ),
            ("resolve", fixed("time", "30s", "how long resolved addresses are used")),
            (
                "retry",
                fixed(
                    "`always`, `idempotent`, `never`",
                    "always",
                    "which requests are sent again when a connection that was kept turns out to be closed: [decision 0003](decisions/0003-retry-of-requests-on-reused-connections.md)",
                ),
            ),
            ("preserve_host", fixed("true, false", "false", "whether backends get the client's `Host`")),
        ],
    },
    Section {
        path: "myelin.content",
        about: "What mediators read and change.",
        keys: &[
            (
                "body_bytes",
                reloaded(
                    "bytes",
                    "16777216",
                    "the largest body that is read whole; beyond it 413, or 502 for an answer",
                ),
            ),
            (
                "cache_bytes",
                reloaded(
                    "bytes",
                    "67108864",
                    "of answers that `<cache>` keeps, of all caches together; one takes an eighth at most",
                ),
            ),
            (
                "json_duplicate_keys",
                reloaded(
                    "`first`, `last`, `refuse`",
                    "first",
                    "which of two equal keys counts; `last` is Synapse's: [decision 0004](decisions/0004-json-duplicate-keys.md)",
                ),
            ),
        ],
    },
    Section {
        path: "myelin.memory",
        about: "Of all messages of the process together: [content.md](content.md).",
        keys: &[
            (
                "bytes",
                fixed(
                    "bytes",
                    "",
                    "what messages become may take so much; a half of what the machine has, or of the least limit of its control groups, where nothing is said",
                ),
            ),
            ("wait", reloaded("time", "10s", "how long a message may wait for it; then 503")),
        ],
    },
    Section {
        path: "myelin.flow",
        about: "`clone`, `iterate`, `scatter-gather`, recipient lists.",
        keys: &[("branches", reloaded("number", "64", "of one request that run at once; the others wait"))],
    },
    Section {
        path: "myelin.work",
        about: "What holds the processor for long, beside the threads that serve: [running.md](running.md#overload).",
        keys: &[
            ("waiting", fixed("number", "256", "that waits for its turn, for each thread; beyond it 503")),
            (
                "wait",
                fixed("time", "10s", "how long it may wait; then 503; also for requests that wait for processor time"),
            ),
            (
                "costly_from",
                reloaded(
                    "time",
                    "150us",
                    "of processor time for a message on average: from there on the messages of a service take turns",
                ),
            ),
        ],
    },
    Section {
        path: "myelin.sql",
        about: "Databases: [sql.md](sql.md#limits).",
        keys: &[
            ("connections", fixed("number", "50", "to one database")),
            ("waiting", fixed("number", "200", "statements that wait for a connection")),
            ("wait", fixed("time", "5s", "for a connection")),
            ("connect_timeout", fixed("time", "5s", "to make one")),
            ("timeout", fixed("time", "30s", "for a statement")),
            ("idle", fixed("time", "10m", "of an unused connection")),
            ("statements", fixed("number", "100", "prepared statements that a connection keeps")),
        ],
    },
    Section {
        path: "myelin.xslt",
        about: "What a stylesheet may do with one message; beyond it a fault.",
        keys: &[
            ("time", reloaded("time", "2s", "that it runs")),
            ("depth", reloaded("number", "5000", "templates and functions within each other")),
            ("instructions", reloaded("number", "50000000", "that are run, and nodes that are visited")),
            ("output_bytes", reloaded("bytes", "33554432", "of its result")),
            (
                "memory_bytes",
                reloaded("bytes", "134217728", "of variables and temporary trees; less where memory is short"),
            ),
        ],
    },
    Section {
        path: "myelin.scripts",
        about: "What a script may do with one message; beyond it a fault: [scripts.md](scripts.md).",
        keys: &[
            ("time", reloaded("time", "2s", "that it runs")),
            ("memory_bytes", reloaded("bytes", "67108864", "of its values; less where memory is short")),
            ("stack_bytes", reloaded("bytes", "262144", "of its calls within each other, about a thousand")),
        ],
    },
    Section {
        path: "myelin.security",
        about: "WS-Security, besides its policies: [ws-security.md](ws-security.md#in-the-bus).",
        keys: &[
            ("rsa_bits", reloaded("number", "2048", "smaller RSA keys are refused")),
            (
                "replay_entries",
                fixed(
                    "number",
                    "1000000",
                    "messages that are remembered; while there is no room, messages are refused",
                ),
            ),
            (
                "replay_folder",
                fixed(
                    "folder",
                    "",
                    "where they are remembered over a restart, too: [decision 0009](decisions/0009-replays.md)",
                ),
            ),
            (
                "audiences",
                reloaded("list of texts", "", "for whom SAML assertions may be made that name their audience"),
            ),
            (
                "reply_hosts",
                reloaded(
                    "list of texts",
                    "",
                    "hosts besides its own, `HOST` or `HOST:PORT`, to which a client may have its answers sent by `wsa:ReplyTo`; `*` for all",
                ),
            ),
            (
                "sha1_signatures",
                reloaded(
                    "true, false",
                    "false",
                    "whether suites named for SHA-256 take signatures over SHA-1, as Rampart and CXF make them",
                ),
            ),
            ("assertion", reloaded("file", "", "the SAML assertion that backends get which ask for one")),
            (
                "users",
                reloaded(
                    "table",
                    "",
                    "passwords of users, `NAME = \"PASSWORD\"` or `NAME = { password = \"…\", roles = [\"…\"] }`: of those who send, and of those whom the bus is towards backends",
                ),
            ),
            (
                "key_passwords",
                reloaded(
                    "table of texts",
                    "",
                    "passwords of private keys by their aliases, where no policy says them and they are not the store's",
                ),
            ),
            ("secrets", reloaded("table of texts", "", "what `$secret{NAME}` means in a policy")),
            ("limits", reloaded("table", "", "see below")),
        ],
    },
    Section {
        path: "myelin.security.limits",
        about: "In one message; beyond it the message is refused.",
        keys: &[
            ("header_bytes", reloaded("bytes", "524288", "of the security header")),
            ("header_children", reloaded("number", "64", "elements in it")),
            ("signatures", reloaded("number", "8", "")),
            ("references", reloaded("number", "64", "of one signature")),
            ("encrypted_keys", reloaded("number", "8", "")),
            ("encrypted_data", reloaded("number", "64", "")),
            ("nesting", reloaded("number", "3", "ciphertext within ciphertext")),
            ("tokens", reloaded("number", "16", "")),
            ("certificate_path", reloaded("number", "8", "certificates of one path")),
        ],
    },
    Section {
        path: "myelin.reload",
        about: "The search for changed files.",
        keys: &[("interval", fixed("time", "1s", "from one look to the next"))],
    },
    Section {
        path: "myelin.trace",
        about: "Which exchanges are traced from the start, and how much is recorded: [tracing.md](tracing.md).",
        keys: &[
            ("services", fixed("list", "", "services whose exchanges are traced; `*` stands for all")),
            ("when", fixed("expression", "", "only exchanges for which this expression over the request is true")),
            ("faulted", fixed("true, false", "false", "whether only exchanges with a fault are kept")),
            ("kept", fixed("number", "200", "traces that are kept; the oldest goes for a new one")),
            ("kept_bytes", fixed("bytes", "67108864", "memory of all of them, about")),
            ("body_bytes", fixed("bytes", "65536", "bytes of each body that are shown")),
            ("steps", fixed("number", "2000", "steps of one exchange; further ones are counted")),
        ],
    },
    Section {
        path: "myelin.admin",
        about: "What an operator asks: [operations.md](operations.md).",
        keys: &[
            (
                "listen",
                fixed(
                    "address",
                    "127.0.0.1:9201",
                    "where metrics and probes are answered, the offset added; `off` for nowhere",
                ),
            ),
            (
                "drain_delay",
                fixed("time", "0s", "how long `/readiness` says that the bus stops before its listeners close"),
            ),
        ],
    },
    Section {
        path: "myelin.log",
        about: "The bus's own log: [running.md](running.md#the-log). `MYELIN_LOG` and `MYELIN_LOG_FORMAT` go before it.",
        keys: &[
            (
                "level",
                reloaded(
                    "level",
                    "info",
                    "`off`, `error`, `warn`, `info`, `debug`, `trace`, or a filter as for `MYELIN_LOG`",
                ),
            ),
            ("format", reloaded("`text`, `json`", "text", "how a line is written")),
            ("file", reloaded("file", "", "where lines go, beside the `deployment.toml`; without it standard error")),
            (
                "targets",
                reloaded(
                    "table",
                    "",
                    "levels of modules and topics, as `myelin_http = \"debug\"`, or by the names of Micro Integrator's loggers",
                ),
            ),
            (
                "artefacts",
                reloaded(
                    "table",
                    "",
                    "levels of artefacts, as `\"proxy:Orders\" = \"debug\"`; kinds are `proxy`, `api`, `sequence`, `endpoint`, `inbound`, `task`",
                ),
            ),
        ],
    },
    Section {
        path: "myelin.management",
        about: "The management API: [management.md](management.md).",
        keys: &[
            (
                "listen",
                fixed("address", "127.0.0.1:9164", "where the management API is, the offset added; `off` for nowhere"),
            ),
            (
                "certificate",
                fixed(
                    "file",
                    "",
                    "PEM file of the certificate chain, leaf first, beside this file; without it the process makes one for itself",
                ),
            ),
            ("key", fixed("file", "", "PEM file of the private key")),
            ("keystore", fixed("table", "", "a key store in the place of `certificate` and `key`, see below")),
            ("users", fixed("file", "users.toml", "the file of users, which `myelin user` writes; beside this file")),
            ("token_expiry", fixed("time", "1h", "how long a token is good for")),
            ("tokens", fixed("number", "200", "tokens that are good at once; the oldest goes first")),
            ("connections", fixed("number", "256", "clients that are connected at once")),
            (
                "requests_per_minute",
                fixed("number", "1200", "requests with one token, or of one address without a token; beyond it 429"),
            ),
            ("failures", fixed("number", "10", "wrong passwords of one address in five minutes; beyond it 429")),
            ("upload_bytes", fixed("bytes", "67108864", "the largest archive or registry resource; beyond it 413")),
        ],
    },
    Section {
        path: "myelin.management.keystore",
        about: "What the management API shows to its clients: [management.md](management.md#where-it-is). A changed file counts within two seconds.",
        keys: &[
            (
                "file_name",
                fixed(
                    "file",
                    "",
                    "the key store; looked for beside this file, above it, and in `repository/resources/security` there",
                ),
            ),
            (
                "type",
                fixed(
                    "`JKS`, `JCEKS`, `PKCS12`, `PEM`",
                    "",
                    "its type; where nothing is said, what its first bytes show",
                ),
            ),
            ("password", fixed("text", "", "of the store: `\"$secret{ALIAS}\"` and `\"$env{NAME}\"` refer to it")),
            ("alias", fixed("text", "", "which of its keys; the first where nothing is said")),
            ("key_password", fixed("text", "", "of the key, where it is not the store's")),
        ],
    },
    opentelemetry::SECTION,
    Section {
        path: "myelin.access_log",
        about: "A line for each request: [running.md](running.md#access-log). `--access-log` and `--access-log-format` go before it.",
        keys: &[
            ("file", fixed("file", "", "where lines go, beside the `deployment.toml`; `-` for standard output")),
            (
                "format",
                fixed(
                    "text",
                    "myelin",
                    "`myelin`, `common`, `combined`, `json`, or letters such as `%h %t \"%r\" %s %b`",
                ),
            ),
            (
                "mask_queries",
                fixed(
                    "true, false",
                    "true",
                    "whether values of parameters are masked whose names are those of secrets, such as `password` and `token`",
                ),
            ),
        ],
    },
    Section {
        path: "myelin.priorities",
        about: "Who is served first: [endpoints-extensions.md](endpoints-extensions.md#priorities).",
        keys: &[
            ("at_once", reloaded("number", "required", "requests that are served at once")),
            ("waiting", reloaded("number", "1000", "how many others may wait")),
            ("wait", reloaded("time", "5s", "and how long")),
            ("rules", reloaded("list of tables", "", "see below")),
        ],
    },
    Section {
        path: "myelin.priorities.rules",
        about: "A list, `[[myelin.priorities.rules]]`: the first rule that is for a request counts.",
        keys: &[
            ("service", reloaded("text", "", "the name of a proxy or an API, or `main`")),
            ("header", reloaded("text", "", "a header that the request must have")),
            ("value", reloaded("text", "", "what it must say")),
            ("level", reloaded("number", "required", "the highest is served first; 0 without a rule")),
        ],
    },
    Section {
        path: "myelin.monitors",
        about: "A list, `[[myelin.monitors]]`: backends that are asked how they are: [endpoints-extensions.md](endpoints-extensions.md#monitors).",
        keys: &[
            ("endpoint", reloaded("text", "required", "the name of an endpoint of the configuration")),
            ("url", reloaded("URL", "", "what is asked for; without it the endpoint's own address")),
            ("path", reloaded("text", "", "what is asked for at the endpoint's host and port")),
            ("interval", reloaded("time", "5s", "from the end of one check to the next")),
            ("timeout", reloaded("time", "2s", "for the head of the answer")),
            ("expect", reloaded("list of numbers", "200 to 399", "the statuses of a success")),
            ("fall", reloaded("number", "3", "failures in a row until the endpoint is taken out")),
            ("rise", reloaded("number", "2", "successes in a row until it is back")),
        ],
    },
    Section {
        path: "myelin.system",
        about: "What `$sys{NAME}` means, and `$ref{myelin.system.NAME}`: any key, with a text or a number.",
        keys: &[],
    },
];

/// The keys below `[myelin]` that are unknown; of a text that is no TOML there are none.
pub(super) fn unknown(source: &FileText<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    if let Some(own) = source.table.as_ref().and_then(|table| table.get("myelin")) {
        unknown_below("myelin", own.get_ref(), source, &mut found);
    }
    found.sort_by_key(|problem| (problem.line(), problem.column()));
    found
}

fn unknown_below(path: &str, value: &DeValue<'_>, source: &FileText<'_>, found: &mut Vec<Problem>) {
    let table = match value {
        DeValue::Table(table) => table,
        DeValue::Array(items) => {
            return items.iter().for_each(|item| unknown_below(path, item.get_ref(), source, found));
        }
        // A value where a table has to be: whoever reads it complains.
        _ => return,
    };
    let listed = OWN.iter().find(|section| section.path == path).map(|section| section.keys);
    if listed.is_some_and(<[_]>::is_empty) {
        return;
    }
    let below = OWN.iter().filter_map(|section| section.path.strip_prefix(path)?.strip_prefix('.'));
    let below: Vec<&str> = below.filter_map(|rest| rest.split('.').next()).collect();
    let known = || listed.into_iter().flatten().map(|(key, _)| *key).chain(below.iter().copied());
    for (key, value) in table {
        let name = key.get_ref();
        if below.contains(&name.as_ref()) {
            unknown_below(&format!("{path}.{name}"), value.get_ref(), source, found);
        } else if !known().any(|known| known == name) {
            let message = format!("[{path}] has no key {name}");
            let problem = source.misspelt(key.span(), message, name, known());
            found.push(match problem.suggestion() {
                Some(_) => problem,
                None => {
                    let message = format!("{}; `myelin settings` lists what it has", problem.message());
                    Problem { message, ..problem }
                }
            });
        }
    }
}

/// The page, in Markdown.
pub(crate) fn markdown() -> String {
    let mut page = "\
# The keys of deployment.toml

Generated from the code by `cargo xtask docs`; `myelin settings` prints it.

`myelin run --config deployment.toml` reads the file of WSO2 Micro Integrator, with a table `[myelin]` for what that has no key for.
[running.md](running.md#settings) says how references such as `$env{NAME}` work, and which options of the command line go first.
A key that is known and has no effect is a warning with its place and its reason; so is an unknown key, but below `[myelin]` it is an error.
A change counts from the next *reload* or from the next *start* on; the log says when one has to wait for a start.

## Keys of Micro Integrator

| key | value | default | what it says | counts from |
|---|---|---|---|---|
"
    .to_owned();
    for (key, standing) in KEYS {
        if let Standing::Heeded(heed) = standing {
            row(&mut page, key, heed);
        }
    }
    page.push_str(
        "\n## Keys of Micro Integrator without an effect\n\nA key of this table stands for all that are below it and in no other table.\n\n\
         | key | why |\n|---|---|\n",
    );
    for (key, standing) in KEYS {
        match standing {
            Standing::Later(why) => put(&mut page, format_args!("| `{key}` | later: {why} |")),
            Standing::Needless(why) => put(&mut page, format_args!("| `{key}` | {why} |")),
            Standing::Heeded(_) => {}
        }
    }
    page.push_str("\n## myelin\n\nWrite times like `\"15s\"` or `\"500ms\"`.\n");
    for Section { path, about, keys } in OWN {
        put(&mut page, format_args!("\n### [{path}]\n\n{about}"));
        if !keys.is_empty() {
            page.push_str("\n| key | value | default | what it says | counts from |\n|---|---|---|---|---|\n");
        }
        for (key, heed) in *keys {
            row(&mut page, key, heed);
        }
    }
    page
}

fn row(page: &mut String, key: &str, heed: &Heed) {
    let Heed { value, default, meaning, needs_restart } = heed;
    let counts = if *needs_restart { "start" } else { "reload" };
    match value.is_empty() {
        // What stands in the place of the meaning is the key that means the same.
        true => put(page, format_args!("| `{key}` | | | the same as `{meaning}` | {counts} |")),
        false => put(page, format_args!("| `{key}` | {value} | {default} | {meaning} | {counts} |")),
    }
}

fn put(page: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(page, "{line}").unwrap_or_default();
}

#[cfg(test)]
mod tests;
