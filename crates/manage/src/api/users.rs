//! Users of the management API with their roles, and the file that holds them.
//!
//! Passwords are kept as argon2id hashes. Nothing here touches a disk: the file is a text that comes in and goes out.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use argon2::password_hash::{PasswordHasher, phc::PasswordHash};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use serde::{Deserialize, Serialize};

/// The role of those who may change something.
pub const ADMIN: &str = "admin";

/// How long names and passwords may be.
const NAME_CHARACTERS: usize = 100;
const PASSWORD_BYTES: std::ops::RangeInclusive<usize> = 1..=256;

/// How many users and roles there may be.
const USERS: usize = 1000;

/// A user.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// What it is called.
    pub name: String,
    /// The argon2id hash of the password, in the form of PHC strings.
    #[serde(rename = "password")]
    hash: String,
    /// The roles; `admin` among them is for those who may change something.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub roles: BTreeSet<String>,
    /// Whether it comes from a `deployment.toml`, where nothing is written back.
    #[serde(skip)]
    pub is_fixed: bool,
}

/// A role that users can have.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// What it is called.
    pub name: String,
}

/// All users and roles.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Users {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    roles: Vec<Role>,
    users: Vec<User>,
}

/// Why a name or a password cannot be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordError(pub String);

impl std::fmt::Display for PasswordError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PasswordError {}

impl User {
    /// A user with that password.
    ///
    /// Errors: a name or password that is too long, empty, or holds what cannot be typed.
    pub fn new(name: &str, password: &str, is_admin: bool) -> Result<User, PasswordError> {
        check_name(name)?;
        let roles = if is_admin { BTreeSet::from([ADMIN.to_owned()]) } else { BTreeSet::new() };
        Ok(User { name: name.to_owned(), hash: hash(password)?, roles, is_fixed: false })
    }

    /// Whether it may change something.
    pub fn is_admin(&self) -> bool {
        self.roles.contains(ADMIN)
    }

    /// Gives it another password.
    ///
    /// Errors: as [`User::new`].
    pub fn set_password(&mut self, password: &str) -> Result<(), PasswordError> {
        self.hash = hash(password)?;
        Ok(())
    }

    /// Tells its password from another.
    pub(crate) fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash.hash(&mut hasher);
        hasher.finish()
    }
}

fn check_name(name: &str) -> Result<(), PasswordError> {
    let length = name.chars().count();
    if length == 0 || length > NAME_CHARACTERS {
        return Err(PasswordError(format!("A name has 1 to {NAME_CHARACTERS} characters")));
    }
    if name.chars().any(|letter| letter.is_control() || letter == ':') || name.trim() != name {
        return Err(PasswordError("A name holds no colon, no control character, and no space at its ends".to_owned()));
    }
    Ok(())
}

/// What OWASP asks of argon2id: 19 MiB, two passes, one lane.
fn argon2() -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::default())
}

fn hash(password: &str) -> Result<String, PasswordError> {
    if !PASSWORD_BYTES.contains(&password.len()) {
        return Err(PasswordError(format!("A password has 1 to {} bytes", PASSWORD_BYTES.end())));
    }
    let hash = argon2().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| PasswordError(format!("The password cannot be hashed: {error}")))
}

/// The memory in which passwords are verified, one after the other: without it each verifying thread keeps its own.
static MEMORY: Mutex<Vec<Block>> = Mutex::new(Vec::new());

fn verifies(password: &str, hash: &str) -> bool {
    let Ok(hash) = PasswordHash::new(hash) else { return false };
    let version = hash.version.map_or(Ok(Version::default()), Version::try_from);
    let (Ok(params), Ok(version)) = (Params::try_from(&hash), version) else { return false };
    let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else { return false };
    if password.len() > *PASSWORD_BYTES.end() {
        return false;
    }
    let usual = Params::default().block_count();
    let needed = params.block_count();
    let mut found = vec![0; expected.as_bytes().len()];
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = needed.saturating_sub(memory.len());
    // The parameters stand in the file: they may ask for more than there is.
    if memory.try_reserve_exact(missing).is_err() {
        return false;
    }
    if missing > 0 {
        memory.resize(needed, Block::default());
    }
    let argon2 = Argon2::new(Algorithm::Argon2id, version, params);
    let hashed = argon2.hash_password_into_with_memory(password.as_bytes(), salt, &mut found, &mut memory[..needed]);
    memory.truncate(usual);
    memory.shrink_to(usual);
    hashed.is_ok() && verify_slices_are_equal(&found, expected.as_bytes()).is_ok()
}

/// What is verified where there is no such user, so that who asks cannot tell by the time it takes.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bXllbGluLW5vYm9keQ$1tJ8xgdEHNA6Y1cQKmU3Pg5nSbUO9oXBqGz2Z0e4mYQ";

impl Users {
    /// Reads the text of a file of users.
    ///
    /// Errors: a sentence with line and column where the text is none, or a sentence about what it holds.
    pub fn parse(text: &str) -> Result<Users, String> {
        let users: Users = toml::from_str(text).map_err(|error| error.to_string())?;
        if users.users.len() > USERS || users.roles.len() > USERS {
            return Err(format!("there are more than {USERS} users or roles"));
        }
        let mut seen = BTreeSet::new();
        for user in &users.users {
            check_name(&user.name).map_err(|error| format!("user {:?}: {error}", user.name))?;
            if !seen.insert(&user.name) {
                return Err(format!("user {:?} is there twice", user.name));
            }
            if !user.hash.starts_with("$argon2id$") || PasswordHash::new(&user.hash).is_err() {
                return Err(format!(
                    "user {:?}: the password is no argon2id hash; `myelin user passwd` writes one",
                    user.name
                ));
            }
        }
        Ok(users)
    }

    /// The text of a file that holds them; those of a `deployment.toml` are left out.
    pub fn to_text(&self) -> String {
        let users = self.users.iter().filter(|user| !user.is_fixed).cloned().collect();
        let kept = Users { roles: self.roles.clone(), users };
        let head = "# Users of the management API. `myelin user` changes this file; passwords are argon2id hashes.\n\n";
        // Texts and lists of texts are always TOML.
        format!("{head}{}", toml::to_string(&kept).unwrap_or_default())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// All users, by name.
    pub fn all(&self) -> impl Iterator<Item = &User> {
        let mut users: Vec<&User> = self.users.iter().collect();
        users.sort_by(|one, other| one.name.cmp(&other.name));
        users.into_iter()
    }

    /// The user of that name.
    pub fn find(&self, name: &str) -> Option<&User> {
        self.users.iter().find(|user| user.name == name)
    }

    /// The same, to be changed.
    pub fn find_mut(&mut self, name: &str) -> Option<&mut User> {
        self.users.iter_mut().find(|user| user.name == name)
    }

    /// Adds a user; says whether there was none of that name, and room for one more.
    pub fn add(&mut self, user: User) -> bool {
        let fits = self.find(&user.name).is_none() && self.users.len() < USERS;
        if fits {
            self.users.push(user);
        }
        fits
    }

    /// Removes a user; says whether there was one of that name.
    pub fn remove(&mut self, name: &str) -> bool {
        let count = self.users.len();
        self.users.retain(|user| user.name != name);
        self.users.len() < count
    }

    /// The names of all roles: those that were added, and those that users have.
    pub fn roles(&self) -> BTreeSet<String> {
        let added = self.roles.iter().map(|role| role.name.clone());
        added.chain(self.users.iter().flat_map(|user| user.roles.iter().cloned())).chain([ADMIN.to_owned()]).collect()
    }

    /// Adds a role; says whether there was none of that name.
    pub fn add_role(&mut self, name: &str) -> bool {
        let is_new = !self.roles().contains(name) && self.roles.len() < USERS;
        if is_new {
            self.roles.push(Role { name: name.to_owned() });
        }
        is_new
    }

    /// Removes a role from all users; says whether there was one of that name.
    pub fn remove_role(&mut self, name: &str) -> bool {
        let was_there = self.roles().contains(name);
        self.roles.retain(|role| role.name != name);
        self.users.iter_mut().for_each(|user| {
            user.roles.remove(name);
        });
        was_there
    }

    /// What has to be verified of a login, whether there is such a user or not. It is slow; call it without a lock.
    pub(crate) fn to_verify(&self, name: &str) -> ToVerify {
        ToVerify { user: self.find(name).cloned() }
    }
}

/// A user that wants to log in, or nobody.
pub(crate) struct ToVerify {
    user: Option<User>,
}

impl ToVerify {
    /// The user, if the password is right; it takes as long where there is no such user.
    pub(crate) fn verify(self, password: &str) -> Option<User> {
        let hash = self.user.as_ref().map_or(NOBODY, |user| &user.hash);
        let is_right = verifies(password, hash);
        self.user.filter(|_| is_right)
    }
}

/// Whether a name can be that of a role or a user.
pub(crate) fn is_name(name: &str) -> Result<(), PasswordError> {
    check_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_go_to_a_file_and_come_back_without_a_password_in_it() {
        let mut users = Users::default();
        assert!(users.add(User::new("ann", "canary-1", true).unwrap()));
        assert!(users.add(User::new("bob", "canary-2", false).unwrap()));
        assert!(!users.add(User::new("bob", "x", false).unwrap()));
        assert!(users.add_role("readers") && !users.add_role("admin"));
        let text = users.to_text();
        assert!(!text.contains("canary"), "{text}");
        let read = Users::parse(&text).unwrap();
        assert_eq!(
            read.all().map(|user| (&*user.name, user.is_admin())).collect::<Vec<_>>(),
            [("ann", true), ("bob", false)]
        );
        assert_eq!(read.roles(), BTreeSet::from(["admin".to_owned(), "readers".to_owned()]));
        assert!(read.to_verify("ann").verify("canary-1").is_some());
        for (user, password) in [("ann", "canary-2"), ("ann", ""), ("nobody", "canary-1"), ("ANN", "canary-1")] {
            assert!(read.to_verify(user).verify(password).is_none(), "{user} {password}");
        }
    }

    #[test]
    fn nobody_has_a_hash_that_takes_as_long_and_fits_no_password() {
        let hash = PasswordHash::new(NOBODY).unwrap();
        assert_eq!(hash.algorithm.as_str(), "argon2id");
        let parameters = Params::try_from(&hash).unwrap();
        let ours = Params::default();
        assert_eq!(
            (parameters.m_cost(), parameters.t_cost(), parameters.p_cost()),
            (ours.m_cost(), ours.t_cost(), ours.p_cost())
        );
        assert!(!verifies("", NOBODY));
    }

    #[test]
    fn what_is_no_user_is_refused() {
        assert!(User::new("a:b", "x", false).is_err() && User::new("", "x", false).is_err());
        assert!(User::new("a", "", false).is_err() && User::new("a", &"x".repeat(300), false).is_err());
        for (text, part) in [
            ("users = 1", "invalid type"),
            ("[[users]]\nname = \"a\"\npassword = \"plain\"", "no argon2id hash"),
            ("[[users]]\nname = \"a\"", "missing field"),
            ("[[user]]\nname = \"a\"", "unknown field"),
        ] {
            let error = Users::parse(text).unwrap_err();
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        }
    }
}
