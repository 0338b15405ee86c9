use super::*;
use std::fs;

struct Case {
    filter: Filter,
    order: Option<Order>,
    with_sub_folders: bool,
    most: usize,
}

impl Case {
    fn new() -> Case {
        Case { filter: Filter::default(), order: None, with_sub_folders: false, most: MOST }
    }

    fn list(&self, root: &Path) -> Listing {
        let look = Look {
            root,
            with_sub_folders: self.with_sub_folders,
            filter: &self.filter,
            order: self.order,
            done: &HashSet::new(),
            now: SystemTime::now(),
            most: self.most,
            sweeps: false,
        };
        look.list().unwrap()
    }

    /// The names in the order of the listing, or sorted where there is none.
    fn names(&self, root: &Path) -> Vec<String> {
        let short = |candidate: Candidate| candidate.path.strip_prefix(root).unwrap().display().to_string();
        let mut names: Vec<_> = self.list(root).candidates.into_iter().map(short).collect();
        if self.order.is_none() {
            names.sort();
        }
        names
    }
}

/// A folder with files of some lengths, changed so many seconds ago.
fn folder(files: &[(&str, usize, u64)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, length, age) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, vec![b'x'; *length]).unwrap();
        let changed = SystemTime::now() - Duration::from_secs(*age);
        fs::File::open(&path).unwrap().set_modified(changed).unwrap();
    }
    folder
}

#[test]
fn names_are_matched_whole_and_locks_are_left_out() {
    let folder = folder(&[("a.xml", 1, 0), ("a.xml.lock", 1, 0), ("b.xmlx", 1, 0), ("c.txt", 1, 0), ("r", 1, 0)]);
    let mut case = Case::new();
    case.filter.records = "r".into();
    assert_eq!(case.names(folder.path()), ["a.xml", "b.xmlx", "c.txt"]);
    case.filter.pattern = Some(Pattern::compile(r".*\.xml").unwrap());
    assert_eq!(case.names(folder.path()), ["a.xml"]);
}

#[test]
fn ages_and_sizes_are_limited() {
    let folder = folder(&[("new", 5, 1), ("old", 6, 100), ("ancient", 7, 10_000), ("empty", 0, 100)]);
    let check = |change: fn(&mut Filter), expected: &[&str]| {
        let mut case = Case::new();
        change(&mut case.filter);
        assert_eq!(case.names(folder.path()), expected);
    };
    check(|filter| filter.minimum_age = Some(Duration::from_secs(50)), &["ancient", "empty", "old"]);
    check(|filter| filter.maximum_age = Some(Duration::from_secs(500)), &["empty", "new", "old"]);
    check(|filter| filter.limit_bytes = Some(6), &["empty", "new", "old"]);
    check(|filter| filter.ignores_empty = true, &["ancient", "new", "old"]);
}

#[test]
fn files_are_ordered_and_the_first_ones_kept() {
    let folder = folder(&[("b", 3, 10), ("a", 2, 30), ("c", 1, 20), ("d", 4, 40)]);
    let check = |by, ascending, expected: [&str; 4]| {
        let mut case = Case { order: Some(Order { by, ascending }), ..Case::new() };
        assert_eq!(case.names(folder.path()), expected, "{by:?} {ascending}");
        assert!(!case.list(folder.path()).is_full);
        case.most = 2;
        assert_eq!(case.names(folder.path()), expected[..2], "{by:?} {ascending}");
        assert!(case.list(folder.path()).is_full);
    };
    check(Sort::Name, true, ["a", "b", "c", "d"]);
    check(Sort::Name, false, ["d", "c", "b", "a"]);
    check(Sort::Size, true, ["c", "a", "b", "d"]);
    check(Sort::Size, false, ["d", "b", "a", "c"]);
    check(Sort::Modified, true, ["d", "a", "c", "b"]);
    check(Sort::Modified, false, ["b", "c", "a", "d"]);
}

#[test]
fn without_an_order_a_look_ends_when_there_is_enough() {
    let folder = folder(&[("a", 1, 0), ("b", 1, 0), ("c", 1, 0)]);
    let listing = Case { most: 2, ..Case::new() }.list(folder.path());
    assert_eq!((listing.candidates.len(), listing.is_full), (2, true));
    let listing = Case { most: 3, ..Case::new() }.list(folder.path());
    assert_eq!((listing.candidates.len(), listing.is_full), (3, false));
}

#[test]
fn folders_below_are_looked_into_where_that_is_wanted_and_links_to_folders_are_not() {
    let folder = folder(&[("a", 1, 0), ("sub/b", 1, 0), ("sub/sub/c", 1, 0)]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("sub/circle")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("a"), folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("dangling")).unwrap();
    assert_eq!(Case::new().names(folder.path()), ["a", "link"]);
    let case = Case { with_sub_folders: true, ..Case::new() };
    assert_eq!(case.names(folder.path()), ["a", "link", "sub/b", "sub/sub/c"]);
    assert!(case.list(folder.path()).problems.is_empty());
}

#[test]
fn a_single_file_is_a_listing_and_a_missing_folder_an_error() {
    let folder = folder(&[("a", 1, 0)]);
    let mut case = Case::new();
    case.filter.pattern = Some(Pattern::compile("b").unwrap());
    assert_eq!(case.list(&folder.path().join("a")).candidates.len(), 1);
    let (root, filter, done) = (&folder.path().join("away"), &case.filter, &HashSet::new());
    let now = SystemTime::now();
    let look = Look { root, with_sub_folders: false, filter, order: None, done, now, most: MOST, sweeps: false };
    assert_eq!(look.list().unwrap_err().kind(), io::ErrorKind::NotFound);
}
