//! One file, opened or made.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::fault::{Fault, Outcome, refused};
use crate::header::{self, Origin, PAGE, Shape};
use crate::leftovers;
use crate::locks::{self, Kind};
use crate::mapping::Mapping;

/// The lock of what belongs together in a file; also of its replacement.
pub const WHOLE_LOCK: u32 = 0;

const PATIENCE: Duration = Duration::from_secs(2);
const TRIES: usize = 20;

/// A file that this process shares with others.
#[derive(Debug)]
pub struct SharedFile {
    mapping: Arc<Mapping>,
    shape: Shape,
    made: bool,
}

impl SharedFile {
    /// Opens the file, or makes it where there is none, or where it is of an earlier boot. Nobody ever sees a part of a new
    /// one.
    ///
    /// # Arguments
    /// * `shape`: how a new one is laid out; one that is there may differ
    /// * `first`: what the first part of a new one begins with
    pub fn open(path: &Path, shape: &Shape, first: &[u8]) -> Outcome<Self> {
        let origin = Origin::here()?;
        let mut made = false;
        leftovers::remove(path);
        for _ in 0..TRIES {
            let mut options = OpenOptions::new();
            // A pipe is not waited for.
            options
                .read(true)
                .write(true)
                .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
            let file = match options.open(path) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
                        return Err(Fault::Dangling);
                    }
                    made = make(path, shape, first, &origin, |new| fs::hard_link(new, path))?;
                    continue;
                }
                Err(error) => return Err(refused("opened")(error)),
            };
            let (found, from) = check(&file)?;
            if !from.same_boot(&origin) {
                // A link stays: others may name what it leads to.
                if let Ok(path) = fs::canonicalize(path) {
                    made = replace(&path, &file, shape, first, &origin)?;
                }
                continue;
            }
            if from != origin {
                return Err(Fault::OtherClock);
            }
            let length = found.total().and_then(|total| usize::try_from(total).ok());
            let mapping = Mapping::new(file, length.ok_or(Fault::Broken)?)?;
            return Ok(Self {
                mapping,
                shape: found,
                made,
            });
        }
        Err(Fault::Restless)
    }

    /// How it is laid out.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether it was made just now, by this.
    #[must_use]
    pub fn made(&self) -> bool {
        self.made
    }

    /// Its memory.
    #[must_use]
    pub fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    /// A path by which this process can open the very same file again, whatever has its name by now.
    #[must_use]
    pub fn again(&self) -> String {
        format!("/proc/self/fd/{}", self.mapping.file().as_raw_fd())
    }

    /// Whether the path still leads to this file.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        let (here, there) = (self.mapping.file().metadata(), fs::metadata(path));
        here.is_ok_and(|here| there.is_ok_and(|there| same(&here, &there)))
    }

    /// Takes room on the device for a row, so that it may be touched.
    pub fn reserve(&self, row: u64) -> Outcome<()> {
        let at = self
            .shape
            .rows_at()
            .filter(|_| row < self.shape.rows)
            .ok_or(Fault::Broken)?;
        allocate(
            self.mapping.file(),
            at + row * self.shape.row,
            self.shape.row,
        )
    }

    /// Takes a lock that others hold for moments; false where another process keeps it for so long.
    pub fn wait(&self, byte: u32, longest: Duration) -> Outcome<bool> {
        locks::wait(self.mapping.file(), byte, longest).map_err(refused("locked"))
    }

    /// Takes a lock, unless another has it.
    pub fn take(&self, byte: u32, kind: Kind) -> Outcome<bool> {
        locks::take(self.mapping.file(), byte, kind).map_err(refused("locked"))
    }

    /// Lets go of a lock.
    pub fn release(&self, byte: u32) -> Outcome<()> {
        locks::release(self.mapping.file(), byte).map_err(refused("unlocked"))
    }

    /// Whether another has the lock.
    pub fn held(&self, byte: u32) -> Outcome<bool> {
        locks::held(self.mapping.file(), byte).map_err(refused("looked at for locks"))
    }
}

fn same(one: &Metadata, other: &Metadata) -> bool {
    one.dev() == other.dev() && one.ino() == other.ino()
}

// Reads what the file says of itself, before anything of it is mapped.
fn check(file: &File) -> Outcome<(Shape, Origin)> {
    let about = file.metadata().map_err(refused("looked at"))?;
    if !about.is_file() {
        return Err(Fault::NotAFile);
    }
    // Root is no exception: whoever owns the file decides which nodes are picked.
    if about.uid() != crate::mapping::user() {
        return Err(Fault::NotOurs(about.uid()));
    }
    let mut bytes = [0; header::USED];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            // The beginning of one of ours was cut short; anything else is foreign.
            let mut start = [0; header::MAGIC.len()];
            let ours = file.read_exact_at(&mut start, 0).is_ok() && start == *header::MAGIC;
            let size = Fault::Size {
                found: about.len(),
                expected: PAGE,
            };
            return Err(if ours { size } else { Fault::Foreign });
        }
        Err(error) => return Err(refused("read")(error)),
    }
    let (shape, origin) = header::read(&bytes)?;
    let expected = shape.total().ok_or(Fault::Broken)?;
    if about.len() != expected {
        return Err(Fault::Size {
            found: about.len(),
            expected,
        });
    }
    // Its group was given it on purpose: it is made for its user alone.
    if about.mode() & 0o002 != 0 {
        return Err(Fault::Writable(about.mode() & 0o7777));
    }
    Ok((shape, origin))
}

// Nobody counts by the clock of another boot. One process puts a new file in its place, and the others find that.
fn replace(path: &Path, old: &File, shape: &Shape, first: &[u8], origin: &Origin) -> Outcome<bool> {
    if !locks::wait(old, WHOLE_LOCK, PATIENCE).map_err(refused("locked"))? {
        return Err(Fault::Busy);
    }
    let still = old
        .metadata()
        .is_ok_and(|old| fs::metadata(path).is_ok_and(|now| same(&old, &now)));
    if !still {
        return Ok(false);
    }
    make(path, shape, first, origin, |new| fs::rename(new, path))
}

// Makes a file beside, whole, and then names it; false where another process was first, or took it for a leftover.
fn make(
    path: &Path,
    shape: &Shape,
    first: &[u8],
    origin: &Origin,
    name: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Outcome<bool> {
    let beside = leftovers::new_name(path);
    let made = fill(&beside, shape, first, origin).and_then(|_locked| match name(&beside) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(refused("made")(error)),
    });
    // Its other name stays; a rename has taken this one already.
    let _ = fs::remove_file(&beside);
    made
}

// The file is returned with the lock that shows that its maker lives: it goes when the file is closed.
fn fill(path: &Path, shape: &Shape, first: &[u8], origin: &Origin) -> Outcome<File> {
    let (Some(total), Some(rows)) = (shape.total(), shape.rows_at()) else {
        return Err(Fault::Broken);
    };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let file = options.open(path).map_err(refused("made"))?;
    locks::take(&file, leftovers::MAKING, Kind::Exclusive).map_err(refused("locked"))?;
    file.set_len(total).map_err(refused("made"))?;
    allocate(&file, 0, rows)?;
    file.write_all_at(first, PAGE).map_err(refused("written"))?;
    file.write_all_at(&header::write(shape, origin), 0)
        .map_err(refused("written"))?;
    Ok(file)
}

fn allocate(file: &File, at: u64, length: u64) -> Outcome<()> {
    crate::mapping::allocate(file, at, length).map_err(refused("given its room"))
}
