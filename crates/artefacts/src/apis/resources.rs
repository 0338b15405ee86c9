//! The resources of an API: which of them a request is for.

use std::ops::Deref;

use crate::apis::resource::{Path, Resource};
use crate::apis::template::Found;
use crate::apis::visit::Visit;
use myelin_flow::recorder::StepDecision;

/// The resources of an API, in the order of the configuration.
pub struct Resources {
    list: Vec<Resource>,
    /// The order in which they are looked at where the method is `OPTIONS`: first those that name it.
    options_order: Vec<usize>,
    /// As they stand in the configuration.
    order: Vec<usize>,
}

impl Deref for Resources {
    type Target = [Resource];

    fn deref(&self) -> &[Resource] {
        &self.list
    }
}

/// The answer to which resource a request is for.
#[derive(Debug)]
pub enum Choice<'a> {
    /// The resource of that number.
    Resource(usize, Found<'a>),
    /// No resource has the path.
    Nowhere,
    /// The resource that has the path does not know the method.
    MethodUnknown,
    /// The resource has the path and the method, and wants another type, client or protocol.
    Unfit,
}

impl Resources {
    /// These resources.
    pub fn new(list: Vec<Resource>) -> Resources {
        let order: Vec<usize> = (0..list.len()).collect();
        let mut options_order = order.clone();
        options_order.sort_by_key(|&index| !list[index].lists("OPTIONS"));
        Resources { list, options_order, order }
    }

    /// Finds the resource for a request.
    ///
    /// Source: compare `API.process` of WSO2's Synapse: the path is only looked for among the resources that take
    /// the request otherwise, so that a method which another resource has makes a path unknown rather than forbidden.
    pub fn choose<'a>(&self, visit: &Visit<'a>) -> Choice<'a> {
        let order = if visit.method == "OPTIONS" { &self.options_order } else { &self.order };
        let takes = |resource: &Resource| resource.takes(visit);
        if let Some((index, found)) = self.find(order, visit.sub_path(), takes) {
            return Choice::Resource(index, found);
        }
        if self.list.iter().any(takes) {
            return Choice::Nowhere;
        }
        match self.find(order, visit.sub_path(), |_| true) {
            None => Choice::Nowhere,
            Some((index, _)) if self.list[index].allows(visit.method) => Choice::Unfit,
            Some(_) => Choice::MethodUnknown,
        }
    }

    /// Why a request goes to a resource, or to none, and why not to the others.
    pub fn decision(&self, visit: &Visit<'_>) -> StepDecision {
        let chosen = match self.choose(visit) {
            Choice::Resource(index, _) => Ok(index),
            Choice::Nowhere => Err("no resource"),
            Choice::MethodUnknown => Err("no resource: none with this path knows the method"),
            Choice::Unfit => Err("no resource: the one with this path wants another type, client or protocol"),
        };
        let told = |index: usize| {
            let resource = &self.list[index];
            let methods = if resource.methods.is_empty() { String::new() } else { format!("{} ", resource.methods()) };
            format!("resource {methods}{}", resource.pattern())
        };
        let word = chosen.map_or_else(str::to_owned, told);
        let mut decision =
            StepDecision::chose(word).by("method and path", format!("{} {}", visit.method, visit.sub_path()));
        for index in self.order.iter().copied().filter(|index| chosen != Ok(*index)) {
            let resource = &self.list[index];
            let reason = if self.find(&[index], visit.sub_path(), |_| true).is_none() {
                "it has another path"
            } else if !resource.allows(visit.method) {
                "it has other methods"
            } else if !resource.takes(visit) {
                "it wants another type, client or protocol"
            } else {
                "another one fits better, or stands before it"
            };
            decision = decision.but_not(told(index), reason);
        }
        decision
    }

    /// Finds the resource that a request with another method would be for, or that answers `OPTIONS` itself.
    pub fn for_method<'a>(&self, visit: &Visit<'a>, method: &str) -> Choice<'a> {
        let takes = |resource: &Resource| resource.lists("OPTIONS") || resource.allows(method);
        match self.find(&self.options_order, visit.sub_path(), takes) {
            Some((index, found)) => Choice::Resource(index, found),
            None if self.find(&self.order, visit.sub_path(), |_| true).is_some() => Choice::MethodUnknown,
            None => Choice::Nowhere,
        }
    }

    /// The resource with that path among some: by mapping, then by template, then the one for all paths.
    fn find<'a>(
        &self,
        order: &[usize],
        path: &'a str,
        among: impl Fn(&Resource) -> bool,
    ) -> Option<(usize, Found<'a>)> {
        let all = || order.iter().copied().filter(|&index| among(&self.list[index]));
        let mapped = all().filter_map(|index| match &self.list[index].path {
            Path::Mapping { mapping, .. } => Some((mapping.fits(path)?, index)),
            _ => None,
        });
        // The first of those that fit best.
        let best = mapped.reduce(|best, other| if other.0 > best.0 { other } else { best });
        let by_template = || {
            all().find_map(|index| match &self.list[index].path {
                Path::Template(template) => Some((index, template.matches(path)?)),
                _ => None,
            })
        };
        let any = || all().find(|&index| matches!(self.list[index].path, Path::Any));
        best.map(|(_, index)| (index, Found::new()))
            .or_else(by_template)
            .or_else(|| any().map(|index| (index, Found::new())))
    }
}
