//! The guide that explains this folder shows it as it is.

const GUIDE: &str = include_str!("../../../../docs/guide/a-kind-of-segment.md");

/// The files that the page shows, and whether it shows all of them.
const FILES: [(&str, &str, bool); 12] = [
    ("beside.toml", include_str!("beside.toml"), true),
    ("bounds.rs", include_str!("bounds.rs"), true),
    ("frame.rs", include_str!("frame.rs"), true),
    ("kind.rs", include_str!("kind.rs"), false),
    ("main.rs", include_str!("main.rs"), false),
    ("medium.rs", include_str!("medium.rs"), true),
    ("page.rs", include_str!("page.rs"), true),
    ("runs.rs", include_str!("runs.rs"), false),
    ("spec.rs", include_str!("spec.rs"), false),
    ("station.rs", include_str!("station.rs"), false),
    ("tables.rs", include_str!("tables.rs"), true),
    ("two.toml", include_str!("two.toml"), true),
];

pub(crate) fn the_guide_shows_these_very_files() {
    let blocks = blocks(GUIDE);
    for (name, block) in &blocks {
        let file = FILES.iter().find(|(file, ..)| file == name);
        let (_, text, _) = file.unwrap_or_else(|| panic!("the guide shows {name}, which is not in this folder"));
        assert!(text.contains(block), "{name} does not have what the guide shows:\n{block}");
    }
    for (name, text, is_whole) in FILES {
        let shown = blocks.iter().find(|(file, _)| *file == name);
        let (_, block) = shown.unwrap_or_else(|| panic!("the guide shows nothing of {name}"));
        assert!(!is_whole || *block == text, "the guide leaves out a part of {name}");
    }
}

/// The blocks of a page that name a file behind their language, with their content.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some((_, from)) = rest.split_once("\n```") {
        let (info, content) = from.split_once('\n').unwrap();
        let (block, after) = content.split_once("\n```").unwrap();
        // With the end of its last line.
        let block = &content[..=block.len()];
        // Behind it may stand why a page's block is not run.
        if let Some(name) = info.split(' ').nth(1).filter(|name| !name.ends_with(':')) {
            blocks.push((name, block));
        }
        rest = after;
    }
    blocks
}
