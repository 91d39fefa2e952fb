//! `stoa.fold(text)`: simple case folding for PostgreSQL, made from the same table as the one in Rust.

use stoa_kernel::fold::folding_pairs;

/// `create or replace function stoa.fold(text)`.
///
/// Most text has nothing to fold beyond ASCII, which one look through a class of characters tells; the
/// class is a table inside the engine, so its size costs nothing. `translate` on the other hand goes
/// through its list for each character of the text, so the list is as short as the text allows: the
/// letters below U+0180 (Latin) or U+0530 (Greek and Cyrillic as well), or all. `lower` under the
/// collation "C" changes ASCII letters only.
pub fn fold_function_sql() -> String {
    let pairs: Vec<_> = folding_pairs().filter(|(from, _)| !from.is_ascii()).collect();
    let changing: String = pairs.iter().map(|(from, _)| from).collect();
    let (latin, european, all) =
        (translate(&pairs, '\u{180}'), translate(&pairs, '\u{530}'), translate(&pairs, char::MAX));
    format!(
        r#"create or replace function stoa.fold(given text) returns text
language plpgsql immutable strict parallel safe cost 10 as $fold$
declare
  ascii text collate "C" := lower(given collate "C");
begin
  if octet_length(ascii) = char_length(ascii) or ascii !~ '[{changing}]' then return ascii; end if;
  if ascii !~ '[^\u0001-\u017f]' then return {latin}; end if;
  if ascii !~ '[^\u0001-\u052f]' then return {european}; end if;
  return {all};
end $fold$"#
    )
}

fn translate(pairs: &[(char, char)], below: char) -> String {
    let (from, to): (String, String) = pairs.iter().copied().take_while(|(from, _)| *from < below).unzip();
    format!("translate(ascii, '{from}', '{to}')")
}
