//! Levels that differ in the file and measure the same with `--scale`, which has minimums.

use std::collections::BTreeMap;

use settings::Factor;

use crate::{error::Error, file::template::Levels, plan::Cell};

/// Pairs of levels with which these scaled combinations measure the same, in words; the combinations of a pair differ only
/// in this level. `at_full_size` is the combination of these levels without the scale: what the author wrote twice is
/// not reported.
pub(crate) fn equal_levels(
    factors: &[Factor],
    scaled: &[Cell],
    at_full_size: impl Fn(&Levels) -> Result<Cell, Error>,
) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for factor in factors {
        let name = &factor.name;
        let mut by_other_levels: BTreeMap<Levels, Vec<&Cell>> = BTreeMap::new();
        for cell in scaled {
            let mut others = cell.combination.clone();
            others.remove(name);
            by_other_levels.entry(others).or_default().push(cell);
        }
        for cells in by_other_levels.values() {
            for (at, cell) in cells.iter().enumerate() {
                let mut earlier = cells[..at].iter();
                let Some(equal) = earlier.find(|it| it.measures_same(cell)) else {
                    continue;
                };
                let [a, b] = [equal, cell].map(|it| &it.combination);
                let text = format!(
                    "{name} {} and {} measure the same with this scale",
                    a[name], b[name]
                );
                if !found.contains(&text) && !at_full_size(a)?.measures_same(&at_full_size(b)?) {
                    found.push(text);
                }
            }
        }
    }
    Ok(found)
}
