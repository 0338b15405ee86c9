//! The compiler: what is known of a stylesheet while it is compiled.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use myelin_xpath::types::SequenceType;

use super::frame::Frame;
use super::index::{Alias, Index};
use super::loaded::Loaded;
use super::numbered::Numbered;
use super::overrides::Overrides;
use super::problems::Problems;
use super::statics::Statics;
use crate::name::ExpandedName;
use crate::output::NamespaceSets;
use crate::program::{Call, NoMatch, ParameterId, Rule, UsedAccumulators};
use crate::resolver::Resolver;
use crate::scope::{At, Scope};

/// A stylesheet that is being compiled.
pub(super) struct Compiler<'s> {
    pub(super) problems: Problems,
    pub(super) statics: Statics,
    pub(super) index: Index,
    pub(super) aliases: Vec<Alias>,
    pub(super) namespace_sets: NamespaceSets,
    /// The variables of the template, function or global declaration that is being compiled.
    pub(super) frame: Frame,
    /// The global variable whose value is being compiled.
    pub(super) defining: Option<ExpandedName>,
    /// The `xsl:iterate` around what is being compiled, where that is the last thing the loop does.
    pub(super) last_in: Option<Rc<Loop>>,
    pub(super) names: Numbered<ExpandedName>,
    pub(super) parameters: Numbered<ExpandedName>,
    pub(super) modes: Numbered<Option<ExpandedName>>,
    /// What is done where no template matches.
    pub(super) no_match: HashMap<Option<ExpandedName>, NoMatch>,
    /// Whether it is an error where several templates match as well.
    pub(super) fails_on_multiple: HashMap<Option<ExpandedName>, bool>,
    /// Whether a mode takes only nodes that a schema has judged.
    pub(super) typed: HashMap<Option<ExpandedName>, bool>,
    /// Those that have an `xsl:mode`.
    pub(super) declared_modes: HashSet<Option<ExpandedName>>,
    pub(super) mode_accumulators: HashMap<Option<ExpandedName>, UsedAccumulators>,
    pub(super) character_maps: HashMap<ExpandedName, CharacterMap>,
    pub(super) resolver: &'s dyn Resolver,
    pub(super) overrides: Overrides,
    /// Rules with their mode; `None`: all modes.
    pub(super) rules: Vec<(Option<u32>, Rule)>,
    pub(super) scopes: Vec<Scope>,
    pub(super) calls: Vec<Call>,
    pub(super) named_calls: Vec<NamedCall>,
    /// Whether some expression asks for `last()`.
    pub(super) asks_for_last: bool,
    pub(super) unescaped: bool,
    pub(super) loaded: &'s Loaded,
}

/// The parameters of a loop that is being compiled, with their slots and types.
pub(super) type Loop = Vec<(ExpandedName, u32, Option<SequenceType>)>;

/// A call of a named template, to be checked when the parameters of all templates are known.
pub(super) struct NamedCall {
    pub(super) template: u32,
    /// The parameters it passes, without those that tunnel.
    pub(super) passed: Vec<ParameterId>,
    pub(super) at: At,
    /// Whether parameters that the template does not have are ignored.
    pub(super) lenient: bool,
}

/// `xsl:character-map`
#[derive(Clone, Default)]
pub(super) struct CharacterMap {
    pub(super) uses: Vec<(ExpandedName, At)>,
    pub(super) characters: Vec<(char, String)>,
}

impl<'s> Compiler<'s> {
    pub(super) fn new(
        loaded: &'s Loaded,
        problems: Problems,
        statics: Statics,
        resolver: &'s dyn Resolver,
    ) -> Compiler<'s> {
        let mut modes = Numbered::default();
        // The mode without a name is the first.
        modes.number(None);
        Compiler {
            problems,
            statics,
            index: Index::default(),
            aliases: Vec::new(),
            namespace_sets: NamespaceSets::default(),
            frame: Frame::default(),
            defining: None,
            last_in: None,
            names: Numbered::default(),
            parameters: Numbered::default(),
            modes,
            no_match: HashMap::new(),
            fails_on_multiple: HashMap::new(),
            typed: HashMap::new(),
            declared_modes: HashSet::new(),
            mode_accumulators: HashMap::new(),
            character_maps: HashMap::new(),
            resolver,
            overrides: Overrides::default(),
            rules: Vec::new(),
            scopes: Vec::new(),
            calls: Vec::new(),
            asks_for_last: false,
            unescaped: false,
            named_calls: Vec::new(),
            loaded,
        }
    }
}
