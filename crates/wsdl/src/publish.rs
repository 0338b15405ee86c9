//! The pages that a service hands out about itself.

use std::collections::HashMap;

use crate::described::Description;
use crate::documents::Documents;
use crate::fragment::fragment;
use crate::generate::{Making, wsdl11, wsdl20};
use crate::options::{Form, Options};
use crate::page::Page;
use crate::piece::{links, whole};
use crate::{WSDL11, WSDL20};

/// The pages of a service.
#[derive(Clone, Debug)]
pub struct Published {
    /// `?wsdl`
    pub wsdl: Page,
    /// `?wsdl2`
    pub wsdl2: Page,
    /// `?xsd`: the first schema in the description, if there is one.
    pub schema: Option<Page>,
    /// `?wsdl=name`: the descriptions that the first one imports.
    pub descriptions: HashMap<String, Page>,
    /// `?xsd=name`: the schemas that are imported, by their names, in the order they were met.
    pub schemas: Vec<(String, Page)>,
}

impl Published {
    /// The schema of that name; `xsd0`, `xsd1` … mean the first, the second …, as Axis2 names them.
    pub fn schema(&self, name: &str) -> Option<&Page> {
        let by_name = self.schemas.iter().find(|(it, _)| it == name).map(|(_, page)| page);
        by_name.or_else(|| {
            let number = name.strip_prefix("xsd")?;
            let number: usize = number.strip_suffix(".xsd").unwrap_or(number).parse().ok()?;
            self.schemas.get(number).map(|(_, page)| page)
        })
    }
}

/// Makes the pages of a service from what was read; without documents, of the description alone.
pub fn publish(documents: Option<&Documents>, description: &Description, options: &Options<'_>) -> Published {
    let making = Making { documents, description, options };
    let with_addresses = options.form != Form::AsItCame;
    let as_came = |version: &str| {
        let documents = documents.filter(|_| options.form != Form::Own)?;
        let root = documents.root();
        let is_it = root.tree.qname(root.element).namespace == version;
        is_it.then(|| whole(documents, root, options, with_addresses))
    };
    let mut published = Published {
        wsdl: as_came(WSDL11).unwrap_or_else(|| wsdl11(&making)),
        wsdl2: as_came(WSDL20).unwrap_or_else(|| wsdl20(&making)),
        schema: None,
        descriptions: HashMap::new(),
        schemas: Vec::new(),
    };
    let Some(documents) = documents else { return published };
    published.schema = description.schemas.first().map(|&(index, element)| {
        let member = &documents.list[index];
        fragment(&member.tree, element, links(documents, member, options))
    });
    for member in documents.list.iter().skip(1) {
        let page = whole(documents, member, options, with_addresses);
        match member.is_schema {
            true => published.schemas.push((member.name.clone(), page)),
            false => {
                published.descriptions.insert(member.name.clone(), page);
            }
        }
    }
    published
}
