//! What is said of parameters while a configuration is loaded.

use myelin_channel::Severity;
use myelin_file::SPEC;

use crate::common::source;

const FOLDER: (&str, &str) = ("transport.vfs.FileURI", "vfs:file:///var/orders");

/// A folder of every machine: one that is not there would be a warning.
const THERE: (&str, &str) = ("transport.vfs.FileURI", "vfs:file:///tmp");

/// What is said of parameters beside the folder: the sentences, and whether there is a source.
fn said(parameters: &[(&str, &str)]) -> (bool, Vec<String>) {
    let all: Vec<_> = [THERE].iter().chain(parameters).copied().collect();
    let (source, complaints) = source(&all);
    let has_problem = complaints.iter().any(|complaint| complaint.severity == Severity::Problem);
    assert_eq!(source.is_none(), has_problem, "{complaints:?}");
    (has_problem, complaints.into_iter().map(|complaint| complaint.message).collect())
}

#[test]
fn every_parameter_of_a_proxy_and_an_inbound_endpoint_is_known() {
    let known = [
        ("interval", "1000"),
        ("sequential", "true"),
        ("coordination", "true"),
        ("transport.PollInterval", "5"),
        ("transport.vfs.ContentType", "text/xml"),
        ("transport.vfs.FileNamePattern", ".*"),
        ("transport.vfs.FileProcessInterval", "10"),
        ("transport.vfs.FileProcessCount", "10"),
        ("transport.vfs.ReplyFileURI", "vfs:file:///replies"),
        ("transport.vfs.ReplyFileName", "reply.xml"),
        ("transport.vfs.ActionAfterProcess", "MOVE"),
        ("transport.vfs.MoveAfterProcess", "vfs:file:///done"),
        ("transport.vfs.ActionAfterFailure", "MOVE"),
        ("transport.vfs.MoveAfterFailure", "vfs:file:///failed"),
        ("transport.vfs.MoveTimestampFormat", "yyyyMMdd"),
        ("transport.vfs.MoveAfterFailedMove", "vfs:file:///stuck"),
        ("transport.vfs.MaxRetryCount", "3"),
        ("transport.vfs.ReconnectTimeout", "30"),
        ("transport.vfs.AutoLockRelease", "true"),
        ("transport.vfs.AutoLockReleaseInterval", "1000"),
        ("transport.vfs.LockReleaseSameNode", "false"),
        ("transport.vfs.FailedRecordsFileName", "failed.properties"),
        ("transport.vfs.FailedRecordsFileDestination", "repository/conf/"),
        ("transport.vfs.MoveFailedRecordTimestampFormat", "dd-MM-yyyy HH:mm:ss"),
        ("transport.vfs.FailedRecordNextRetryDuration", "3000"),
        ("transport.vfs.DistributedLock", "false"),
        ("transport.vfs.FileSortAttribute", "NONE"),
        ("transport.vfs.FileSortAscending", "true"),
        ("transport.vfs.SubFolderTimestampFormat", "yyyy"),
        ("transport.vfs.CreateFolder", "true"),
        ("transport.vfs.Streaming", "true"),
        ("transport.vfs.Build", "false"),
        ("transport.vfs.UpdateLastModified", "true"),
        ("transport.vfs.Locking", "enable"),
        ("transport.vfs.FileSizeLimit", "-1"),
        ("transport.vfs.CheckSizeInterval", "100"),
        ("transport.vfs.CheckSizeIgnoreEmpty", "false"),
        ("transport.vfs.MinimumAge", "1"),
        ("transport.vfs.MaximumAge", "1"),
        ("transport.vfs.waitTimeBeforeRead", "1"),
        ("transport.vfs.ClusterAware", "true"),
        ("transport.vfs.ResolveHostsDynamically", "false"),
        ("transport.vfs.IsMounted", "false"),
    ];
    assert_eq!(said(&known), (false, Vec::new()));
}

#[test]
fn what_has_no_effect_is_said() {
    let check = |name: &str, value: &str, why: &str| {
        let (has_problem, said) = said(&[(name, value)]);
        assert!(!has_problem && said.len() == 1, "{said:?}");
        assert!(said[0].starts_with(&format!("{name} has no effect")) && said[0].contains(why), "{said:?}");
    };
    check("transport.vfs.DistributedLock", "true", "locks beside the files");
    check("transport.vfs.DistributedTimeout", "20", "locks beside the files");
    check("transport.vfs.SFTPIdentities", "/id_rsa", "only local files");
    check("transport.vfs.SFTPIdentityPassPhrase", "word", "only local files");
    check("transport.vfs.SFTPUserDirIsRoot", "true", "only local files");
    check("transport.vfs.Build", "true", "as far as something asks");
    check("transport.vfs.fileType", "ASCII", "byte by byte");
    check("transport.vfs.Append", "true", "belongs to the address");
    check("transport.vfs.SendFileSynchronously", "true", "belongs to the address");
    check("transport.vfs.ActionAfterErrors", "MOVE", "as in Synapse");
    check("transport.vfs.MoveAfterErrors", "vfs:file:///errors", "as in Synapse");
    check("transport.vfs.MoveAfterProcess", "vfs:file:///done", "ActionAfterProcess is DELETE, not MOVE");
    check("transport.vfs.MoveAfterFailure", "vfs:file:///done", "ActionAfterFailure is DELETE, not MOVE");
}

#[test]
fn what_would_lose_or_repeat_files_is_said() {
    let (has_problem, said_) = said(&[("transport.vfs.ActionAfterFailure", "MOVE")]);
    assert!(!has_problem);
    assert_eq!(
        said_,
        ["transport.vfs.ActionAfterFailure is MOVE and transport.vfs.MoveAfterFailure is missing: \
          files are removed, as in Synapse"]
    );
    let (has_problem, said) =
        said(&[("transport.vfs.ActionAfterProcess", "MOVE"), ("transport.vfs.MoveAfterProcess", THERE.1)]);
    assert!(!has_problem && said[0].contains("taken again and again"), "{said:?}");
}

#[test]
fn what_is_wrong_is_a_problem_with_what_would_be_right() {
    let check = |name: &str, value: &str, part: &str| {
        let (has_problem, said) = said(&[(name, value)]);
        assert!(has_problem && said.iter().any(|what| what.contains(part)), "{name} {value}: {said:?}");
    };
    check("transport.vfs.FileURI", "vfs:sftp://host/in", "sftp addresses come with a later release; vfs:file:// is");
    check("transport.vfs.FileURI", "vfs:ftp://host/in", "ftp addresses come with a later release");
    check("transport.vfs.FileURI", "vfs:smb://host/in", "smb addresses come with a later release");
    check("transport.vfs.MoveAfterFailedMove", "ftps://host/in", "ftps addresses come with a later release");
    check("transport.vfs.ReplyFileURI", "vfs:smb2://host/in", "smb2 addresses come with a later release");
    check("transport.vfs.FileNamePattern", "(", "transport.vfs.FileNamePattern is \"(\"");
    check("transport.vfs.ActionAfterProcess", "ARCHIVE", "known are DELETE, MOVE, NONE");
    check("transport.vfs.FileSortAttribute", "Color", "known are NONE, Name, Size, Lastmodifiedtimestamp");
    check("transport.vfs.Locking", "maybe", "known are enable, disable");
    check("transport.vfs.FileProcessCount", "many", "a whole number is needed");
    check("transport.vfs.FileSizeLimit", "big", "a number of bytes is needed");
    check("transport.vfs.MinimumAge", "old", "a whole number is needed");
    check("transport.vfs.CheckSizeInterval", "1s", "a whole number is needed");
    check("transport.PollInterval", "soon", "seconds are needed, or milliseconds as 500ms");
    check("interval", "soon", "a whole number is needed");
    check("cron", "soon", "cron is \"soon\"");
    check("sequential", "perhaps", "true and false are known");
    let (none, complaints) = source(&[("transport.vfs.ContentType", "text/xml")]);
    assert!(none.is_none());
    assert_eq!(complaints.len(), 1);
    assert_eq!(complaints[0].message, "the parameter \"transport.vfs.FileURI\" is missing");
}

#[test]
fn a_source_tells_people_what_it_takes() {
    let check = |parameters: &[(&str, &str)], expected: &str| {
        assert_eq!(source(parameters).0.unwrap().describe(), expected);
    };
    check(&[FOLDER], "files of /var/orders, every 300 s");
    let pattern = ("transport.vfs.FileNamePattern", r".*\.xml");
    check(&[FOLDER, pattern, ("interval", "500")], r"files .*\.xml of /var/orders, every 500 ms");
    let below = ("transport.vfs.FileURI", "vfs:file:///var/orders/*");
    check(&[below, ("cron", "0 0 12 * * ?")], "files of /var/orders and the folders below, at 0 0 12 * * ?");
}

#[test]
fn addresses_are_checked() {
    assert_eq!((SPEC.check_address)("vfs:file:///out?transport.vfs.Append=true"), Ok(()));
    for (address, part) in [("vfs:ftp://host/out", "later release"), ("vfs:out", "absolute path")] {
        let error = (SPEC.check_address)(address).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn every_parameter_of_the_documentation_is_read() {
    let page = include_str!("../../../../../docs/file.md");
    let (taking, _) = page.split_once("## Writing files").unwrap();
    let first_cells = taking.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let mut count = 0;
    for name in first_cells.flat_map(|cell| cell.split('`')).filter(|text| text.starts_with(char::is_alphabetic)) {
        let (_, complaints) = source(&[(name, "")]);
        assert!(complaints.iter().all(|complaint| !complaint.message.contains("is unknown")), "{name}");
        count += 1;
    }
    assert!(count > 30, "{count}");
}
