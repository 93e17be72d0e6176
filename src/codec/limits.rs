//! Bounds on what decoding accepts.

/// How much a decoder takes in before it refuses with
/// [`LimitExceeded`](crate::codec::DecodeErrorKind::LimitExceeded).
///
/// Whatever the limits, memory stays within a small multiple of the input: every count is checked
/// against the bytes that remain before anything is allocated.
///
/// # Examples
/// ```
/// use commute::codec::Limits;
/// let small = Limits::default().bytes(64 * 1024).replicas(100);
/// assert_eq!(small.bytes_max, 64 * 1024);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The longest input, in bytes.
    pub bytes_max: usize,
    /// The most items (entries, runs, fields) in one frame. A save holds its state and each waiting delta
    /// as a frame of its own.
    pub items_max: u64,
    /// The most replicas in one frame.
    pub replicas_max: usize,
    /// The deepest nesting of shapes.
    pub depth_max: u32,
}

impl Default for Limits {
    /// 1 GiB, 2^28 items, 2^20 replicas, 32 levels.
    fn default() -> Limits {
        Limits {
            bytes_max: 1 << 30,
            items_max: 1 << 28,
            replicas_max: 1 << 20,
            depth_max: 32,
        }
    }
}

impl Limits {
    /// These limits with another greatest length in bytes.
    #[must_use]
    pub const fn bytes(self, bytes_max: usize) -> Limits {
        Limits { bytes_max, ..self }
    }

    /// These limits with another greatest number of items.
    #[must_use]
    pub const fn items(self, items_max: u64) -> Limits {
        Limits { items_max, ..self }
    }

    /// These limits with another greatest number of replicas.
    #[must_use]
    pub const fn replicas(self, replicas_max: usize) -> Limits {
        Limits {
            replicas_max,
            ..self
        }
    }

    /// These limits with another greatest depth.
    #[must_use]
    pub const fn depth(self, depth_max: u32) -> Limits {
        Limits { depth_max, ..self }
    }
}
