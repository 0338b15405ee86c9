//! Operations of connectors that came in archives: their templates are built when something calls them.

use crate::loader::{Fetched, Loader, Reference, is_of_sequence, parameters};
use myelin_config::element::{Element, Text};
use myelin_config::library::BUILT_IN;
use myelin_config::problem::Problem;

impl Loader {
    /// The name of the template that an operation is; `None` where no connector of the configuration has that name.
    ///
    /// The template is built behind the artefacts of the configuration.
    /// Errors: a [`Problem`] at the element where the connector has no such operation, or where it is faulty.
    pub fn operation(&mut self, element: &Element, name: &str) -> Result<Option<String>, Problem> {
        self.declared(element.standing(name), name)
    }

    fn declared(&mut self, place: Text<'_>, name: &str) -> Result<Option<String>, Problem> {
        let Some((library, operation)) = name.split_once('.') else { return Ok(None) };
        let Some(library) = self.libraries.get(library) else { return Ok(None) };
        let qualified = library.qualified(operation);
        if self.templates.contains_key(&qualified) {
            return Ok(Some(qualified));
        }
        let template = match library.templates.get(operation) {
            Some(Ok(template)) => template.filled(&|_| None),
            Some(Err(problem)) => return Err(place.problem(format!("the operation is faulty: {problem}"))),
            None => {
                let message = format!("connector {:?} has no operation {operation:?}", library.name);
                return Err(place.problem(message));
            }
        };
        if !template.is("template") || !is_of_sequence(&template) {
            return Err(place.problem(format!("the operation is faulty: {} holds no sequence", template.place)));
        }
        let parameters = parameters(&template, &mut self.names);
        let id = self.templates.len();
        self.templates.insert(qualified.clone(), (id, parameters));
        self.fetched.push(Fetched { key: qualified.clone(), element: template, id: Reference::Template(id) });
        Ok(Some(qualified))
    }

    /// Makes the template of an operation known that templates of connectors call by its whole name.
    pub fn declare_operation(&mut self, name: Text<'_>) -> Result<(), Problem> {
        let wanted = name.value.trim();
        let found = self.libraries.values().find_map(|library| {
            let operation = wanted.strip_prefix(&library.qualified(""))?;
            Some(format!("{}.{operation}", library.name))
        });
        found.map_or(Ok(()), |found: String| self.declared(name, &found).map(drop))
    }

    /// Whether there is a connector of that name.
    pub fn has_library(&self, name: &str) -> bool {
        name == BUILT_IN || self.libraries.contains_key(name)
    }
}
