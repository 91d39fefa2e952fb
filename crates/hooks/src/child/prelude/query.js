// What `beforeQuery`, `beforeCount` and `beforeDistinct` are given: builders with the methods of the client's, each of
// which answers a new one. They hold what is asked as the wire has it (docs/protocol/content.md §3.8, §3.9).
(function () {
  'use strict';
  const { isArray } = Array;
  const { create, getPrototypeOf, hasOwn, keys } = Object;
  const wires = new WeakMap();
  const wireOf = WeakMap.prototype.get.bind(wires);
  const setWire = WeakMap.prototype.set.bind(wires);

  class WixDataFilter {
    eq(field, value) {
      return where(this, 'eq', field, value === undefined ? null : value);
    }
    ne(field, value) {
      return where(this, 'ne', field, { $ne: value === undefined ? null : value });
    }
    gt(field, value) {
      return where(this, 'gt', field, { $gt: value });
    }
    ge(field, value) {
      return where(this, 'ge', field, { $gte: value });
    }
    lt(field, value) {
      return where(this, 'lt', field, { $lt: value });
    }
    le(field, value) {
      return where(this, 'le', field, { $lte: value });
    }
    between(field, from, to) {
      return where(this.ge(field, from), 'between', field, { $lt: to });
    }
    startsWith(field, text) {
      return where(this, 'startsWith', field, { $startsWith: text });
    }
    endsWith(field, text) {
      return where(this, 'endsWith', field, { $endsWith: text });
    }
    contains(field, text) {
      return where(this, 'contains', field, { $contains: text });
    }
    in(field, values) {
      return where(this, 'in', field, { $in: values });
    }
    hasSome(field, ...values) {
      return where(this, 'hasSome', field, { $hasSome: flat(values) });
    }
    hasAll(field, ...values) {
      return where(this, 'hasAll', field, { $hasAll: flat(values) });
    }
    isEmpty(field) {
      return where(this, 'isEmpty', field, null);
    }
    isNotEmpty(field) {
      return where(this, 'isNotEmpty', field, { $ne: null });
    }
    and(other) {
      return changed(this, { filter: both(filterOf(this), filterOf(other)) });
    }
    or(other) {
      const mine = filterOf(this);
      const list = isListOf(mine, '$or') ? mine.$or : [mine];
      return changed(this, { filter: { $or: [...list, filterOf(other)] } });
    }
    not(other) {
      return changed(this, { filter: { $and: [filterOf(this), { $not: [filterOf(other)] }] } });
    }
    limit(count) {
      const { cursorPaging, paging } = wireOf(this);
      if (cursorPaging) return changed(this, { cursorPaging: { ...cursorPaging, limit: count } });
      return changed(this, { paging: { offset: 0, ...paging, limit: count } });
    }
    skip(count) {
      if (wireOf(this).cursorPaging) throw new Error('skip is not for a query by cursor');
      return changed(this, { paging: { ...wireOf(this).paging, offset: count } });
    }
    find() {
      throw new Error('A hook answers the query instead of running it');
    }
  }

  class WixDataQuery extends WixDataFilter {
    ascending(...fields) {
      return sorted(this, fields, 'ASC');
    }
    descending(...fields) {
      return sorted(this, fields, 'DESC');
    }
    fields(...fields) {
      return changed(this, { fields: flat(fields) });
    }
    include(...fields) {
      const limit = typeof fields.at(-1) === 'number' ? { limit: fields.pop() } : {};
      const added = flat(fields).map((field) => ({ field, ...limit }));
      return changed(this, { includeReferences: [...(wireOf(this).includeReferences ?? []), ...added] });
    }
  }

  class WixDataDistinct extends WixDataFilter {
    ascending() {
      return changed(this, { order: 'ASC' });
    }
    descending() {
      return changed(this, { order: 'DESC' });
    }
  }

  WixDataFilter.prototype.gte = WixDataFilter.prototype.ge;
  WixDataFilter.prototype.lte = WixDataFilter.prototype.le;
  WixDataFilter.prototype.count = WixDataFilter.prototype.find;
  WixDataFilter.prototype.distinct = WixDataFilter.prototype.find;

  function where(builder, method, field, operand) {
    if (typeof field !== 'string') throw new TypeError(`${method}: a field's name is a string`);
    return changed(builder, { filter: both(filterOf(builder), { [field]: operand }) });
  }

  function changed(builder, members) {
    return holding(create(getPrototypeOf(builder)), { ...wireOf(builder), ...members });
  }

  function holding(builder, wire) {
    setWire(builder, wire);
    return builder;
  }

  function filterOf(builder) {
    const wire = wireOf(builder);
    if (wire === undefined) throw new TypeError('and, or and not take another query of this hook');
    return wire.filter ?? {};
  }

  // Both conditions, in the shortest form: fields side by side, or one list.
  function both(first, second) {
    if (keys(first).length === 0) return second;
    if (isListOf(first, '$and')) return { $and: [...first.$and, second] };
    const isApart = keys(second).every((it) => !it.startsWith('$') && !hasOwn(first, it));
    return isApart && keys(first).every((it) => !it.startsWith('$'))
      ? { ...first, ...second }
      : { $and: [first, second] };
  }

  function isListOf(filter, operator) {
    return keys(filter).length === 1 && isArray(filter[operator]);
  }

  function sorted(builder, fields, order) {
    const added = flat(fields).map((fieldName) => ({ fieldName, order }));
    return changed(builder, { sort: [...(wireOf(builder).sort ?? []), ...added] });
  }

  function flat(values) {
    return values.length === 1 && isArray(values[0]) ? [...values[0]] : values;
  }

  return {
    query: (wire) => holding(create(WixDataQuery.prototype), wire),
    distinct: (wire) => holding(create(WixDataDistinct.prototype), wire),
    wireOfQuery: (it) => (it instanceof WixDataQuery ? wireOf(it) : undefined),
    wireOfDistinct: (it) => (it instanceof WixDataDistinct ? wireOf(it) : undefined),
  };
});
