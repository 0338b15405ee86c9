//! A JavaScript engine with all that scripts see of a message, and the functions that were compiled on it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::{Array, CatchResultExt, CaughtError, Context, Ctx, Exception, Function, IntoJs, Object};
use rquickjs::{Persistent, Runtime, Type, Value};

use crate::convert::{effect, facts_object, known};
use crate::error::Error;
use crate::facts::{Facts, Known, Outcome};
use crate::limits::{Limits, Terms};
use crate::script::{Code, Position, Script};
use crate::xpath::{self, Found};

/// What the language and the functions that were compiled take besides what a script may ask for.
const LANGUAGE_BYTES: usize = 16 << 20;

/// What a script whose time is short may ask for: as much memory as a thread makes ready in a few milliseconds, which no
/// look at its steps would end.
const PROMPT_BYTES: usize = 8 << 20;

/// How many functions one machine keeps; then it begins anew, with those that are still used.
const FUNCTIONS: usize = 256;

/// So much XML that is searched counts as much as ten thousand steps: about a millisecond.
const SEARCHED_BYTES: usize = 128 * 1024;

/// How the engine says that it has no memory left.
const OUT_OF_MEMORY: &str = "out of memory";

/// The name under which the engine knows a script's code.
const CODE: &str = "script";

/// The name under which it knows a text that `eval` runs.
const EVALUATED: &str = "<input>";

// The order of the fields is that in which they end: values before the engine that holds them.
pub(crate) struct Machine {
    /// By the numbers of their scripts.
    functions: HashMap<u64, Persistent<Function<'static>>>,
    /// What `prelude.js` gives.
    prelude: Persistent<Object<'static>>,
    context: Context,
    runtime: Runtime,
    watch: Rc<Watch>,
    is_sound: bool,
}

/// Looks at a run from time to time.
#[derive(Default)]
struct Watch {
    /// How often it may look before the run is too long; `None` as often as it takes.
    polls: Cell<Option<u32>>,
    /// How much XML was searched since it looked.
    searched_bytes: Cell<usize>,
    expired: RefCell<Option<Box<dyn Fn() -> bool + Send>>>,
    stopped: RefCell<Option<Error>>,
}

impl Watch {
    /// Counts XML that is to be searched; whether the run has to stop.
    fn searches(&self, bytes: usize) -> bool {
        let searched = self.searched_bytes.get() + bytes;
        let looks = searched >= SEARCHED_BYTES;
        self.searched_bytes.set(if looks { 0 } else { searched });
        looks && self.is_over()
    }

    /// Whether the run has to stop.
    fn is_over(&self) -> bool {
        let error = match self.polls.get() {
            Some(0) => Error::Long,
            _ if self.expired.borrow().as_ref().is_some_and(|expired| expired()) => Error::Time,
            polls => {
                self.polls.set(polls.map(|polls| polls - 1));
                return false;
            }
        };
        *self.stopped.borrow_mut() = Some(error);
        true
    }
}

impl Machine {
    /// An engine that knows what scripts see; one that is kept has all frozen that the language brings.
    ///
    /// Errors: a sentence, where there is no memory for it.
    pub(crate) fn new(is_kept: bool) -> Result<Machine, String> {
        let said = |error: rquickjs::Error| format!("there is no engine for scripts: {error}");
        let runtime = Runtime::new().map_err(said)?;
        let context = Context::full(&runtime).map_err(said)?;
        let watch = Rc::new(Watch::default());
        let prelude = context.with(|ctx| prelude(&ctx, is_kept, &watch)).map_err(said)?;
        let theirs = Rc::clone(&watch);
        runtime.set_interrupt_handler(Some(Box::new(move || theirs.is_over())));
        Ok(Machine { functions: HashMap::new(), prelude, context, runtime, watch, is_sound: true })
    }

    /// Whether it can run other scripts.
    pub(crate) fn is_sound(&self) -> bool {
        self.is_sound && self.functions.len() < FUNCTIONS
    }

    /// Whether a script is one of this language.
    ///
    /// Errors: a sentence, and the place in the code where it is wrong.
    pub(crate) fn check(&mut self, code: &Code) -> Result<(), (String, Option<Position>)> {
        // A text that only `eval` can run is looked at as the body of a function, which does not run.
        let code = match code {
            Code::Function(code) => code.clone(),
            Code::Text(text) => format!("(function(mc){{{text}\n}})"),
        };
        self.context.with(|ctx| evaluated::<Value>(&ctx, CODE, code).catch(&ctx).map(drop).map_err(told))
    }

    /// Runs a script.
    pub(crate) fn run(&mut self, script: &Script, facts: &Facts, terms: Terms) -> Result<Outcome, Error> {
        let Limits { memory_bytes, stack_bytes } = terms.limits;
        let lent_bytes = if terms.polls.is_some() { memory_bytes.min(PROMPT_BYTES) } else { memory_bytes };
        self.runtime.set_memory_limit(lent_bytes.saturating_add(LANGUAGE_BYTES));
        self.runtime.set_max_stack_size(stack_bytes);
        self.watch.polls.set(terms.polls);
        self.watch.searched_bytes.set(0);
        *self.watch.expired.borrow_mut() = Some(terms.expired);
        *self.watch.stopped.borrow_mut() = None;
        let Machine { functions, prelude, context, watch, .. } = self;
        let mut unknown = Vec::new();
        let (result, is_tidy) = context.with(|ctx| {
            let mut message = None;
            let result = run(&ctx, script, facts, prelude, functions, watch, &mut message).catch(&ctx);
            let result = result.map_err(|caught| (is_of_engine(&caught), told(caught)));
            if let (Err((false, _)), Some(message)) = (&result, &message) {
                // Where not even that can be read, the error is told as it is.
                unknown = asked(message).catch(&ctx).unwrap_or_default();
            }
            (result, end(&ctx, prelude).catch(&ctx).is_ok())
        });
        *self.watch.expired.borrow_mut() = None;
        let stopped = self.watch.stopped.take();
        // What a script promised and did not live to do would happen to the next message.
        let is_over = !self.runtime.is_job_pending();
        self.is_sound &= is_tidy && is_over && stopped.is_none() && !matches!(&result, Err((true, _)));
        match (result, stopped) {
            (_, Some(stopped)) => Err(stopped),
            (Ok(outcome), None) => Ok(outcome),
            (Err((_, (text, _))), None) if lent_bytes < memory_bytes && text.contains(OUT_OF_MEMORY) => {
                Err(Error::Long)
            }
            // With the properties that it asks for it may not throw.
            (Err((false, _)), None) if !unknown.is_empty() => {
                Ok(Outcome { effects: Vec::new(), goes_on: true, unknown })
            }
            (Err((_, (text, line))), None) => {
                Err(Error::Thrown { text, place: line.and_then(|line| script.place(line)) })
            }
        }
    }
}

fn run<'js>(
    ctx: &Ctx<'js>,
    script: &Script,
    facts: &Facts,
    prelude: &Persistent<Object<'static>>,
    functions: &mut HashMap<u64, Persistent<Function<'static>>>,
    watch: &Watch,
    begun: &mut Option<Object<'js>>,
) -> rquickjs::Result<Outcome> {
    let prelude = prelude.clone().restore(ctx)?;
    let function = match functions.get(&script.id) {
        Some(function) => function.clone().restore(ctx)?,
        None => {
            let function = compiled(ctx, &script.code)?;
            // It could hand something on from one message to the next.
            prelude.get::<_, Function>("freeze")?.call::<_, ()>((function.clone(),))?;
            functions.insert(script.id, Persistent::save(ctx, function.clone()));
            function
        }
    };
    let message: Object = prelude.get::<_, Function>("begin")?.call((facts_object(ctx, facts)?,))?;
    let message: &Object = begun.insert(message);
    let result: Value = function.call((message.get::<_, Value>("mc")?,))?;
    // What a script promised happens before it has ended.
    while watch.stopped.borrow().is_none() && ctx.execute_pending_job() {}
    let locate = |stack: &str| position_in(stack).and_then(|position| script.place(position));
    let effects = message.get::<_, Array>("effects")?;
    let effects = effects.iter::<Array>().map(|it| effect(&it?, locate)).collect::<Result<_, _>>()?;
    Ok(Outcome { effects, goes_on: result.as_bool() != Some(false), unknown: asked(message)? })
}

/// The properties that a script asked for and that were not among its facts.
fn asked(message: &Object<'_>) -> rquickjs::Result<Vec<Known>> {
    message.get::<_, Array>("unknown")?.iter::<Array>().map(|it| known(&it?, 0)).collect()
}

/// Takes away what a script left, whatever became of it.
fn end(ctx: &Ctx<'_>, prelude: &Persistent<Object<'static>>) -> rquickjs::Result<()> {
    prelude.clone().restore(ctx)?.get::<_, Function>("end")?.call(())
}

fn compiled<'js>(ctx: &Ctx<'js>, code: &Code) -> rquickjs::Result<Function<'js>> {
    match code {
        Code::Function(code) => evaluated(ctx, CODE, code.clone()),
        Code::Text(text) => {
            // The text stands in the function as a literal: a name for it would be one that the script could give
            // another value, for the next message to run.
            let make = "text => (0, eval)(`(function(mc){return eval(${JSON.stringify(text)})})`)";
            evaluated::<Function>(ctx, CODE, make.to_owned())?.call((text.as_str(),))
        }
    }
}

fn evaluated<'js, T: rquickjs::FromJs<'js>>(ctx: &Ctx<'js>, file: &str, code: String) -> rquickjs::Result<T> {
    let mut options = EvalOptions::default();
    (options.strict, options.filename) = (false, Some(file.to_owned()));
    ctx.eval_with_options(code, options)
}

fn prelude<'js>(ctx: &Ctx<'js>, is_kept: bool, watch: &Rc<Watch>) -> rquickjs::Result<Persistent<Object<'static>>> {
    let native = Object::new(ctx.clone())?;
    let watch = Rc::clone(watch);
    let xpath = Function::new(
        ctx.clone(),
        move |ctx: Ctx<'js>, xml: String, expression: String, prefixes: Vec<Vec<String>>| {
            // The engine itself looks at nothing while others work for it; what a script makes of this has no effect.
            if watch.searches(xml.len()) {
                return Err(Exception::throw_internal(&ctx, "interrupted"));
            }
            find(&ctx, &xml, &expression, prefixes)
        },
    )?;
    native.set("xpath", xpath)?;
    native.set("uuid", Function::new(ctx.clone(), uuid)?)?;
    let begin: Function = evaluated(ctx, "mc", format!("({})", include_str!("prelude.js")))?;
    let prelude: Object = begin.call((native, is_kept))?;
    Ok(Persistent::save(ctx, prelude))
}

/// `native.xpath(xml, expression, [[prefix, uri]])`
fn find<'js>(ctx: &Ctx<'js>, xml: &str, expression: &str, prefixes: Vec<Vec<String>>) -> rquickjs::Result<Value<'js>> {
    let pairs = prefixes.into_iter().filter_map(|pair| <[String; 2]>::try_from(pair).ok());
    let prefixes: Vec<(String, String)> = pairs.map(|[prefix, uri]| (prefix, uri)).collect();
    match xpath::find(xml, expression, &prefixes).map_err(|message| Exception::throw_type(ctx, &message))? {
        Found::Text(text) => text.into_js(ctx),
        Found::Number(number) => number.into_js(ctx),
        Found::Boolean(boolean) => boolean.into_js(ctx),
        Found::Nodes(nodes) => {
            let list = Array::new(ctx.clone())?;
            for (at, (text, xml)) in nodes.into_iter().enumerate() {
                let node = Object::new(ctx.clone())?;
                node.set("text", text)?;
                if let Some(xml) = xml {
                    node.set("xml", xml)?;
                }
                list.set(at, node)?;
            }
            Ok(list.into_value())
        }
    }
}

/// `native.uuid()`: of random bits, as RFC 9562 §5.4 has it.
fn uuid() -> String {
    let bits = || RandomState::new().hash_one(0_u64);
    let (high, low) = (bits() & !0xf000 | 0x4000, bits() & !(0b11 << 62) | (0b10 << 62));
    let text = format!("{high:016x}{low:016x}");
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// Whether the engine itself ran out of something.
fn is_of_engine(caught: &CaughtError<'_>) -> bool {
    match caught {
        CaughtError::Exception(exception) => {
            let name = exception.get::<_, Option<String>>("name");
            !matches!(name.ok().flatten().as_deref(), Some(name) if name != "InternalError" && name != "RangeError")
        }
        CaughtError::Value(value) => is_nothing(value),
        CaughtError::Error(_) => true,
    }
}

/// Whether there is no error: null, or what the engine holds where it has set none.
fn is_nothing(value: &Value<'_>) -> bool {
    value.is_null() || value.type_of() == Type::Uninitialized
}

/// What was thrown, and the place in the script's code at which it was.
fn told(caught: CaughtError<'_>) -> (String, Option<Position>) {
    match caught {
        CaughtError::Exception(exception) => {
            let name = exception.get::<_, Option<String>>("name").ok().flatten();
            let message = exception.message().unwrap_or_default();
            let line = exception.stack().and_then(|stack| position_in(&stack));
            (format!("{}: {message}", name.as_deref().unwrap_or("Error")), line)
        }
        // An engine without memory has none for an error either.
        CaughtError::Value(value) if is_nothing(&value) => {
            (format!("InternalError: {OUT_OF_MEMORY}, or null was thrown"), None)
        }
        CaughtError::Value(value) => {
            let text = value.get::<rquickjs::Coerced<String>>().map(|text| text.0);
            (text.unwrap_or_else(|_| "something was thrown that has no text".to_owned()), None)
        }
        CaughtError::Error(error) => (error.to_string(), None),
    }
}

/// The innermost place of a script that a stack names.
fn position_in(stack: &str) -> Option<Position> {
    stack.lines().find_map(position_of)
}

/// The place that a line of a stack names, if it is one of a script.
fn position_of(frame: &str) -> Option<Position> {
    let inner = frame.rsplit(['(', ' ']).next()?.trim_end_matches(')');
    let (file, rest) = inner.split_once(':')?;
    let mut numbers = [CODE, EVALUATED].contains(&file).then(|| rest.split(':').map(|number| number.parse().ok()))?;
    // The engine counts lines from 1; a frame without a column is one of a whole line.
    Some((numbers.next()??, numbers.next().flatten().unwrap_or(1))).filter(|(line, _)| *line > 0)
}
