//! `<task>`

use std::sync::Arc;

use crate::load::kind::{Kind, Product};
use myelin_artefacts::tasks::task;

pub(super) const KIND: Kind = Kind {
    element: "task",
    build: |_, element, loader| {
        let task = task(element, loader)?;
        Ok(Some(Product::new(|parts| parts.receivings.push(Arc::new(task)))))
    },
    ..Kind::PLAIN
};
