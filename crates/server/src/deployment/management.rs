//! The management API by the names of WSO2: its port, its tokens, its users.

use std::time::Duration;

use anyhow::Context;
use myelin_manage::api::User;
use toml::Value;

use super::file_text::KeyProblem;
use super::values::find;
use super::wso2::{File, MANAGEMENT_PORT, wrong};

/// What WSO2's keys say of the management API.
#[derive(PartialEq)]
pub(super) struct Management {
    pub(super) port: u16,
    pub(super) token_expiry: Option<Duration>,
    pub(super) tokens: Option<usize>,
    /// Whether the users of the file count.
    counts: bool,
    /// Name, password, and whether the user is an admin.
    users: Vec<(String, String, bool)>,
}

/// Without passwords.
impl std::fmt::Debug for Management {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.users.iter().map(|(name, ..)| name.as_str()).collect();
        f.debug_struct("Management").field("port", &self.port).field("users", &names).finish_non_exhaustive()
    }
}

impl Default for Management {
    fn default() -> Management {
        Management { port: MANAGEMENT_PORT, token_expiry: None, tokens: None, counts: true, users: Vec::new() }
    }
}

impl Management {
    /// What a file says of it.
    ///
    /// Errors: a port, a number or a user that is none.
    pub(super) fn read(file: &File) -> anyhow::Result<Management> {
        let number = |key: &str| -> anyhow::Result<Option<u64>> {
            let path = format!("management_api.jwt_token_security_handler.{key}");
            let number = file.integer(&path)?;
            number
                .map(|number| {
                    u64::try_from(number)
                        .ok()
                        .filter(|number| *number > 0)
                        .ok_or_else(|| wrong(&path, format!("{path} = {number}: at least 1 is needed")))
                })
                .transpose()
        };
        let tokens = number("token_store_config.max_size")?;
        Ok(Management {
            port: file.management_port()?,
            token_expiry: number("token_config.expiry")?.map(Duration::from_secs),
            tokens: tokens.map(usize::try_from).transpose()?,
            counts: file.flag("internal_apis.file_user_store.enable")? != Some(false),
            users: users(file)?,
        })
    }

    /// What is said of passwords in the file.
    pub(super) fn remarks(&self) -> Option<KeyProblem> {
        (self.counts && !self.users.is_empty()).then(|| {
            let message = "[[internal_apis.users]] holds passwords as they are; `myelin user add NAME --admin` keeps \
                           hashes instead";
            KeyProblem::new("internal_apis.users", message)
        })
    }

    /// The users that the file names.
    ///
    /// Errors: a name or a password that can be none.
    pub(super) fn users(&self) -> anyhow::Result<Vec<User>> {
        let user = |(name, password, is_admin): &(String, String, bool)| {
            User::new(name, password, *is_admin).with_context(|| format!("[[internal_apis.users]] {name:?}"))
        };
        self.users.iter().filter(|_| self.counts).map(user).collect()
    }
}

fn users(file: &File) -> anyhow::Result<Vec<(String, String, bool)>> {
    const PATH: &str = "internal_apis.users";
    let mut users = Vec::new();
    for (number, table) in file.tables(PATH)?.into_iter().enumerate() {
        let text = |key: &str| -> anyhow::Result<String> {
            let wrong = |what: &str| wrong(&format!("{PATH}[{number}].{key}"), format!("[[{PATH}]] {key}{what}"));
            let value = find(table, key);
            if let Some(reason) = file.unknown_in(&format!("{PATH}.{key}"), value) {
                return Err(wrong(&format!(": {reason}")));
            }
            match value {
                Some(Value::String(text)) => Ok(text.clone()),
                // What stands there may be a password.
                Some(_) => Err(wrong(": a text is needed, in quotes")),
                None => Err(wrong(" is missing")),
            }
        };
        // As in Micro Integrator, who is said to be nothing else is an admin.
        let is_admin = match find(table, "user.is_admin") {
            Some(Value::Boolean(flag)) => *flag,
            Some(Value::String(text)) => text.trim() != "false",
            _ => true,
        };
        users.push((text("user.name")?, text("user.password")?, is_admin));
    }
    Ok(users)
}
