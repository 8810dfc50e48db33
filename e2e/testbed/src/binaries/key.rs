//! The name under which built programs are cached: it changes with everything that may change them.

use ring::digest;

use super::build::BUILD_FLAGS;
use super::module::Module;
use super::toolchain::GoToolchain;

/// Sixteen hexadecimal digits of the SHA-256 of `go.mod`, `go.sum`, the build flags and `go version`.
pub(super) fn cache_key(module: Module, toolchain: &GoToolchain) -> String {
    let (flags, linker_flags) = (BUILD_FLAGS.join(" "), module.linker_flags());
    key_of(&[module.go_mod(), module.go_sum(), &flags, &linker_flags, toolchain.version()])
}

fn key_of(parts: &[&str]) -> String {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(part.as_bytes());
        // Separates the parts, so that no text can move from one into the next unseen.
        context.update(&[0]);
    }
    let digest = context.finish();
    let bytes: Vec<String> = digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    bytes.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_every_part_apart() {
        assert_eq!(key_of(&["a", "b"]).len(), 16);
        assert_eq!(key_of(&["a", "b"]), key_of(&["a", "b"]));
        assert_ne!(key_of(&["a", "b"]), key_of(&["ab", ""]));
        assert_ne!(key_of(&["a", "b"]), key_of(&["a", "c"]));
    }
}
