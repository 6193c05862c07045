//! What Harbor's own lint says beyond what loading tells.

pub(crate) mod shared_verifier;
