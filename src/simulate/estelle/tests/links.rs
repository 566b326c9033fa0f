//! Queue moves of `attach`, `detach`, `release` and `terminate`, and the way of an output.

use super::super::fault::FaultKind;
use super::{Tree, point};
use crate::simulate::estelle::situation::InstanceId;
use crate::types::estelle::program::Queue;

#[test]
fn attach_moves_behind_what_the_end_point_holds() {
    let mut tree = Tree::new(1, Queue::Individual);
    tree.fill(point(0, 0), &[1, 2]);
    tree.fill(point(1, 0), &[8, 9]);
    assert_eq!(tree.attach(point(0, 0), point(1, 0)), 2);
    assert_eq!(tree.queue(point(0, 0)), []);
    assert_eq!(tree.queue(point(1, 0)), [(0, 8), (0, 9), (0, 1), (0, 2)]);
    assert_eq!(tree.situation.queued, 4);
}

#[test]
fn attach_moves_to_the_end_point_below_the_child() {
    let mut tree = Tree::new(1, Queue::Individual);
    tree.fill(point(0, 0), &[1]);
    tree.fill(point(2, 0), &[9]);
    tree.attach(point(1, 0), point(2, 0));
    assert_eq!(tree.attach(point(0, 0), point(1, 0)), 1);
    assert_eq!(tree.queue(point(1, 0)), []);
    assert_eq!(tree.queue(point(2, 0)), [(0, 9), (0, 1)]);
}

#[test]
fn detach_moves_all_back_behind_what_the_point_holds() {
    let mut tree = Tree::new(1, Queue::Individual);
    tree.attach(point(0, 0), point(1, 0));
    tree.attach(point(1, 0), point(2, 0));
    tree.fill(point(2, 0), &[1, 2, 3]);
    tree.fill(point(0, 0), &[9]);
    assert_eq!(tree.detach(point(0, 0)), 3);
    assert_eq!(tree.queue(point(0, 0)), [(0, 9), (0, 1), (0, 2), (0, 3)]);
    assert_eq!(tree.queue(point(2, 0)), []);
}

#[test]
fn a_detach_below_moves_to_the_point_in_the_middle() {
    let mut tree = Tree::new(1, Queue::Individual);
    tree.attach(point(0, 0), point(1, 0));
    tree.attach(point(1, 0), point(2, 0));
    tree.fill(point(2, 0), &[1, 2]);
    assert_eq!(tree.detach(point(1, 0)), 2);
    assert_eq!(tree.queue(point(1, 0)), [(0, 1), (0, 2)]);
    assert_eq!(tree.situation.end_point(point(0, 0)), point(1, 0));
}

#[test]
fn with_a_common_queue_only_the_interactions_of_the_point_move() {
    let mut tree = Tree::new(2, Queue::Common);
    tree.fill(point(0, 1), &[1]);
    tree.fill(point(0, 0), &[2]);
    tree.fill(point(0, 1), &[3]);
    tree.fill(point(0, 0), &[4]);
    tree.fill(point(1, 1), &[7]);
    assert_eq!(tree.attach(point(0, 0), point(1, 0)), 2);
    assert_eq!(tree.queue(point(0, 0)), [(1, 1), (1, 3)]);
    assert_eq!(tree.queue(point(1, 0)), [(1, 7), (0, 2), (0, 4)]);
    tree.fill(point(1, 1), &[8]);
    assert_eq!(tree.detach(point(0, 0)), 2);
    assert_eq!(tree.queue(point(0, 0)), [(1, 1), (1, 3), (0, 2), (0, 4)]);
    assert_eq!(tree.queue(point(1, 0)), [(1, 7), (1, 8)]);
}

#[test]
fn attached_points_may_have_other_numbers() {
    let mut tree = Tree::new(2, Queue::Common);
    tree.fill(point(0, 0), &[1]);
    tree.fill(point(0, 1), &[2]);
    tree.attach(point(0, 0), point(1, 1));
    assert_eq!(tree.queue(point(1, 0)), [(1, 1)]);
    tree.detach(point(0, 0));
    assert_eq!(tree.queue(point(0, 0)), [(1, 2), (0, 1)]);
}

#[test]
fn an_output_goes_up_across_and_down() {
    let mut tree = Tree::new(2, Queue::Individual);
    let sibling = tree.add(1, Some(InstanceId(0)));
    assert_eq!(sibling, InstanceId(3));
    tree.attach(point(1, 0), point(2, 0));
    let connected = tree.situation.connect(point(1, 0), point(3, 1));
    assert_eq!(connected, Ok(()));
    // From the grandchild: up to its parent, across to the sibling.
    assert_eq!(tree.send(point(2, 0), 5), Some(point(3, 1)));
    assert_eq!(tree.queue(point(3, 1)), [(1, 5)]);
    // From the sibling: across, and down to the grandchild.
    assert_eq!(tree.send(point(3, 1), 6), Some(point(2, 0)));
    assert_eq!(tree.queue(point(2, 0)), [(0, 6)]);
    // Queued interactions stay when the connection goes; later outputs are lost.
    tree.situation.disconnect(point(3, 1));
    assert_eq!(tree.queue(point(2, 0)), [(0, 6)]);
    assert_eq!(tree.send(point(2, 0), 7), None);
    assert_eq!(tree.situation.queued, 2);
}

#[test]
fn points_are_linked_once() {
    let mut tree = Tree::new(3, Queue::Individual);
    let connect = |tree: &mut Tree, a, b| tree.situation.connect(a, b);
    assert_eq!(
        connect(&mut tree, point(1, 0), point(1, 0)),
        Err(FaultKind::SamePoint)
    );
    assert_eq!(connect(&mut tree, point(1, 0), point(1, 1)), Ok(()));
    assert_eq!(
        connect(&mut tree, point(1, 2), point(1, 1)),
        Err(FaultKind::Connected)
    );
    tree.attach(point(0, 0), point(1, 2));
    assert_eq!(
        connect(&mut tree, point(1, 2), point(0, 1)),
        Err(FaultKind::Attached)
    );
    let layouts = tree.layouts.clone();
    let mut attach = |p, q| tree.situation.attach(&layouts, p, q).err();
    assert_eq!(attach(point(0, 0), point(1, 1)), Some(FaultKind::Attached));
    assert_eq!(attach(point(0, 1), point(1, 1)), Some(FaultKind::Connected));
    assert_eq!(attach(point(0, 1), point(1, 2)), Some(FaultKind::Attached));
}

#[test]
fn release_moves_queues_back_and_destroys_the_subtree() {
    let mut tree = Tree::new(2, Queue::Individual);
    tree.attach(point(0, 0), point(1, 0));
    tree.attach(point(1, 0), point(2, 0));
    tree.fill(point(2, 0), &[1, 2]);
    tree.fill(point(0, 0), &[9]);
    tree.fill(point(1, 1), &[7]);
    let layouts = tree.layouts.clone();
    let removed = tree.situation.remove(&layouts, InstanceId(1), true);
    assert_eq!(removed.moved.len(), 1);
    assert_eq!(removed.lost, 1);
    assert_eq!(tree.queue(point(0, 0)), [(0, 9), (0, 1), (0, 2)]);
    assert_eq!(tree.situation.count(), 1);
    assert_eq!(tree.situation.queued, 3);
    assert_eq!(tree.situation.end_point(point(0, 0)), point(0, 0));
}

#[test]
fn terminate_loses_what_is_queued() {
    let mut tree = Tree::new(1, Queue::Individual);
    let sibling = tree.add(1, Some(InstanceId(0)));
    assert_eq!(tree.situation.connect(point(3, 0), point(1, 0)), Ok(()));
    tree.fill(point(1, 0), &[1]);
    tree.attach(point(1, 0), point(2, 0));
    tree.fill(point(2, 0), &[2]);
    let layouts = tree.layouts.clone();
    let removed = tree.situation.remove(&layouts, InstanceId(1), false);
    assert_eq!((removed.moved.len(), removed.lost), (0, 2));
    assert_eq!(tree.situation.queued, 0);
    assert_eq!(tree.send(point(sibling.0, 0), 3), None);
}
