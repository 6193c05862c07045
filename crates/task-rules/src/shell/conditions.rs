//! What `[ ... ]` and `[[ ... ]]` look at.

use tree_sitter::Node;

use super::kind::kind;
use super::model::Word;
use super::value::{Constants, word};

/// The most nodes of a condition that are looked at.
const MOST: usize = 10_000;

/// Returns the operands of a condition, in order of writing; what a substitution in it runs is left out.
pub(super) fn operands(text: &str, condition: Node<'_>, constants: &Constants) -> Vec<Word> {
    let mut found = Vec::new();
    let mut rest = vec![condition];
    for _ in 0..MOST {
        let Some(node) = rest.pop() else { break };
        match kind(node) {
            "test_command" | "unary_expression" | "binary_expression" | "parenthesized_expression" => {
                let mut cursor = node.walk();
                let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
                rest.extend(children.into_iter().rev());
            }
            "word" | "string" | "raw_string" | "concatenation" | "simple_expansion" | "expansion" => {
                found.push(word(text, node, constants));
            }
            _ => {}
        }
    }
    found
}
