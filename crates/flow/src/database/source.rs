//! Where a database is and who asks.

use std::fmt;

use crate::database::PoolSettings;

/// A database, who asks it, and through which pool.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct DataSource {
    /// A JDBC URL, `jdbc:postgresql://host/database`.
    pub url: String,
    /// Who asks; where it is `None` the URL may say it.
    pub user: Option<String>,
    /// How that is proved.
    pub password: Option<Password>,
    /// How connections are kept.
    pub pool: PoolSettings,
}

/// A password: printed, it is not there.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Password(pub String);

impl DataSource {
    /// What to call it where others read it: the URL without what could be secret in it.
    pub fn name(&self) -> String {
        let url = self.url.split('?').next().unwrap_or_default();
        let Some((kind, place)) = url.split_once("//") else {
            return url.split(';').next().unwrap_or_default().to_owned();
        };
        // A password may have letters in it that end it elsewhere.
        let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
        let place = place.split(';').next().unwrap_or_default();
        let (server, database) = place.find('/').map_or((place, ""), |at| place.split_at(at));
        // What stands for a port and is none is a part of one.
        let is_port = |text: &str| text.ends_with(']') || text.bytes().all(|byte| byte.is_ascii_digit());
        match server.rsplit_once(':') {
            Some((host, port)) if !is_port(port) => format!("{kind}//{host}"),
            _ => format!("{kind}//{server}{database}"),
        }
    }
}

impl fmt::Debug for DataSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DataSource { user, password, pool, .. } = self;
        f.debug_struct("DataSource")
            .field("url", &self.name())
            .field("user", user)
            .field("password", password)
            .field("pool", pool)
            .finish()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_told_without_its_secrets() {
        let check = |url: &str, name: &str| {
            let source =
                DataSource { url: url.to_owned(), password: Some(Password("hush".into())), ..DataSource::default() };
            assert_eq!(source.name(), name);
            assert!(!format!("{source:?}").contains("hush"));
        };
        check("jdbc:postgresql://db:5432/orders?user=a&password=hush", "jdbc:postgresql://db:5432/orders");
        check("jdbc:mysql://bus:hush@db/orders", "jdbc:mysql://db/orders");
        check("jdbc:mysql://bus:hu@hush@db/orders", "jdbc:mysql://db/orders");
        check("jdbc:mysql://bus:hu;sh@[::1]:3306/orders", "jdbc:mysql://[::1]:3306/orders");
        check("jdbc:mysql://bus:hu?sh@db/orders", "jdbc:mysql://bus");
        check("jdbc:mysql://bus:hu/sh@db/orders", "jdbc:mysql://db/orders");
        check("jdbc:sqlserver://db:1433;user=a;password=hush", "jdbc:sqlserver://db:1433");
        check("jdbc:h2:./orders;PASSWORD=hush", "jdbc:h2:./orders");
        check("jdbc:sqlite:/var/lib/orders.db", "jdbc:sqlite:/var/lib/orders.db");
    }
}
