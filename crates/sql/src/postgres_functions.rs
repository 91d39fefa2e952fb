//! The functions of [`crate::functions`] for PostgreSQL, as the statements that a migration runs.
//!
//! They live in the schema `stoa`, are replaced whole, and name everything with its schema, so that the
//! caller's `search_path` has no say. `stoa_sorted` needs no twin here: `jsonb` compares by content.

use crate::postgres_fold::fold_function_sql;

/// All statements, in the order in which they must run. They may run again at any time.
pub fn statements() -> Vec<String> {
    let fixed = [VALUE_KEY, BOUNDED, LEAST, GREATEST, INDEXED, UNIQUE, REFUSE_WRITE];
    let schema = "create schema if not exists stoa".to_owned();
    [schema, fold_function_sql()].into_iter().chain(fixed.map(str::to_owned)).collect()
}

/// See `stoa_sql::key`: the position of a value in the total order.
///
/// A double's bits, as hexadecimal digits, compare as the numbers do once the sign bit of positive
/// numbers is set and all bits of negative ones are turned: both are exchanges of digits.
const VALUE_KEY: &str = "\
create or replace function stoa.value_key(given jsonb) returns text
language plpgsql immutable parallel safe as $$
declare
  bits text;
begin
  case jsonb_typeof(given)
    when 'string' then
      return '2' || (given #>> '{}');
    when 'number' then
      bits := encode(float8send(given::double precision), 'hex');
      if bits < '8' collate \"C\" then
        return '1' || translate(left(bits, 1), '01234567', '89abcdef') || substr(bits, 2);
      end if;
      return '1' || translate(bits, '0123456789abcdef', 'fedcba9876543210');
    when 'object' then
      if given ? '$date' then return '6' || (given ->> '$date'); end if;
      return '3' || given::text;
    when 'array' then
      return '4' || given::text;
    when 'boolean' then
      return case given when 'true' then '51' else '50' end;
    else
      return '';
  end case;
end $$";

/// See `stoa_sql::key::bounded`.
const BOUNDED: &str = "\
create or replace function stoa.bounded(given text) returns text
language plpgsql immutable strict parallel safe as $$
begin
  if length(given) <= 480 then return given; end if;
  return left(given, 480) || encode(sha256(convert_to(given, 'UTF8')), 'hex');
end $$";

const LEAST: &str = "\
create or replace function stoa.least(given jsonb) returns text
language plpgsql immutable parallel safe as $$
begin
  if jsonb_typeof(given) = 'array' then
    return coalesce((select min(stoa.bounded(stoa.value_key(it)) collate \"C\") from jsonb_array_elements(given) as it), '');
  end if;
  return stoa.bounded(stoa.value_key(given));
end $$";

const GREATEST: &str = "\
create or replace function stoa.greatest(given jsonb) returns text
language plpgsql immutable parallel safe as $$
begin
  if jsonb_typeof(given) = 'array' then
    return coalesce((select max(stoa.bounded(stoa.value_key(it)) collate \"C\") from jsonb_array_elements(given) as it), '');
  end if;
  return stoa.bounded(stoa.value_key(given));
end $$";

/// See `stoa_sql::key::indexed`. A page in the order of an index asks this of every row, so numbers and
/// texts are done here: a call of another function costs more than the work. `most` is never below the 17
/// characters of a number.
const INDEXED: &str = "\
create or replace function stoa.indexed(given jsonb, most integer, folded boolean) returns text
language plpgsql immutable parallel safe as $$
declare
  key text;
  bits bytea;
begin
  case jsonb_typeof(given)
    when 'number' then
      bits := float8send(given::double precision);
      if get_byte(bits, 0) >= 128 then return stoa.value_key(given); end if;
      return '1' || encode(set_byte(bits, 0, get_byte(bits, 0) | 128), 'hex');
    when 'string' then
      key := '2' || (given #>> '{}');
    when 'array' then
      return null;
    else
      key := stoa.value_key(given);
  end case;
  if folded then key := stoa.fold(key); end if;
  if length(key) <= most then return key; end if;
  if most < 480 then return null; end if;
  return stoa.bounded(key);
end $$";

/// See `stoa_sql::key::unique`.
const UNIQUE: &str = "\
create or replace function stoa.unique(given jsonb, folded boolean) returns text
language plpgsql immutable parallel safe as $$
declare
  key text := stoa.value_key(given);
begin
  if key = '' then return null; end if;
  if folded then key := stoa.fold(key); end if;
  return stoa.bounded(key);
end $$";

/// What a closed table of items does (`Dialect::close_items_table`).
const REFUSE_WRITE: &str = "\
create or replace function stoa.refuse_write() returns trigger
language plpgsql as $$
begin
  raise exception using errcode = 'ST001', message = 'the collection was replaced';
end $$";
