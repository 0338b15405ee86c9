//! The parameters of a proxy or an inbound endpoint that a channel reads.

use myelin_channel::{Parameters, Severity, Source, Spec};
use myelin_config::element::Element;

use crate::loader::Loader;

/// Lets a channel read the parameters in these elements; what it says of them gets their places.
///
/// Shape: `None` where a parameter keeps the artefact from running; the loader has the problem then. Second is what the
/// channel knows nothing of.
pub fn source<'e>(
    read: fn(&Parameters) -> Option<Box<dyn Source>>,
    elements: &[&'e Element],
    owner: &Element,
    loader: &mut Loader,
) -> (Option<Box<dyn Source>>, Vec<Unread<'e>>) {
    let name_of = |element: &Element| element.attribute("name").map_or("", |name| name.value.trim()).to_owned();
    let mut values = Vec::with_capacity(elements.len());
    for element in elements {
        match loader.configured(element.text()) {
            Ok(value) => values.push((name_of(element), value.into_owned())),
            Err(problem) => loader.problem(problem),
        }
    }
    let parameters = Parameters::new(values);
    let source = read(&parameters);
    let mut is_sound = true;
    for complaint in parameters.complaints() {
        let element = complaint
            .parameter
            .as_ref()
            .and_then(|name| elements.iter().rev().find(|element| name_of(element) == *name));
        let found =
            element.map_or_else(|| owner.problem(&*complaint.message), |it| it.text().problem(&*complaint.message));
        match complaint.severity {
            Severity::Problem => {
                is_sound = false;
                loader.problem(found);
            }
            Severity::Warning => loader.warning(found),
        }
    }
    let unread = parameters.unread();
    let unknown = elements.iter().filter(|element| unread.contains(&&*name_of(element)));
    let meant = |element| parameters.nearest(&name_of(element));
    let unknown = unknown.map(|element| Unread { element, meant: meant(element), hint: None });
    (source.filter(|_| is_sound), unknown.collect())
}

/// A parameter that a channel knows nothing of.
pub struct Unread<'e> {
    /// Where it stands.
    pub element: &'e Element,
    /// What may have been meant.
    pub meant: Option<String>,
    /// What is missing.
    pub hint: Option<String>,
}

impl Unread<'_> {
    /// Tells that it has no effect.
    pub fn tell(&self, whose: &str, loader: &mut Loader) {
        self.element.forgive();
        let name = self.element.attribute("name").map_or("", |name| name.value.trim());
        let hint = self.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
        let problem = self.element.problem(format!("parameter {name:?} has no effect{whose}{hint}"));
        loader.warning(problem.suggesting(self.meant.as_deref()));
    }
}

/// The channel with a name that a proxy's `transports` attribute has for it.
pub fn by_transport(channels: &'static [Spec], name: &str) -> Option<&'static Spec> {
    channels.iter().find(|channel| channel.transports.contains(&name))
}

/// The channel with a protocol of inbound endpoints.
pub fn by_protocol(channels: &'static [Spec], name: &str) -> Option<&'static Spec> {
    channels.iter().find(|channel| channel.protocols.contains(&name))
}
