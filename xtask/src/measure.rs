//! What a run of `neap` costs: processor time and the most memory the process held.
//!
//! The run happens in a process of its own that reports on itself when it is done, so that nothing of ours is counted. Linux only:
//! the figures come from `/proc/self`.

use crate::sh;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

/// The first argument of a process that measures itself; the second is where it reports.
const CHILD: &str = "measured";

/// The cost of a run.
pub(crate) struct Cost {
    /// Processor time, user and system, in clock ticks.
    pub(crate) ticks: u64,
    /// The most resident memory, in KiB.
    pub(crate) peak_kib: u64,
}

/// Runs `neap` with arguments; its output is dropped.
pub(crate) fn neap(args: &[&str]) -> Result<Cost, String> {
    let report = sh::scratch("bench")?.join("cost");
    let report = report.to_string_lossy().into_owned();
    sh::stdout(&mut sh::neap([CHILD, &report].into_iter().chain(args.iter().copied()))?)?;
    let text = sh::read(Path::new(&report))?;
    let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(ticks), Some(peak_kib)) => Ok(Cost { ticks, peak_kib }),
        _ => Err(format!("no figures in {report}")),
    }
}

/// Is this process one that measures itself? Then it runs, reports, and this is its exit code.
pub(crate) fn child(args: &[OsString]) -> Option<ExitCode> {
    let [program, first, report, rest @ ..] = args else { return None };
    if first != CHILD {
        return None;
    }
    let code = neap::main(std::iter::once(program.clone()).chain(rest.iter().cloned()));
    let figures = ticks().zip(peak_kib()).map(|(ticks, peak)| format!("{ticks} {peak}\n"));
    match figures.map(|figures| std::fs::write(report, figures)) {
        Some(Ok(())) => Some(code),
        _ => {
            eprintln!("xtask: cannot measure: this needs /proc/self");
            Some(ExitCode::FAILURE)
        }
    }
}

/// Runs any program to its end; what it said, and the seconds of processor time that it took.
pub(crate) fn processor_time(command: &mut Command) -> Result<(Output, f64), String> {
    let before = children().ok_or("cannot measure: this needs /proc/self")?;
    let output = sh::output(command)?;
    let after = children().ok_or("cannot measure: this needs /proc/self")?;
    Ok((output, (after - before) as f64 / TICKS_PER_SECOND))
}

/// Linux counts processor time in hundredths of a second for programs.
const TICKS_PER_SECOND: f64 = 100.0;

/// User and system time of children that ended: fields 16 and 17 of `/proc/self/stat`.
fn children() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?)
}

/// User and system time: fields 14 and 15 of `/proc/self/stat`, counted behind the program's name, which may hold blanks.
fn ticks() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
