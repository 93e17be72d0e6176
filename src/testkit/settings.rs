//! What both engines are told in the same words.

/// The methods that name capabilities, for an engine with a field `can`.
macro_rules! capability_methods {
    () => {
        /// Merges whole states.
        pub fn state(mut self) -> Self
        where
            T: StateBased,
        {
            self.can = self.can.state();
            self
        }

        /// Exchanges deltas, and merges states.
        pub fn delta(mut self) -> Self
        where
            T: DeltaBased,
        {
            self.can = self.can.delta();
            self
        }

        /// Exchanges operations.
        pub fn operations(mut self) -> Self
        where
            T: OpBased,
        {
            self.can = self.can.operations();
            self
        }

        /// Becomes bytes and comes back.
        pub fn encoded(mut self) -> Self
        where
            T: Persisted,
        {
            self.can = self.can.encoded();
            self
        }

        /// Drops what everyone has seen.
        pub fn collecting(mut self) -> Self
        where
            T: Collecting,
        {
            self.can = self.can.collecting();
            self
        }

        /// Its state is a function of a causally closed version.
        pub fn versioned(mut self) -> Self
        where
            T: Versioned,
        {
            self.can = self.can.versioned();
            self
        }

        /// Its views are judged by its own [`Specified::check`].
        pub fn specified(mut self) -> Self
        where
            T: Specified,
        {
            self.can = self.can.specified();
            self
        }

        /// Its views are judged by `spec`.
        pub fn spec(
            mut self,
            spec: impl Fn(&Seen<'_, T::Op>, &T::View) -> Verdict + Send + Sync + 'static,
        ) -> Self {
            self.can = self.can.spec(spec);
            self
        }

        /// Which kinds of steps there are.
        pub fn faults(mut self, faults: Faults) -> Self {
            self.plan.faults = faults;
            self
        }

        /// Which laws are checked; all by default.
        pub fn laws(mut self, laws: Laws) -> Self {
            self.plan.laws = laws;
            self
        }

        /// How long one call of the type may take before it counts as one that never returns; 20
        /// seconds by default.
        pub fn patience(mut self, patience: Duration) -> Self {
            self.plan.patience = patience;
            self
        }
    };
}

pub(crate) use capability_methods;
