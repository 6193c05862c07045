//! What of an engine runs now, so that another thread can end all of it.

use std::collections::BTreeMap;
use std::io;
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal};

use super::client::pid_of;
use super::failure::Failure;

/// Clients and containers of one engine.
#[derive(Debug, Default)]
pub(super) struct Running {
    stopped: AtomicBool,
    next: AtomicU64,
    clients: Mutex<BTreeMap<u64, Pid>>,
    containers: Mutex<BTreeMap<u64, String>>,
}

impl Running {
    pub(super) fn refuse_when_stopped(&self) -> Result<(), Failure> {
        if self.stopped.load(Ordering::SeqCst) {
            Err(Failure::Stopped)
        } else {
            Ok(())
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::SeqCst)
    }

    /// Starts a client and notes it in one step, so that a stop reaches every client or comes before it. One that
    /// clears away is started after a stop too.
    pub(super) fn add_client(
        &self,
        clears: bool,
        start: impl FnOnce() -> io::Result<Child>,
    ) -> io::Result<(u64, Child)> {
        let mut clients = held(&self.clients);
        if self.is_stopped() && !clears {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let child = start()?;
        let number = self.number();
        if let Some(pid) = pid_of(&child) {
            clients.insert(number, pid);
        }
        Ok((number, child))
    }

    pub(super) fn remove_client(&self, number: u64) {
        held(&self.clients).remove(&number);
    }

    /// Notes a container by its name, before it is made.
    pub(super) fn add_container(&self, name: String) -> u64 {
        let number = self.number();
        held(&self.containers).insert(number, name);
        number
    }

    pub(super) fn remove_container(&self, number: u64) {
        held(&self.containers).remove(&number);
    }

    /// Kills the clients and lets no more be started; returns the containers' names.
    pub(super) fn stop(&self) -> Vec<String> {
        self.stopped.store(true, Ordering::SeqCst);
        for pid in held(&self.clients).values() {
            rustix::process::kill_process_group(*pid, Signal::KILL).ok();
        }
        held(&self.containers).values().cloned().collect()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
