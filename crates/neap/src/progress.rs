//! The user's clock: a time limit, and a line that says what is going on when it takes more than a second.
//!
//! Passes and solvers ask between units of work whether to stop; that question is the only place where time enters. Without
//! `--time-limit` the answer is always no, so that output does not depend on the machine. The line is drawn by a thread of its own, so that it
//! comes whatever the work is; what is written meanwhile goes through here, above the line.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// No line before this time: most runs are shorter.
const QUIET: Duration = Duration::from_secs(1);
/// Time between two lines.
const PAUSE: Duration = Duration::from_millis(200);
/// Removes the line.
const ERASE: &str = "\r\x1b[K";

/// The clock of a run, and the error stream it shares with the passes' observer.
pub struct Progress<'a> {
    start: Instant,
    limit: Option<Duration>,
    hit: Cell<bool>,
    line: Option<Line>,
    err: RefCell<&'a mut dyn Write>,
}

impl<'a> Progress<'a> {
    /// Starts the clock; lines are drawn only where a person watches the error stream of the process.
    pub fn new(err: &'a mut dyn Write, watched: bool, limit: Option<Duration>) -> Progress<'a> {
        let line = watched.then(|| Line::new(Box::new(std::io::stderr())));
        Progress { start: Instant::now(), limit, hit: Cell::new(false), line, err: RefCell::new(err) }
    }

    /// Says what is going on from now on.
    pub fn label(&self, label: String) {
        if let Some(line) = &self.line {
            line.state().label = label;
        }
    }

    /// Whether the user's time is up.
    pub fn stop(&self) -> bool {
        let hit = self.limit.is_some_and(|limit| self.start.elapsed() >= limit);
        self.hit.set(self.hit.get() || hit);
        hit
    }

    /// Whether the time ran out before the work was done.
    pub fn limit_hit(&self) -> bool {
        self.hit.get()
    }

    /// Nothing is going on: removes the line.
    pub fn clear(&self) {
        if let Some(line) = &self.line {
            let mut state = line.state();
            state.label.clear();
            state.erase();
        }
    }

    /// Writes above the line.
    pub fn say(&self, text: &str) {
        let mut state = self.line.as_ref().map(Line::state);
        if let Some(state) = &mut state {
            state.erase();
        }
        let mut err = self.err.borrow_mut();
        // There is nowhere left to report a failure.
        drop(err.write_all(text.as_bytes()).and_then(|()| err.flush()));
    }
}

/// A line that is drawn over and over until it is dropped.
struct Line {
    shared: Arc<(Mutex<State>, Condvar)>,
    drawing: Option<JoinHandle<()>>,
}

struct State {
    /// What is going on; empty: nothing to show.
    label: String,
    is_shown: bool,
    is_over: bool,
    to: Box<dyn Write + Send>,
}

impl Line {
    fn new(to: Box<dyn Write + Send>) -> Line {
        let state = State { label: String::new(), is_shown: false, is_over: false, to };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let (start, theirs) = (Instant::now(), Arc::clone(&shared));
        let drawing = std::thread::Builder::new().name("progress".to_owned()).spawn(move || draw(&theirs, start));
        // Without a thread there is no line, and all else goes on.
        Line { shared, drawing: drawing.ok() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        {
            let mut state = self.state();
            state.is_over = true;
            state.erase();
        }
        self.shared.1.notify_all();
        if let Some(drawing) = self.drawing.take() {
            drop(drawing.join());
        }
    }
}

impl State {
    fn erase(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            self.write(ERASE);
        }
    }

    fn write(&mut self, text: &str) {
        drop(self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush()));
    }
}

fn draw(shared: &(Mutex<State>, Condvar), start: Instant) {
    let (state, bell) = shared;
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    while !state.is_over {
        let pause = QUIET.saturating_sub(start.elapsed()).max(PAUSE);
        state = bell.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        if !state.is_over && start.elapsed() >= QUIET && !state.label.is_empty() {
            let line = format!("{ERASE}neap: {}, {:.0} s", state.label, start.elapsed().as_secs_f64());
            state.write(&line);
            state.is_shown = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A screen that both sides see.
    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Screen {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("nobody breaks down").clone()).expect("text")
        }
    }

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("nobody breaks down").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

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

    #[test]
    fn a_line_comes_after_a_second_and_goes() {
        let screen = Screen::default();
        let line = Line::new(Box::new(screen.clone()));
        line.state().label = "something long".to_owned();
        std::thread::sleep(Duration::from_millis(600));
        assert_eq!(screen.text(), "");
        // Nobody asks for the line: the work does not have to take part.
        let limit = Instant::now() + Duration::from_secs(20);
        while screen.text().is_empty() && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(screen.text().starts_with("\r\x1b[Kneap: something long, 1 s"), "{:?}", screen.text());
        drop(line);
        assert!(screen.text().ends_with(ERASE), "{:?}", screen.text());
        let before = screen.text();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(screen.text(), before, "the line is drawn although it is over");
    }

    #[test]
    fn a_short_run_shows_nothing() {
        let screen = Screen::default();
        let line = Line::new(Box::new(screen.clone()));
        line.state().label = "something short".to_owned();
        drop(line);
        assert_eq!(screen.text(), "");
    }
}
