//! Where a source leads: a JDBC URL with what it says besides the place.

mod address;

use std::time::Duration;

use address::{Address, Parameters};
use myelin_flow::database::DataSource;
use sqlx::ConnectOptions;
use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use crate::limits::Limits;
use crate::placeholders::Dialect;

/// A database, and how each connection to it begins.
pub(crate) struct Target {
    pub(crate) kind: Kind,
    /// Statements that a new connection runs first.
    pub(crate) first: Option<String>,
    /// How long making a connection may take.
    pub(crate) connect_timeout: Duration,
    /// How long a statement may take.
    pub(crate) timeout: Duration,
    /// Whether it is there only as long as its one connection is.
    pub(crate) in_memory: bool,
}

pub(crate) enum Kind {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Box<PgConnectOptions>),
    MySql(Box<MySqlConnectOptions>),
}

/// What has no driver here, by the beginning of its URLs, and what to have instead.
const REFUSED: &[(&str, &str)] = &[
    ("h2:", "H2 runs in a JVM only; jdbc:sqlite:FILE is a database that needs no server"),
    ("derby:", "Derby runs in a JVM only; jdbc:sqlite:FILE is a database that needs no server"),
    ("hsqldb:", "HSQLDB runs in a JVM only; jdbc:sqlite:FILE is a database that needs no server"),
    ("oracle:", OTHERS),
    ("sqlserver:", OTHERS),
    ("jtds:", OTHERS),
    ("db2:", OTHERS),
    ("sybase:", OTHERS),
    ("informix-sqli:", OTHERS),
];

const OTHERS: &str = "it is not offered; PostgreSQL, MySQL, MariaDB and SQLite are";

impl Target {
    /// Reads a source, with a sentence for each part of its URL that has no effect.
    ///
    /// Errors: a sentence why nothing can be connected to; it names no credentials.
    pub(crate) fn read(source: &DataSource, limits: &Limits) -> Result<(Target, Vec<String>), String> {
        let name = source.name();
        let url = source.url.trim();
        let Some(rest) = url.strip_prefix("jdbc:") else {
            return Err(format!(
                "{name:?} is not the URL of a database; write it like jdbc:postgresql://host/database"
            ));
        };
        let statements = source.pool.statements.unwrap_or(limits.statements);
        let mut reading = Reading { source, parameters: Parameters::default(), limits, statements };
        let target = if let Some(rest) = rest.strip_prefix("sqlite:") {
            reading.sqlite(rest)
        } else if let Some(rest) = rest.strip_prefix("postgresql:") {
            reading.postgres(rest)
        } else if let Some(rest) = rest.strip_prefix("mysql:").or_else(|| rest.strip_prefix("mariadb:")) {
            reading.mysql(rest)
        } else {
            let why = REFUSED.iter().find(|(beginning, _)| rest.starts_with(beginning)).map_or(OTHERS, |(_, why)| why);
            return Err(format!("{name:?}: {why}"));
        };
        let target = target.map_err(|error| format!("{name:?}: {error}"))?;
        let remarks = reading
            .parameters
            .unread()
            .map(|parameter| format!("{parameter} in the URL has no effect: the bus does not know it"));
        let remarks = remarks.collect();
        Ok((target, remarks))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self.kind {
            Kind::Sqlite(_) => Dialect::Sqlite,
            Kind::Postgres(_) => Dialect::Postgres,
            Kind::MySql(_) => Dialect::MySql,
        }
    }
}

struct Reading<'a> {
    source: &'a DataSource,
    parameters: Parameters,
    limits: &'a Limits,
    /// How many prepared statements a connection keeps.
    statements: usize,
}

impl Reading<'_> {
    /// `[file:]PATH`, `:memory:` or nothing; the parameters are pragmas.
    ///
    /// Source: the URLs of the SQLite driver that is common in Java, without its resources in JAR files.
    fn sqlite(&mut self, rest: &str) -> Result<Target, String> {
        let (path, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        self.parameters = Parameters::parse(parameters, '&')?;
        let path = path.strip_prefix("file:").unwrap_or(path);
        if path.starts_with(":resource:") {
            return Err("a resource of a JVM cannot be read; name a file".into());
        }
        let in_memory = path.is_empty() || path == ":memory:";
        let mut options = SqliteConnectOptions::new()
            .create_if_missing(true)
            // The library switches on what SQLite itself and the driver in Java leave off.
            .foreign_keys(self.parameters.flag("foreign_keys")?.unwrap_or(false))
            .busy_timeout(self.millis("busy_timeout")?.unwrap_or(self.limits.wait).min(self.limits.timeout))
            .statement_cache_capacity(self.statements);
        options = if in_memory { options.in_memory(true) } else { options.filename(path) };
        if let Some(mode) = self.parameters.take("journal_mode") {
            let known: Option<SqliteJournalMode> = mode.to_ascii_uppercase().parse().ok();
            options = options.journal_mode(known.ok_or_else(|| format!("journal_mode {mode:?} is unknown"))?);
        }
        if let Some(mode) = self.parameters.take("synchronous") {
            let known: Option<SqliteSynchronous> = mode.to_ascii_uppercase().parse().ok();
            options = options.synchronous(known.ok_or_else(|| format!("synchronous {mode:?} is unknown"))?);
        }
        // Its transactions never see less of each other than what a source could ask for.
        Ok(self.target(Kind::Sqlite(Box::new(options.disable_statement_logging())), None, in_memory))
    }

    /// `//host:port/database` or `database`.
    ///
    /// Source: the documentation of pgJDBC, "Connecting to the Database".
    fn postgres(&mut self, rest: &str) -> Result<Target, String> {
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        self.parameters = Parameters::parse(parameters, '&')?;
        let address = Address::parse(place, 5432)?;
        let (user, password) = self.credentials(&address);
        if self.parameters.take("prepareThreshold").is_some_and(|threshold| threshold == "0") {
            self.statements = 0;
        }
        let mut options = PgConnectOptions::new_without_pgpass()
            .host(&address.host)
            .port(address.port)
            .username(&user)
            .password(&password)
            .database(if address.database.is_empty() { &user } else { &address.database })
            .statement_cache_capacity(self.statements)
            .application_name(&self.parameters.take("ApplicationName").unwrap_or_else(|| "myelin".to_owned()))
            .ssl_mode(self.postgres_tls()?);
        if let Some(file) = self.parameters.take("sslrootcert") {
            options = options.ssl_root_cert(file);
        }
        if let (Some(certificate), Some(key)) = (self.parameters.take("sslcert"), self.parameters.take("sslkey")) {
            options = options.ssl_client_cert(certificate).ssl_client_key(key);
        }
        let timeout = self.seconds("socketTimeout")?;
        let login = self.seconds("loginTimeout")?;
        let connect = self.seconds("connectTimeout")?.or(login);
        let mut first = format!("SET statement_timeout = {};", timeout.unwrap_or(self.limits.timeout).as_millis());
        if let Some(isolation) = self.source.pool.isolation {
            first += &format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {};", isolation.sql());
        }
        if let Some(schema) = self.parameters.take("currentSchema") {
            let names: Vec<String> =
                schema.split(',').map(|name| format!("\"{}\"", name.trim().replace('"', "\"\""))).collect();
            first += &format!("SET search_path = {};", names.join(", "));
        }
        let mut target = self.target(Kind::Postgres(Box::new(options.disable_statement_logging())), Some(first), false);
        target.connect_timeout = connect.unwrap_or(target.connect_timeout);
        target.timeout = timeout.unwrap_or(target.timeout);
        Ok(target)
    }

    fn postgres_tls(&mut self) -> Result<PgSslMode, String> {
        let on = self.parameters.take("ssl").is_some_and(|ssl| ssl.is_empty() || ssl.eq_ignore_ascii_case("true"));
        Ok(match self.parameters.take("sslmode").as_deref() {
            None if on => PgSslMode::VerifyFull,
            None | Some("prefer") => PgSslMode::Prefer,
            Some("disable") => PgSslMode::Disable,
            Some("allow") => PgSslMode::Allow,
            Some("require") => PgSslMode::Require,
            Some("verify-ca") => PgSslMode::VerifyCa,
            Some("verify-full") => PgSslMode::VerifyFull,
            Some(other) => return Err(format!("sslmode {other:?} is unknown; use verify-full, for example")),
        })
    }

    /// `//host:port/database`.
    ///
    /// Source: the documentation of Connector/J, "Connection URL Syntax" and "Configuration Properties".
    fn mysql(&mut self, rest: &str) -> Result<Target, String> {
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        self.parameters = Parameters::parse(parameters, '&')?;
        let address = Address::parse(place, 3306)?;
        let (user, password) = self.credentials(&address);
        let mut options = MySqlConnectOptions::new()
            .host(&address.host)
            .port(address.port)
            .username(&user)
            .password(&password)
            .statement_cache_capacity(self.statements)
            .ssl_mode(self.mysql_tls()?)
            // The server's own ways are left as they are.
            .timezone(None)
            .pipes_as_concat(false)
            .no_engine_substitution(false);
        if !address.database.is_empty() {
            options = options.database(&address.database);
        }
        if let Some(file) = self.parameters.take("serverSslCert") {
            options = options.ssl_ca(file);
        }
        let connect = self.millis("connectTimeout")?;
        let timeout = self.millis("socketTimeout")?;
        // Each of the two servers runs the comment of its own.
        let limit = timeout.unwrap_or(self.limits.timeout);
        let mut first = format!(
            "SET SESSION /*M!100101 max_statement_time = {} */ /*!50708 max_execution_time = {} */",
            limit.as_secs_f64(),
            limit.as_millis()
        );
        if let Some(isolation) = self.source.pool.isolation {
            first += &format!("; SET SESSION TRANSACTION ISOLATION LEVEL {}", isolation.sql());
        }
        MYSQL_ALWAYS.iter().for_each(|name| drop(self.parameters.take(name)));
        let mut target = self.target(Kind::MySql(Box::new(options.disable_statement_logging())), Some(first), false);
        target.connect_timeout = connect.unwrap_or(target.connect_timeout);
        target.timeout = timeout.unwrap_or(target.timeout);
        Ok(target)
    }

    fn mysql_tls(&mut self) -> Result<MySqlSslMode, String> {
        let flags = ["useSSL", "requireSSL", "verifyServerCertificate"].map(|name| self.parameters.flag(name));
        let [used, required, verified] = [flags[0].clone()?, flags[1].clone()?, flags[2].clone()?];
        let mode = self.parameters.take("sslMode").map(|mode| mode.to_ascii_uppercase());
        Ok(match mode.as_deref() {
            None if used == Some(false) => MySqlSslMode::Disabled,
            None if verified == Some(true) => MySqlSslMode::VerifyCa,
            None if required == Some(true) => MySqlSslMode::Required,
            None | Some("PREFERRED") => MySqlSslMode::Preferred,
            Some("DISABLED" | "DISABLE") => MySqlSslMode::Disabled,
            Some("REQUIRED" | "TRUST") => MySqlSslMode::Required,
            Some("VERIFY_CA" | "VERIFY-CA") => MySqlSslMode::VerifyCa,
            Some("VERIFY_IDENTITY" | "VERIFY-FULL") => MySqlSslMode::VerifyIdentity,
            Some(other) => return Err(format!("sslMode {other:?} is unknown; use VERIFY_IDENTITY, for example")),
        })
    }

    /// Who asks: what the source says goes before what its URL says.
    fn credentials(&mut self, address: &Address) -> (String, String) {
        let (user, password) = (self.parameters.take("user"), self.parameters.take("password"));
        let user = self.source.user.clone().or(user).or_else(|| address.user.clone()).unwrap_or_default();
        let own = self.source.password.as_ref().map(|password| password.0.clone()).filter(|own| !own.is_empty());
        (user, own.or(password).or_else(|| address.password.clone()).unwrap_or_default())
    }

    fn seconds(&mut self, name: &str) -> Result<Option<Duration>, String> {
        Ok(self.parameters.number(name)?.filter(|number| *number > 0).map(Duration::from_secs))
    }

    fn millis(&mut self, name: &str) -> Result<Option<Duration>, String> {
        Ok(self.parameters.number(name)?.filter(|number| *number > 0).map(Duration::from_millis))
    }

    fn target(&self, kind: Kind, first: Option<String>, in_memory: bool) -> Target {
        let Limits { connect_timeout, timeout, .. } = *self.limits;
        Target { kind, first, connect_timeout, timeout, in_memory }
    }
}

/// What is so in any case, or steers what only Connector/J does.
const MYSQL_ALWAYS: &[&str] = &[
    "allowMultiQueries",
    "allowPublicKeyRetrieval",
    "autoReconnect",
    "characterEncoding",
    "createDatabaseIfNotExist",
    "failOverReadOnly",
    "useLegacyDatetimeCode",
    "useUnicode",
    "zeroDateTimeBehavior",
];

#[cfg(test)]
mod tests;
