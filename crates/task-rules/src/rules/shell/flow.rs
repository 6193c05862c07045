//! The commands of a script in the order in which they run, functions followed.

use std::collections::BTreeMap;

use crate::shell::{Command, Place, Script};

/// More commands than this nobody reads.
const MOST: usize = 20_000;
/// Functions that call functions.
const DEEPEST: usize = 8;

/// A command where it runs.
pub(crate) struct Step<'a> {
    /// The command.
    pub command: &'a Command,
    /// What surrounds it, and the call of the function that it is in.
    pub place: Place,
    /// Whether it calls a function of the script, whose commands follow.
    pub called: bool,
}

/// Returns the steps of a script; none when they are too many. What no one calls is left out.
pub(crate) fn steps(script: &Script) -> Option<Vec<Step<'_>>> {
    let mut names: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for (at, function) in script.functions.iter().enumerate() {
        // Of two with one name nobody knows which is meant.
        names
            .entry(&function.name)
            .and_modify(|known| *known = None)
            .or_insert(Some(at));
    }
    let mut flow = Flow {
        bodies: bodies(script),
        names,
        steps: Vec::new(),
    };
    let top = script.commands.iter().filter(|command| !command.place.function);
    flow.follow(&top.collect::<Vec<_>>(), None, 0)?;
    Some(flow.steps)
}

/// Returns the commands of each function, those of functions in it left out.
fn bodies(script: &Script) -> Vec<Vec<&Command>> {
    let mut bodies = vec![Vec::new(); script.functions.len()];
    let mut commands: Vec<(usize, &Command)> = script.commands.iter().enumerate().collect();
    commands.sort_by_key(|(at, command)| (command.span.start, *at));
    let mut functions = script.functions.iter().enumerate().peekable();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (order, command) in commands {
        let start = command.span.start;
        while let Some((at, function)) = functions.next_if(|(_, function)| function.span.start <= start) {
            open.retain(|(_, end)| *end > function.span.start);
            open.push((at, function.span.end));
        }
        while open.pop_if(|(_, end)| *end <= start).is_some() {}
        if let Some(body) = open.last().and_then(|(at, _)| bodies.get_mut(*at)) {
            body.push((order, command));
        }
    }
    let in_order = |mut body: Vec<(usize, _)>| {
        body.sort_by_key(|(order, _)| *order);
        body.into_iter().map(|(_, command)| command).collect()
    };
    bodies.into_iter().map(in_order).collect()
}

struct Flow<'a> {
    bodies: Vec<Vec<&'a Command>>,
    names: BTreeMap<&'a str, Option<usize>>,
    steps: Vec<Step<'a>>,
}

impl<'a> Flow<'a> {
    fn follow(&mut self, commands: &[&'a Command], call: Option<&Place>, depth: usize) -> Option<()> {
        for command in commands {
            let place = call.map_or_else(|| command.place.clone(), |call| within(call, &command.place));
            let body = command
                .name()
                .and_then(|name| *self.names.get(name)?)
                .filter(|_| depth < DEEPEST);
            self.steps.push(Step {
                command,
                place: place.clone(),
                called: body.is_some(),
            });
            if self.steps.len() > MOST {
                return None;
            }
            if let Some(body) = body.and_then(|at| self.bodies.get(at)).cloned() {
                self.follow(&body, Some(&place), depth + 1)?;
            }
        }
        Some(())
    }
}

/// What surrounds a command of a function that is called at a place.
fn within(call: &Place, own: &Place) -> Place {
    let open = |place: &Place| !place.guarded || place.piped;
    Place {
        guarded: call.guarded || own.guarded,
        piped: open(call) && open(own) && (call.piped || own.piped),
        caught: call.caught || own.caught,
        conditional: call.conditional || own.conditional,
        condition: own.condition,
        function: false,
        substitution: call.substitution || own.substitution,
        subshell: call.subshell || own.subshell,
        branches: call.branches + own.branches,
        background: call.background || own.background,
        pipe: call.pipe + own.pipe,
    }
}
