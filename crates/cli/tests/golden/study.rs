//! The tables of a study without what was measured on the host.

use serde_json::{Map, Value, json};

/// Columns whose figures come from costs measured on the host, although their cells do not say so: section and column.
const UNSTEADY: [(&str, &str); 1] = [("modern-baselines", "computing")];

/// Verdict and tables of a study's document. A cell is its text, and where that is not all, its kind and its mark.
pub(crate) fn tables(document: &Value) -> Value {
    let mut sections = Map::new();
    for section in list(&document["sections"]) {
        let id = section["id"].as_str().unwrap();
        let tables: Vec<_> = list(&section["blocks"])
            .iter()
            .filter_map(|block| block.get("table"))
            .map(|inner| table(id, inner))
            .collect();
        sections.insert(id.to_owned(), tables.into());
    }
    json!({ "title": document["title"], "verdict": document["verdict"], "tables": sections })
}

fn table(section: &str, table: &Value) -> Value {
    let columns: Vec<_> = list(&table["columns"]).iter().map(|column| column["name"].as_str().unwrap()).collect();
    let rows: Vec<Vec<_>> = list(&table["rows"])
        .iter()
        .map(|row| columns.iter().zip(list(row)).map(|(column, shown)| cell(section, column, shown)).collect())
        .collect();
    json!({ "caption": table["caption"], "columns": columns, "rows": rows, "footnotes": table["footnotes"] })
}

fn cell(section: &str, column: &str, cell: &Value) -> String {
    let [text, kind, mark] = ["text", "kind", "mark"].map(|key| cell[key].as_str().unwrap());
    let text = if kind == "measured" || UNSTEADY.contains(&(section, column)) { "varies" } else { text };
    match (kind, mark) {
        ("plain", "none") => text.to_owned(),
        (kind, "none") => format!("{text} ({kind})"),
        (kind, mark) => format!("{text} ({kind}, {mark})"),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}
