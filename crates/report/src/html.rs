//! The page: one file with its style, its script and its data inside; it opens from disk with the network off.
//!
//! The data stand in an element of their own that no browser executes. Nothing of a model gets into the markup: the script puts all text into
//! the page as text.

use crate::{Picture, columns};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 8] = [
    include_str!("page/model.js"),
    include_str!("page/text.js"),
    include_str!("page/view.js"),
    include_str!("page/map.js"),
    include_str!("page/details.js"),
    include_str!("page/table.js"),
    include_str!("page/tables.js"),
    include_str!("page/main.js"),
];

/// The page as text.
pub fn page(picture: &Picture) -> String {
    // Text that ends the element early would be markup: no `<` stands in the data.
    let data = columns::json(picture).replace('<', "\\u003c");
    let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPTS.concat());
    let mut out = String::with_capacity(PAGE.len() + STYLE.len() + script.len() + data.len());
    let mut rest = PAGE;
    for (mark, part) in [("/* style */", STYLE), ("/* data */", &data), ("/* script */", &script)] {
        let (before, behind) = rest.split_once(mark).unwrap_or_else(|| unreachable!("the page has a place for each"));
        out.push_str(before);
        out.push_str(part);
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Function;

    #[test]
    fn nothing_of_a_model_is_markup() {
        let name = "</script><script>alert(1)</script><!--".to_owned();
        let function = Function { name: name.clone(), ..Function::default() };
        let page = page(&Picture { input: name, functions: vec![function], ..Picture::default() });
        assert_eq!(page.matches("</script>").count(), 2, "one end for the data, one for the script");
        assert!(!page.contains("alert(1)<"), "a name is in the page as markup");
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        let page = page(&Picture::default());
        for word in ["http:", "https:", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("default-src 'none'"), "a browser is told so, too");
    }

    #[test]
    fn sizes_that_no_script_can_hold_travel_as_text() {
        let mut function = Function::default();
        (function.figures.arena, function.figures.peak) = ((1 << 53) + 1, 1 << 53);
        let page = page(&Picture { functions: vec![function], ..Picture::default() });
        assert!(page.contains("\"arena\":\"9007199254740993\",\"peak\":9007199254740992"));
    }
}
