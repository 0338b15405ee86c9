//! What compiling a configuration's texts needs: names, the expressions of the sequence around, values from outside.

use std::borrow::Cow;
use std::collections::HashMap;

use myelin_config::element::Text;
use myelin_config::environment::ProcessEnvironment;
use myelin_config::problem::Problem;
use myelin_config::registry::Registry;
use myelin_flow::property::Names;
use myelin_flow::settings::{SecuritySettings, Settings};
use myelin_wss::crypto::Secret;
use myelin_wss::guard::KeyFiles;
use myelin_wss::keys::{KeyStore, Passwords, StoreKind};
use myelin_wss::policy::Crypto;

use crate::plan::PlanBuilder;

/// What stands in `config.properties` in the place of values.
const CONFIG_TYPES: &[&str] = &["string", "code", "cert", "int", "integer", "long", "float", "double", "boolean"];

/// Where WSO2 keeps key stores whose path says nothing else.
const WSO2_STORES: &str = "repository/resources/security";

/// What the texts of a configuration are compiled with, and what is wrong with them.
#[derive(Default)]
pub struct Compiler {
    /// The names of properties seen so far.
    pub names: Names,
    /// The expressions of the sequence that is being built.
    pub plans: PlanBuilder,
    /// What keys of the registry mean.
    pub registry: Registry,
    /// Secrets, users and key stores.
    pub security: SecuritySettings,
    /// The process around the bus.
    pub environment: ProcessEnvironment,
    /// What stands in `file.properties`.
    pub properties: HashMap<String, String>,
    /// What stands in `config.properties`.
    pub configs: HashMap<String, String>,
    /// What keeps the artefact that is being built from running.
    pub problems: Vec<Problem>,
    /// What in the artefact that is being built has no effect.
    pub warnings: Vec<Problem>,
    /// What makes a step of the artefact that is being built fail when a message reaches it.
    pub latent: Vec<Problem>,
    /// Whether such a step keeps its artefact from running.
    pub is_strict: bool,
}

impl Compiler {
    /// One that has seen nothing yet.
    pub fn new(settings: &Settings) -> Compiler {
        let plans = PlanBuilder::new(settings.json_duplicate_keys);
        let (security, environment) = (settings.security.clone(), settings.environment.clone());
        Compiler { plans, security, environment, is_strict: settings.is_strict, ..Compiler::default() }
    }

    /// The property names seen so far.
    pub fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    /// What compiling an expression needs: the names, and the expressions of the sequence it stands in.
    pub fn for_expressions(&mut self) -> (&mut Names, &mut PlanBuilder) {
        (&mut self.names, &mut self.plans)
    }

    /// The artefact that is being built cannot run.
    pub fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// A step of the artefact that is being built will fail when a message reaches it.
    pub fn latent(&mut self, problem: Problem) {
        if self.is_strict { &mut self.problems } else { &mut self.latent }.push(problem);
    }

    /// Something in the artefact that is being built has no effect.
    pub fn warning(&mut self, warning: Problem) {
        self.warnings.push(warning);
    }

    /// The text that a value of the configuration is, or refers to as a secret.
    ///
    /// Errors: a sentence without the secret, where what is referred to is not there, or is no text.
    pub fn secret(&self, text: &str) -> Result<String, String> {
        let secret = self.secret_bytes(text)?;
        String::from_utf8(secret.as_ref().to_vec()).map_err(|_| "the secret is no text in UTF-8".to_owned())
    }

    /// The same for a secret that need not be text.
    ///
    /// Errors: a sentence without the secret, where what is referred to is not there.
    pub fn secret_bytes(&self, text: &str) -> Result<Secret, String> {
        self.security.secret(text, &self.environment)
    }

    /// The value of a name whose value is injected: of the environment, of `file.properties`, or of `config.properties`.
    ///
    /// Errors: a sentence, where none of them has it.
    pub fn injected(&self, name: &str) -> Result<String, String> {
        let variable = self.environment.variable(name).map(str::to_owned);
        let found = variable.or_else(|| self.properties.get(name).cloned());
        // WSO2's tools write the type of each value there, which comes from elsewhere then.
        let own = || self.configs.get(name).filter(|value| !CONFIG_TYPES.contains(&value.as_str())).cloned();
        found.or_else(own).ok_or_else(|| {
            format!("{name:?} has no value: there is neither an environment variable nor a line in file.properties")
        })
    }

    /// A value of the configuration with what is injected into it in the places of `${configs.NAME}`.
    ///
    /// Errors: a [`Problem`] at a name without a value.
    pub fn configured<'t>(&self, text: Text<'t>) -> Result<Cow<'t, str>, Problem> {
        let (mut value, mut done) = (String::new(), 0);
        while let Some(at) = text.value[done..].find("${configs.").map(|at| done + at) {
            let name = &text.value[at + "${configs.".len()..];
            let Some((name, _)) = name.split_once('}') else { break };
            value.push_str(&text.value[done..at]);
            value.push_str(&self.injected(name).map_err(|message| Problem::new(text.place(at), message).latent())?);
            done = at + "${configs.}".len() + name.len();
        }
        match done {
            0 => Ok(Cow::Borrowed(text.value)),
            _ => Ok(Cow::Owned(value + &text.value[done..])),
        }
    }

    /// The key store in a file that the configuration names.
    ///
    /// Errors: a sentence without a password.
    pub fn key_store(&self, file: &str, kind: Option<&str>, passwords: &Passwords) -> Result<KeyStore, String> {
        let kind = match kind {
            Some(name) => {
                Some(StoreKind::from_name(name).ok_or_else(|| format!("key stores of type {name:?} are not offered"))?)
            }
            None => None,
        };
        let files = self.key_files();
        KeyStore::read(&files.read(file)?, kind, passwords).map_err(|error| format!("{file}: {error}"))
    }

    /// Where the key stores and passwords are that policies name.
    pub fn key_files(&self) -> impl KeyFiles {
        Stores { registry: &self.registry, security: &self.security, environment: &self.environment }
    }
}

/// Where the key stores and passwords are that policies name.
struct Stores<'a> {
    registry: &'a Registry,
    security: &'a SecuritySettings,
    environment: &'a ProcessEnvironment,
}

impl KeyFiles for Stores<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = match self.registry.find(path)? {
            Some(found) => Some(found),
            None => self.registry.find(&format!("{WSO2_STORES}/{path}"))?,
        };
        let missing = || format!("{path}: no such file beside the configuration, above it or in the registry");
        found.map(|found| found.bytes.to_vec()).ok_or_else(missing)
    }

    fn secret(&self, text: &str) -> Result<Secret, String> {
        self.security.secret(text, self.environment)
    }

    fn key_password(&self, alias: &str) -> Option<Secret> {
        self.security.key_passwords.get(alias).cloned()
    }

    fn server_store(&self, name: &str) -> Option<Crypto> {
        let last = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned);
        let is_meant = |file: &Option<String>| file.as_deref().is_some_and(|file| last(file) == last(name));
        let store = self.security.server_store.as_ref()?;
        if is_meant(&store.file) {
            return Some(store.clone());
        }
        is_meant(&store.trust_file).then(|| Crypto {
            file: store.trust_file.clone(),
            kind: store.trust_kind.clone(),
            password: store.trust_password.clone(),
            ..Crypto::default()
        })
    }
}
