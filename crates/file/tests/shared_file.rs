//! Files as processes share them: two openings of one file in one process are as those of two.
#![cfg(target_os = "linux")]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::PathBuf;
use std::thread;

use idlest_file::fault::Fault;
use idlest_file::header::{PAGE, Shape};
use idlest_file::leftovers::{MAKING, new_name};
use idlest_file::locks::{self, Kind};
use idlest_file::shared_file::SharedFile;

const SHAPE: Shape = Shape {
    nodes: 8,
    table: 1152,
    shared: 8192,
    row: 4096,
    rows: 4,
};

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("idlest-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("table")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(place: &Place) -> Result<SharedFile, Fault> {
    SharedFile::open(&place.file(), &SHAPE, &[7; 128])
}

#[test]
fn one_of_many_makes_it_and_all_have_the_same() {
    let place = Place::new("race");
    let files: Vec<SharedFile> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| open(&place).unwrap()))
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(files.iter().filter(|file| file.made()).count(), 1);
    assert!(
        files
            .iter()
            .all(|file| file.is_at(&place.file()) && file.shape() == SHAPE)
    );
    // Nothing is left beside it.
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 1);
    let mut first = [0; 128];
    let file = fs::File::open(place.file()).unwrap();
    file.read_exact_at(&mut first, PAGE).unwrap();
    assert_eq!(first, [7; 128]);
}

#[test]
fn locks_are_of_an_opening_and_end_with_it() {
    let place = Place::new("locks");
    let (one, other) = (open(&place).unwrap(), open(&place).unwrap());
    assert!(one.take(5, Kind::Exclusive).unwrap());
    assert!(!other.take(5, Kind::Exclusive).unwrap());
    assert!(other.held(5).unwrap());
    assert!(!one.held(5).unwrap(), "its own are not another's");
    assert!(other.take(6, Kind::Exclusive).unwrap(), "each by itself");
    drop(one);
    assert!(!other.held(5).unwrap());
    assert!(other.take(5, Kind::Exclusive).unwrap());
}

#[test]
fn shared_locks_go_together() {
    let place = Place::new("shared");
    let (one, other) = (open(&place).unwrap(), open(&place).unwrap());
    assert!(one.take(1, Kind::Shared).unwrap());
    assert!(other.take(1, Kind::Shared).unwrap());
    one.release(1).unwrap();
    assert!(one.held(1).unwrap());
    other.release(1).unwrap();
    assert!(!one.held(1).unwrap());
}

#[test]
fn rows_have_room_once_they_are_reserved() {
    let place = Place::new("rows");
    let file = open(&place).unwrap();
    let blocks = || fs::metadata(place.file()).unwrap().blocks();
    let before = blocks();
    file.reserve(3).unwrap();
    assert!(blocks() > before);
    assert!(matches!(file.reserve(4), Err(Fault::Broken)));
}

#[test]
fn a_file_of_an_earlier_boot_is_replaced_once() {
    let place = Place::new("boot");
    let old = open(&place).unwrap();
    let bytes = OpenOptions::new().write(true).open(place.file()).unwrap();
    bytes.write_all_at(b"0000", 56).unwrap();
    let files: Vec<SharedFile> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| open(&place).unwrap()))
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(!old.is_at(&place.file()));
    assert!(files.iter().all(|file| file.is_at(&place.file())));
    assert_eq!(files.iter().filter(|file| file.made()).count(), 1);
}

#[test]
fn the_very_same_file_is_opened_again_whatever_has_its_name() {
    let place = Place::new("again");
    let file = open(&place).unwrap();
    fs::remove_file(place.file()).unwrap();
    let again = SharedFile::open(file.again().as_ref(), &SHAPE, &[7; 128]).unwrap();
    assert!(again.is_at(file.again().as_ref()));
    assert!(!file.is_at(&place.file()));
}

#[test]
fn a_link_leads_to_the_file_also_where_that_is_replaced() {
    let place = Place::new("link");
    let link = place.0.join("link");
    let opened = |path: &PathBuf| SharedFile::open(path, &SHAPE, &[7; 128]);
    let old = open(&place).unwrap();
    symlink(place.file(), &link).unwrap();
    assert!(!opened(&link).unwrap().made());
    let bytes = OpenOptions::new().write(true).open(place.file()).unwrap();
    bytes.write_all_at(b"0000", 56).unwrap();
    let new = opened(&link).unwrap();
    assert!(new.made() && new.is_at(&place.file()) && !old.is_at(&place.file()));
    assert_eq!(fs::read_link(&link).unwrap(), place.file());
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 2);
}

#[test]
fn a_link_that_leads_nowhere_is_refused() {
    let place = Place::new("nowhere");
    symlink(place.0.join("missing"), place.file()).unwrap();
    assert!(matches!(open(&place), Err(Fault::Dangling)));
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 1);
}

#[test]
fn a_file_that_all_users_may_write_is_refused() {
    let place = Place::new("mode");
    drop(open(&place).unwrap());
    for (mode, refused) in [
        (0o644, false),
        (0o660, false),
        (0o602, true),
        (0o666, true),
        (0o600, false),
    ] {
        fs::set_permissions(place.file(), fs::Permissions::from_mode(mode)).unwrap();
        match open(&place) {
            Err(Fault::Writable(found)) => assert!(refused && found == mode),
            other => assert!(!refused && other.is_ok(), "{mode:o}"),
        }
    }
}

#[test]
fn a_file_of_another_user_is_refused_to_root_too() {
    let place = Place::new("user");
    drop(open(&place).unwrap());
    // Only root can give a file away.
    if chown(place.file(), Some(12_345), None).is_err() {
        return;
    }
    assert!(matches!(open(&place), Err(Fault::NotOurs(12_345))));
}

#[test]
fn what_a_dead_maker_left_is_removed_and_what_a_living_one_fills_stays() {
    let place = Place::new("leftovers");
    let (dead, living) = (new_name(&place.file()), new_name(&place.file()));
    fs::write(&dead, "x").unwrap();
    let making = fs::File::create(&living).unwrap();
    assert!(locks::take(&making, MAKING, Kind::Exclusive).unwrap());
    let other = place.0.join("table.new");
    fs::write(&other, "of someone else").unwrap();
    let file = open(&place).unwrap();
    assert!(!dead.exists());
    assert!(living.exists());
    assert!(other.exists());
    drop(making);
    // Also where the table is there already.
    drop(open(&place).unwrap());
    assert!(!living.exists());
    assert!(file.is_at(&place.file()));
}
