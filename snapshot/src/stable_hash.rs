//! A hash that is the same in every version of every program, on every machine.

use std::hash::Hasher;

/// The hash (FNV-1a) of `bytes`. Two texts may share it, so it decides nothing where a tenant gains by that.
pub fn stable_hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mut hasher = StableHasher::default();
    bytes.into_iter().for_each(|byte| hasher.write_u8(byte));
    hasher.finish()
}

/// The same hash of values.
pub struct StableHasher(u64);

impl Default for StableHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for StableHasher {
    fn write(&mut self, bytes: &[u8]) {
        let next = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, next);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that the authors of the algorithm publish.
    #[test]
    fn it_is_fnv_1a_of_64_bits() {
        assert_eq!(stable_hash("".bytes()), 0xcbf2_9ce4_8422_2325);
        assert_eq!(stable_hash("a".bytes()), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(stable_hash("foobar".bytes()), 0x8594_4171_f739_67e8);
    }
}
