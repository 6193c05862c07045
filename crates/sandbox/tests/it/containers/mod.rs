//! What only container engines have: images of their own, a client, a daemon.

mod endings;
mod fake;
mod images;
