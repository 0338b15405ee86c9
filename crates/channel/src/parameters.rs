//! The parameters of a proxy or an inbound endpoint, as a channel reads them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;

use myelin_spelling::nearest;

/// The parameters that a configuration gives, and what the channel has to say of them.
///
/// What no one reads is a warning of the loader's, so a channel asks for every name that it knows.
#[derive(Debug, Default)]
pub struct Parameters {
    values: Vec<Parameter>,
    /// The names that the channel asked for: all that it knows.
    asked: RefCell<BTreeSet<String>>,
    complaints: RefCell<Vec<Complaint>>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    value: String,
    read: Cell<bool>,
}

/// What is wrong with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The parameter; `None` where none says what has to be said.
    pub parameter: Option<String>,
    /// What is wrong and what would be right, without the place.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
}

/// How bad a [`Complaint`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It has no effect, or another one than in Synapse.
    Warning,
    /// The artefact cannot run.
    Problem,
}

impl Parameters {
    /// Names and values in the order of the configuration.
    pub fn new<N: Into<String>, V: Into<String>>(values: impl IntoIterator<Item = (N, V)>) -> Parameters {
        let parameter =
            |(name, value): (N, V)| Parameter { name: name.into(), value: value.into(), read: Cell::default() };
        Parameters { values: values.into_iter().map(parameter).collect(), ..Parameters::default() }
    }

    /// The value of a parameter without the white space around it; `None` where it is not given, or empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        if !self.asked.borrow().contains(name) {
            self.asked.borrow_mut().insert(name.to_owned());
        }
        let mut all = self.values.iter().rev().filter(|parameter| parameter.name == name);
        let parameter = all.next()?;
        let others = all.inspect(|other| other.read.set(true)).count();
        if !parameter.read.replace(true) && others > 0 {
            self.warning(name, format!("{name} is given {} times: the last one counts", others + 1));
        }
        Some(parameter.value.trim()).filter(|value| !value.is_empty())
    }

    /// The same, where it has to be given; its absence is a problem.
    pub fn required(&self, name: &str) -> Option<&str> {
        let text = self.text(name);
        if text.is_none() {
            self.complain(None, format!("the parameter {name:?} is missing"), Severity::Problem);
        }
        text
    }

    /// `true` or `false`, in any case; anything else is a problem.
    pub fn switch(&self, name: &str, default: bool) -> bool {
        match self.text(name).map(str::to_ascii_lowercase).as_deref() {
            None => default,
            Some("true") => true,
            Some("false") => false,
            Some(other) => {
                self.problem(name, format!("{name} is {other:?}: true and false are known"));
                default
            }
        }
    }

    /// A whole number; anything else is a problem.
    pub fn number(&self, name: &str) -> Option<u64> {
        let text = self.text(name)?;
        let number = text.parse().ok();
        if number.is_none() {
            self.problem(name, format!("{name} is {text:?}: a whole number is needed"));
        }
        number
    }

    /// A number of milliseconds.
    pub fn milliseconds(&self, name: &str) -> Option<Duration> {
        self.number(name).map(Duration::from_millis)
    }

    /// One of some words, in any case; the index of the one it is. Anything else is a problem.
    pub fn choice(&self, name: &str, known: &[&str]) -> Option<usize> {
        let text = self.text(name)?;
        let found = known.iter().position(|word| word.eq_ignore_ascii_case(text));
        if found.is_none() {
            self.problem(name, format!("{name} is {text:?}: known are {}", known.join(", ")));
        }
        found
    }

    /// The artefact cannot run because of that parameter.
    pub fn problem(&self, name: &str, message: impl Into<String>) {
        self.complain(Some(name), message.into(), Severity::Problem);
    }

    /// That parameter has no effect, or another one than in Synapse.
    pub fn warning(&self, name: &str, message: impl Into<String>) {
        self.complain(Some(name), message.into(), Severity::Warning);
    }

    fn complain(&self, name: Option<&str>, message: String, severity: Severity) {
        let parameter = name.map(str::to_owned);
        self.complaints.borrow_mut().push(Complaint { parameter, message, severity });
    }

    /// What has been said of the parameters, in that order.
    pub fn complaints(&self) -> Vec<Complaint> {
        self.complaints.borrow().clone()
    }

    /// The names that nobody asked for.
    pub fn unread(&self) -> Vec<&str> {
        let unread = self.values.iter().filter(|parameter| !parameter.read.get());
        unread.map(|parameter| parameter.name.as_str()).collect()
    }

    /// The name that a misspelt one is closest to, of those that the channel asked for, if any is close.
    pub fn nearest(&self, name: &str) -> Option<String> {
        nearest(name, self.asked.borrow().iter().map(String::as_str)).map(str::to_owned)
    }

    /// The names that begin so, asked for or not.
    pub fn starting_with<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.values.iter().map(|parameter| parameter.name.as_str()).filter(move |name| name.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_parameters_with_one_name_the_last_counts() {
        let parameters = Parameters::new([("a", "1"), ("b", "2"), ("a", "3")]);
        assert_eq!((parameters.text("a"), parameters.text("a")), (Some("3"), Some("3")));
        assert_eq!(parameters.unread(), ["b"]);
        let complaints = parameters.complaints();
        assert_eq!(complaints.len(), 1);
        assert_eq!(complaints[0].message, "a is given 2 times: the last one counts");
    }

    #[test]
    fn parameters_are_read_by_name_and_what_is_wrong_is_kept() {
        let parameters = Parameters::new([("a", " 5 "), ("b", "maybe"), ("c", "x"), ("d", " ")]);
        assert_eq!(parameters.milliseconds("a"), Some(Duration::from_millis(5)));
        assert!(parameters.switch("b", true));
        assert_eq!(parameters.text("d"), None);
        assert_eq!(parameters.required("e"), None);
        assert_eq!(parameters.unread(), ["c"]);
        assert_eq!(parameters.nearest("B").as_deref(), Some("b"));
        assert_eq!(parameters.nearest("sequential"), None);
        let complaints = parameters.complaints();
        assert_eq!(complaints.len(), 2);
        assert_eq!(complaints[0].parameter.as_deref(), Some("b"));
        assert_eq!(complaints[1].message, "the parameter \"e\" is missing");
    }
}
