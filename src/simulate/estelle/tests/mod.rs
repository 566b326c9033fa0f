//! Tests of the interpreter: queue moves by hand, and small specifications as texts.

mod explored;
mod faulty;
mod links;
mod modules;
mod steps;
mod texts;

use super::situation::{InstanceId, Item, Layout, PointId, Situation};
use super::value::Value;
use crate::source::{Sources, Span};
use crate::types::estelle::program::{
    Body, BodyId, Channel, ChannelId, Header, HeaderId, Interaction, Points, Program, Queue,
};

/// A tree of modules without behaviour, for tests of links.
struct Tree {
    program: Program,
    layouts: Vec<Layout>,
    situation: Situation,
}

impl Tree {
    /// Three bodies, each the only child of the one before, with `count` external points `p[i]` of
    /// this discipline. All points have one channel with one interaction.
    fn new(count: u32, queue: Queue) -> Tree {
        let mut sources = Sources::new();
        let file = sources.add("test", "");
        let span = Span::new(file, 0, 0);
        let interaction = Interaction {
            name: "M".to_string(),
            parameters: Vec::new(),
            sent_by: [true, true],
        };
        let channel = Channel {
            name: "C".to_string(),
            roles: ["a", "b"].map(str::to_string),
            interactions: vec![interaction],
        };
        let points: Vec<Points> = (0..count)
            .map(|number| Points {
                name: format!("p{number}"),
                indices: Vec::new(),
                count: 1,
                channel: ChannelId(0),
                role: 0,
                queue,
            })
            .collect();
        let header = Header {
            name: "H".to_string(),
            attribute: None,
            parameters: Vec::new(),
            points: points.clone(),
            exports: Vec::new(),
        };
        let body = |number: u32| Body {
            name: format!("B{number}"),
            header: Some(HeaderId(0)),
            attribute: None,
            parent: number.checked_sub(1).map(BodyId),
            is_external: false,
            states: Vec::new(),
            variables: Vec::new(),
            points: points.clone(),
            module_variables: Vec::new(),
            initialize: Vec::new(),
            transitions: Vec::new(),
            span,
        };
        let program = Program {
            name: "test".to_string(),
            unit_ns: 1,
            types: Vec::new(),
            channels: vec![channel],
            headers: vec![header],
            bodies: (0..3).map(body).collect(),
            routines: Vec::new(),
            frames: Vec::new(),
            blocks: Vec::new(),
        };
        let layouts = Layout::of_all(&program);
        let mut tree = Tree {
            layouts,
            program,
            situation: Situation::empty(),
        };
        tree.add(0, None);
        tree.add(1, Some(InstanceId(0)));
        tree.add(2, Some(InstanceId(1)));
        tree
    }

    /// Adds an instance of a body.
    fn add(&mut self, body: u32, parent: Option<InstanceId>) -> InstanceId {
        let layout = &self.layouts[body as usize];
        let names = (format!("m{body}"), format!("m{body}"));
        let id = BodyId(body);
        self.situation
            .add(&self.program, layout, (id, parent), names)
    }

    /// Puts numbered interactions into the queue of a point.
    fn fill(&mut self, at: PointId, numbers: &[i64]) {
        let queue = self.layouts[0].points[at.point].queue;
        for number in numbers {
            self.situation.change(at.instance).queues[queue].push_back(Item {
                point: at.point,
                interaction: 0,
                values: vec![Value::Ordinal(*number)],
            });
            self.situation.queued += 1;
        }
    }

    /// Sends a numbered interaction through a point.
    fn send(&mut self, through: PointId, number: i64) -> Option<PointId> {
        let values = vec![Value::Ordinal(number)];
        self.situation.output(&self.layouts, through, 0, values)
    }

    /// The content of the queue of a point: the points through which interactions came, and their
    /// numbers.
    fn queue(&self, at: PointId) -> Vec<(usize, i64)> {
        let queue = self.layouts[0].points[at.point].queue;
        let items = self.situation.instance(at.instance).queues[queue].iter();
        let number = |item: &Item| match item.values[..] {
            [Value::Ordinal(number)] => number,
            _ => 0,
        };
        items.map(|item| (item.point, number(item))).collect()
    }

    fn attach(&mut self, p: PointId, q: PointId) -> u64 {
        let moved = self.situation.attach(&self.layouts, p, q);
        moved.expect("the points are free").count
    }

    fn detach(&mut self, p: PointId) -> u64 {
        let moved = self.situation.detach(&self.layouts, p);
        moved.expect("the point is attached").count
    }
}

fn point(instance: u64, point: usize) -> PointId {
    PointId {
        instance: InstanceId(instance),
        point,
    }
}
