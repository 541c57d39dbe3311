//! Locks of single bytes of an open file. They belong to the open file, not to its process: another opening of the same file
//! in the same process is another holder, and the kernel lets go of them when the last descriptor of it is closed, however
//! that comes to be. The bytes need not be there.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What may be held beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Exclusive,
    /// Other shared locks.
    Shared,
}

// Far beyond the end of any of these files.
const FIRST: i64 = 1 << 48;

fn control(
    file: &File,
    command: libc::c_int,
    kind: libc::c_int,
    byte: u32,
) -> io::Result<libc::flock> {
    // SAFETY: plain numbers, for which zeros are good.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = FIRST + i64::from(byte);
    lock.l_len = 1;
    // SAFETY: the descriptor is open, and the command takes a pointer to this, which lives.
    if unsafe { libc::fcntl(file.as_raw_fd(), command, &mut lock) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(lock)
}

/// Takes a lock, unless another opening of the file has it.
pub fn take(file: &File, byte: u32, kind: Kind) -> io::Result<bool> {
    let kind = match kind {
        Kind::Exclusive => libc::F_WRLCK,
        Kind::Shared => libc::F_RDLCK,
    };
    match control(file, libc::F_OFD_SETLK, kind, byte) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Takes a lock that others hold for moments; false where it could not be had for so long: its holder may be stopped.
pub fn wait(file: &File, byte: u32, longest: Duration) -> io::Result<bool> {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(20);
    loop {
        if take(file, byte, Kind::Exclusive)? {
            return Ok(true);
        }
        if begin.elapsed() >= longest {
            return Ok(false);
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

/// Lets go of a lock.
pub fn release(file: &File, byte: u32) -> io::Result<()> {
    control(file, libc::F_OFD_SETLK, libc::F_UNLCK, byte).map(|_| ())
}

/// Whether another opening of the file holds the lock.
pub fn held(file: &File, byte: u32) -> io::Result<bool> {
    let found = control(file, libc::F_OFD_GETLK, libc::F_WRLCK, byte)?;
    Ok(found.l_type != libc::F_UNLCK as libc::c_short)
}
