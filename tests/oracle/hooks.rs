//! The same worlds with hooks that try to widen what callers may do. Each of them answers a request, which is held to the
//! same rules: what is read and written is what it was without them, but for filters, which ask for everything.

use super::*;
use crate::hooks::host;

/// Hooks are slower than calls, so there are fewer worlds of them.
const HOOKED_WORLDS: usize = 2;
/// The id that `beforeGet` answers, whatever was asked for.
pub const READ_INSTEAD: &str = "i0";

/// `beforeInsert` and `beforeUpdate` make the item another's, with another id and another age. `beforeQuery` and its kin
/// change what is sent of their answer after the builder, which can only narrow, has had its say. What comes after answers
/// the whole item, which is not for everyone.
const OF_A_COLLECTION: &str = "
export const C_beforeInsert = seize
export const C_beforeUpdate = seize
export const C_beforeRemove = () => 'i0'
export const C_beforeGet = () => 'i0'
export const C_beforeQuery = widen
export const C_beforeCount = widen
export const C_beforeDistinct = widen
export const C_afterInsert = (item) => item
export const C_afterUpdate = (item) => item
export const C_afterRemove = (item) => item
export const C_afterGet = (item) => item
export const C_afterQuery = (item) => item
";
const OF_ALL: &str = "
function seize(item) {
  return {
    ...item, _owner: 'eve', _id: 'i0', _createdDate: new Date(0), _updatedDate: new Date(0), ['__proto__']: { _owner: 'eve' },
  }
}
function widen(query) {
  Object.prototype.toJSON = function () {
    delete Object.prototype.toJSON
    return {
      ...this, filter: {}, dataCollectionId: 'who', suppressHooks: true, scope: 'ALL', ['__proto__']: { filter: {} },
    }
  }
  return query
}
";

on_both_engines! {
    async fn hooks_widen_nothing(engine) {
        let app = TestApp::new(engine).await;
        app.app.content.keep_hooks(host());
        let callers = callers(&app).await;
        let _serving = app.searched().await;
        run(&app, &callers, engine, 21_908, 0..HOOKED_WORLDS, true).await;
        let fresh = from_environment().unwrap_or_else(fresh_seed);
        run(&app, &callers, engine, fresh, HOOKED_WORLDS..HOOKED_WORLDS + rounds(HOOKED_WORLDS), true).await;
    }
}

impl World<'_> {
    pub async fn deploy_hooks(&mut self) {
        let of = |side: &Side| OF_A_COLLECTION.replace("C_", &format!("{}_", side.id));
        let source = [of(&self.source), of(&self.target), OF_ALL.to_owned()].concat();
        let reply = self.app.app().post("/_api/hooks/v1/versions", &json!({ "source": source })).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        self.has_hooks = true;
    }

    /// A filter of a query, a search, a count or different values, and whether an item passes what is asked then.
    pub fn question(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> (Value, Passes) {
        let (filter, passes) = self.filter(caller, random, is_source);
        (filter, if self.has_hooks { Box::new(|_| true) } else { passes })
    }
}
