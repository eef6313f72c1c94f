//! No call allocates once the tables are there.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use chronoseal_ecdsa_lanes::{CompressedPoint, Curve, Engine, Signing, Verification, prepare};

struct Counting;

thread_local! {
    /// Of this thread: the harness has its own.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_in(body: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    body();
    ALLOCATIONS.get() - before
}

#[test]
fn batches_of_mixed_curves_allocate_nothing() {
    assert_eq!(allocations_in(|| drop(std::hint::black_box(vec![1u8]))), 1, "the counter counts");
    let both = [Curve::NistP256, Curve::BrainpoolP256r1];
    both.into_iter().for_each(prepare);
    for engine in Engine::available() {
        match engine {
            Engine::Avx512Ifma => allocates_nothing(*engine, both),
            // The other curve is the scalar code's.
            Engine::Mulx => allocates_nothing(*engine, [Curve::NistP256; 2]),
            Engine::Scalar => println!("{engine:?}: skipped, the scalar code may allocate"),
        }
    }
}

fn allocates_nothing(engine: Engine, curves: [Curve; 2]) {
    let (mut secret, mut x) = ([0; 32], [0; 32]);
    (secret[31], x[31]) = (3, 5);
    let (mut signatures, mut verdicts, mut ys) = ([None; 40], [false; 40], [None; 40]);
    let allocations = allocations_in(|| {
        let jobs: [Signing<'_>; 40] = std::array::from_fn(|at| Signing {
            curve: curves[at % 2],
            digest: &[5; 32],
            secret: &secret,
            entropy: &[],
        });
        engine.sign_batch(&jobs, &mut signatures);
        let points: [CompressedPoint<'_>; 40] =
            std::array::from_fn(|at| CompressedPoint { curve: curves[at % 2], x: &x, y_is_odd: true });
        engine.decompress_batch(&points, &mut ys);
        let jobs: [Verification<'_>; 40] = std::array::from_fn(|at| {
            let signature = signatures[at].as_ref().expect("the key is in range");
            Verification {
                curve: curves[at % 2],
                digest: &[5; 32],
                r: &signature.r,
                s: &signature.s,
                public_x: &secret,
                public_y: ys[at].as_ref().unwrap_or(&secret),
            }
        });
        engine.verify_batch(&jobs, &mut verdicts);
        engine.verify_batch(&jobs[..1], &mut verdicts[..1]);
    });
    assert_eq!(allocations, 0, "{engine:?}");
    assert!(signatures.iter().all(Option::is_some) && ys.iter().any(Option::is_some), "work was done");
}
