//! What `deployment.toml` says about WS-Security: `[myelin.security]`, and WSO2's `[keystore.primary]` and `[truststore]`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::{Context, anyhow};
use myelin_engine::{ProcessEnvironment, REPLAY_ENTRIES, SecuritySettings, User};
use myelin_wss::Replays;
use myelin_wss::policy::Crypto;
use serde::Deserialize;

use super::values::set;
use super::wso2::File;

/// `[myelin.security]`: see [`SecuritySettings`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnSecurity {
    rsa_bits: Option<usize>,
    replay_entries: Option<usize>,
    replay_folder: Option<PathBuf>,
    assertion: Option<PathBuf>,
    audiences: Vec<String>,
    reply_hosts: Vec<String>,
    sha1_signatures: Option<bool>,
    users: HashMap<String, OwnUser>,
    key_passwords: HashMap<String, Text>,
    secrets: HashMap<String, Text>,
    limits: OwnLimits,
}

/// A text that may be a secret: printed, it is not there.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text(String);

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// A password, or a password with roles.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OwnUser {
    Password(Text),
    WithRoles { password: Text, roles: Vec<String> },
}

/// `[myelin.security.limits]`: see [`myelin_wss::Limits`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnLimits {
    header_bytes: Option<usize>,
    header_children: Option<usize>,
    signatures: Option<usize>,
    references: Option<usize>,
    encrypted_keys: Option<usize>,
    encrypted_data: Option<usize>,
    nesting: Option<usize>,
    tokens: Option<usize>,
    certificate_path: Option<usize>,
}

impl OwnSecurity {
    /// Puts what the file says into the settings.
    ///
    /// Errors: a secret that is referred to is not there, a file cannot be read.
    pub(super) fn apply(
        &self,
        settings: &mut SecuritySettings,
        environment: &ProcessEnvironment,
    ) -> anyhow::Result<()> {
        set(&mut settings.rsa_bits_min, self.rsa_bits);
        set(&mut settings.sha1_signatures, self.sha1_signatures);
        settings.audiences.clone_from(&self.audiences);
        settings.reply_hosts.clone_from(&self.reply_hosts);
        if let Some(path) = &self.assertion {
            let assertion = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
            settings.assertion = Some(assertion);
        }
        // A secret refers to the environment or a file, not to other secrets.
        for (alias, Text(text)) in &self.secrets {
            let secret = settings
                .secret(text, environment)
                .map_err(|error| anyhow!("[myelin.security.secrets] {alias}: {error}"))?;
            settings.secrets.insert(alias.clone(), secret);
        }
        for (name, user) in &self.users {
            let (Text(text), roles) = match user {
                OwnUser::Password(password) => (password, &[][..]),
                OwnUser::WithRoles { password, roles } => (password, &roles[..]),
            };
            let password = settings
                .secret(text, environment)
                .map_err(|error| anyhow!("[myelin.security.users] {name}: {error}"))?;
            settings.users.insert(name.clone(), User { password, roles: roles.to_vec() });
        }
        for (alias, Text(text)) in &self.key_passwords {
            let password = settings
                .secret(text, environment)
                .map_err(|error| anyhow!("[myelin.security.key_passwords] {alias}: {error}"))?;
            settings.key_passwords.insert(alias.clone(), password);
        }
        let (limits, own) = (&mut settings.limits, &self.limits);
        set(&mut limits.header_bytes, own.header_bytes);
        set(&mut limits.header_children, own.header_children);
        set(&mut limits.signatures, own.signatures);
        set(&mut limits.references, own.references);
        set(&mut limits.encrypted_keys, own.encrypted_keys);
        set(&mut limits.encrypted_data, own.encrypted_data);
        set(&mut limits.nesting, own.nesting);
        set(&mut limits.tokens, own.tokens);
        set(&mut limits.certificate_path, own.certificate_path);
        Ok(())
    }
}

impl OwnSecurity {
    /// Whether another file has the messages that were accepted remembered in another way.
    pub(super) fn replays_differ(&self, other: &OwnSecurity) -> bool {
        (self.replay_entries, &self.replay_folder) != (other.replay_entries, &other.replay_folder)
    }

    /// What remembers the messages that were accepted, from now on.
    ///
    /// Errors: the folder cannot be used, or another process uses it.
    pub(super) fn replays(&self) -> anyhow::Result<Replays> {
        let (entries, now) = (self.replay_entries.unwrap_or(REPLAY_ENTRIES), SystemTime::now());
        match &self.replay_folder {
            Some(folder) => Replays::open(folder, entries, now).with_context(|| folder.display().to_string()),
            None => Ok(Replays::in_memory(entries, now)),
        }
    }
}

/// The server's own key store and trust store, as WSO2 names them.
///
/// Errors: a name of a file refers to what is not there, or a value is no text.
pub(super) fn server_store(wso2: &File) -> anyhow::Result<Option<Crypto>> {
    let Some(file) = wso2.text("keystore.primary.file_name")? else { return Ok(None) };
    Ok(Some(Crypto {
        file: Some(file),
        kind: wso2.text("keystore.primary.type")?,
        password: wso2.secret("keystore.primary.password")?,
        alias: wso2.text("keystore.primary.alias")?,
        key_password: wso2.secret("keystore.primary.key_password")?,
        trust_file: wso2.text("truststore.file_name")?,
        trust_kind: wso2.text("truststore.type")?,
        trust_password: wso2.secret("truststore.password")?,
        ..Crypto::default()
    }))
}
