//! `<import>`: says that a connector's archive is used, or is not to be.

use crate::load::kind::{Kind, attribute};

pub(super) const KIND: Kind = Kind {
    element: "import",
    declare: |item, loader, _| {
        if item.element.as_ref().is_some_and(|element| attribute(element, "status") == "disabled") {
            loader.libraries.remove(&item.name);
        }
    },
    build: |_, element, loader| {
        let name = element.required("name")?;
        element.forgive();
        if !loader.has_library(name.value.trim()) {
            let message = format!("there is no archive of a connector {:?}", name.value.trim());
            loader.warning(name.problem(message));
        }
        Ok(None)
    },
    ..Kind::PLAIN
};
