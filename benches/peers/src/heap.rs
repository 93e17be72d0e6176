//! How many bytes are allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, counting what was asked for and not yet given back.
pub struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// Load and store instead of one atomic addition: a measurement has one thread, and the addition
// would cost as much as the allocation.
fn add(bytes: usize) {
    LIVE.store(
        LIVE.load(Ordering::Relaxed).wrapping_add(bytes),
        Ordering::Relaxed,
    );
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        add(layout.size().wrapping_neg());
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size.wrapping_sub(layout.size()));
        unsafe { System.realloc(block, layout, size) }
    }
}

/// How many bytes what `make` returns holds on the heap.
pub fn held<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.load(Ordering::Relaxed);
    let made = make();
    let bytes = LIVE.load(Ordering::Relaxed).wrapping_sub(before);
    (made, bytes)
}
