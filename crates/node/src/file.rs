//! Tables in files: `TableFileBinding` of `src/table/file/table-file.ts`.

use napi::bindgen_prelude::Uint8Array;
use napi::{Error, Result};
use napi_derive::napi;

#[cfg(target_os = "linux")]
use crate::raw::external::External;

/// How a file is laid out: `crates/file/src/header.rs`.
#[napi(object)]
pub struct FileShape {
    /// Nodes that there is room for.
    pub nodes: u32,
    /// Bytes of the first part.
    pub table: f64,
    /// Bytes of the second part.
    pub shared: f64,
    /// Bytes of a row.
    pub row: f64,
    /// Rows.
    pub rows: u32,
}

/// A file that processes share as memory.
#[napi]
pub struct TableFile {
    #[cfg(target_os = "linux")]
    file: idlest_file::shared_file::SharedFile,
}

#[cfg(target_os = "linux")]
fn failed(fault: idlest_file::fault::Fault) -> Error {
    Error::from_reason(fault.to_string())
}

#[cfg(target_os = "linux")]
#[napi]
impl TableFile {
    /// Opens the file, or makes it where there is none. `first`: what the first part of a new one begins with.
    #[napi(factory, catch_unwind)]
    pub fn open(path: String, shape: FileShape, first: Uint8Array) -> Result<Self> {
        let shape = idlest_file::header::Shape {
            nodes: shape.nodes,
            table: shape.table as u64,
            shared: shape.shared as u64,
            row: shape.row as u64,
            rows: u64::from(shape.rows),
        };
        idlest_file::shared_file::SharedFile::open(path.as_ref(), &shape, &first)
            .map(|file| Self { file })
            .map_err(failed)
    }

    /// How it is laid out.
    #[napi]
    pub fn shape(&self) -> FileShape {
        let shape = self.file.shape();
        FileShape {
            nodes: shape.nodes,
            table: shape.table as f64,
            shared: shape.shared as f64,
            row: shape.row as f64,
            rows: shape.rows as u32,
        }
    }

    /// The first part.
    #[napi(catch_unwind, ts_return_type = "ArrayBuffer")]
    pub fn table(&self) -> Result<External> {
        self.part(
            Some(idlest_file::header::PAGE),
            Some(self.file.shape().table),
        )
    }

    /// The second part, and the rows.
    #[napi(catch_unwind, ts_return_type = "ArrayBuffer")]
    pub fn shared(&self) -> Result<External> {
        let shape = self.file.shape();
        let at = shape.shared_at();
        let end = shape.total();
        self.part(at, end.zip(at).and_then(|(end, at)| end.checked_sub(at)))
    }

    fn part(&self, at: Option<u64>, length: Option<u64>) -> Result<External> {
        at.zip(length)
            .and_then(|(at, length)| External::of(self.file.mapping(), at, length))
            .ok_or_else(|| failed(idlest_file::fault::Fault::Broken))
    }

    /// Whether it was made just now, by this.
    #[napi]
    pub fn made(&self) -> bool {
        self.file.made()
    }

    /// A path by which this process can open the very same file again.
    #[napi]
    pub fn again(&self) -> String {
        self.file.again()
    }

    /// Whether the path still leads to this file.
    #[napi]
    pub fn is_at(&self, path: String) -> bool {
        self.file.is_at(path.as_ref())
    }

    /// Whether it was cut short, so that its memory is this process's own now.
    #[napi]
    pub fn lost(&self) -> bool {
        self.file.mapping().lost()
    }

    /// Takes room on the device for a row, so that it may be touched.
    #[napi(catch_unwind)]
    pub fn reserve(&self, row: u32) -> Result<()> {
        self.file.reserve(u64::from(row)).map_err(failed)
    }

    /// Takes a lock that others hold for moments; false where another keeps it for `longest` milliseconds.
    #[napi(catch_unwind)]
    pub fn wait(&self, lock: u32, longest: u32) -> Result<bool> {
        let longest = std::time::Duration::from_millis(u64::from(longest));
        self.file.wait(lock, longest).map_err(failed)
    }

    /// Takes a lock, unless another has it.
    #[napi(catch_unwind)]
    pub fn take(&self, lock: u32, exclusive: bool) -> Result<bool> {
        use idlest_file::locks::Kind;
        let kind = if exclusive {
            Kind::Exclusive
        } else {
            Kind::Shared
        };
        self.file.take(lock, kind).map_err(failed)
    }

    /// Lets go of a lock.
    #[napi(catch_unwind)]
    pub fn release(&self, lock: u32) -> Result<()> {
        self.file.release(lock).map_err(failed)
    }

    /// Whether another has the lock.
    #[napi(catch_unwind)]
    pub fn held(&self, lock: u32) -> Result<bool> {
        self.file.held(lock).map_err(failed)
    }
}

#[cfg(not(target_os = "linux"))]
#[napi]
impl TableFile {
    /// There are none here.
    #[napi(factory)]
    pub fn open(_path: String, _shape: FileShape, _first: Uint8Array) -> Result<Self> {
        Err(Error::from_reason(
            "tables in files need Linux: share a table between threads, or run one balancer a process",
        ))
    }
}
