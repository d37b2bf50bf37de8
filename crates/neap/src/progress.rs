//! The user's clock: a time limit, and a line that says what is going on when it takes more than a second.
//!
//! Passes and solvers ask between units of work whether to stop; that question is the only place where time enters. Without
//! `--time-limit` the answer is always no, so that output does not depend on the machine.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::time::{Duration, Instant};

/// No line before this time: most runs are shorter.
const QUIET: Duration = Duration::from_secs(1);
/// Time between two lines.
const PAUSE: Duration = Duration::from_millis(200);

/// The clock of a run, and the error stream it shares with the passes' observer.
pub struct Progress<'a> {
    start: Instant,
    limit: Option<Duration>,
    hit: Cell<bool>,
    shown: Cell<Option<Instant>>,
    label: RefCell<String>,
    watched: bool,
    err: RefCell<&'a mut dyn Write>,
}

impl<'a> Progress<'a> {
    /// Starts the clock; lines are drawn only where a person watches.
    pub fn new(err: &'a mut dyn Write, watched: bool, limit: Option<Duration>) -> Progress<'a> {
        Progress {
            start: Instant::now(),
            limit,
            hit: Cell::new(false),
            shown: Cell::new(None),
            label: RefCell::default(),
            watched,
            err: RefCell::new(err),
        }
    }

    /// Says what is going on from now on.
    pub fn label(&self, label: String) {
        self.label.replace(label);
    }

    /// Whether the user's time is up.
    pub fn stop(&self) -> bool {
        let elapsed = self.start.elapsed();
        if self.watched && elapsed > QUIET && self.shown.get().is_none_or(|shown| shown.elapsed() > PAUSE) {
            self.shown.set(Some(Instant::now()));
            let line = format!("\r\x1b[Kneap: {}, {:.0} s", self.label.borrow(), elapsed.as_secs_f64());
            self.write(&line);
        }
        let hit = self.limit.is_some_and(|limit| elapsed >= limit);
        self.hit.set(self.hit.get() || hit);
        hit
    }

    /// Whether the time ran out before the work was done.
    pub fn limit_hit(&self) -> bool {
        self.hit.get()
    }

    /// Removes the line.
    pub fn clear(&self) {
        if self.shown.take().is_some() {
            self.write("\r\x1b[K");
        }
    }

    /// Writes below the line.
    pub fn say(&self, text: &str) {
        self.clear();
        self.write(text);
    }

    fn write(&self, text: &str) {
        let mut err = self.err.borrow_mut();
        // There is nowhere left to report a failure.
        drop(err.write_all(text.as_bytes()).and_then(|()| err.flush()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_limit_the_answer_is_always_no() {
        let mut err = Vec::new();
        let progress = Progress::new(&mut err, false, None);
        assert!(!progress.stop() && !progress.limit_hit());
    }

    #[test]
    fn a_limit_that_is_over_stops_and_is_remembered() {
        let mut err = Vec::new();
        let progress = Progress::new(&mut err, false, Some(Duration::ZERO));
        assert!(!progress.limit_hit(), "nobody asked yet");
        assert!(progress.stop() && progress.limit_hit());
    }
}
