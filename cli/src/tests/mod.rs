//! Manifests in, printed steps out.
