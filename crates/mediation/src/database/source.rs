//! Where a database is and who asks.

use std::fmt;

use super::PoolSettings;

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
        let end = self.url.find(['?', ';']).unwrap_or(self.url.len());
        let url = &self.url[..end];
        match (url.find("//"), url.rfind('@')) {
            (Some(start), Some(at)) if at > start => format!("{}{}", &url[..start + 2], &url[at + 1..]),
            _ => url.to_owned(),
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
        check("jdbc:h2:./orders;PASSWORD=hush", "jdbc:h2:./orders");
        check("jdbc:sqlite:/var/lib/orders.db", "jdbc:sqlite:/var/lib/orders.db");
    }
}
