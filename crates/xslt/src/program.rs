//! The program that a stylesheet is compiled to: what the compiler makes and the machine runs.

mod expression;
mod ids;
mod instruction;
mod rules;

pub(crate) use expression::{Condition, Expr, Select, Shape, Test, TextSource};
pub(crate) use ids::{ParameterId, ScopeId};
pub(crate) use instruction::{
    AnalyzeString, ApplyTemplates, Attribute, Avt, AvtPart, Binding, Block, CallTemplate, Catch, Choose, Content, Copy,
    Element, Evaluate, ForEach, ForEachGroup, GroupBy, Instruction, Iterate, Kind, LiteralAttribute, LiteralElement,
    Merge, MergeFrom, MergeSource, Message, ModeUse, Number, NumberLevel, Part, ResultDocument, Sort, SourceDocument,
    Try, UsedAccumulators, Variable, WithParam, Writer,
};
pub(crate) use rules::{Entry, Rule, Rules};

use myelin_java_text::decimal_format::Symbols;
use myelin_xml::doctype::{DoctypeOptions, ElementSpace};
use myelin_xpath::types::SequenceType;

use crate::functions::Function;
use crate::name::ExpandedName;
use crate::output::OutputProperties;
use crate::pattern::Pattern;
use crate::scope::{At, Scope};

/// Slots of variables from here on are global: the index in [`Program::globals`] plus this.
pub(crate) const GLOBAL: u32 = 1 << 31;

/// A stylesheet with all its modules, ready to run.
#[derive(Default)]
pub(crate) struct Program {
    /// The URIs of the modules; places refer to them.
    pub(crate) files: Vec<String>,
    /// The texts of the modules, for `document('')`; empty where nothing calls `document()`.
    pub(crate) sources: Vec<Box<str>>,
    pub(crate) templates: Vec<Template>,
    /// The first is the default mode.
    pub(crate) modes: Vec<Mode>,
    /// The mode that a transformation begins in.
    pub(crate) default_mode: u32,
    pub(crate) globals: Vec<Global>,
    pub(crate) functions: Vec<UserFunction>,
    pub(crate) attribute_sets: Vec<AttributeSet>,
    pub(crate) keys: Vec<Key>,
    /// The first is the one without a name.
    pub(crate) decimal_formats: Vec<(ExpandedName, Symbols)>,
    /// What expressions call: the host's function slots are indices in here.
    pub(crate) calls: Vec<Call>,
    /// The exact names of node tests, numbered over all expressions and patterns.
    pub(crate) names: Vec<ExpandedName>,
    /// Namespaces in scope where names are made while running; numbered by [`ScopeId`].
    pub(crate) scopes: Vec<Scope>,
    /// The names of template parameters, numbered by [`ParameterId`].
    pub(crate) parameters: Vec<ExpandedName>,
    pub(crate) output: OutputProperties,
    /// What `xsl:global-context-item` says.
    pub(crate) context: Option<ContextItem>,
    /// What `xsl:output` says under a name, for `xsl:result-document`.
    pub(crate) outputs: Vec<(ExpandedName, OutputProperties)>,
    pub(crate) accumulators: Vec<Accumulator>,
    pub(crate) strip: Vec<StripRule>,
    /// The template that an unnamed initial template means in 3.0 (`xsl:initial-template`), if there is one.
    pub(crate) initial_template: Option<u32>,
    /// Whether the stylesheet's own version is 1.0: texts stand for fragments.
    pub(crate) compatible: bool,
    /// Whether some expression asks for `last()` outside of predicates, so that nodes are counted before a loop.
    pub(crate) asks_for_last: bool,
    /// Whether some instruction disables output escaping.
    pub(crate) unescaped: bool,
}

impl Program {
    /// How documents with a document type are read.
    pub(crate) fn doctype_options(&self) -> DoctypeOptions {
        let element_space = if self.compatible { ElementSpace::Keep } else { ElementSpace::Drop };
        DoctypeOptions { element_space, ..DoctypeOptions::default() }
    }

    /// The decimal format of that name; the empty name is that of the one without.
    pub(crate) fn decimal_format(&self, name: &ExpandedName) -> Option<&Symbols> {
        self.decimal_formats.iter().find(|(known, _)| known == name).map(|(_, format)| format)
    }
}

pub(crate) struct Template {
    pub(crate) name: Option<ExpandedName>,
    /// Its match pattern as it is written.
    pub(crate) matched: Option<Box<str>>,
    pub(crate) at: At,
    pub(crate) parameters: Vec<TemplateParameter>,
    /// How many variables, parameters included, it has at most.
    pub(crate) frame: u32,
    pub(crate) body: Block,
    pub(crate) result: Option<SequenceType>,
    /// What `xsl:context-item` says.
    pub(crate) context: Option<Box<ContextItem>>,
    /// Import precedence; a higher one wins.
    pub(crate) precedence: u32,
    /// The lowest precedence among the modules that this one's module imports; `xsl:apply-imports` looks from there up to
    /// below `precedence`.
    pub(crate) imports_from: u32,
}

/// `xsl:context-item` and `xsl:global-context-item`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ContextItem {
    pub(crate) kind: Option<SequenceType>,
    pub(crate) usage: Usage,
}

/// Whether there is a context item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    Required,
    Optional,
    Absent,
}

pub(crate) struct TemplateParameter {
    pub(crate) name: ParameterId,
    pub(crate) slot: u32,
    pub(crate) tunnel: bool,
    pub(crate) required: bool,
    pub(crate) default: Binding,
    pub(crate) kind: Option<SequenceType>,
    pub(crate) at: At,
}

pub(crate) struct Mode {
    /// `None`: the default mode.
    pub(crate) name: Option<ExpandedName>,
    pub(crate) rules: Rules,
    pub(crate) on_no_match: NoMatch,
    /// Whether it is an error where two templates are as good as each other.
    pub(crate) fails_on_multiple: bool,
    /// Whether it takes only nodes that a schema has judged, of which there are none.
    pub(crate) typed: bool,
    /// The accumulators that are for the source where it begins in this mode.
    pub(crate) accumulators: UsedAccumulators,
}

/// `xsl:accumulator` (XSLT 3.0 §18.2)
pub(crate) struct Accumulator {
    pub(crate) name: ExpandedName,
    pub(crate) initial: Expr,
    pub(crate) kind: Option<SequenceType>,
    /// In the order they are written; the last that matches counts.
    pub(crate) rules: Vec<AccumulatorRule>,
    /// How many variables a rule has at most; the first is `$value`.
    pub(crate) frame: u32,
    pub(crate) at: At,
}

/// `xsl:accumulator-rule`
pub(crate) struct AccumulatorRule {
    pub(crate) patterns: Vec<Pattern>,
    /// Whether it is for the end of a node.
    pub(crate) at_end: bool,
    pub(crate) value: Binding,
    pub(crate) at: At,
}

/// What is done with a node that no template matches (XSLT 3.0 §6.7; `TextOnlyCopy` is all that 1.0 has).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoMatch {
    TextOnlyCopy,
    ShallowCopy,
    DeepCopy,
    ShallowSkip,
    DeepSkip,
    Fail,
}

/// `xsl:variable` and `xsl:param` below the stylesheet element.
pub(crate) struct Global {
    pub(crate) name: ExpandedName,
    pub(crate) value: Binding,
    pub(crate) kind: Option<SequenceType>,
    /// Whether the caller may set it.
    pub(crate) parameter: bool,
    pub(crate) required: bool,
    pub(crate) frame: u32,
    pub(crate) at: At,
}

/// `xsl:function` and EXSLT's `func:function`.
pub(crate) struct UserFunction {
    pub(crate) name: ExpandedName,
    /// Their slots are 0, 1 …; those behind the arguments of a call take their default, as EXSLT has it.
    pub(crate) parameters: Vec<FunctionParameter>,
    pub(crate) frame: u32,
    pub(crate) body: Block,
    pub(crate) result: Option<SequenceType>,
    /// Whether `xsl:evaluate` sees it.
    pub(crate) public: bool,
    /// Whether it works on the context item of its caller, as EXSLT's do; others have none.
    pub(crate) keeps_context: bool,
    pub(crate) at: At,
}

pub(crate) struct FunctionParameter {
    pub(crate) kind: Option<SequenceType>,
    /// `None`: an argument must be there.
    pub(crate) default: Option<Binding>,
}

pub(crate) struct AttributeSet {
    pub(crate) name: ExpandedName,
    /// The declarations of that name, lowest precedence first; each with the sets it uses first.
    pub(crate) parts: Vec<AttributeSetPart>,
}

pub(crate) struct AttributeSetPart {
    pub(crate) uses: Vec<u32>,
    pub(crate) frame: u32,
    pub(crate) body: Block,
}

/// All `xsl:key` of one name.
pub(crate) struct Key {
    pub(crate) name: ExpandedName,
    /// Whether all values of a node are one key together.
    pub(crate) composite: bool,
    pub(crate) definitions: Vec<KeyDefinition>,
}

pub(crate) struct KeyDefinition {
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) value: Binding,
    pub(crate) frame: u32,
    pub(crate) at: At,
}

/// What an expression calls beside the functions of XPath.
pub(crate) struct Call {
    pub(crate) target: CallTarget,
    /// Where the call stands: prefixes in its arguments, base URIs.
    pub(crate) scope: ScopeId,
    /// The variables of the frame that an expression in an argument sees, with their slots.
    pub(crate) locals: Box<[(ExpandedName, u32)]>,
}

#[derive(Clone)]
pub(crate) enum CallTarget {
    /// XSLT's own and EXSLT's.
    Library(&'static Function),
    /// An index in [`Program::functions`].
    User(u32),
    /// A function that nobody knows: an error where it is called, as stylesheets ask `function-available()` first. Its
    /// code and its text.
    Missing(&'static str, Box<str>),
}

/// `xsl:strip-space`, `xsl:preserve-space`: one name test each.
pub(crate) struct StripRule {
    pub(crate) test: StripTest,
    pub(crate) strip: bool,
    pub(crate) precedence: u32,
}

/// Which elements a rule is for, from the weakest to the strongest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StripTest {
    Any,
    /// `*:local`
    Local(String),
    /// `prefix:*`
    Namespace(String),
    Name(ExpandedName),
}
