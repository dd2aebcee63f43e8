//! Tests of the page's charts as SVG and PNG.

use report::{Results, pictures, png};
use samples::Host;

use crate::synthetic;

/// Width and height of a PNG, from its first chunk.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn every_chart_of_the_page_is_a_picture() {
    let results = synthetic::quickstart(Host::Both);
    let all = pictures(&results);
    let names: Vec<&str> = all.iter().map(|picture| picture.name.as_str()).collect();
    for name in ["throughput", "cpu", "latency"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for picture in &all {
        let (name, svg) = (&picture.name, &picture.svg);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(svg.contains("where does it bend?"), "{name} has no title");
        for foreign in ["var(", "under Numbers", "href", "style=\""] {
            assert!(!svg.contains(foreign), "{name} has {foreign}");
        }
        let drawn = png(svg).unwrap();
        assert!(drawn.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
        let (width, height) = size(&drawn);
        assert!(width >= 1280 && height >= 600, "{name}: {width} × {height}");
    }
}

#[test]
fn a_picture_of_a_small_experiment() {
    let mut results = synthetic::asked();
    results.question = "Is <it> fast & \"good\"?".to_owned();
    let all = pictures(&results);
    let throughput = all.into_iter().find(|it| it.name == "throughput");
    let svg = throughput.unwrap().svg;
    assert!(png(&svg).is_ok());
    insta::assert_snapshot!(svg.replace("><", ">\n<").replace('}', "}\n"));
}

#[test]
fn nothing_that_varies_is_no_chart() {
    let mut one = synthetic::quickstart(Host::Both);
    one.runs.truncate(1);
    assert!(pictures(&one).is_empty());
    let none = Results {
        runs: Vec::new(),
        ..one
    };
    assert!(pictures(&none).is_empty());
}

#[test]
fn letters_need_no_font_of_the_machine() {
    let with = |text: &str| {
        let head = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90\" height=\"20\" font-family=\"No Such Font\">";
        png(&format!(
            "{head}<text x=\"2\" y=\"15\" font-size=\"12\">{text}</text></svg>"
        ))
        .unwrap()
    };
    let (empty, letters, others) = (with(""), with("p95 ± µs"), with("p50 ± µs"));
    assert!(letters.len() > empty.len() + 300, "nothing was drawn");
    assert_ne!(letters, others);
    assert!(png("<svg").is_err());
}
