//! LIVE and SANDBOX (decision 40): which of the two a call on items is about, and copies from one to the other.
//!
//! The SANDBOX of a site is a site of its own, so whatever is done to items is done there as anywhere. A copy takes a
//! snapshot of its collections into a file ([`snapshot`]), fills tables with it that no request knows ([`stage`]), and puts
//! them in the place of those that the collections had, all in one transaction ([`switch`]). What was there before stays
//! for [`undo`], for as long as [`retention`] says. Wherever a copy is cut off, either nothing or all of it has happened, and
//! of the workers that follow each other on one only the last can have it happen ([`fence`]).

pub(crate) mod copy;
mod difference;
mod fence;
mod manage;
mod owner;
mod place;
pub(crate) mod retention;
mod snapshot;
mod stage;
mod swap;
mod switch;
mod undo;
