//! Apache's samples that are not played, and why.

/// The reason, and the samples.
pub(crate) const NOT_PLAYED: &[(&str, &[u16])] = &[
    ("needs a transport other than HTTP: JMS", &[251, 253]),
    ("needs a transport other than HTTP: files, FTP, SFTP, mail", &[255, 256, 270]),
    ("needs a transport other than HTTP: FIX", &[257, 258, 259, 260, 261, 262]),
    ("needs a transport other than HTTP: UDP, AMQP", &[266, 269]),
    ("finds its members by Axis2's clustering", &[57, 60]),
    ("its scripts are E4X, which Rhino alone has; 351 and 352 play scripts without it", &[350]),
    ("needs Derby, a database in Java; 360 to 363 are played with SQLite", &[362, 363]),
    ("not offered yet: message stores and processors", &[701, 702, 704]),
    (
        "needs Java or a language of the JVM: Ruby, Python, classes, Spring, EJB",
        &[353, 354, 355, 380, 381, 460, 470, 471],
    ),
    ("needs transactions over databases", &[410]),
    ("needs events and subscriptions", &[501, 502]),
    ("needs a service with WS-Security as a backend; tested with Rampart's", &[431]),
    ("needs the templates of Synapse's EIP library, some of which are Java", &[850, 852, 853, 854, 856, 857]),
];
