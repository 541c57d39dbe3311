//! A file's memory. Whoever cuts such a file short takes pages away from under those who map it, and the kernel sends them
//! SIGBUS when they touch one. Here that signal puts empty memory in place of the file's: readings are missing from then
//! on, and nothing crashes.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError, Weak};

use crate::fault::{Fault, Outcome, refused};

// Looked through by the signal's handler, which can't wait for locks nor allocate.
struct Guarded {
    base: AtomicUsize,
    length: AtomicUsize,
    lost: AtomicBool,
    used: AtomicBool,
    // What the second page begins with, which stays: so that the memory is one of the same kind, but empty.
    start: [AtomicU64; START],
}

const MOST: usize = 1024;

// Words of 64 bits that stay: the header of a table.
const START: usize = 16;
const START_AT: usize = 4096;

static GUARDED: [Guarded; MOST] = [const {
    Guarded {
        base: AtomicUsize::new(0),
        length: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
        used: AtomicBool::new(false),
        start: [const { AtomicU64::new(0) }; START],
    }
}; MOST];

static MAPPINGS: Mutex<Vec<Weak<Mapping>>> = Mutex::new(Vec::new());

/// An open file with all of its memory.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    length: usize,
    place: usize,
    file: File,
}

// SAFETY: the memory may be used from any thread, and is never used here; the file is a descriptor.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `length` bytes of a file, which has them.
    pub fn new(file: File, length: usize) -> Outcome<Arc<Self>> {
        guard();
        let free = |place: &Guarded| !place.used.swap(true, Ordering::AcqRel);
        let place = GUARDED.iter().position(free).ok_or(Fault::TooMany)?;
        // SAFETY: new memory, at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(
                null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        let guarded = &GUARDED[place];
        let Some(base) = NonNull::new(base.cast::<u8>()).filter(|_| base != libc::MAP_FAILED)
        else {
            guarded.used.store(false, Ordering::Release);
            return Err(refused("mapped")(io::Error::last_os_error()));
        };
        guarded.lost.store(false, Ordering::Relaxed);
        guarded.length.store(length, Ordering::Relaxed);
        guarded.base.store(base.as_ptr().addr(), Ordering::Release);
        if length >= START_AT + START * 8 {
            for (i, word) in guarded.start.iter().enumerate() {
                // SAFETY: inside the mapping, aligned since that begins at a page, and from here on guarded.
                let found =
                    unsafe { AtomicU64::from_ptr(base.add(START_AT + i * 8).as_ptr().cast()) };
                word.store(found.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        let mapping = Arc::new(Self {
            base,
            length,
            place,
            file,
        });
        let mut mappings = MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner);
        mappings.retain(|other| other.strong_count() > 0);
        mappings.push(Arc::downgrade(&mapping));
        Ok(mapping)
    }

    /// The mapping that has all of these bytes, to keep them.
    #[must_use]
    pub fn of(address: *const u8, length: usize) -> Option<Arc<Self>> {
        let mappings = MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner);
        mappings.iter().filter_map(Weak::upgrade).find(|mapping| {
            let from = address.addr().checked_sub(mapping.base.as_ptr().addr());
            let to = from.and_then(|from| from.checked_add(length));
            to.is_some_and(|to| to <= mapping.length)
        })
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The address of a part of it; none where it is not all inside. Good for as long as the mapping lives.
    #[must_use]
    pub fn part(&self, at: usize, length: usize) -> Option<NonNull<u8>> {
        let end = at.checked_add(length)?;
        // SAFETY: inside the mapping, as was just found.
        (end <= self.length).then(|| unsafe { self.base.add(at) })
    }

    /// Whether the file was cut short, so that this is memory of the process's own now.
    #[must_use]
    pub fn lost(&self) -> bool {
        GUARDED[self.place].lost.load(Ordering::Relaxed)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let guarded = &GUARDED[self.place];
        guarded.base.store(0, Ordering::Release);
        // SAFETY: mapped in `new`, and nobody has it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
        guarded.used.store(false, Ordering::Release);
    }
}

static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

// Takes the signal, once in a process.
fn guard() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: both are those of the C library, for which zeros are good; what was there before is known before the
        // handler, which needs it, is there.
        unsafe {
            libc::sigaction(libc::SIGBUS, std::ptr::null(), before.as_mut_ptr());
            let _ = BEFORE.set(before.assume_init());
            let mut ours = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                on_bus_error;
            ours.sa_sigaction = handler as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigemptyset(&mut ours.sa_mask);
            libc::sigaction(libc::SIGBUS, &ours, null_mut());
        }
    });
}

// Only what may be done in a handler: atomics and system calls.
extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel gives what the signal came with.
    let address = unsafe { (*info).si_addr() }.addr();
    for guarded in &GUARDED {
        let base = guarded.base.load(Ordering::Acquire);
        let length = guarded.length.load(Ordering::Relaxed);
        if base == 0 || address < base || address - base >= length {
            continue;
        }
        // SAFETY: the place of the calling thread's own.
        let errno = unsafe { *libc::__errno_location() };
        // SAFETY: all of this is a mapping of this module's, and stays one: other memory takes its place.
        let put = unsafe {
            libc::mmap(
                base as *mut libc::c_void,
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = errno };
        if put != libc::MAP_FAILED {
            if length >= START_AT + START * 8 {
                for (i, word) in guarded.start.iter().enumerate() {
                    let at = (base + START_AT + i * 8) as *mut u64;
                    // SAFETY: inside the new memory, and aligned since that begins at a page.
                    unsafe { AtomicU64::from_ptr(at) }
                        .store(word.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
            guarded.lost.store(true, Ordering::Relaxed);
            return;
        }
        break;
    }
    pass_on(signal, info, context);
}

// Not ours: whoever had the signal before gets it, or it does what it does by default.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get();
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: the default is always there. What failed is tried again after this, and then ends the process.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    } else if before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0) {
        // SAFETY: with this flag it was given as a function of these.
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: without the flag it was given as a function of the signal.
        let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
        handler(signal);
    }
}

/// Takes room on the device for a part of a file, so that no page of it is missing when it is touched.
pub fn allocate(file: &File, at: u64, length: u64) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    let failed = unsafe {
        libc::posix_fallocate(file.as_raw_fd(), at as libc::off_t, length as libc::off_t)
    };
    if failed == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(failed))
    }
}

/// The user that this process acts for.
#[must_use]
pub fn user() -> u32 {
    // SAFETY: it can't fail.
    unsafe { libc::geteuid() }
}
