//! Links between interaction points, and the moves of queued interactions (A.4 of the design).
//!
//! A point is connected to one other point, or attached to one of a child. The end point of a point
//! is where its attachments lead downwards: there its interactions are queued.
//!
//! ```text
//! output    up through attachments, across the connection, down to the end point: to its queue
//! attach    what came through p goes behind what the queue of the end point of q holds
//! detach    what came through q goes back behind what the queue of p holds
//! release   disconnects, detaches (queues move back), destroys from below
//! terminate the same, but what is queued is lost
//! ```

use super::fault::FaultKind;
use super::situation::{InstanceId, Item, Layout, PointId, Situation};
use super::value::Value;
use std::collections::VecDeque;

/// Interactions that went from one queue to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moved {
    /// The point through which they came before.
    pub from: PointId,
    /// The point through which they come now.
    pub to: PointId,
    /// Their number.
    pub count: u64,
}

/// Queued interactions of a module that was released or terminated.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Removed {
    /// Interactions that moved back.
    pub moved: Vec<Moved>,
    /// Interactions that were lost.
    pub lost: u64,
}

impl Situation {
    /// Returns the end point of a point.
    pub fn end_point(&self, mut at: PointId) -> PointId {
        while let Some(below) = self.instance(at.instance).points[at.point].below {
            at = below;
        }
        at
    }

    /// Sends an interaction through a point. Returns the point where it is queued; none if no
    /// connection is on the way, so that it is lost.
    pub fn output(
        &mut self,
        layouts: &[Layout],
        through: PointId,
        interaction: usize,
        values: Vec<Value>,
    ) -> Option<PointId> {
        let mut top = through;
        while let Some(above) = self.instance(top.instance).points[top.point].above {
            top = above;
        }
        let far = self.instance(top.instance).points[top.point].connected?;
        let end = self.end_point(far);
        let item = Item {
            point: end.point,
            interaction,
            values,
        };
        self.size = self.size.saturating_add(item.size());
        self.queue(layouts, end).push_back(item);
        self.queued += 1;
        Some(end)
    }

    /// Takes the first interaction of the queue of a point.
    pub fn dequeue(&mut self, layouts: &[Layout], at: PointId) -> Option<Item> {
        let item = self.queue(layouts, at).pop_front()?;
        self.queued -= 1;
        self.size = self.size.saturating_sub(item.size());
        Some(item)
    }

    /// `connect a to b`
    pub fn connect(&mut self, a: PointId, b: PointId) -> Result<(), FaultKind> {
        if a == b {
            return Err(FaultKind::SamePoint);
        }
        for end in [a, b] {
            let point = self.instance(end.instance).points[end.point];
            if point.connected.is_some() {
                return Err(FaultKind::Connected);
            }
            if point.above.is_some() {
                return Err(FaultKind::Attached);
            }
        }
        self.change(a.instance).points[a.point].connected = Some(b);
        self.change(b.instance).points[b.point].connected = Some(a);
        Ok(())
    }

    /// `disconnect p`: moves nothing. A point without a connection stays as it is. (our decision)
    pub fn disconnect(&mut self, at: PointId) {
        let far = self.change(at.instance).points[at.point].connected.take();
        if let Some(far) = far {
            self.change(far.instance).points[far.point].connected = None;
        }
    }

    /// `attach p to m.q`
    pub fn attach(
        &mut self,
        layouts: &[Layout],
        p: PointId,
        q: PointId,
    ) -> Result<Moved, FaultKind> {
        if self.instance(p.instance).points[p.point].below.is_some() {
            return Err(FaultKind::Attached);
        }
        let target = self.instance(q.instance).points[q.point];
        if target.connected.is_some() {
            return Err(FaultKind::Connected);
        }
        if target.above.is_some() {
            return Err(FaultKind::Attached);
        }
        let end = self.end_point(q);
        let moved = self.move_items(layouts, p, end);
        self.change(p.instance).points[p.point].below = Some(q);
        self.change(q.instance).points[q.point].above = Some(p);
        Ok(moved)
    }

    /// `detach p`, by the point of the parent. A point that is not attached stays as it is. (our
    /// decision)
    pub fn detach(&mut self, layouts: &[Layout], p: PointId) -> Option<Moved> {
        let end = self.end_point(p);
        let q = self.unlink(p)?;
        debug_assert_eq!(
            self.end_point(q),
            end,
            "the end point lies behind the child"
        );
        Some(self.move_items(layouts, end, p))
    }

    /// `release m` if `moves_back`, else `terminate m`.
    pub fn remove(&mut self, layouts: &[Layout], top: InstanceId, moves_back: bool) -> Removed {
        let mut removed = Removed::default();
        let body = self.instance(top).body;
        let external = 0..layouts[body.index()].external_points;
        let points = external.map(|point| PointId {
            instance: top,
            point,
        });
        for point in points.clone() {
            self.disconnect(point);
        }
        for point in points {
            let Some(above) = self.instance(top).points[point.point].above else {
                continue;
            };
            match moves_back {
                true => removed.moved.extend(self.detach(layouts, above)),
                false => drop(self.unlink(above)),
            }
        }
        for id in self.subtree(top).into_iter().rev() {
            removed.lost += self.destroy(layouts, id);
        }
        removed
    }

    /// Removes the attachment of a point to one of a child, without moves.
    fn unlink(&mut self, p: PointId) -> Option<PointId> {
        let q = self.change(p.instance).points[p.point].below.take()?;
        self.change(q.instance).points[q.point].above = None;
        Some(q)
    }

    /// Destroys an instance without children. Returns the number of interactions in its queues.
    fn destroy(&mut self, layouts: &[Layout], id: InstanceId) -> u64 {
        for point in 0..self.instance(id).points.len() {
            let at = PointId {
                instance: id,
                point,
            };
            self.disconnect(at);
            if let Some(above) = self.instance(id).points[point].above {
                self.unlink(above);
            }
        }
        let instance = self.instance(id);
        let lost = instance.queues.iter().map(VecDeque::len).sum::<usize>() as u64;
        let items = instance.queues.iter().flatten().map(Item::size);
        let size = layouts[instance.body.index()].size + items.sum::<u64>();
        if let Some(parent) = instance.parent {
            let parent = self.change(parent);
            parent.children.retain(|child| *child != id);
            for variable in &mut parent.modules {
                variable.take_if(|module| *module == id);
            }
        }
        for system in &mut self.systems {
            system.pending.retain(|pending| pending.instance != id);
        }
        self.instances.remove(&id);
        self.queued -= lost;
        self.size = self.size.saturating_sub(size);
        lost
    }

    /// Moves what came through one point behind what the queue of another holds, in order.
    fn move_items(&mut self, layouts: &[Layout], from: PointId, to: PointId) -> Moved {
        let queue = self.queue(layouts, from);
        let items = std::mem::take(queue);
        let (going, staying): (VecDeque<Item>, VecDeque<Item>) =
            items.into_iter().partition(|item| item.point == from.point);
        *queue = staying;
        let count = going.len() as u64;
        let arrived = going.into_iter().map(|item| Item {
            point: to.point,
            ..item
        });
        self.queue(layouts, to).extend(arrived);
        Moved { from, to, count }
    }

    fn queue(&mut self, layouts: &[Layout], at: PointId) -> &mut VecDeque<Item> {
        let instance = self.change(at.instance);
        let queue = layouts[instance.body.index()].points[at.point].queue;
        &mut instance.queues[queue]
    }
}
