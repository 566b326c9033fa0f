//! Counts programs with fast functions: in, modules behind all passes; out, sums.

use stackloom::ir::{Module, Role};

/// Sums over programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Went {
    /// Reactions with a fast function.
    pub fast: usize,
    /// Functions that are tried before a fast function.
    pub first: usize,
    /// Caches of guards.
    pub caches: usize,
}

impl Went {
    /// Counts those of one program.
    pub fn of(module: &Module) -> Went {
        let (before, after): (Vec<_>, Vec<_>) = module
            .functions
            .iter()
            .filter(|function| function.fast.is_some())
            .partition(|function| function.role == Role::Fast);
        Went {
            fast: after.len(),
            first: before.len(),
            caches: module.caches.len(),
        }
    }

    pub fn add(&mut self, other: Went) {
        self.fast += other.fast;
        self.first += other.first;
        self.caches += other.caches;
    }
}
