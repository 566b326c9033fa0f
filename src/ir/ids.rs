//! Indices of the tables of a [`Module`](super::Module) and of a [`Function`](super::Function).

/// Declares the index of one table.
macro_rules! index {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The index of the table as a number that Rust indexes with.
            pub fn at(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// A kind of instances, among [`Module::kinds`](super::Module::kinds).
    KindId
    /// A field of a kind, among [`Kind::fields`](super::Kind::fields).
    FieldId
    /// A timer of a kind, among [`Kind::timers`](super::Kind::timers).
    TimerId
    /// A value set at the start, among [`Module::settings`](super::Module::settings).
    SettingId
    /// An attribute of messages, among [`Module::attributes`](super::Module::attributes).
    AttributeId
    /// A counter of a layer, among [`Module::counters`](super::Module::counters).
    CounterId
    /// A reason to drop a message, among [`Module::reasons`](super::Module::reasons).
    ReasonId
    /// A kernel over bytes, among [`Module::kernels`](super::Module::kernels).
    KernelId
    /// A cache, among [`Module::caches`](super::Module::caches).
    CacheId
    /// A function in C, among [`Module::foreigns`](super::Module::foreigns).
    ForeignId
    /// A type that only C knows, among [`Module::opaques`](super::Module::opaques).
    OpaqueId
    /// A link, among [`Module::links`](super::Module::links).
    LinkId
    /// A port, among [`Module::ports`](super::Module::ports).
    PortId
    /// A function, among [`Module::functions`](super::Module::functions).
    FunctionId
    /// A value of a function, among [`Function::values`](super::Function::values).
    Value
    /// A block of a function, among [`Function::blocks`](super::Function::blocks).
    BlockId
}
