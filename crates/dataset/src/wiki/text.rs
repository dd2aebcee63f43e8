//! Titles, names of users and comments in the scripts of Japanese Wikipedia.
//!
//! A title or name is unique by its core, which writes a number in the letters of its script; what is around it is drawn. Titles
//! are 22 bytes on average, so that the tables have the sizes of the article's.

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::uniform::below;

const KANJI: Letters = Letters::new(
    "日本人大国年中学会生出東地市山田川上下北南西島県区町村道路線駅車城寺社神王子女男高原野森林水火木金土月海空石橋井口手目心力\
     文化語史家族法政治経済軍事戦争船艦隊機電気工業農商店品料理食酒茶花草鳥魚犬馬竜虎白黒赤青緑光音楽歌曲画映像書記者作集一二三四五六七八九十百千万",
);
const KATAKANA: Letters = Letters::new(
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワンガギグゲゴザジズゼゾダデドバビブベボパピプペポー",
);
const HIRAGANA: Letters = Letters::new(
    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわん",
);
const LATIN: Letters = Letters::new("abcdefghijklmnopqrstuvwxyz");

/// What tells titles of the same name apart.
const KINDS: [&str; 8] = [
    "曖昧さ回避",
    "アルバム",
    "映画",
    "漫画",
    "企業",
    "小惑星",
    "東京都",
    "野球",
];
/// Sections that an edit names.
const SECTIONS: [&str; 8] = [
    "概要",
    "歴史",
    "関連項目",
    "外部リンク",
    "脚注",
    "登場人物",
    "経歴",
    "出典",
];

/// Takes the texts of neighbouring numbers apart, and two numbers never to one text: it is a prime that divides no power of a number
/// of letters.
const SPREAD: u64 = 2_654_435_761;

/// Letters of one script, by their numbers.
struct Letters {
    text: &'static str,
}

impl Letters {
    const fn new(text: &'static str) -> Self {
        Self { text }
    }

    /// Bytes of each letter.
    fn width(&self) -> usize {
        if self.text.is_ascii() { 1 } else { 3 }
    }

    fn count(&self) -> u64 {
        (self.text.len() / self.width()) as u64
    }

    fn push(&self, number: u64, out: &mut Vec<u8>) {
        let begin = number as usize * self.width();
        out.extend_from_slice(&self.text.as_bytes()[begin..begin + self.width()]);
    }

    /// This many letters, drawn.
    fn draw(&self, count: u64, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
        for _ in 0..count {
            self.push(below(random, self.count()), out);
        }
    }

    /// A number below the number of letters to the power of `digits`, in that many letters.
    fn number(&self, number: u64, digits: u32, out: &mut Vec<u8>) {
        let texts = self.count().pow(digits);
        let spread = u128::from(number) * u128::from(SPREAD) % u128::from(texts);
        let mut rest = spread as u64;
        for _ in 0..digits {
            self.push(rest % self.count(), out);
            rest /= self.count();
        }
    }
}

/// The title of a page: spaces are underscores.
pub(super) fn write_title(page: u64, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
    match below(random, 100) {
        0..35 => {
            KANJI.number(page, 4, out);
            KANJI.draw(below(random, 5), random, out);
        }
        35..62 => {
            KATAKANA.number(page, 5, out);
            KATAKANA.draw(below(random, 8), random, out);
        }
        62..88 => {
            KANJI.number(page, 4, out);
            out.extend_from_slice("の".as_bytes());
            let letters = if below(random, 2) == 0 {
                KATAKANA
            } else {
                HIRAGANA
            };
            letters.draw(2 + below(random, 5), random, out);
        }
        _ => {
            let begin = out.len();
            LATIN.number(page, 6, out);
            out[begin].make_ascii_uppercase();
            if below(random, 2) == 0 {
                out.push(b'_');
                LATIN.draw(3 + below(random, 10), random, out);
            }
        }
    }
    if below(random, 100) < 7 {
        out.extend_from_slice(b"_(");
        out.extend_from_slice(KINDS[below(random, 8) as usize].as_bytes());
        out.push(b')');
    }
}

/// The name of a registered user, from 1.
pub(super) fn write_user_name(user: u64, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
    match below(random, 10) {
        0..6 => {
            let begin = out.len();
            LATIN.number(user, 6, out);
            out[begin].make_ascii_uppercase();
            LATIN.draw(below(random, 6), random, out);
        }
        6..8 => {
            KATAKANA.number(user, 5, out);
            KATAKANA.draw(below(random, 3), random, out);
        }
        _ => KANJI.number(user, 4, out),
    }
}

/// The address of a user that is not registered.
pub(super) fn write_address(random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
    let [first, second, third, fourth] = (below(random, 1 << 32) as u32).to_be_bytes();
    let first = 1 + first % 223;
    out.extend_from_slice(format!("{first}.{second}.{third}.{fourth}").as_bytes());
}

/// What a user wrote about an edit: nothing, the section or a few words.
pub(super) fn write_comment(random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
    let kind = below(random, 100);
    if (30..70).contains(&kind) {
        out.extend_from_slice(b"/* ");
        out.extend_from_slice(SECTIONS[below(random, 8) as usize].as_bytes());
        out.extend_from_slice(b" */");
    }
    if kind >= 60 {
        HIRAGANA.draw(2 + below(random, 4), random, out);
        KANJI.draw(1 + below(random, 8), random, out);
    }
}

/// A SHA-1 as MediaWiki keeps it: 31 digits of base 36.
pub(super) fn write_sha1(random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    // Ten of them are one number below 36^10; the first one of all is small, because 36^31 is more than 2^160.
    out.push(DIGITS[below(random, 8) as usize]);
    for _ in 0..3 {
        let mut rest = below(random, 36_u64.pow(10));
        for _ in 0..10 {
            out.push(DIGITS[(rest % 36) as usize]);
            rest /= 36;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{
        super::history::{Draw, random},
        *,
    };

    #[test]
    fn a_letter_is_in_its_script_once() {
        for letters in [KANJI, KATAKANA, HIRAGANA, LATIN] {
            let different: BTreeSet<char> = letters.text.chars().collect();
            assert_eq!(different.len() as u64, letters.count());
            assert!(
                different
                    .iter()
                    .all(|letter| letter.len_utf8() == letters.width())
            );
        }
    }

    #[test]
    fn titles_and_names_are_unique() {
        let mut titles = BTreeSet::new();
        let mut names = BTreeSet::new();
        let (mut bytes, count) = (0, 50_000);
        for number in 0..count {
            let mut title = Vec::new();
            write_title(number, &mut random(Draw::PageTitle, number), &mut title);
            bytes += title.len() as u64;
            assert!(titles.insert(String::from_utf8(title).unwrap()));
            let mut name = Vec::new();
            write_user_name(number, &mut random(Draw::UserName, number), &mut name);
            assert!(names.insert(String::from_utf8(name).unwrap()));
        }
        let mean = bytes as f64 / count as f64;
        assert!((21.5..22.5).contains(&mean), "{mean}");
    }
}
