//! How many connections there are to a database and how they are kept, by the names of two pools of Java.
//!
//! Source: Apache DBCP 1 as Synapse's `AbstractDBMediatorFactory` sets it up, and the `pool_options` of Micro Integrator,
//! which are those of Tomcat's JDBC pool. Their names differ in case and in little else.

use std::time::Duration;

/// What a source says about its connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PoolSettings {
    /// How many there are at most; `None` leaves it to the limits of the bus.
    pub connections: Option<usize>,
    /// How many are kept while nobody needs them; `None` keeps all.
    pub idle: Option<usize>,
    /// How long to wait for one; `None` leaves it to the limits of the bus.
    pub wait: Option<Duration>,
    /// Whether each statement is a transaction, unless somebody says otherwise.
    pub auto_commit: bool,
    /// How far transactions see each other; `None` leaves it to the database.
    pub isolation: Option<Isolation>,
    /// Whether each connection is tried before it is used, not only one that was idle for a while.
    pub test: bool,
    /// How many prepared statements a connection keeps; `None` leaves it to the limits of the bus.
    pub statements: Option<usize>,
}

/// How far transactions see each other (SQL-92 §4.28).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// What others have not committed, too.
    ReadUncommitted,
    /// What others have committed.
    ReadCommitted,
    /// What was read once stays as it was.
    RepeatableRead,
    /// As if there were one after the other.
    Serializable,
}

impl Isolation {
    /// As SQL writes it.
    pub fn sql(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }
}

impl Default for PoolSettings {
    /// Eight connections, as DBCP has it.
    fn default() -> PoolSettings {
        PoolSettings {
            connections: Some(8),
            idle: None,
            wait: None,
            auto_commit: true,
            isolation: None,
            test: false,
            statements: None,
        }
    }
}

/// Properties that have no effect, and why.
const NEEDLESS: &[(&str, &str)] = &[
    ("initialsize", MADE_WHEN_NEEDED),
    ("minidle", MADE_WHEN_NEEDED),
    ("testonreturn", "a connection is looked at before it is used"),
    ("testwhileidle", "a connection is looked at before it is used"),
    ("validationinterval", "a connection is looked at when it was idle for a second"),
    ("validationquerytimeout", "trying a connection has the deadline of connecting"),
    ("timebetweenevictionrunsmillis", "idle connections are closed after the time that [myelin.sql] idle says"),
    ("minevictableidletimemillis", "idle connections are closed after the time that [myelin.sql] idle says"),
    ("removeabandoned", NONE_ABANDONED),
    ("removeabandonedtimeout", NONE_ABANDONED),
    ("logabandoned", NONE_ABANDONED),
    ("jmxenabled", "there is no JVM to be watched by JMX"),
    ("driverclassname", "the URL says which database it is"),
];

const MADE_WHEN_NEEDED: &str = "connections are made when they are needed";
const NONE_ABANDONED: &str = "a connection always comes back";

impl PoolSettings {
    /// Takes in a property, whose name is read in any case. One without a value is taken as not given.
    ///
    /// Shape: a sentence where it has no effect.
    /// Errors: a sentence where its value is none it can have.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Option<String>, String> {
        if value.trim().is_empty() {
            return Ok(None);
        }
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            // As in DBCP, a number that is not positive stands for no limit.
            "maxactive" | "maxtotal" => {
                self.connections = usize::try_from(number(name, value)?).ok().filter(|&most| most > 0);
            }
            "maxidle" => self.idle = usize::try_from(number(name, value)?).ok(),
            "maxwait" | "maxwaitmillis" => {
                self.wait = u64::try_from(number(name, value)?).ok().filter(|&ms| ms > 0).map(Duration::from_millis);
            }
            "autocommit" | "defaultautocommit" => self.auto_commit = flag(name, value)?,
            "isolation" | "defaulttransactionisolation" => self.isolation = isolation(value)?,
            "testonborrow" => self.test = flag(name, value)?,
            // The protocol's own way of asking whether somebody is there does the same.
            "validationquery" => {}
            "poolstatements" | "poolpreparedstatements" => {
                if !flag(name, value)? {
                    self.statements = Some(0);
                }
            }
            "maxopenstatements" | "maxopenpreparedstatements" => {
                let number = usize::try_from(number(name, value)?).ok();
                self.statements = self.statements.or(number);
            }
            _ => {
                let why = NEEDLESS.iter().find(|(known, _)| *known == lower).map(|(_, why)| format!(": {why}"));
                return Ok(Some(format!("the property {name:?} of a pool has no effect{}", why.unwrap_or_default())));
            }
        }
        Ok(None)
    }
}

fn number(name: &str, value: &str) -> Result<i64, String> {
    value.trim().parse().map_err(|_| format!("{name} {value:?} is no number"))
}

fn flag(name: &str, value: &str) -> Result<bool, String> {
    value.trim().to_ascii_lowercase().parse().map_err(|_| format!("{name} {value:?} is neither true nor false"))
}

/// The names of `java.sql.Connection`, with or without what stands before them there, and its numbers.
fn isolation(value: &str) -> Result<Option<Isolation>, String> {
    let name = value.trim();
    let name = name.strip_prefix("Connection.").unwrap_or(name);
    Ok(Some(match name.strip_prefix("TRANSACTION_").unwrap_or(name) {
        "NONE" | "0" | "-1" => return Ok(None),
        "READ_UNCOMMITTED" | "1" => Isolation::ReadUncommitted,
        "READ_COMMITTED" | "2" => Isolation::ReadCommitted,
        "REPEATABLE_READ" | "4" => Isolation::RepeatableRead,
        "SERIALIZABLE" | "8" => Isolation::Serializable,
        _ => return Err(format!("isolation {value:?} is unknown; Connection.TRANSACTION_SERIALIZABLE is one")),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_pools_names_mean_the_same() {
        let read = |properties: &[(&str, &str)]| {
            let mut settings = PoolSettings::default();
            for (name, value) in properties {
                assert_eq!(settings.set(name, value), Ok(None), "{name}");
            }
            settings
        };
        let dbcp = read(&[
            ("maxactive", "50"),
            ("maxidle", "3"),
            ("maxwait", "1500"),
            ("autocommit", "false"),
            ("isolation", "Connection.TRANSACTION_REPEATABLE_READ"),
            ("testonborrow", "true"),
            ("maxopenstatements", "7"),
        ]);
        let tomcat = read(&[
            ("maxActive", "50"),
            ("maxIdle", "3"),
            ("maxWait", "1500"),
            ("defaultAutoCommit", "false"),
            ("defaultTransactionIsolation", "REPEATABLE_READ"),
            ("testOnBorrow", "true"),
            ("validationQuery", "SELECT 1"),
            ("maxOpenPreparedStatements", "7"),
        ]);
        assert_eq!(dbcp, tomcat);
        assert_eq!((dbcp.connections, dbcp.wait), (Some(50), Some(Duration::from_millis(1500))));
        assert_eq!(read(&[("maxactive", "0"), ("maxwait", "-1")]).connections, None);
        let empty = read(&[("validationquery", ""), ("maxactive", " "), ("autocommit", ""), ("isolation", "")]);
        assert_eq!(empty, PoolSettings::default());
    }

    #[test]
    fn what_has_no_effect_is_told_and_nonsense_refused() {
        let mut settings = PoolSettings::default();
        assert!(settings.set("initialsize", "3").unwrap().unwrap().ends_with("when they are needed"));
        assert!(settings.set("colour", "blue").unwrap().unwrap().ends_with("no effect"));
        for (name, value) in [("maxactive", "many"), ("autocommit", "perhaps"), ("isolation", "some")] {
            assert!(settings.set(name, value).unwrap_err().contains(value), "{name}");
        }
        assert_eq!(settings, PoolSettings::default());
    }
}
