//! What both engines are told in the same words.

/// The methods that name capabilities, for an engine with a field `can`.
macro_rules! capability_methods {
    () => {
        /// Merges whole states.
        #[must_use]
        pub fn state(mut self) -> Self
        where
            T: StateBased,
        {
            self.can = self.can.state();
            self
        }

        /// Exchanges deltas, and merges states.
        #[must_use]
        pub fn delta(mut self) -> Self
        where
            T: DeltaBased,
        {
            self.can = self.can.delta();
            self
        }

        /// Exchanges operations.
        #[must_use]
        pub fn operations(mut self) -> Self
        where
            T: OpBased,
        {
            self.can = self.can.operations();
            self
        }

        /// Becomes bytes and comes back.
        #[must_use]
        pub fn encoded(mut self) -> Self
        where
            T: Persisted,
        {
            self.can = self.can.encoded();
            self
        }

        /// Drops what everyone has seen.
        #[must_use]
        pub fn collecting(mut self) -> Self
        where
            T: Collecting,
        {
            self.can = self.can.collecting();
            self
        }

        /// Its state is a function of a causally closed version.
        #[must_use]
        pub fn versioned(mut self) -> Self
        where
            T: Versioned,
        {
            self.can = self.can.versioned();
            self
        }

        /// Its views are judged by its own [`Specified::check`].
        #[must_use]
        pub fn specified(mut self) -> Self
        where
            T: Specified,
        {
            self.can = self.can.specified();
            self
        }

        /// Its views are judged by `spec`.
        #[must_use]
        pub fn spec(
            mut self,
            spec: impl Fn(&Seen<'_, T::Op>, &T::View) -> Verdict + Send + Sync + 'static,
        ) -> Self {
            self.can = self.can.spec(spec);
            self
        }

        /// Which kinds of steps there are.
        #[must_use]
        pub fn faults(mut self, faults: Faults) -> Self {
            self.faults = faults;
            self
        }

        /// Which laws are checked; all by default.
        #[must_use]
        pub fn laws(mut self, laws: Laws) -> Self {
            self.laws = laws;
            self
        }

        /// How long one call of the type may take before it counts as one that never returns; 20
        /// seconds by default.
        #[must_use]
        pub fn patience(mut self, patience: Duration) -> Self {
            self.patience = patience;
            self
        }
    };
}

pub(crate) use capability_methods;
