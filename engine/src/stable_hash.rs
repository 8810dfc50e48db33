//! A hash that is the same in every version of every program, on every machine.

/// The hash (FNV-1a) of `bytes`. Two texts may share it, so it decides nothing where a tenant gains by that.
pub fn stable_hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let next = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, next)
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
