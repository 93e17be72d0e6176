//! An allocator over one fixed block that never gives memory back.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

const BYTES: usize = 1 << 20;

struct Bump {
    memory: UnsafeCell<[u8; BYTES]>,
    used: AtomicUsize,
}

// SAFETY: `memory` is only handed out in pieces, and `used` gives each piece away once.
unsafe impl Sync for Bump {}

#[global_allocator]
static BUMP: Bump = Bump {
    memory: UnsafeCell::new([0; BYTES]),
    used: AtomicUsize::new(0),
};

// SAFETY: every piece lies within `memory`, is aligned, and overlaps no other one.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.memory.get() as usize;
        let place = |used: usize| {
            let start = (base + used).checked_next_multiple_of(layout.align())? - base;
            let end = start.checked_add(layout.size())?;
            (end <= BYTES).then_some((start, end))
        };
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                place(used).map(|(_, end)| end)
            });
        match taken.ok().and_then(place) {
            // SAFETY: `place` keeps the piece within `memory`.
            Some((start, _)) => unsafe { self.memory.get().cast::<u8>().add(start) },
            None => ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
