//! Why a file can't be used.

use std::fmt;
use std::io;

/// Why a file can't be used, in words for whoever named it.
#[derive(Debug)]
pub enum Fault {
    /// The system refused a step.
    System(&'static str, io::Error),
    /// It is no regular file.
    NotAFile,
    /// It is a link to what is not there.
    Dangling,
    /// Another user has it.
    NotOurs(u32),
    /// All users may write it: its mode.
    Writable(u32),
    /// It does not begin as these files do.
    Foreign,
    /// It was made by another version of idlest.
    Version {
        /// The version of its format.
        format: u32,
        /// The version of idlest; empty where the file does not say.
        maker: String,
    },
    /// It is shorter or longer than it says.
    Size {
        /// What it has.
        found: u64,
        /// What it should have.
        expected: u64,
    },
    /// What it says of itself can't be.
    Broken,
    /// Its times are of another clock: processes of another time namespace share it.
    OtherClock,
    /// Another process has a lock for too long.
    Busy,
    /// It was exchanged again and again while it was opened.
    Restless,
    /// The process maps more files than can be looked after.
    TooMany,
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(step, error) => write!(to, "it can't be {step}: {error}"),
            Self::NotAFile => to.write_str("it is not a regular file"),
            Self::Dangling => to.write_str(
                "it is a link to a file that is not there. Name that file itself, or delete the link",
            ),
            Self::NotOurs(user) => write!(
                to,
                "it belongs to another user ({user}), and whoever owns it decides which nodes are picked: root may not use it either. Run as that user, or name another file"
            ),
            Self::Writable(mode) => write!(
                to,
                "all users may write it (its mode is {mode:04o}), and who writes it decides who is picked. Let its user alone do so: chmod 600"
            ),
            Self::Foreign => to.write_str(
                "it is not a table: it does not begin as one. Name another file, or delete it",
            ),
            Self::Version { format, maker } => {
                let maker = if maker.is_empty() {
                    "of another version"
                } else {
                    maker
                };
                write!(
                    to,
                    "it was made by idlest {maker} (format {format}), and this is idlest {} (format {}). Give each version a file of its own, or stop all processes that use it and delete it",
                    crate::header::IDLEST,
                    crate::header::VERSION
                )
            }
            Self::Size { found, expected } => write!(
                to,
                "it was cut short or added to: it has {found} bytes and should have {expected}. Delete it, then start anew all that use it"
            ),
            Self::Broken => to.write_str(
                "what it says of itself can't be. Delete it, then start anew all that use it",
            ),
            Self::OtherClock => to
                .write_str("its times are of another clock: it was made in another time namespace"),
            Self::Busy => to.write_str("another process keeps it locked"),
            Self::Restless => to.write_str("others exchange it again and again"),
            Self::TooMany => to.write_str("this process has too many tables in files open"),
        }
    }
}

impl std::error::Error for Fault {}

/// What a step came to.
pub type Outcome<T> = Result<T, Fault>;

/// Names the step that the system refused.
pub fn refused(step: &'static str) -> impl Fn(io::Error) -> Fault {
    move |error| Fault::System(step, error)
}
