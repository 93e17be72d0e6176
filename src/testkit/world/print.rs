//! Fingerprints of whole systems, by which the search tells them apart.

use super::super::fingerprint::Fingerprint;
use super::{Node, World};

impl World {
    /// Equal for systems that will do the same: replicas, what each has seen, what is in flight.
    pub fn print(&self) -> u128 {
        let mut out = Fingerprint::new();
        out.nested(self.log.print_of_all());
        for at in 0..self.nodes.len() {
            out.nested(self.print_at(at));
        }
        let mut mail = 0_u128;
        for (_, parcel) in &self.mail {
            mail = mail.wrapping_add(parcel.print(&self.log));
        }
        out.nested(mail);
        out.number(self.sides);
        out.number(u64::from(self.cloned) << 1 | u64::from(self.collected));
        out.value()
    }

    /// Of one replica.
    pub(super) fn print_at(&self, at: usize) -> u128 {
        let node = &self.nodes[at];
        if let Some(known) = node.print.get() {
            return known;
        }
        let mut out = Fingerprint::new();
        self.print_node(node, &mut out);
        node.print.set(Some(out.value()));
        out.value()
    }

    fn print_node(&self, node: &Node, out: &mut Fingerprint) {
        out.number(
            u64::from(node.down) << 48 | u64::from(node.incarnation) << 32 | u64::from(node.done),
        );
        out.nested(self.log.print(&node.seen));
        let mut waiting = 0_u128;
        for parcel in &node.waiting {
            waiting = waiting.wrapping_add(parcel.print(&self.log));
        }
        out.nested(waiting);
        if let Some(saved) = &node.saved {
            out.bytes(&saved.bytes);
            out.nested(self.log.print(&saved.seen));
        }
        out.nested(node.state_print());
    }
}
