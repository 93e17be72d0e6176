//! What a run did, step by step, as diagrams show it.

/// The steps of one run that had an effect, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Story {
    /// How many replicas there are at the end: the columns of a diagram.
    pub replicas: usize,
    /// What happened.
    pub lines: Vec<Line>,
}

/// One step that had an effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Its place in the schedule, from 1.
    pub step: usize,
    /// What it did.
    pub deed: Deed,
}

/// What a step did. Replicas are given by their places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// A replica did an operation.
    Did {
        /// The replica.
        at: usize,
        /// The operation.
        op: String,
        /// Its name, `r0:1`, if it is one that others are to see; else why not.
        made: Result<String, String>,
    },
    /// Something went from one replica to another at once.
    Moved {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// `state`, `delta`, `message`, ...
        payload: String,
        /// What came of it: `r2 now sees r0:1`.
        effect: String,
    },
    /// Something was sent and is in flight.
    Sent {
        /// The sender.
        from: usize,
        /// `state`, `delta`, `message`, ...
        payload: String,
        /// Its name, `m0.3`: message 3 of replica 0.
        letter: String,
    },
    /// Something in flight arrived.
    Took {
        /// The sender.
        from: usize,
        /// The receiver.
        at: usize,
        /// `state`, `delta`, `message`, ...
        payload: String,
        /// Its name, `m0.3`.
        letter: String,
        /// What came of it.
        effect: String,
    },
    /// Anything else: a crash, a partition, a lost message, a collection.
    Noted {
        /// The replica, if it is about one.
        at: Option<usize>,
        /// What happened.
        text: String,
    },
}
