//! A reader's map of the file outlives other connections' commits.
//!
//! SQLite gives a map of the whole file back as soon as it sees that another connection has committed, because POSIX
//! doesn't promise that a map follows a file that was cut and has grown again. So each commit cost each
//! reader an `munmap` and then a page fault for every sixteen pages it came by, for the whole of the file
//! that is in use: with sixty commits a second that stood among the first entries of the profile of point
//! reads, and made their p99 about twice as long. Linux does promise it for the file systems of its own
//! disks (one page cache behind maps and files; WAL mode needs as much for its index), so there the map
//! stays until the file has outgrown it (decision 16).
//!
//! A page that a snapshot may read lies within the file as long as the snapshot is open, whether or not
//! SQLite maps again: a checkpoint cuts the file only when no reader uses what would be cut off.

use crate::Error;
use rusqlite::Connection;

/// The most of a file that is mapped, in bytes; what lies behind it is read into SQLite's cache.
pub(super) const LARGEST: i64 = 1 << 30;

/// Keeps the connection's map over commits of others.
///
/// # Errors
/// [`Error::Other`] when SQLite doesn't show its file.
#[cfg(not(target_os = "linux"))]
pub(super) fn keep(_: &Connection) -> Result<(), Error> {
    Ok(())
}

#[cfg(target_os = "linux")]
pub(super) use linux::keep;

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "SQLite's file methods are a table of C functions, and have no safe wrapper")]
mod linux {
    use super::{Connection, Error, LARGEST};
    use rusqlite::ffi;
    use std::{
        ffi::{c_int, c_void},
        ptr,
        sync::OnceLock,
    };

    /// SQLite's methods for files, as they are and with our [`unfetch`].
    struct Methods {
        theirs: &'static ffi::sqlite3_io_methods,
        ours: ffi::sqlite3_io_methods,
    }

    static METHODS: OnceLock<Methods> = OnceLock::new();

    pub fn keep(conn: &Connection) -> Result<(), Error> {
        let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
        // SAFETY: the handle is open for the whole call, and this operation writes one pointer to where the
        // last argument leads.
        let code = unsafe {
            let into = (&raw mut file).cast::<c_void>();
            ffi::sqlite3_file_control(conn.handle(), ptr::null(), ffi::SQLITE_FCNTL_FILE_POINTER, into)
        };
        if code != ffi::SQLITE_OK || file.is_null() {
            return Err(Error::Other(format!("asking SQLite for its file: {code}")));
        }
        // SAFETY: the file is open as long as its connection is. The tables of methods that come with SQLite
        // are constants, so that they are there as long as the program. No other thread uses the connection.
        unsafe {
            let Some(theirs) = (*file).pMethods.as_ref::<'static>() else { return Ok(()) };
            let methods = METHODS.get_or_init(|| {
                let ours = ffi::sqlite3_io_methods { xUnfetch: Some(unfetch), ..*theirs };
                Methods { theirs, ours }
            });
            // Files of another kind keep their own methods, and so do files that can't be mapped.
            if ptr::eq(theirs, methods.theirs) && theirs.iVersion >= 3 && theirs.xUnfetch.is_some() {
                (*file).pMethods = &raw const methods.ours;
            }
        }
        Ok(())
    }

    /// SQLite's own method, but for a request to give the map back (`page` is null) when it covers the file.
    unsafe extern "C" fn unfetch(file: *mut ffi::sqlite3_file, offset: i64, page: *mut c_void) -> c_int {
        let Some(methods) = METHODS.get() else { return ffi::SQLITE_INTERNAL };
        let Some(give_back) = methods.theirs.xUnfetch else { return ffi::SQLITE_INTERNAL };
        // SAFETY: SQLite calls us with a file of its own that is open, and the methods are those of this file.
        unsafe {
            if page.is_null() && covers(methods.theirs, file) {
                return ffi::SQLITE_OK;
            }
            give_back(file, offset, page)
        }
    }

    /// Whether the map holds all of the file but an eighth at most.
    unsafe fn covers(methods: &ffi::sqlite3_io_methods, file: *mut ffi::sqlite3_file) -> bool {
        let (Some(size_of), Some(fetch), Some(give_back)) = (methods.xFileSize, methods.xFetch, methods.xUnfetch)
        else {
            return false;
        };
        let (mut size, mut page) = (0_i64, ptr::null_mut::<c_void>());
        // SAFETY: as in `unfetch`; what was fetched is given back before anything else happens.
        unsafe {
            if size_of(file, &raw mut size) != ffi::SQLITE_OK {
                return false;
            }
            let mapped = size.min(LARGEST);
            let probe = mapped - mapped / 8 - 512;
            if probe < 0 || fetch(file, probe, 1, &raw mut page) != ffi::SQLITE_OK || page.is_null() {
                return false;
            }
            give_back(file, probe, page) == ffi::SQLITE_OK
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use crate::sqlite::{open_for_migration, reader};
    use rusqlite::Connection;
    use std::path::Path;

    /// Where in memory the file is mapped, by the kernel's own account.
    fn maps(file: &Path) -> Vec<(u64, u64)> {
        let all = std::fs::read_to_string("/proc/self/maps").expect("maps");
        let number = |it: &str| u64::from_str_radix(it, 16).expect("an address");
        let mine = all.lines().filter(|it| it.ends_with(&*file.to_string_lossy()));
        mine.map(|it| it.split(' ').next().and_then(|it| it.split_once('-')).expect("a range"))
            .map(|(from, to)| (number(from), number(to)))
            .collect()
    }

    fn add(writer: &Connection, rows: i64) {
        let sql = "with recursive n(i) as (select 1 union all select i + 1 from n where i < ?) \
                   insert into t (it) select printf('%0500d', i) from n";
        writer.execute(sql, [rows]).expect("added");
        writer.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).expect("a checkpoint");
    }

    /// Sees every row, by reading it.
    fn count(reader: &Connection) -> i64 {
        let sql = "select count(*) from t where length(it) = 500";
        reader.query_row(sql, [], |row| row.get(0)).expect("counted")
    }

    #[test]
    fn map_outlives_commits_and_follows_the_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("map.sqlite");
        let writer = open_for_migration(&file).expect("a writer");
        writer.execute_batch("create table t (it text)").expect("a table");
        add(&writer, 2_000);
        let reader = reader::open(&file).expect("a reader");
        assert_eq!(count(&reader), 2_000);
        let before = maps(&file);
        assert_eq!(before.len(), 1, "{before:x?}");

        // Commits of others leave it where it is, and are seen.
        for n in 0..20 {
            add(&writer, 1);
            assert_eq!(count(&reader), 2_001 + n);
            assert_eq!(maps(&file), before);
        }
        // A file that has outgrown its map is mapped again.
        add(&writer, 8_000);
        assert_eq!(count(&reader), 10_020);
        let grown = maps(&file);
        assert!(grown.len() == 1 && grown[0].1 - grown[0].0 > 2 * (before[0].1 - before[0].0), "{grown:x?}");

        // Cut and grown again, with a map that reached beyond the end meanwhile.
        writer.execute_batch("delete from t where rowid > 100; vacuum").expect("cut");
        writer.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).expect("a checkpoint");
        assert!(std::fs::metadata(&file).expect("a file").len() < (grown[0].1 - grown[0].0) / 10);
        assert_eq!(count(&reader), 100);
        for n in 1..=20 {
            add(&writer, 1_000);
            assert_eq!(count(&reader), 100 + n * 1_000);
        }
        assert_eq!(maps(&file).len(), 1);

        // A snapshot stays what it was, whatever others do to the file.
        reader.execute_batch("begin").expect("begun");
        assert_eq!(count(&reader), 20_100);
        writer.execute_batch("delete from t; vacuum").expect("emptied");
        let _ = writer.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(()));
        assert_eq!(count(&reader), 20_100);
        reader.execute_batch("commit").expect("ended");
        assert_eq!(count(&reader), 0);
    }
}
