//! Guards are made: of a policy with its keys, which have to be what the policy asks for.

use super::needs::Needs;
use super::{Guard, KeyFiles, Keys, Settings, check, load};
use crate::Problem;
use crate::keys::Certificates;
use crate::policy::Policy;
use crate::side::{Side, Uses};

impl Guard {
    /// A guard with the keys that the policy's Rampart configuration names.
    ///
    /// The second of the pair are warnings.
    /// Errors: all that is missing, too weak or cannot be honoured: the configuration's.
    pub fn load(
        policy: Policy,
        side: Side,
        uses: Uses,
        files: &dyn KeyFiles,
        settings: &Settings,
    ) -> Result<(Guard, Vec<Problem>), Vec<Problem>> {
        let (keys, mut warnings) = load::keys(&policy, &Needs::of(&policy, side, uses), files, settings)?;
        let (guard, more) = Guard::new(policy, side, uses, keys, settings.clone())?;
        warnings.extend(more);
        Ok((guard, warnings))
    }

    /// A guard with keys that are given.
    ///
    /// The second of the pair are warnings.
    /// Errors: all that is missing, too weak or cannot be honoured: the configuration's.
    pub fn new(
        policy: Policy,
        side: Side,
        uses: Uses,
        mut keys: Keys,
        settings: Settings,
    ) -> Result<(Guard, Vec<Problem>), Vec<Problem>> {
        let mut found = check::Found::default();
        check::leave_out_small_keys(&mut keys.decryption, settings.rsa_bits_min, &mut found);
        let guard = Guard { policy, side, keys, settings, certificates: Certificates::default() };
        check::check(&guard, uses, &mut found);
        if found.errors.is_empty() { Ok((guard, found.warnings)) } else { Err(found.errors) }
    }
}
