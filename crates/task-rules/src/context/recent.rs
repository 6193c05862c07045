//! Scripts that many tasks share are parsed once a thread: the test.sh of a generated set is often one text.

use std::cell::RefCell;
use std::rc::Rc;

use crate::shell::Script;

/// How many scripts a thread keeps, the latest used first.
const KEPT: usize = 8;
/// A longer script is not kept, in bytes: memory stays bounded.
const LONGEST: usize = 64 << 10;

thread_local! {
    static RECENT: RefCell<Vec<(Box<str>, Rc<Script>)>> = const { RefCell::new(Vec::new()) };
}

/// Returns a script as a tree of commands.
pub(super) fn script(text: &str) -> Rc<Script> {
    if text.len() > LONGEST {
        return Rc::new(Script::parse(text));
    }
    RECENT.with_borrow_mut(|recent| {
        let known = recent.iter().position(|(known, _)| **known == *text);
        let entry = match known {
            Some(at) => recent.remove(at),
            None => (text.into(), Rc::new(Script::parse(text))),
        };
        let script = Rc::clone(&entry.1);
        recent.insert(0, entry);
        recent.truncate(KEPT);
        script
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_script_and_others_are_not() {
        let one = script("echo 1\n");
        assert!(Rc::ptr_eq(&one, &script("echo 1\n")));
        let other = script("echo 2\n");
        assert!(!Rc::ptr_eq(&one, &other));
        assert_eq!(other.commands.len(), 1);
    }

    #[test]
    fn only_the_latest_are_kept() {
        let first = script("echo first\n");
        for number in 0..KEPT {
            script(&format!("echo {number}\n"));
        }
        assert!(!Rc::ptr_eq(&first, &script("echo first\n")));
        let long = "true\n".repeat(LONGEST / 5 + 1);
        assert!(!Rc::ptr_eq(&script(&long), &script(&long)));
    }
}
