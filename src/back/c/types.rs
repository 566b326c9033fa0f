//! Types of values in C.
//!
//! | type | local or parameter | in memory |
//! |---|---|---|
//! | `i1` | `bool` | `bool` |
//! | `i2` to `i32` | `uint32_t` | the narrowest of `uint8_t`, `uint16_t`, `uint32_t` |
//! | `i33` to `i64` | `uint64_t` | `uint64_t` |
//! | `bytes N` | `struct STACK_bytesN` | the same |
//! | `inst K` | `uint32_t`, its index; a pointer beside it where it is looked at | |
//! | `msg` | `struct STACK_message` | the same, or the index of its buffer in a container |
//! | `view` | `const uint8_t *x`, `uint32_t x_length` | |
//! | `f32`, `f64` | `float`, `double` | the same |
//! | `opaque T` | `T` | the same; of a text its bytes |
//!
//! A number is less than two to the power of its bits, whatever else its C type could hold.

use super::Stack;
use crate::ir::Type;

/// The type of a local or a parameter; of a view the pointer to its bytes.
pub fn local(stack: &Stack<'_>, of: Type) -> String {
    let name = &stack.names.stack;
    match of {
        Type::Int(1) => "bool".to_string(),
        Type::Int(2..=32) | Type::Instance(_) => "uint32_t".to_string(),
        Type::Int(_) => "uint64_t".to_string(),
        Type::Bytes(length) => format!("struct {name}_bytes{length}"),
        Type::Message => format!("struct {name}_message"),
        Type::View => "const uint8_t *".to_string(),
        Type::Float(32) => "float".to_string(),
        Type::Float(_) => "double".to_string(),
        Type::Opaque(of) => stack.module.opaques[of.at()].name.clone(),
    }
}

/// The type of a value in memory.
///
/// # Panics
///
/// If no memory holds a value of the type: a view, an instance.
pub fn stored(stack: &Stack<'_>, of: Type) -> String {
    match of {
        Type::Int(1) => "bool".to_string(),
        Type::Int(bits) => format!("uint{}_t", stored_bits(bits)),
        Type::Opaque(id) if stack.module.opaques[id.at()].room.is_some() => "char".to_string(),
        Type::Bytes(_) | Type::Message | Type::Float(_) | Type::Opaque(_) => local(stack, of),
        Type::Instance(_) | Type::View => panic!("no memory holds a {of}"),
    }
}

/// Bits of the narrowest type of C that holds so many.
pub fn stored_bits(bits: u8) -> u8 {
    match bits {
        0..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

/// The parameters of a function that take a value under a name: of a view two, and a message by
/// its address: it is theirs from then on.
pub fn parameters(stack: &Stack<'_>, of: Type, name: &str) -> Vec<String> {
    match of {
        Type::View => vec![
            format!("const uint8_t *{name}"),
            format!("uint32_t {name}_length"),
        ],
        Type::Message => vec![format!("{} *{name}", local(stack, of))],
        Type::Int(_) | Type::Bytes(_) | Type::Instance(_) | Type::Float(_) | Type::Opaque(_) => {
            vec![format!("{} {name}", local(stack, of))]
        }
    }
}
