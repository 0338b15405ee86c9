//! The process around the bus, as a configuration may ask it: environment variables and the name of the machine.

use std::collections::HashMap;
use std::sync::Arc;
use std::{env, fmt, fs};

/// Where Linux says how the machine is called.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// What a process was told when it began; by default nothing, so that a bus without one depends on no machine.
#[derive(Clone, Default)]
pub struct ProcessEnvironment {
    variables: Arc<HashMap<String, String>>,
    host_name: Option<Arc<str>>,
}

impl ProcessEnvironment {
    /// That of this process; variables that are no UTF-8 are left out.
    pub fn read() -> ProcessEnvironment {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let host_name = fs::read_to_string(HOST_NAME).unwrap_or_default();
        let host_name = Some(host_name.trim()).filter(|name| !name.is_empty()).map(Arc::from);
        ProcessEnvironment { variables: Arc::new(env::vars_os().filter_map(text).collect()), host_name }
    }

    /// One in which these variables are set.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> ProcessEnvironment {
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        ProcessEnvironment { variables: Arc::new(variables), host_name: None }
    }

    /// The same with further variables, where the process has none of that name.
    pub fn with(&self, further: HashMap<String, String>) -> ProcessEnvironment {
        if further.is_empty() {
            return self.clone();
        }
        let mut variables = further;
        variables.extend(self.variables.iter().map(|(name, value)| (name.clone(), value.clone())));
        ProcessEnvironment { variables: Arc::new(variables), host_name: self.host_name.clone() }
    }

    /// The value of a variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The name of the machine; `localhost` where it says none.
    pub fn host_name(&self) -> &str {
        self.host_name.as_deref().unwrap_or("localhost")
    }
}

impl fmt::Debug for ProcessEnvironment {
    /// No value of a variable: some of them are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessEnvironment").field("host_name", &self.host_name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_variables_and_a_machine_with_a_name() {
        let environment = ProcessEnvironment::read();
        assert_eq!(environment.variable("CARGO_PKG_NAME"), Some("myelin-config"));
        assert_eq!(environment.variable("NOBODY_SETS_THIS"), None);
        assert!(!environment.host_name().trim().is_empty());
        let told = ProcessEnvironment::of([("PASSWORD", "hush")]);
        assert_eq!((told.variable("PASSWORD"), told.host_name()), (Some("hush"), "localhost"));
        assert!(!format!("{told:?}").contains("hush"));
        let further = [("PASSWORD", "other"), ("USER_NAME", "me")].map(|(name, value)| (name.into(), value.into()));
        let more = told.with(HashMap::from(further));
        assert_eq!((more.variable("PASSWORD"), more.variable("USER_NAME")), (Some("hush"), Some("me")));
    }
}
