//! Which findings are shown.
