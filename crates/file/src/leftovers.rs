//! New files on their way to their name. A table is filled under a name beside its own, `NAME.PID-COUNT-TIME.new`, and is
//! then linked or renamed to it. A process that is killed in between leaves that file, which may have hundreds of megabytes:
//! the next one that opens the table removes it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::locks::{self, Kind};
use crate::mapping::user;

/// The lock of a new file that its maker holds until it has its name.
pub const MAKING: u32 = u32::MAX;

const ENDING: &[u8] = b".new";

/// A name beside a table's own that no other process uses.
#[must_use]
pub fn new_name(path: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let count = NEXT.fetch_add(1, Ordering::Relaxed);
    // Processes of two containers may have one number.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    let mut name = OsString::from(path);
    name.push(format!(".{}-{count}-{now}.new", process::id()));
    PathBuf::from(name)
}

/// Removes the new files beside a table whose makers are dead: nobody holds their lock. What can't be looked at stays.
pub fn remove(path: &Path) {
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else {
        return;
    };
    // Threads open their process's table again by a descriptor. There are no new files beside that.
    if folder.starts_with("/proc") {
        return;
    }
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if is_new(&entry.file_name(), name) {
            remove_dead(&entry.path());
        }
    }
}

fn remove_dead(path: &Path) {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY);
    let Ok(file) = options.open(path) else {
        return;
    };
    let ours = file
        .metadata()
        .is_ok_and(|about| about.is_file() && about.uid() == user());
    // A maker that is about to take the lock finds its file gone, and makes another.
    if ours && locks::take(&file, MAKING, Kind::Exclusive).unwrap_or(false) {
        let _ = fs::remove_file(path);
    }
}

// Whether a file is named as the new ones of this table are.
fn is_new(found: &OsStr, table: &OsStr) -> bool {
    let middle = found
        .as_bytes()
        .strip_prefix(table.as_bytes())
        .and_then(|rest| rest.strip_prefix(b"."))
        .and_then(|rest| rest.strip_suffix(ENDING));
    middle.is_some_and(|middle| {
        let parts: Vec<&[u8]> = middle.split(|&byte| byte == b'-').collect();
        let is_number = |part: &&[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
        parts.len() == 3 && parts.iter().all(is_number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_new_files_of_the_same_table_are_taken_for_such() {
        let table = OsStr::new("table");
        let own = new_name(Path::new("/folder/table"));
        assert!(is_new(own.file_name().unwrap(), table));
        assert!(is_new(OsStr::new("table.1-2-3.new"), table));
        for other in [
            "table",
            "table.new",
            "table.1-2.new",
            "table.1-2-3-4.new",
            "table.1-2-.new",
            "table.1-2-x.new",
            "table.1-2-3.old",
            "table2.1-2-3.new",
            "other.1-2-3.new",
        ] {
            assert!(!is_new(OsStr::new(other), table), "{other}");
        }
    }
}
