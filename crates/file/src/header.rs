//! The first page of a file, little-endian:
//!
//! ```text
//! bytes 0-7    "idlestab"
//!       8-11   version of the format
//!       12-15  nodes that there is room for
//!       16-23  bytes of the first part, which begins at byte 4,096
//!       24-31  bytes of the second part, which begins at the next page
//!       32-39  bytes of a row; rows follow the second part
//!       40-47  rows
//!       48-55  the time namespace, by its inode
//!       56-91  the boot, by the kernel's id
//!       92-123 version of idlest that made the file, in ASCII, followed by zeros
//! ```
//! Both parts have their room on the device from the beginning, rows when they are asked for. All of it but the beginning
//! of the first part is zero in a new file. Bytes 0-11 and 92-123 are the same in every version of the format, so that each
//! version can name the other one.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::fault::{Fault, Outcome, refused};

/// What a file begins with.
pub const MAGIC: &[u8; 8] = b"idlestab";
/// Version of the format, of all that is in such a file.
pub const VERSION: u32 = 2;
/// Bytes of a page, and so of the header.
pub const PAGE: u64 = 4096;

const BOOT_AT: usize = 56;
const BOOT_BYTES: usize = 36;
const MAKER_AT: usize = BOOT_AT + BOOT_BYTES;
const MAKER_BYTES: usize = 32;
/// Bytes of the header that are used.
pub const USED: usize = MAKER_AT + MAKER_BYTES;
/// The version of idlest that this is.
pub const IDLEST: &str = env!("CARGO_PKG_VERSION");

/// How a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Nodes that there is room for.
    pub nodes: u32,
    /// Bytes of the first part.
    pub table: u64,
    /// Bytes of the second part.
    pub shared: u64,
    /// Bytes of a row.
    pub row: u64,
    /// Rows.
    pub rows: u64,
}

fn pages(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(PAGE)
}

impl Shape {
    /// Where the second part begins.
    #[must_use]
    pub fn shared_at(&self) -> Option<u64> {
        pages(self.table)?.checked_add(PAGE)
    }

    /// Where the rows begin.
    #[must_use]
    pub fn rows_at(&self) -> Option<u64> {
        self.shared_at()?.checked_add(pages(self.shared)?)
    }

    /// Bytes of the whole file; none where that can't be, or rows are no whole pages.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        let fits = self.row.is_multiple_of(PAGE) && self.table > 0 && self.shared > 0;
        let total = self
            .rows_at()?
            .checked_add(self.row.checked_mul(self.rows)?)?;
        (fits && total < 1 << 40).then_some(total)
    }
}

/// The clock that all processes count by: which boot, and which time namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    boot: [u8; BOOT_BYTES],
    namespace: u64,
}

impl Origin {
    /// The one of this process.
    pub fn here() -> Outcome<Self> {
        let text = fs::read("/proc/sys/kernel/random/boot_id").map_err(refused("dated"))?;
        let boot = text.first_chunk().copied().ok_or(Fault::OtherClock)?;
        // Kernels before 5.6 have one for all.
        let namespace = fs::metadata("/proc/self/ns/time").map_or(0, |found| found.ino());
        Ok(Self { boot, namespace })
    }

    /// Whether the other is of the same boot.
    #[must_use]
    pub fn same_boot(&self, other: &Self) -> bool {
        self.boot == other.boot
    }
}

/// A header's bytes.
#[must_use]
pub fn write(shape: &Shape, origin: &Origin) -> [u8; USED] {
    let mut bytes = [0; USED];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&shape.nodes.to_le_bytes());
    let numbers = [
        shape.table,
        shape.shared,
        shape.row,
        shape.rows,
        origin.namespace,
    ];
    for (number, at) in numbers.into_iter().zip((16..).step_by(8)) {
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
    bytes[BOOT_AT..MAKER_AT].copy_from_slice(&origin.boot);
    for (to, from) in bytes[MAKER_AT..].iter_mut().zip(IDLEST.bytes()) {
        *to = from;
    }
    bytes
}

/// What a header says.
pub fn read(bytes: &[u8; USED]) -> Outcome<(Shape, Origin)> {
    if !bytes.starts_with(MAGIC) {
        return Err(Fault::Foreign);
    }
    let version = word(bytes, 8);
    if version != VERSION {
        return Err(Fault::Version {
            format: version,
            maker: maker(bytes),
        });
    }
    let shape = Shape {
        nodes: word(bytes, 12),
        table: long(bytes, 16),
        shared: long(bytes, 24),
        row: long(bytes, 32),
        rows: long(bytes, 40),
    };
    let mut boot = [0; BOOT_BYTES];
    boot.copy_from_slice(&bytes[BOOT_AT..MAKER_AT]);
    Ok((
        shape,
        Origin {
            boot,
            namespace: long(bytes, 48),
        },
    ))
}

// The version of idlest that made the file; empty where the file does not say, or says something else.
fn maker(bytes: &[u8; USED]) -> String {
    let text = bytes[MAKER_AT..].split(|byte| *byte == 0).next();
    text.and_then(|text| std::str::from_utf8(text).ok())
        .filter(|text| {
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte))
        })
        .unwrap_or_default()
        .to_owned()
}

fn word(bytes: &[u8; USED], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

fn long(bytes: &[u8; USED], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        nodes: 5,
        table: 768,
        shared: 4097,
        row: 4096,
        rows: 3,
    };

    #[test]
    fn a_header_says_what_was_written() {
        let origin = Origin::here().unwrap();
        let bytes = write(&SHAPE, &origin);
        let (shape, found) = read(&bytes).unwrap();
        assert_eq!(shape, SHAPE);
        assert_eq!(found, origin);
    }

    #[test]
    fn parts_begin_at_pages() {
        assert_eq!(SHAPE.shared_at(), Some(8192));
        assert_eq!(SHAPE.rows_at(), Some(16_384));
        assert_eq!(SHAPE.total(), Some(28_672));
    }

    #[test]
    fn shapes_that_cannot_be_have_no_size() {
        for shape in [
            Shape {
                table: u64::MAX,
                ..SHAPE
            },
            Shape {
                shared: u64::MAX - 4096,
                ..SHAPE
            },
            Shape { row: 4095, ..SHAPE },
            Shape {
                rows: u64::MAX,
                ..SHAPE
            },
            Shape { table: 0, ..SHAPE },
            Shape {
                rows: 1 << 30,
                ..SHAPE
            },
        ] {
            assert_eq!(shape.total(), None, "{shape:?}");
        }
    }

    #[test]
    fn foreign_files_and_files_of_another_version_are_distinguished() {
        let mut bytes = write(&SHAPE, &Origin::here().unwrap());
        bytes[8] = 9;
        assert!(matches!(
            read(&bytes),
            Err(Fault::Version { format: 9, .. })
        ));
        bytes[0] = b'x';
        assert!(matches!(read(&bytes), Err(Fault::Foreign)));
    }

    #[test]
    fn a_file_of_another_version_names_the_version_that_made_it() {
        let mut bytes = write(&SHAPE, &Origin::here().unwrap());
        bytes[8] = 9;
        let maker = |bytes: &[u8; USED]| match read(bytes) {
            Err(Fault::Version { maker, .. }) => maker,
            other => panic!("{other:?}"),
        };
        assert_eq!(maker(&bytes), IDLEST);
        bytes[MAKER_AT..MAKER_AT + 11].copy_from_slice(b"2.0.0-rc.1\0");
        assert_eq!(maker(&bytes), "2.0.0-rc.1");
        // Nothing of a damaged file is shown.
        for wrong in [0x1b, 0xff, b'\n'] {
            bytes[MAKER_AT] = wrong;
            assert_eq!(maker(&bytes), "");
        }
        bytes[MAKER_AT..].fill(b'7');
        assert_eq!(maker(&bytes).len(), MAKER_BYTES);
    }
}
