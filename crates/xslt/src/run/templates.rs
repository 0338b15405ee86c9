//! Templates: applied by pattern, called by name, and what is done where none matches.

use std::rc::Rc;

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::{FunctionItem, Item, Node, Value, Version};

use super::content::Typed;
use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::frame::{Arguments, Flow, Running};
use super::machine::Machine;
use super::receiver::Receiver;
use crate::name::ExpandedName;
use crate::output::Output;
use crate::program::{
    ApplyTemplates, Binding, CallTemplate, ContextItem, NoMatch, ParameterId, Shape, Template, Test, Usage,
    UserFunction, WithParam,
};
use crate::stack::{self, Floor};

/// The parts of the machine that a body has for itself; put back when it is left.
struct Saved {
    mode: u32,
    rule: Option<Running>,
}

/// What a transformation begins with beside its source.
#[derive(Default)]
pub(super) struct Beginning<'a> {
    /// For the template that it begins with.
    pub(super) arguments: Arguments<'a>,
    /// The items that templates are applied to; `None`: the source.
    pub(super) selection: Option<Value<'a>>,
    /// The function that is called instead, with its arguments.
    pub(super) function: Option<(ExpandedName, Vec<Value<'a>>)>,
}

/// The values that a template is called with.
#[derive(Clone, Copy)]
enum Given<'g, 'a> {
    /// They stand in its frame on top of the stack, which begins there, and are of the parameters with these names.
    InFrame(usize, &'a [WithParam]),
    /// They are to be put into its frame, as several nodes may get them.
    Listed(&'g Arguments<'a>),
}

impl<'a> Machine<'a> {
    /// Begins with the template that matches the source, or with the one the caller names.
    pub(super) fn begin(
        &'a self,
        focus: &Focus<'a>,
        beginning: &Beginning<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        if let Some(wanted) = self.options.initial_function {
            let unknown = || Failure::new("XTDE0041", format!("{wanted:?} is no name of a function"));
            let name = ExpandedName::parse(wanted).ok_or_else(unknown)?;
            return out.give(self.initial_function(&name, &[])?, Version::V3);
        }
        if let Some((name, arguments)) = &beginning.function {
            return out.give(self.initial_function(name, arguments)?, Version::V3);
        }
        self.mode.set(self.program.default_mode);
        if let Some(wanted) = self.options.initial_mode {
            let known = |mode: &crate::program::Mode| mode.name.as_ref().is_some_and(|name| name.is(wanted));
            let Some(mode) = self.program.modes.iter().position(known) else {
                return Err(Failure::new("XTDE0045", format!("there is no mode {wanted:?}")));
            };
            self.mode.set(mode as u32);
        }
        let named = match self.options.initial_template {
            None => {
                let applies = self.options.initial_mode.is_some() || beginning.selection.is_some();
                self.program.initial_template.filter(|_| !applies)
            }
            Some(wanted) => {
                let known = |template: &Template| template.name.as_ref().is_some_and(|name| name.is(wanted));
                let Some(index) = self.program.templates.iter().position(known) else {
                    return Err(Failure::new("XTDE0040", format!("there is no template named {wanted:?}")));
                };
                Some(index as u32)
            }
        };
        match named {
            Some(template) => {
                let template = &self.program.templates[template as usize];
                let given = Given::Listed(&beginning.arguments);
                let entered = self.enter(template, self.rule.get(), self.mode.get(), given, focus, out);
                entered.map_err(|mut failure| {
                    // What nobody gave to the template that it begins with has a code of its own (XSLT 3.0 §2.4).
                    if failure.code == "XTDE0700" && failure.is_outermost() {
                        failure.code = "XTDE0060".into();
                    }
                    failure
                })
            }
            None if beginning.selection.is_some() => {
                let items = beginning.selection.clone().unwrap_or(Value::EMPTY);
                let size = items.len() as u64;
                (1..).zip(items.into_items()).try_for_each(|(position, item)| {
                    let focus = Focus { item: Some(item), position, size };
                    self.apply(&focus, self.mode.get(), &beginning.arguments, out)
                })
            }
            None if focus.item.is_none() => {
                let message = "there is no source to begin with, and no template is named";
                Err(Failure::new("XTDE0044", message))
            }
            None => {
                if !self.program.accumulators.is_empty() {
                    let mode = &self.program.modes[self.mode.get() as usize];
                    self.uses_accumulators(self.source.document, &mode.accumulators);
                }
                self.apply(focus, self.mode.get(), &beginning.arguments, out)
            }
        }
    }

    /// Calls the function that a transformation begins with.
    fn initial_function(&'a self, name: &ExpandedName, arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
        let known = |it: &&UserFunction| it.name == *name && it.parameters.len() == arguments.len() && it.public;
        let Some(function) = self.program.functions.iter().find(known) else {
            let message = format!("there is no public function {name} with {} parameters", arguments.len());
            return Err(Failure::new("XTDE0041", message));
        };
        self.function(function, arguments, None)
    }

    /// `xsl:apply-templates` (XSLT 1.0 §5.4)
    #[inline(never)]
    pub(super) fn apply_templates(
        &'a self,
        apply: &'a ApplyTemplates,
        mode: u32,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let outer_tunnel = self.tunnel_of(&apply.parameters, focus)?;
        let arguments = self.arguments(&apply.parameters, focus)?;
        let children = Shape::Children(Test::Any);
        let shape = apply.select.as_ref().map_or(&children, |select| &select.shape);
        let walked = apply.sorts.is_empty() && shape.is_walked();
        let result = match focus.tree() {
            Some((document, node)) if walked => self.each_focus(shape, document, node, &mut |focus| {
                self.apply(focus, mode, &arguments, out)?;
                Ok(true)
            }),
            None if apply.select.is_none() => {
                Err(Failure::new("XTTE0510", "the context item is no node, so that it has no children"))
            }
            _ => self.apply_to_items(apply, mode, &arguments, focus, out),
        };
        if let Some(tunnel) = outer_tunnel {
            self.tunnel.replace(tunnel);
        }
        result
    }

    fn apply_to_items(
        &'a self,
        apply: &'a ApplyTemplates,
        mode: u32,
        arguments: &Arguments<'a>,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let value = match (&apply.select, focus.tree()) {
            (Some(select), _) => self.select(select, focus)?,
            (None, Some((document, node))) => Value::nodes(document, document.children(node).map(Node::Tree).collect()),
            (None, None) => Value::EMPTY,
        };
        let value = self.sorted(value, &apply.sorts, focus)?;
        let size = value.len() as u64;
        for (index, item) in value.into_items().enumerate() {
            let focus = Focus { item: Some(item), position: index as u64 + 1, size };
            self.apply(&focus, mode, arguments, out)?;
        }
        Ok(())
    }

    /// Applies the best template for an item, or what stands for one.
    pub(super) fn apply(
        &'a self,
        focus: &Focus<'a>,
        mode: u32,
        arguments: &Arguments<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        if self.program.modes[mode as usize].typed {
            self.check_typed(focus)?;
        }
        match self.find(mode, focus, 0)? {
            Some(found) => {
                let template = &self.program.templates[found.template as usize];
                self.enter(template, Some(found), mode, Given::Listed(arguments), focus, out)
            }
            None => self.no_match(focus, mode, arguments, out),
        }
    }

    /// Refuses elements and attributes, of which none has been judged by a schema (XSLT 3.0 §6.6.3).
    #[cold]
    fn check_typed(&self, focus: &Focus<'a>) -> Outcome<()> {
        match focus.node().and_then(|node| node.kind()) {
            Some(Kind::Element | Kind::Attribute) => {
                let message = "the mode takes only nodes that a schema has judged, and there are no schemas here";
                Err(Failure::new("XTTE3100", message))
            }
            _ => Ok(()),
        }
    }

    /// Runs a template, and those it calls in its last step, in one frame.
    fn enter(
        &'a self,
        template: &'a Template,
        rule: Option<Running>,
        mode: u32,
        given: Given<'_, 'a>,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let saved = Saved { mode: self.mode.replace(mode), rule: self.rule.replace(rule) };
        let base = match given {
            Given::InFrame(base, _) => base,
            Given::Listed(_) => self.stack.add(template.frame),
        };
        let mut running = template;
        let result = self.deeper_in(base, || self.in_turn(&mut running, given, focus, out));
        self.mode.set(saved.mode);
        self.rule.set(saved.rule);
        result.map_err(|mut failure| {
            failure.through(|| self.describe(running));
            failure
        })
    }

    /// Runs the body of a template in the frame that is there, then that of the one it calls in its last step.
    #[inline]
    fn in_turn(
        &'a self,
        running: &mut &'a Template,
        given: Given<'_, 'a>,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let nothing = Focus::nothing();
        let mut focus = focus;
        if let Some(context) = &running.context {
            focus = self.context(context, focus, &nothing)?;
        }
        self.take_arguments(running, given, focus)?;
        while let Flow::Tail = self.template(running, focus, out)? {
            let Some(call) = self.left.borrow_mut().call.take() else { break };
            *running = &self.program.templates[call.template as usize];
            self.stack.take_over(running.frame);
            self.count().map_err(|mut failure| {
                failure.at(running.at, || focus.path());
                failure
            })?;
            if let Some(context) = &running.context {
                focus = self.context(context, focus, &nothing)?;
            }
            self.take_arguments(running, Given::InFrame(0, &call.parameters), focus)?;
        }
        Ok(())
    }

    /// The focus that a template says it works on (XSLT 3.0 §10.1.1).
    fn context<'f>(
        &self,
        context: &ContextItem,
        focus: &'f Focus<'a>,
        nothing: &'f Focus<'a>,
    ) -> Outcome<&'f Focus<'a>> {
        match (&focus.item, context.usage) {
            (_, Usage::Absent) => return Ok(nothing),
            (None, Usage::Required) => {
                return Err(Failure::new("XTTE3090", "the template needs a context item, and there is none"));
            }
            _ => {}
        }
        if let (Some(item), Some(kind)) = (&focus.item, &context.kind)
            && !Value::from(item.clone()).is_instance(kind)
        {
            let message = format!("the template works on a context item that is `{kind}`, and there is another");
            return Err(Failure::new("XTTE0590", message));
        }
        Ok(focus)
    }

    /// Runs the body of a template.
    fn template(&'a self, template: &'a Template, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<Flow> {
        let Some(kind) = &template.result else { return self.steps(&template.body, focus, out) };
        let mut receiver = Receiver::items(self);
        let flow = self.steps(&template.body, focus, &mut receiver)?;
        let value = self.convert(receiver.into_items(), Some(kind), Typed::TEMPLATE)?;
        out.give(value, Version::V2)?;
        Ok(flow)
    }

    fn describe(&self, template: &Template) -> String {
        let at = super::failure::place(self.program, template.at);
        match &template.name {
            Some(name) => format!("template {name} at {at}"),
            None => format!("the template at {at}"),
        }
    }

    /// Sets the parameters of a template: given, tunnelled, or by default.
    #[inline]
    fn take_arguments(&'a self, template: &'a Template, given: Given<'_, 'a>, focus: &Focus<'a>) -> Outcome<()> {
        for parameter in &template.parameters {
            let value = match given {
                _ if parameter.tunnel => {
                    let tunnel = self.tunnel.borrow();
                    tunnel.iter().rev().find(|(name, _)| *name == parameter.name).map(|(_, value)| value.clone())
                }
                Given::Listed(arguments) => {
                    arguments.iter().rev().find(|(name, _)| *name == parameter.name).map(|(_, value)| value.clone())
                }
                Given::InFrame(_, with) if with.iter().any(|with| !with.tunnel && with.name == parameter.name) => {
                    if parameter.kind.is_none() {
                        continue;
                    }
                    Some(self.stack.get(parameter.slot))
                }
                Given::InFrame(..) => None,
            };
            let mut typed = Typed::PASSED;
            let value = match value {
                Some(value) => value,
                None if parameter.required => {
                    let name = &self.program.parameters[parameter.name.0 as usize];
                    let mut failure = Failure::new("XTDE0700", format!("the parameter {name} must be given"));
                    failure.at(parameter.at, || focus.path());
                    return Err(failure);
                }
                None => {
                    typed = Typed::DEFAULT;
                    let value = self.bind_aside(&parameter.default, focus)?;
                    // Where nothing is no value that it can have, it must be given (XSLT 3.0 §9.5).
                    if matches!(parameter.default, Binding::EmptySequence)
                        && parameter.kind.as_ref().is_some_and(|kind| value.clone().convert(kind, Version::V3).is_err())
                    {
                        let name = &self.program.parameters[parameter.name.0 as usize];
                        let mut failure = Failure::new("XTDE0700", format!("the parameter {name} must be given"));
                        failure.at(parameter.at, || focus.path());
                        return Err(failure);
                    }
                    value
                }
            };
            let value = self.convert(value, parameter.kind.as_ref(), typed)?;
            self.assign(parameter.slot, value);
        }
        Ok(())
    }

    /// Puts a frame for a template on top of the stack, with the values of the parameters it is called with; where it
    /// begins. What the template does not know is evaluated and dropped.
    #[inline]
    fn frame(&'a self, template: &Template, parameters: &'a [WithParam], focus: &Focus<'a>) -> Outcome<usize> {
        let base = self.stack.top();
        for parameter in parameters.iter().filter(|parameter| !parameter.tunnel) {
            let value = self.parameter(parameter, focus).inspect_err(|_| self.stack.drop_from(base))?;
            let known = template.parameters.iter().find(|known| !known.tunnel && known.name == parameter.name);
            if let Some(known) = known {
                self.stack.put(base, known.slot, self.held(value));
            }
        }
        self.stack.fill(base, template.frame);
        Ok(base)
    }

    /// The values of those parameters that are not tunnelled.
    fn arguments(&'a self, parameters: &'a [WithParam], focus: &Focus<'a>) -> Outcome<Arguments<'a>> {
        let own = parameters.iter().filter(|parameter| !parameter.tunnel);
        own.map(|parameter| Ok((parameter.name, self.parameter(parameter, focus)?))).collect()
    }

    #[inline]
    pub(super) fn parameter(&'a self, parameter: &'a WithParam, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        let value = self.bind_aside(&parameter.value, focus)?;
        self.convert(value, parameter.kind.as_ref(), Typed::PASSED)
    }

    /// Adds tunnel parameters to those under way; gives those that were before, to be put back.
    #[expect(clippy::type_complexity, reason = "it is put back where it was taken")]
    #[inline]
    fn tunnel_of(
        &'a self,
        parameters: &'a [WithParam],
        focus: &Focus<'a>,
    ) -> Outcome<Option<Rc<Vec<(ParameterId, Value<'a>)>>>> {
        if parameters.iter().any(|parameter| parameter.tunnel) {
            self.more_tunnel(parameters, focus).map(Some)
        } else {
            Ok(None)
        }
    }

    fn more_tunnel(
        &'a self,
        parameters: &'a [WithParam],
        focus: &Focus<'a>,
    ) -> Outcome<Rc<Vec<(ParameterId, Value<'a>)>>> {
        let mut tunnel = Vec::clone(&self.tunnel.borrow());
        for parameter in parameters.iter().filter(|parameter| parameter.tunnel) {
            let value = self.parameter(parameter, focus)?;
            tunnel.retain(|(name, _)| *name != parameter.name);
            tunnel.push((parameter.name, value));
        }
        Ok(self.tunnel.replace(Rc::new(tunnel)))
    }

    /// `xsl:call-template` (§6)
    #[inline(never)]
    pub(super) fn call_template(
        &'a self,
        call: &'a CallTemplate,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        let template = &self.program.templates[call.template as usize];
        let base = self.frame(template, &call.parameters, focus)?;
        let tunnel = self.tunnel_of(&call.parameters, focus).inspect_err(|_| self.stack.drop_from(base))?;
        if call.tail && tunnel.is_none() {
            self.left.borrow_mut().call = Some(call);
            return Ok(Flow::Tail);
        }
        // A template that is called goes on in the mode and rule of the one that calls it (§6).
        let given = Given::InFrame(base, &call.parameters);
        let result = self.enter(template, self.rule.get(), self.mode.get(), given, focus, out);
        if let Some(tunnel) = tunnel {
            self.tunnel.replace(tunnel);
        }
        result.map(|()| Flow::Next)
    }

    /// `xsl:apply-imports` (§5.6)
    pub(super) fn apply_imports(
        &'a self,
        parameters: &'a [WithParam],
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let running = self.running("xsl:apply-imports")?;
        let template = &self.program.templates[running.template as usize];
        let mode = self.mode.get();
        let found = self.find_below(mode, focus, template.imports_from, template.precedence)?;
        self.go_on(found, mode, parameters, focus, out)
    }

    /// `xsl:next-match` (XSLT 2.0 §6.7)
    pub(super) fn next_match(
        &'a self,
        parameters: &'a [WithParam],
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let running = self.running("xsl:next-match")?;
        let mode = self.mode.get();
        let found = self.find(mode, focus, running.rule + 1)?;
        self.go_on(found, mode, parameters, focus, out)
    }

    /// The rule that is running, which an instruction of that name goes on from.
    fn running(&self, instruction: &str) -> Outcome<Running> {
        let none = || Failure::new("XTDE0560", format!("there is no template that {instruction} could go on from"));
        self.rule.get().ok_or_else(none)
    }

    fn go_on(
        &'a self,
        found: Option<Running>,
        mode: u32,
        parameters: &'a [WithParam],
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let tunnel = self.tunnel_of(parameters, focus)?;
        let arguments = self.arguments(parameters, focus)?;
        let result = match found {
            Some(found) => {
                let template = &self.program.templates[found.template as usize];
                self.enter(template, Some(found), mode, Given::Listed(&arguments), focus, out)
            }
            None => self.no_match(focus, mode, &arguments, out),
        };
        if let Some(tunnel) = tunnel {
            self.tunnel.replace(tunnel);
        }
        result
    }

    /// What is done with an item that no template is for (§5.8, XSLT 3.0 §6.7).
    fn no_match(
        &'a self,
        focus: &Focus<'a>,
        mode: u32,
        arguments: &Arguments<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        self.count()?;
        let policy = self.program.modes[mode as usize].on_no_match;
        let Some((document, node)) = focus.tree() else {
            return self.no_match_of_item(policy, focus, out);
        };
        let kind = document.kind(node);
        let parent = matches!(kind, Kind::Document | Kind::Element);
        match policy {
            NoMatch::Fail => {
                Err(Failure::new("XTDE0555", format!("no template matches {}", focus.path().unwrap_or_default())))
            }
            NoMatch::DeepSkip if kind != Kind::Document => Ok(()),
            NoMatch::DeepCopy => out.copy(document, node, true),
            NoMatch::ShallowCopy => match kind {
                Kind::Element => {
                    out.start_copy(document, node, true)?;
                    self.built_in(&Shape::AttributesAndChildren, document, node, mode, arguments, out)?;
                    out.end_element()
                }
                Kind::Document if out.is_sequence() => self.copied_document(document, node, mode, arguments, out),
                Kind::Document => self.built_in(&Shape::Children(Test::Any), document, node, mode, arguments, out),
                _ => out.copy(document, node, true),
            },
            NoMatch::ShallowSkip if kind == Kind::Element => {
                self.built_in(&Shape::AttributesAndChildren, document, node, mode, arguments, out)
            }
            NoMatch::ShallowSkip if !parent => Ok(()),
            _ if parent => self.built_in(&Shape::Children(Test::Any), document, node, mode, arguments, out),
            _ if matches!(kind, Kind::Text | Kind::Attribute) => out.text(&document.value(node)),
            _ => Ok(()),
        }
    }

    /// A document of its own with what templates make of another's children, as `xsl:copy` would make it.
    fn copied_document(
        &'a self,
        document: &'a Document,
        node: NodeId,
        mode: u32,
        arguments: &Arguments<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let mut inside = Receiver::new(Output::fragment(self.options.limits.output_bytes), self.late());
        self.built_in(&Shape::Children(Test::Any), document, node, mode, arguments, &mut inside)?;
        let copy = self.tree_of(inside.into_output().finish_fragment()?)?;
        out.give(copy, Version::V3)
    }

    fn no_match_of_item(&'a self, policy: NoMatch, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<()> {
        match (policy, &focus.item) {
            (NoMatch::DeepSkip | NoMatch::ShallowSkip, _) | (_, None) => Ok(()),
            (NoMatch::Fail, _) => Err(Failure::new("XTDE0555", "no template matches the item")),
            (NoMatch::ShallowCopy | NoMatch::DeepCopy, Some(item)) => out.give(item.clone().into(), Version::V2),
            (NoMatch::TextOnlyCopy, Some(Item::Node(_))) => Ok(()),
            (NoMatch::TextOnlyCopy, Some(Item::Function(function))) => match function {
                // Of an array templates are applied to what is in it; of others there is nothing.
                FunctionItem::Array(_) => {
                    let items = Value::from(Item::Function(function.clone())).atomized()?;
                    items.into_items().try_for_each(|item| out.text(&item.into_text(Version::V3)))
                }
                _ => Ok(()),
            },
            (NoMatch::TextOnlyCopy, Some(item)) => out.text(&item.clone().into_text(Version::V3)),
        }
    }

    /// Applies templates to what is below a node, in the same mode; deep documents are deep recursions, so that each
    /// level is counted.
    fn built_in(
        &'a self,
        shape: &Shape,
        document: &'a Document,
        node: NodeId,
        mode: u32,
        arguments: &Arguments<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        self.deeper(0, || {
            self.each_focus(shape, document, node, &mut |focus| {
                self.apply(focus, mode, arguments, out)?;
                Ok(true)
            })
        })
    }

    /// Calls a function of the stylesheet; `item` is the context item of the caller.
    pub(super) fn function(
        &'a self,
        function: &'a UserFunction,
        arguments: &[Value<'a>],
        item: Option<&Item<'a>>,
    ) -> Outcome<Value<'a>> {
        let name = || format!("function {}", function.name);
        let item = item.filter(|_| function.keeps_context).cloned();
        let focus = Focus { item, position: 1, size: 1 };
        self.aside(function.frame, name, || {
            self.count()?;
            for (slot, parameter) in function.parameters.iter().enumerate() {
                let value = match (arguments.get(slot), &parameter.default) {
                    (Some(value), _) => value.clone(),
                    (None, Some(default)) => self.bind(default, &focus)?,
                    (None, None) => Value::EMPTY,
                };
                self.assign(slot as u32, self.convert(value, parameter.kind.as_ref(), Typed::ARGUMENT)?);
            }
            let mut receiver = Receiver::items(self);
            let flow = self.steps(&function.body, &focus, &mut receiver)?;
            let left = if flow == Flow::Return { self.left.borrow_mut().value.take() } else { None };
            let value = left.unwrap_or_else(|| receiver.into_items());
            self.convert(value, function.result.as_ref(), Typed::FUNCTION)
        })
    }

    /// Runs something with a frame of its own and without mode, rule, group and captures of what is running.
    pub(super) fn aside<T>(
        &'a self,
        frame: u32,
        name: impl FnOnce() -> String,
        run: impl FnOnce() -> Outcome<T>,
    ) -> Outcome<T> {
        let saved = Saved { mode: self.mode.replace(0), rule: self.rule.take() };
        let group = self.group.take();
        let captures = self.captures.take();
        let merged = self.merged.take();
        let result = self.temporarily(|| self.deeper(frame, run));
        self.merged.replace(merged);
        self.group.replace(group);
        self.captures.replace(captures);
        self.mode.set(saved.mode);
        self.rule.set(saved.rule);
        result.map_err(|mut failure| {
            failure.through(name);
            failure
        })
    }

    /// Runs something one level deeper, in a frame of its own.
    pub(super) fn deeper<T>(&'a self, frame: u32, run: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        self.deeper_in(self.stack.add(frame), run)
    }

    /// The same in the frame on top that begins there.
    fn deeper_in<T>(&'a self, base: usize, run: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let outer = self.stack.open(base);
        let result = self.one_deeper(run);
        self.stack.close(outer);
        result
    }

    /// Runs something one level deeper, in the frame that is running.
    pub(super) fn one_deeper<T>(&'a self, run: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let depth = self.depth.get() + 1;
        let limit = self.options.limits.depth;
        if depth > limit {
            return Err(Failure::limit(format!("templates and functions run more than {limit} deep")));
        }
        self.depth.set(depth);
        let result = self.with_stack(run);
        self.depth.set(depth - 1);
        result
    }

    /// Runs something with enough stack for an instruction; what is made of it is bounded as memory is.
    #[inline]
    pub(super) fn with_stack<T>(&'a self, run: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        if self.floor.get().suffices() { run() } else { self.on_more_stack(run) }
    }

    #[cold]
    fn on_more_stack<T>(&'a self, run: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let stacks = self.stacks.get() + 1;
        let limit = self.options.limits.memory_bytes;
        if stacks.saturating_mul(stack::MORE_BYTES as u64) > limit {
            let what = "templates, functions and instructions are too deep inside each other";
            return Err(Failure::limit(format!("{what}: more than {limit} bytes of stack are needed")));
        }
        self.stacks.set(stacks);
        let floor = self.floor.get();
        let result = stack::on_more(|| {
            self.floor.set(Floor::here());
            run()
        });
        self.floor.set(floor);
        self.stacks.set(stacks - 1);
        result
    }
}
