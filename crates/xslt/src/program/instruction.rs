//! Instructions: one for each element of a sequence constructor (XSLT 2.0 §5.7).

use myelin_xpath::types::SequenceType;

use super::{Condition, Expr, ParameterId, ScopeId, Select, TextSource};
use crate::name::QualifiedName;
use crate::output::LiteralStart;
use crate::pattern::Pattern;
use crate::scope::At;

/// What stands inside an instruction or declaration, in order.
pub(crate) type Block = Box<[Instruction]>;

/// One step of a program, with its place in the stylesheet.
pub(crate) struct Instruction {
    pub(crate) at: At,
    pub(crate) kind: Kind,
}

/// What an instruction does. What is large is boxed, so that blocks stay small.
pub(crate) enum Kind {
    /// Literal text and `xsl:text`; true: without escaping.
    Text(Box<str>, bool),
    /// `xsl:value-of`; true: without escaping.
    ValueOf(Content, bool),
    /// A literal result element.
    Literal(Box<LiteralElement>),
    Element(Box<Element>),
    Attribute(Box<Attribute>),
    /// `xsl:namespace`: its prefix and its URI.
    Namespace(Box<(Avt, Content)>),
    Comment(Content),
    /// `xsl:processing-instruction`: its target and its data.
    ProcessingInstruction(Box<(Avt, Content)>),
    Copy(Box<Copy>),
    /// `xsl:copy-of`; true: with the namespaces in scope.
    CopyOf(Select, bool),
    /// The same with `copy-accumulators`.
    CopyAccumulating(Box<(Select, bool)>),
    /// `xsl:sequence`
    Sequence(Select),
    /// `xsl:document`: a document node around what is made.
    Document(Block),
    ApplyTemplates(Box<ApplyTemplates>),
    CallTemplate(Box<CallTemplate>),
    ApplyImports(Box<[WithParam]>),
    NextMatch(Box<[WithParam]>),
    ForEach(Box<ForEach>),
    If(Condition, Block),
    Choose(Box<Choose>),
    /// A local `xsl:variable`.
    Variable(Box<Variable>),
    Number(Box<Number>),
    Message(Box<Message>),
    ForEachGroup(Box<ForEachGroup>),
    AnalyzeString(Box<AnalyzeString>),
    /// `xsl:perform-sort`: the items, or what makes them, and the order.
    PerformSort(Box<(Binding, Vec<Sort>)>),
    Iterate(Box<Iterate>),
    /// `xsl:break`, with what it gives.
    Break(Binding),
    /// `xsl:next-iteration`: new values for the parameters of the loop by slot; the others keep theirs.
    NextIteration(Box<[Variable]>),
    /// EXSLT's `func:result`.
    Return(Binding),
    Try(Box<Try>),
    /// `xsl:assert`: its condition, code and text.
    Assert(Box<(Condition, Message)>),
    /// `xsl:where-populated`: what stands inside, without what is empty.
    WherePopulated(Block),
    /// A block with `xsl:on-empty` or `xsl:on-non-empty`.
    Depending(Box<[Part]>),
    /// `xsl:map`: the maps that are made inside, as one.
    Map(Block),
    /// `xsl:map-entry`: its key and its value.
    MapEntry(Box<(Expr, Binding)>),
    /// `xsl:result-document`
    ResultDocument(Box<ResultDocument>),
    /// `xsl:source-document`: the document's URI, where it stands, the accumulators that are for it, and what is done
    /// there.
    SourceDocument(Box<SourceDocument>),
    Evaluate(Box<Evaluate>),
    Merge(Box<Merge>),
    /// What cannot be run, met only where forwards-compatible mode let it be: the error's code and text.
    Fail(&'static str, Box<str>),
}

pub(crate) struct LiteralElement {
    /// Its name and what must be in scope on it.
    pub(crate) start: LiteralStart,
    pub(crate) attributes: Vec<LiteralAttribute>,
    /// `xsl:use-attribute-sets`, as indices in [`Program::attribute_sets`](super::Program::attribute_sets).
    pub(crate) attribute_sets: Vec<u32>,
    /// `inherit-namespaces`: whether its children have the namespaces that are in scope on it.
    pub(crate) inherits: bool,
    pub(crate) body: Block,
}

pub(crate) struct LiteralAttribute {
    pub(crate) name: QualifiedName,
    pub(crate) value: Avt,
}

/// `xsl:element`
pub(crate) struct Element {
    pub(crate) name: Avt,
    pub(crate) namespace: Option<Avt>,
    /// Where the prefix of the name is looked up.
    pub(crate) scope: ScopeId,
    pub(crate) attribute_sets: Vec<u32>,
    /// `inherit-namespaces`: whether its children have the namespaces that are in scope on it.
    pub(crate) inherits: bool,
    pub(crate) body: Block,
}

/// `xsl:attribute`
pub(crate) struct Attribute {
    pub(crate) name: Avt,
    pub(crate) namespace: Option<Avt>,
    pub(crate) scope: ScopeId,
    pub(crate) value: Content,
}

/// A text that an instruction makes.
pub(crate) enum Content {
    /// By an expression, and what stands between its items. Without a separator the first item counts in 1.0, and one
    /// space stands between them otherwise.
    Select(TextSource, Option<Avt>),
    /// By what stands inside, and what stands between its items; none in 1.0, where all but texts is left out.
    Block(Block, Option<Avt>),
}

/// An attribute value template (XSLT 1.0 §7.6.2).
pub(crate) enum Avt {
    Constant(Box<str>),
    Parts(Box<[AvtPart]>),
}

pub(crate) enum AvtPart {
    Text(Box<str>),
    Value(TextSource),
}

/// `xsl:copy`
pub(crate) struct Copy {
    /// XSLT 3.0; `None`: the context item.
    pub(crate) select: Option<Select>,
    pub(crate) namespaces: bool,
    pub(crate) attribute_sets: Vec<u32>,
    /// `inherit-namespaces`: whether its children have the namespaces that are in scope on it.
    pub(crate) inherits: bool,
    pub(crate) body: Block,
}

pub(crate) struct ApplyTemplates {
    /// `None`: the children of the context node.
    pub(crate) select: Option<Select>,
    pub(crate) mode: ModeUse,
    pub(crate) sorts: Vec<Sort>,
    pub(crate) parameters: Box<[WithParam]>,
}

/// In which mode templates are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModeUse {
    /// An index in [`Program::modes`](super::Program::modes).
    Mode(u32),
    /// `#current`
    Current,
}

pub(crate) struct CallTemplate {
    /// An index in [`Program::templates`](super::Program::templates).
    pub(crate) template: u32,
    pub(crate) parameters: Box<[WithParam]>,
    /// Whether nothing is left to do in the calling template behind it, so that it can be left first.
    pub(crate) tail: bool,
}

pub(crate) struct WithParam {
    pub(crate) name: ParameterId,
    pub(crate) tunnel: bool,
    pub(crate) value: Binding,
    pub(crate) kind: Option<SequenceType>,
}

pub(crate) struct ForEach {
    pub(crate) select: Select,
    pub(crate) sorts: Vec<Sort>,
    pub(crate) body: Block,
}

/// `xsl:choose`; `xsl:otherwise` is empty where there is none.
pub(crate) struct Choose {
    pub(crate) branches: Vec<(Condition, Block)>,
    pub(crate) otherwise: Block,
}

pub(crate) struct Variable {
    pub(crate) slot: u32,
    pub(crate) value: Binding,
    pub(crate) kind: Option<SequenceType>,
}

/// What a variable or parameter is bound to.
pub(crate) enum Binding {
    /// `select`
    Select(Select),
    /// Content without `as`: a temporary tree (1.0: a result tree fragment).
    Tree(Block),
    /// Content with `as`, or that of a function: a sequence.
    Sequence(Block),
    /// Neither: the empty text.
    EmptyText,
    /// Neither, with `as` or in a function: the empty sequence.
    EmptySequence,
}

pub(crate) struct Sort {
    pub(crate) key: Binding,
    pub(crate) order: Option<Avt>,
    pub(crate) data_type: Option<Avt>,
    pub(crate) lang: Option<Avt>,
    pub(crate) case_order: Option<Avt>,
    pub(crate) collation: Option<Avt>,
    /// Whether the rules of 1.0 are followed: keys are texts unless `data-type` says number.
    pub(crate) compatible: bool,
}

/// `xsl:number`
pub(crate) struct Number {
    pub(crate) value: Option<Expr>,
    /// XSLT 2.0; `None`: the context node.
    pub(crate) select: Option<Expr>,
    pub(crate) level: NumberLevel,
    /// `None`: nodes like the one that is numbered.
    pub(crate) count: Option<Vec<Pattern>>,
    pub(crate) from: Option<Vec<Pattern>>,
    pub(crate) format: Avt,
    pub(crate) letter_value: Option<Avt>,
    pub(crate) ordinal: Option<Avt>,
    pub(crate) grouping_separator: Option<Avt>,
    pub(crate) grouping_size: Option<Avt>,
    pub(crate) start_at: Option<Avt>,
    /// Whether it stands where the version is 1.0.
    pub(crate) backwards: bool,
}

/// How `xsl:number` counts (XSLT 1.0 §7.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberLevel {
    Single,
    Multiple,
    Any,
}

pub(crate) struct Message {
    pub(crate) content: Binding,
    /// `yes`, `no` …
    pub(crate) terminate: Avt,
    /// XSLT 3.0; a name in `scope`.
    pub(crate) code: Option<Avt>,
    pub(crate) scope: ScopeId,
}

pub(crate) struct ForEachGroup {
    pub(crate) select: Select,
    pub(crate) by: GroupBy,
    pub(crate) collation: Option<Avt>,
    pub(crate) sorts: Vec<Sort>,
    pub(crate) body: Block,
}

/// The four forms of grouping (XSLT 2.0 §14.3).
pub(crate) enum GroupBy {
    /// `group-by`; true: the keys of an item are one composite key.
    Value(Expr, bool),
    /// `group-adjacent`; true: as above.
    Adjacent(Expr, bool),
    StartingWith(Vec<Pattern>),
    EndingWith(Vec<Pattern>),
}

pub(crate) struct AnalyzeString {
    pub(crate) select: Expr,
    pub(crate) regex: Avt,
    pub(crate) flags: Avt,
    pub(crate) matching: Block,
    pub(crate) other: Block,
}

pub(crate) struct Iterate {
    pub(crate) select: Select,
    /// Slot, first value and type of each parameter.
    pub(crate) parameters: Vec<Variable>,
    pub(crate) body: Block,
    pub(crate) on_completion: Binding,
}

pub(crate) struct Try {
    pub(crate) body: Binding,
    pub(crate) catches: Vec<Catch>,
}

/// A part of a block in which some parts depend on what the others make (XSLT 3.0 §8.4).
pub(crate) enum Part {
    Always(Block),
    /// `xsl:on-empty`
    OnEmpty(Binding),
    /// `xsl:on-non-empty`
    OnNonEmpty(Binding),
}

/// `xsl:result-document`, or `exsl:document`
pub(crate) struct ResultDocument {
    /// `None`: the result that the transformation itself has.
    pub(crate) href: Option<Avt>,
    /// The name of an `xsl:output`, read in `scope`.
    pub(crate) format: Option<Avt>,
    /// Attributes as those of `xsl:output`, by their names.
    pub(crate) attributes: Vec<(Box<str>, Avt)>,
    pub(crate) characters: Vec<(char, Box<str>)>,
    /// The document with parameters of its own, seen from `scope`.
    pub(crate) parameter_document: Option<Avt>,
    pub(crate) scope: ScopeId,
    pub(crate) body: Block,
    pub(crate) writer: Writer,
}

/// By whose rules a result beside the transformation's own is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// `xsl:result-document`: what `xsl:output` says counts for it too.
    Standard,
    /// `exsl:document`: it says by itself how it is written, and may stand where a variable is made.
    Exslt,
}

/// `xsl:source-document`
pub(crate) struct SourceDocument {
    pub(crate) href: Avt,
    pub(crate) scope: ScopeId,
    pub(crate) accumulators: UsedAccumulators,
    pub(crate) body: Block,
}

/// Which accumulators are for a document (XSLT 3.0 §18.2.2).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UsedAccumulators {
    All,
    /// Numbers in [`Program::accumulators`](super::Program::accumulators).
    These(Box<[u32]>),
}

/// `xsl:evaluate` (XSLT 3.0 §10.4)
pub(crate) struct Evaluate {
    pub(crate) expression: Expr,
    pub(crate) kind: Option<SequenceType>,
    pub(crate) base: Option<Avt>,
    /// A map from names to values.
    pub(crate) with_params: Option<Expr>,
    pub(crate) context_item: Option<Expr>,
    pub(crate) namespace_context: Option<Expr>,
    pub(crate) schema_aware: Option<Avt>,
    pub(crate) parameters: Box<[WithParam]>,
    pub(crate) scope: ScopeId,
    pub(crate) default_namespace: Box<str>,
}

/// `xsl:merge` (XSLT 3.0 §15)
pub(crate) struct Merge {
    pub(crate) sources: Vec<MergeSource>,
    pub(crate) body: Block,
}

/// `xsl:merge-source`
pub(crate) struct MergeSource {
    pub(crate) name: Option<Box<str>>,
    pub(crate) from: MergeFrom,
    pub(crate) select: Select,
    /// Whether it has to be sorted first.
    pub(crate) sorts_first: bool,
    /// What it is ordered by.
    pub(crate) keys: Vec<Sort>,
    /// The accumulators that are for its documents.
    pub(crate) accumulators: UsedAccumulators,
    pub(crate) scope: ScopeId,
}

/// Where the sequences of a source start from.
pub(crate) enum MergeFrom {
    /// The context of the instruction.
    Here,
    /// `for-each-item`
    Items(Select),
    /// `for-each-source`: documents by their URIs.
    Documents(Select),
}

/// `xsl:catch`
pub(crate) struct Catch {
    /// The codes it is for: `*`, `Q{namespace}local`, `*:local` or `Q{namespace}*`, as tests; empty: all.
    pub(crate) errors: Vec<(Option<String>, Option<String>)>,
    /// The slots of `$err:code`, `$err:description`, `$err:value`, `$err:module`, `$err:line-number` and
    /// `$err:column-number`, one behind the other from here.
    pub(crate) slots: u32,
    pub(crate) body: Binding,
}
