//! What a process has in memory and takes of the processor, watched from outside.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// Anonymous memory of a process in bytes: what its own data needs, without the files it maps.
pub fn anonymous(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or(0) * 1024
}

/// Seconds of the processor that a process has had, its own and the kernel's on its behalf; in hundredths,
/// the unit of `/proc/PID/stat`.
pub fn processor_time(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, in parentheses, may have spaces in it.
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after_name.split(' ').skip(11).take(2).filter_map(|it| it.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// Looks ten times a second and keeps the most.
pub struct Peak {
    most: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peak {
    pub fn watch(process: u32) -> Self {
        let (most, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (seen, stopped) = (most.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                seen.fetch_max(anonymous(process), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        Self { most, stop, thread: Some(thread) }
    }

    pub fn megabytes(&self) -> u64 {
        self.most.load(Ordering::Relaxed) >> 20
    }
}

impl Drop for Peak {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
