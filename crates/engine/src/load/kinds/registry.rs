//! `<registry>`

use crate::load::kind::Kind;

pub(super) const KIND: Kind = Kind {
    element: "registry",
    build: |_, _, _| Ok(None),
    declare: |item, loader, settings| {
        let declared = item.element.as_ref().map(|element| loader.registry.declare(element, settings.home.as_deref()));
        item.problems.extend(declared.and_then(Result::err));
    },
    ..Kind::PLAIN
};
