//! What `[ ... ]` and `[[ ... ]]` look at.

use findings::Span;
use tree_sitter::Node;

use super::kind::kind;
use super::model::{Place, Word};
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

/// Returns the branches of an `if` that has an `else` and surely runs; the condition counts to the first one.
pub(super) fn branches(statement: Node<'_>, place: &Place) -> Option<Vec<Span>> {
    let sure = place.branches == 0 && !(place.conditional || place.substitution || place.background);
    if !sure || kind(statement) != "if_statement" {
        return None;
    }
    let mut cursor = statement.walk();
    let clauses: Vec<Node<'_>> = statement
        .named_children(&mut cursor)
        .filter(|child| matches!(kind(*child), "elif_clause" | "else_clause"))
        .collect();
    let first = clauses.first()?.start_byte();
    clauses.last().filter(|last| kind(**last) == "else_clause")?;
    let own = Span::new(statement.start_byte(), first);
    let others = clauses
        .iter()
        .map(|clause| Span::new(clause.start_byte(), clause.end_byte()));
    Some(std::iter::once(own).chain(others).collect())
}
