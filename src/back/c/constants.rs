//! Bytes at the top of the file: constants of the module that are not all zero.

use super::names::Names;
use super::{Stack, types};
use crate::c::listed;
use crate::c::tree::Item;
use crate::ir::op::Op;
use crate::ir::{Module, Type};
use std::collections::BTreeMap;

/// The names of constant bytes.
#[derive(Clone, Debug, Default)]
pub struct Constants(BTreeMap<Vec<u8>, String>);

impl Constants {
    /// Names for the constants of all functions, in the order of their bytes.
    pub fn of(module: &Module, names: &mut Names) -> Constants {
        let mut all = BTreeMap::new();
        for function in &module.functions {
            for instruction in function.instructions() {
                if let Op::Bytes(bytes) = &instruction.op {
                    all.insert(bytes.clone(), String::new());
                }
            }
        }
        for attribute in &module.attributes {
            if let Op::Bytes(bytes) = &attribute.default {
                all.insert(bytes.clone(), String::new());
            }
        }
        all.retain(|bytes, _| bytes.iter().any(|byte| *byte != 0));
        for name in all.values_mut() {
            *name = names.taken.take("constant");
        }
        Constants(all)
    }

    /// The name of a constant.
    pub fn name(&self, bytes: &[u8]) -> &str {
        &self.0[bytes]
    }

    /// Their definitions, by name.
    pub fn items(&self, stack: &Stack<'_>) -> Vec<(String, Item)> {
        let items = self.0.iter().map(|(bytes, name)| {
            let kind = types::local(stack, Type::Bytes(bytes.len() as u32));
            let values: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
            let values = listed(&values, ',', 4, 4);
            let text = format!("static const {kind} {name} = {{{{\n    {values}}}}};\n");
            (name.clone(), Item::Text(text))
        });
        items.collect()
    }
}
