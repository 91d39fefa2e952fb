//! What a process gives up before it runs a line of a site's code.

use crate::message::Settings;
use rustix::{
    io::Errno,
    process::{Resource, Rlimit, nice, setrlimit},
};

/// How much less of a busy processor code gets than the server: about a third.
const NICENESS: i32 = 5;

/// Closes all but the first three descriptors, and gives up files, sockets, other processes, core dumps and more memory
/// than the settings say, for good.
///
/// # Errors
/// What could not be given up; code must not run then.
pub fn confine(settings: Settings) -> Result<(), String> {
    close_descriptors().map_err(|it| format!("descriptors can't be closed: {it}"))?;
    nice(NICENESS).map_err(|it| format!("the priority can't be lowered: {it}"))?;
    set_limits(settings).map_err(|it| format!("limits can't be set: {it}"))?;
    #[cfg(target_os = "linux")]
    rustix::thread::set_no_new_privs(true).map_err(|it| format!("privileges can't be given up: {it}"))?;
    Ok(())
}

/// Those that the server's own parent left open: what the server opens itself is closed when a program is started.
fn close_descriptors() -> std::io::Result<()> {
    let directory = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let mut open = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        open.extend(entry?.file_name().to_str().and_then(|it| it.parse::<i32>().ok()).filter(|it| *it > 2));
    }
    for descriptor in open {
        // The directory's own is closed by now.
        let _ = nix::unistd::close(descriptor);
    }
    Ok(())
}

fn set_limits(settings: Settings) -> Result<(), Errno> {
    let addresses = addresses_in_use().saturating_add((settings.memory + settings.beside()) as u64);
    for (resource, most) in [
        // No dump in a file, which would be larger, and unlike with 0 none in a pipe either.
        (Resource::Core, 1),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Nofile, 3),
        (Resource::As, addresses),
    ] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

/// Bytes of addresses that the program has before any code is loaded.
fn addresses_in_use() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|it| it.split(' ').next()?.parse::<u64>().ok()).unwrap_or(1 << 16);
    pages.saturating_mul(rustix::param::page_size() as u64)
}
