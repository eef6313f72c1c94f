//! Ways through a network: shortest paths, the next best ones, and trees to several listeners.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::network::{Network, Stream};

/// The frame by whose time on the wire ways are compared `[byte]`.
const REFERENCE_LEN: u32 = 500;

/// The route's links so that each comes after the one it continues, if they are a tree from the talker to exactly its
/// listeners that passes through bridges only.
pub(crate) fn in_order(network: &Network, stream: &Stream, route: &[usize]) -> Option<Vec<usize>> {
    let links = network.links();
    let mut rest: Vec<usize> = route.to_vec();
    rest.sort_unstable();
    rest.dedup();
    if rest.len() < route.len() || rest.iter().any(|link| *link >= links.len()) {
        return None;
    }
    let mut reached = vec![stream.from];
    let mut ordered = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let next = rest.iter().position(|link| reached.contains(&links[*link].from))?;
        let link = rest.remove(next);
        let Linked { from, to } = Linked::of(network, link);
        if reached.contains(&to) || (from != stream.from && !network.nodes()[from].is_bridge) {
            return None;
        }
        reached.push(to);
        ordered.push(link);
    }
    // Every end of the tree is a listener, and every listener is reached.
    let ends = ordered
        .iter()
        .map(|link| links[*link].to)
        .filter(|node| !ordered.iter().any(|link| links[*link].from == *node));
    let is_needed = ends.into_iter().all(|node| stream.to.contains(&node));
    (is_needed && stream.to.iter().all(|node| reached.contains(node))).then_some(ordered)
}

struct Linked {
    from: usize,
    to: usize,
}

impl Linked {
    fn of(network: &Network, link: usize) -> Self {
        let link = &network.links()[link];
        Self { from: link.from, to: link.to }
    }
}

/// The shortest ways from some nodes: how far each node is, and by which link it is reached.
pub(crate) struct Tree {
    pub(crate) far: Vec<i64>,
    by: Vec<usize>,
}

const UNREACHED: i64 = i64::MAX;
const NO_LINK: usize = usize::MAX;

impl Tree {
    /// From `sources` over links that take as long as `time` says; nothing if a link is closed. A node that is no
    /// bridge passes nothing on, unless it is the talker.
    pub(crate) fn grow(network: &Network, sources: &[(usize, i64)], time: &dyn Fn(usize) -> Option<i64>) -> Self {
        let mut tree = Self { far: vec![UNREACHED; network.nodes().len()], by: vec![NO_LINK; network.nodes().len()] };
        let mut heap = BinaryHeap::new();
        for &(node, far) in sources {
            tree.far[node] = far;
            heap.push(Reverse((far, node)));
        }
        while let Some(Reverse((far, node))) = heap.pop() {
            let is_source = tree.by[node] == NO_LINK;
            if far > tree.far[node] || !(is_source || network.nodes()[node].is_bridge) {
                continue;
            }
            for &link in network.leaving(node) {
                let Some(time) = time(link) else { continue };
                let next = &network.links()[link];
                if far + time < tree.far[next.to] {
                    tree.far[next.to] = far + time;
                    tree.by[next.to] = link;
                    heap.push(Reverse((far + time, next.to)));
                }
            }
        }
        tree
    }

    /// The links to `node`, the first one first; nothing if there is no way.
    pub(crate) fn path(&self, network: &Network, mut node: usize) -> Option<Vec<usize>> {
        if self.far[node] == UNREACHED {
            return None;
        }
        let mut path = Vec::new();
        while self.by[node] != NO_LINK {
            path.push(self.by[node]);
            node = network.links()[self.by[node]].from;
        }
        path.reverse();
        Some(path)
    }
}

/// What a frame takes on a link and in the bridge after it `[ps]`.
pub(crate) fn link_time(network: &Network, link: usize, len: u32) -> i64 {
    let next = &network.links()[link];
    network.last_bit(link, len) + network.transit(link, len) + next.processing.as_ps()
}

/// Routes that were looked up before, by talker.
#[derive(Default)]
pub(crate) struct Routes {
    nearest: BTreeMap<usize, Tree>,
}

impl Routes {
    /// The tree of shortest ways, which is the first candidate; nothing if a listener cannot be reached.
    pub(crate) fn first(&mut self, network: &Network, stream: &Stream) -> Option<Vec<usize>> {
        if let Some(route) = &stream.route {
            return in_order(network, stream, route);
        }
        let tree = self.nearest.entry(stream.from).or_insert_with(|| {
            Tree::grow(network, &[(stream.from, 0)], &|link| Some(link_time(network, link, REFERENCE_LEN)))
        });
        branches(network, stream, tree)
    }

    /// The shortest way if each link seems the longer the more of it is taken: where others are not.
    ///
    /// `load` is what is taken of each link of `all` time.
    pub(crate) fn lightest(network: &Network, stream: &Stream, load: &[i128], all: i64) -> Option<Vec<usize>> {
        let len = stream.secured_len();
        let time = |link: usize| {
            let taken = (load[link] * 1_000 / i128::from(all)) as i64;
            // Nothing at first, twice the time at a half, and ten times as long when hardly anything is left.
            Some(link_time(network, link, len) * (1_000 + taken * taken * taken / 100_000) / 1_000)
        };
        branches(network, stream, &Tree::grow(network, &[(stream.from, 0)], &time))
    }

    /// Up to `count` candidates, the tree of shortest ways first. A stream whose route is given has that one.
    ///
    /// To one listener they are the shortest paths after Yen (Management Science 17 (1971) 712-716). To several, each
    /// of those paths to the farthest listener is the trunk to which the others are joined at the nearest place
    /// (Takahashi, Matsuyama, Math. Japonica 24 (1980) 573-577).
    pub(crate) fn all(&mut self, network: &Network, stream: &Stream, count: usize) -> Vec<Vec<usize>> {
        let Some(first) = self.first(network, stream) else { return Vec::new() };
        if stream.route.is_some() || count <= 1 {
            return vec![first];
        }
        let nearest = &self.nearest[&stream.from];
        let farthest = stream.to.iter().copied().max_by_key(|node| (nearest.far[*node], *node)).unwrap_or(stream.from);
        let mut found = vec![first];
        let len = stream.secured_len();
        for trunk in shortest_paths(network, stream.from, farthest, len, count) {
            let Some(route) = join(network, stream, trunk, len) else { continue };
            let mut sorted = route.clone();
            sorted.sort_unstable();
            let is_new = found.iter().all(|known| {
                let mut known = known.clone();
                known.sort_unstable();
                known != sorted
            });
            if is_new {
                found.push(route);
            }
        }
        found
    }
}

/// The part of a tree that leads to the listeners.
fn branches(network: &Network, stream: &Stream, tree: &Tree) -> Option<Vec<usize>> {
    let mut route: Vec<usize> = Vec::new();
    for &node in &stream.to {
        for link in tree.path(network, node)? {
            if !route.contains(&link) {
                route.push(link);
            }
        }
    }
    in_order(network, stream, &route)
}

/// Joins the listeners that `trunk` does not reach, each at the place that is nearest to it.
fn join(network: &Network, stream: &Stream, trunk: Vec<usize>, len: u32) -> Option<Vec<usize>> {
    let links = network.links();
    let mut route = trunk;
    for &listener in &stream.to {
        if route.iter().any(|link| links[*link].to == listener) {
            continue;
        }
        let mut sources = vec![(stream.from, 0)];
        for link in &route {
            let far = sources.iter().find(|(node, _)| *node == links[*link].from)?.1;
            sources.push((links[*link].to, far + link_time(network, *link, len)));
        }
        sources.retain(|(node, _)| *node == stream.from || network.nodes()[*node].is_bridge);
        route.extend(
            Tree::grow(network, &sources, &|link| Some(link_time(network, link, len))).path(network, listener)?,
        );
    }
    in_order(network, stream, &route)
}

/// Up to `count` paths without loops, the shortest first.
pub(crate) fn shortest_paths(network: &Network, from: usize, to: usize, len: u32, count: usize) -> Vec<Vec<usize>> {
    let links = network.links();
    let time = |path: &[usize]| -> i64 { path.iter().map(|link| link_time(network, *link, len)).sum() };
    let whole = Tree::grow(network, &[(from, 0)], &|link| Some(link_time(network, link, len)));
    let Some(first) = whole.path(network, to) else { return Vec::new() };
    let mut found = vec![first];
    let mut waiting: Vec<(i64, Vec<usize>)> = Vec::new();
    while found.len() < count {
        let last = found[found.len() - 1].clone();
        for spur in 0..last.len() {
            let root = &last[..spur];
            let at = links[last[spur]].from;
            let taken: Vec<usize> =
                found.iter().filter(|path| path.len() > spur && path[..spur] == *root).map(|path| path[spur]).collect();
            let passed: Vec<usize> = root.iter().map(|link| links[*link].from).collect();
            let closed = |link: usize| taken.contains(&link) || passed.contains(&links[link].to);
            let tree = Tree::grow(network, &[(at, 0)], &|link| (!closed(link)).then(|| link_time(network, link, len)));
            if let Some(rest) = tree.path(network, to) {
                let path: Vec<usize> = root.iter().copied().chain(rest).collect();
                let known = found.contains(&path) || waiting.iter().any(|(_, other)| *other == path);
                if !known {
                    waiting.push((time(&path), path));
                }
            }
        }
        let best = waiting.iter().enumerate().min_by(|a, b| a.1.cmp(b.1)).map(|(index, _)| index);
        let Some(best) = best else { break };
        found.push(waiting.swap_remove(best).1);
    }
    found
}
