//! What views mean.
