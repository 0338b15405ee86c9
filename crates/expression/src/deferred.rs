//! Parameters of templates that are expressions over the message: `{{…}}`.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::template::{Argument, Deferred};
use myelin_xpath::Value;

/// An expression, as the sources see it that stand in expressions themselves.
pub(super) trait Evaluate: Any + fmt::Debug + Send + Sync {
    /// The value as Synapse stores and prints it.
    fn text<'a>(&'a self, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> Outcome<Option<Cow<'a, str>>>;

    /// The value, for an expression around it.
    fn value<'a>(&self, exchange: &'a Exchange, context: &RequestContext<'_>) -> Outcome<Value<'a>>;
}

/// What a caller gives a template for `{{…}}`: an expression over the message as it is when somebody reads the parameter.
#[derive(Debug)]
pub struct DeferredExpression(pub(super) Box<dyn Evaluate>);

impl Deferred for DeferredExpression {}

/// The expression that an argument is, where it is one.
pub(super) fn expression_of(argument: Option<&Argument>) -> Option<&dyn Evaluate> {
    let Some(Argument::Deferred(deferred)) = argument else { return None };
    let deferred: Option<&DeferredExpression> = (&**deferred as &dyn Any).downcast_ref();
    deferred.map(|deferred| &*deferred.0)
}
