//! What the operator sets about WS-Security, apart from the configuration itself.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use myelin_config::environment::ProcessEnvironment;
use myelin_config::files;
use myelin_wss::crypto::Secret;
use myelin_wss::guard::Users;
use myelin_wss::policy::Crypto;
use myelin_wss::{Limits, Replays};

/// What the operator sets about WS-Security.
#[derive(Clone)]
pub struct SecuritySettings {
    /// How much security a message may carry.
    pub limits: Limits,
    /// The least size of RSA keys, in bits.
    pub rsa_bits_min: usize,
    /// Users and their passwords.
    pub users: HashMap<String, User>,
    /// The passwords of private keys, by their aliases, where no policy says them.
    pub key_passwords: HashMap<String, Secret>,
    /// What `$secret{ALIAS}` means.
    pub secrets: HashMap<String, Secret>,
    /// The key store of the server itself, with its trust store, which WSO2's policies name by its file only.
    pub server_store: Option<Crypto>,
    /// The assertion that is shown to backends which ask for one, as XML.
    pub assertion: Option<String>,
    /// The names under which assertions may be made for this bus.
    pub audiences: Vec<String>,
    /// The hosts besides its own to which a client may have its answers sent; `*` stands for all.
    pub reply_hosts: Vec<String>,
    /// Whether suites that are named for SHA-256 take signatures over SHA-1, as the letter of the standard has it.
    pub sha1_signatures: bool,
    /// The time of loading, for warnings of certificates that are not valid then; without one there are none.
    pub now: Option<SystemTime>,
    /// What was here before, for all buses one after the other that a process loads; whoever serves clients sets one
    /// that knows when the process began, or what the process before it accepted.
    pub replays: Arc<Replays>,
}

/// A user.
#[derive(Clone)]
pub struct User {
    /// The password.
    pub password: Secret,
    /// The roles, for policies that say which may.
    pub roles: Vec<String>,
}

/// More than a thousand messages a second for the ten minutes that they are good at most by default.
pub const REPLAY_ENTRIES: usize = 1_000_000;

impl Default for SecuritySettings {
    fn default() -> SecuritySettings {
        SecuritySettings {
            limits: Limits::default(),
            rsa_bits_min: 2048,
            users: HashMap::new(),
            key_passwords: HashMap::new(),
            secrets: HashMap::new(),
            server_store: None,
            assertion: None,
            audiences: Vec::new(),
            reply_hosts: Vec::new(),
            sha1_signatures: false,
            now: None,
            replays: Arc::new(Replays::in_memory(REPLAY_ENTRIES, SystemTime::UNIX_EPOCH)),
        }
    }
}

impl fmt::Debug for SecuritySettings {
    /// Names alone: no password gets anywhere by way of a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecuritySettings")
            .field("limits", &self.limits)
            .field("rsa_bits_min", &self.rsa_bits_min)
            .field("users", &self.users.keys())
            .field("key_passwords", &self.key_passwords.keys())
            .field("secrets", &self.secrets.keys())
            .finish_non_exhaustive()
    }
}

impl SecuritySettings {
    /// The secret that a text of a configuration is, or refers to; asked for while a configuration is loaded.
    ///
    /// Shape: `$env{NAME}`, `$file{PATH}` without line ends behind, `$secret{ALIAS}`, or the secret itself.
    /// Errors: a sentence without the secret, where what is referred to is not there.
    pub fn secret(&self, text: &str, environment: &ProcessEnvironment) -> Result<Secret, String> {
        let reference = |kind: &str| text.strip_prefix(kind)?.strip_suffix('}').map(str::trim);
        if let Some(name) = reference("$env{") {
            let value = environment.variable(name);
            let value = value.ok_or_else(|| format!("the environment has no variable {name:?}"))?;
            return Ok(Secret::from(value.as_bytes().to_vec()));
        }
        if let Some(path) = reference("$file{") {
            let secret = files::secret(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
            return Ok(Secret::from(secret));
        }
        if let Some(alias) = reference("$secret{") {
            let secret = self.secrets.get(alias).cloned();
            return secret.ok_or_else(|| format!("[myelin.security.secrets] has no {alias:?}"));
        }
        Ok(Secret::from(text.as_bytes().to_vec()))
    }

    /// What guards ask about users.
    pub fn accounts(&self) -> Arc<dyn Users> {
        Arc::new(Accounts(self.users.clone()))
    }
}

struct Accounts(HashMap<String, User>);

impl Users for Accounts {
    fn password(&self, user: &str) -> Option<Secret> {
        self.0.get(user).map(|user| user.password.clone())
    }

    fn has_role(&self, user: &str, role: &str) -> bool {
        self.0.get(user).is_some_and(|user| user.roles.iter().any(|known| known == role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_told_or_referred_to() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        std::fs::write(&file, "from a file\r\n").unwrap();
        let secrets = HashMap::from([("store".to_owned(), Secret::from(b"by alias".to_vec()))]);
        let settings = SecuritySettings { secrets, ..SecuritySettings::default() };
        let environment = ProcessEnvironment::of([("STORE", "of the environment")]);
        let check = |text: &str, expected: &str| {
            assert_eq!(settings.secret(text, &environment).unwrap().as_ref(), expected.as_bytes(), "{text}");
        };
        check("plain", "plain");
        check(&format!("$file{{{}}}", file.display()), "from a file");
        check("$secret{store}", "by alias");
        check("$env{STORE}", "of the environment");
        for missing in ["$secret{other}", "$env{NOBODY_SETS_THIS}", "$file{/nowhere/at/all}"] {
            assert!(settings.secret(missing, &environment).is_err(), "{missing}");
        }
    }

    #[test]
    fn what_is_printed_of_the_settings_holds_no_secret() {
        let secrets = HashMap::from([("store".to_owned(), Secret::from(b"hush".to_vec()))]);
        let user = User { password: Secret::from(b"hush".to_vec()), roles: Vec::new() };
        let users = HashMap::from([("alice".to_owned(), user)]);
        let printed = format!("{:?}", SecuritySettings { secrets, users, ..SecuritySettings::default() });
        assert!(printed.contains("alice") && !printed.contains("hush"), "{printed}");
    }
}
