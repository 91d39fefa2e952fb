// Printed from docs/openapi.json. Do not edit by hand; print it again with
// npm run types

/** Nothing. */
export type Empty = Record<string, never>;

/** Any value. */
export type Json = unknown;

/** What is wrong with a member of the request. */
export type Violation = {
  /** Its path, with list positions in brackets; empty for the whole. */
  field: string;
  description: string;
  /** The rule, `REQUIRED_FIELD` for example. */
  violatedRule: string;
  ruleName?: string;
  data: ErrorData;
};

/** `retryAfterSeconds` of a 429 or 503, ids of what it is about, `fieldViolations`. */
export type ErrorData = Record<string, unknown>;

export type ApplicationError = {
  /** One of the codes of the response. */
  code: string;
  description: string;
  data: ErrorData;
};

export type ValidationError = {
  fieldViolations: Array<Violation>;
};

export type ErrorBody = {
  /** For people; codes of content stand before it. */
  message: string;
  details: {
    applicationError: ApplicationError;
    validationError?: ValidationError;
  };
};

export type ValidationErrorBody = {
  message: string;
  details: {
    validationError: ValidationError;
  };
};

/** The members of RFC 6749, section 5.2, and ours beside them. */
export type OauthErrorBody = {
  error: 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type' | 'invalid_scope' | 'unsupported_token_type' | 'unauthorized_client' | 'server_error';
  error_description: string;
  message: string;
  details: {
    applicationError?: ApplicationError;
    validationError?: ValidationError;
  };
};

export type BulkTotals = {
  totalSuccesses: number;
  totalFailures: number;
  undetailedFailures: 0;
};

export type BulkResult = {
  itemMetadata: {
    id: string;
    originalIndex: number;
    success: boolean;
    error?: ApplicationError;
  };
};

export type BulkResponse = {
  results: Array<BulkResult>;
  bulkActionMetadata: BulkTotals;
};

export type OffsetMetadata = {
  count: number;
  offset: number;
  total?: number | null;
  tooManyToCount: boolean;
};

export type CursorMetadata = {
  count: number;
  hasNext: boolean;
  cursors: {
    next?: string | null;
  };
};

export type JobResponse = {
  jobId: string;
};

export type MemberIdsRequest = {
  /** One id, or a list. */
  memberIds?: string | Array<string>;
};

export type CursorPaging = {
  /** At most so many. */
  limit?: number | string | null;
  /** Where the page before ended. */
  cursor?: string | null;
};

export type OffsetPaging = {
  /** At most so many. */
  limit?: number | string | null;
  /** As many are left out before. */
  offset?: number | string | null;
};

/** What the server adds to an item. `_id` is always there; the others are left out where `fields` doesn't name them, and where the caller may not read the item that was written. */
export type ItemSystemFields = {
  _id: string;
  _createdDate?: ItemDate;
  _updatedDate?: ItemDate;
  /** Whose the item is: the id of a visitor, a member or one who runs the site. Items that keys make have none. */
  _owner?: string;
};

/** A date inside an item, in UTC to the millisecond. */
export type ItemDate = {
  $date: string;
};

/** An item in its wrapper. `id` is the `_id` of the data. */
export type Item = {
  id: string;
  dataCollectionId: string;
  data: (ItemData) & (ItemSystemFields);
};

/** An item as it is sent. Its id may stand in `id`, in `data._id` or in both, where both must be equal. */
export type ItemInput = {
  id?: ItemId | null;
  data: ItemData;
};

/** The id of an item: 1 to 128 characters, without `?`, `#` and control characters. A call on many refuses an empty one alone. */
export type ItemId = string;

/** A value of a field; a date is `{"$date": …}`. */
export type FieldValue = unknown;

/** Which items are meant. Those who work on the site, and apps, may name its sandbox: with `SANDBOX_PREFERRED` where the sandbox has the collection, else `LIVE` is meant. For others `SANDBOX_PREFERRED` is `LIVE`, and `SANDBOX` is refused. */
export type Environment = 'LIVE' | 'SANDBOX' | 'SANDBOX_PREFERRED' | 'UNKNOWN_ENVIRONMENT' | null;

/** The tag of a language (BCP 47). Updates, saves and patches by those who work on the site, and by apps, write what items are in it (docs/translations.md); other writes can be in no language (WDE0119). */
export type WriteLanguage = string | null;

/** Conditions that all hold; `{}` holds always. A member is `"$and": [filter, …]`, `"$or": [filter, …]`, `"$not": filter` (or a list of one), `field: value` or `field: { operator: operand, … }`. Names of fields may be dotted. Operators: `$eq`, `$ne`, `$lt`, `$lte`, `$gt`, `$gte`, `$in`, `$nin`, `$hasSome`, `$hasAll`, `$startsWith`, `$endsWith`, `$contains`, `$exists`, `$isEmpty`, `$matches` and `$not`. Values are compared within their type; a date is `{"$date": …}`. */
export type Filter = Record<string, unknown>;

/** What the public client hands on to hooks; without effect. */
export type AppOptions = Record<string, unknown> | null;

/** Without effect: who reads drafts is a matter of rights. */
export type PublishPluginOptions = {
  includeDraftItems?: boolean | null;
} | null;

/** Without effect. */
export type SuppressHooks = boolean | null;

/** The tag of a language (BCP 47). Values of translatable fields are shown in it, where items have them; filters and orders are about the primary text. */
export type ReadLanguage = string | null;

/** Asks for what is stored at this moment, which an answer to a POST always is. */
export type ConsistentRead = boolean | null;

/** The write happens only where this holds for the stored item. It needs the right to read. */
export type WriteCondition = {
  filter: Filter;
} | null;

/** `ASC` where it is missing. */
export type ItemSortDirection = 'ASC' | 'DESC' | null;

export type ItemSortKey = {
  /** May be dotted. */
  fieldName: string;
  order?: ItemSortDirection;
};

/** Elements of a page, 50 where it is missing. */
export type ItemPageLimit = number;

export type ItemOffsetPaging = {
  limit?: ItemPageLimit;
  /** Elements before the page. */
  offset?: number;
} | null;

/** Without a cursor it asks for the first page. With one, the members that the first request had and that the cursor keeps need not be sent again. */
export type ItemCursorPaging = {
  limit?: ItemPageLimit;
  cursor?: string | null;
} | null;

/** A reference field whose items are wanted in the place of their ids. */
export type IncludedReference = {
  /** May be dotted: up to five fields, each on the items of the one before it. */
  field: string;
  limit?: ItemPageLimit;
};

/** Where the page stands. */
export type ItemPagingMetadata = {
  /** Elements of this page. */
  count: number;
  /** Elements before this page; not in paging by cursor. */
  offset?: number;
  hasNext: boolean;
  tooManyToCount: false;
  /** Elements of all pages, where `returnTotalCount` asks for it. */
  total?: number;
  /** In paging by cursor only. */
  cursors?: {
    /** On every page but the last. */
    next?: string;
    /** On every page but the first. */
    prev?: string;
  };
};

/** The item as the caller is shown it. Of an item that was patched, one who may not read it is shown the `_id` alone. */
export type ItemResponse = {
  dataItem: Item;
};

export type ItemInsertRequest = {
  dataCollectionId: string;
  dataItem: ItemInput;
  /** Whether ids in multi-reference fields become links; otherwise they are left out. */
  saveReferences?: boolean | null;
  /** Whether the answer has referenced items in the place of their ids. */
  includeReferencedItems?: boolean | null;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

/** The item takes the place of the one with its id: fields that it leaves out are gone. */
export type ItemUpdateRequest = {
  dataCollectionId: string;
  dataItem: ItemInput;
  condition?: WriteCondition;
  /** Whether ids in multi-reference fields become links; otherwise they are left out. */
  saveReferences?: boolean | null;
  /** Whether the answer has referenced items in the place of their ids. */
  includeReferencedItems?: boolean | null;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemSaveRequest = ItemInsertRequest;

export type ItemSaveResponse = {
  action: 'INSERTED' | 'UPDATED';
  dataItem: Item;
};

/** A change of one field. Names of the path have dots between them; objects on the way are made where something is put behind them. */
export type FieldModification = {
  fieldPath: string;
  action: 'SET_FIELD' | 'REMOVE_FIELD' | 'INCREMENT_FIELD' | 'APPEND_TO_ARRAY' | 'REMOVE_FROM_ARRAY';
  /** Without a value the field is removed. A multi-reference takes a list of ids. */
  setFieldOptions?: {
    value?: FieldValue;
  } | null;
  incrementFieldOptions?: {
    value: number;
  } | null;
  /** A list is appended as one element. */
  appendToArrayOptions?: {
    value: FieldValue;
  } | null;
  /** The first element that equals the value is taken out. */
  removeFromArrayOptions?: {
    value: FieldValue;
  } | null;
};

/** Changes of one item, made in their order. Without any only `_updatedDate` is renewed. */
export type ItemPatch = {
  /** Needed, unless the path has it. */
  dataItemId?: string;
  fieldModifications?: Array<FieldModification> | null;
};

export type ItemPatchRequest = {
  dataCollectionId: string;
  patch: ItemPatch;
  condition?: WriteCondition;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemRemoveRequest = {
  dataCollectionId: string;
  dataItemId: string;
  condition?: WriteCondition;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

/** What stands in the query of a deletion; the path has the id where it is not here. */
export type ItemDeleteRequest = {
  dataCollectionId?: string;
  dataItemId?: string;
  condition?: WriteCondition;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

/** The item as it was; nothing of it for a caller who may not read it. */
export type ItemRemoveResponse = {
  dataItem?: Item;
};

export type ItemDraftRequest = {
  dataCollectionId: string;
  dataItemId: string;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemUnpublishRequest = {
  dataCollectionId: string;
  dataItemId: string;
  /** Whether the item becomes a draft; it does without it. */
  copyToDraft?: boolean | null;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemTruncateRequest = {
  dataCollectionId: string;
  environment?: Environment;
  language?: WriteLanguage;
};

export type ItemBulkResult = {
  /** What was done, or would have been. */
  action: 'INSERT' | 'UPDATE' | 'PATCH' | 'DELETE';
  itemMetadata: {
    /** Not there where what was sent has no id that can be read. */
    id?: string;
    /** The position in the request. */
    originalIndex: number;
    success: boolean;
    error?: ApplicationError;
  };
  dataItem?: Item;
};

/** A result for each item of the request, in its order. Items that are refused leave the others alone. */
export type ItemBulkResponse = {
  results: Array<ItemBulkResult>;
  bulkActionMetadata: BulkTotals;
};

export type ItemBulkInsertRequest = {
  dataCollectionId: string;
  /** At most 1000 unless configured otherwise. */
  dataItems: Array<ItemInput>;
  /** Whether ids in multi-reference fields become links; otherwise they are left out. */
  saveReferences?: boolean | null;
  /** Whether the results show the items. */
  returnEntity?: boolean | null;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemBulkUpdateRequest = {
  dataCollectionId: string;
  /** At most 1000 unless configured otherwise, each with its id. */
  dataItems: Array<ItemInput>;
  condition?: WriteCondition;
  /** Whether ids in multi-reference fields become links; otherwise they are left out. */
  saveReferences?: boolean | null;
  /** Whether the results show the items. */
  returnEntity?: boolean | null;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemBulkSaveRequest = ItemBulkInsertRequest;

export type ItemBulkPatchRequest = {
  dataCollectionId: string;
  /** At most 100 unless configured otherwise. */
  patches: Array<ItemPatch>;
  condition?: WriteCondition;
  /** Whether the results show the items. */
  returnEntity?: boolean | null;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemBulkRemoveRequest = {
  dataCollectionId: string;
  /** At most 1000 unless configured otherwise. */
  dataItemIds: Array<string>;
  condition?: WriteCondition;
  /** Whether the results show the items. */
  returnEntity?: boolean | null;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

/** Filter and modifications have at most 64 KB together. */
export type ItemPatchByFilterRequest = {
  dataCollectionId: string;
  filter: Filter;
  /** Without any, the items get a new `_updatedDate` alone. */
  fieldModifications?: Array<FieldModification> | null;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemRemoveByFilterRequest = {
  dataCollectionId: string;
  filter: Filter;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type AsyncJobResponse = {
  jobId: string;
};

export type AsyncJobError = {
  code: string;
  description: string;
};

export type AsyncJobStatusResponse = {
  status: 'INITIALIZED' | 'PROCESSING' | 'SUCCEEDED' | 'FAILED';
  /** Items that were changed. */
  successCount: number;
  /** Items that could not be changed; the job goes on. */
  failureCount: number;
  /** The first of them, twenty at most. */
  failures: Array<{
    itemId: string;
    error: AsyncJobError;
  }>;
  /** Why the job failed. */
  error?: AsyncJobError | null;
};

export type ItemGetRequest = {
  dataCollectionId?: string;
  dataItemId?: string;
  /** Dotted names of what is wanted of the item, all of it where there are none. */
  fields?: Array<string> | null;
  includeReferences?: Array<IncludedReference> | null;
  /** The older form of `includeReferences`. */
  includeReferencedItems?: Array<string> | null;
  environment?: Environment;
  consistentRead?: ConsistentRead;
  language?: ReadLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemQueryRequest = {
  dataCollectionId: string;
  query?: {
    filter?: Filter | null;
    /** In order of importance; without it the newest first. */
    sort?: Array<ItemSortKey> | null;
    /** Dotted names of what is wanted of each item, all of it where there are none. Names that an item doesn't have are left out. */
    fields?: Array<string> | null;
    paging?: ItemOffsetPaging;
    cursorPaging?: ItemCursorPaging;
  } | null;
  includeReferences?: Array<IncludedReference> | null;
  /** The older form of `includeReferences`. */
  includeReferencedItems?: Array<string> | null;
  /** Without effect yet. */
  includeFieldGroups?: Array<string> | null;
  returnTotalCount?: boolean | null;
  sortMode?: 'WIX_QUERY' | 'RANDOM' | 'UNKNOWN_SORT_MODE' | null;
  randomOptions?: {
    /** The same seed gives the same order. */
    seed?: number;
  } | null;
  environment?: Environment;
  consistentRead?: ConsistentRead;
  language?: ReadLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemQueryResponse = {
  dataItems: Array<Item>;
  pagingMetadata: ItemPagingMetadata;
};

export type ItemSearchRequest = {
  dataCollectionId: string;
  search?: {
    /** Which of the items that the words find. */
    filter?: Filter | null;
    /** In order of importance; without it the best first, and where no words are searched the newest. */
    sort?: Array<ItemSortKey> | null;
    /** Dotted names of what is wanted of each item, all of it where there are none. */
    fields?: Array<string> | null;
    /** What is searched for. */
    search?: {
      /** Words; all items where it is blank or missing. Sixteen different ones at most. */
      expression?: string | null;
      /** Whether an item holds one of the words, or all of them. */
      mode?: 'OR' | 'AND' | null;
      /** Whether words that are nearly the same are found: one error up to five letters, two in longer ones. */
      fuzzy?: boolean | null;
      /** Fields of the collection whose words are searched; all of TEXT, RICH_TEXT, URL and ARRAY_STRING where there are none. */
      fields?: Array<string> | null;
    } | null;
    highlight?: SearchHighlight;
    paging?: SearchOffsetPaging;
    cursorPaging?: SearchCursorPaging;
  } | null;
  /** Whether words are told that may be meant where few items hold those of the expression. Cursors don't keep it. No client package sends it. */
  returnSuggestions?: boolean | null;
  includeReferences?: Array<IncludedReference> | null;
  /** The older form of `includeReferences`. */
  includeReferencedItems?: Array<string> | null;
  environment?: Environment;
  consistentRead?: ConsistentRead;
  language?: ReadLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

/** Asks for the pieces of texts that answer; all members may be left out. Cursors don't keep it. No client package sends it. */
export type SearchHighlight = {
  /** The fields of which they are wanted: fields that are searched and that the items are shown with. All of these where there are none. */
  fields?: Array<string> | null;
  /** Characters of a fragment; 200 where there is none. */
  maxLength?: number | null;
  /** Fragments of a field; 3 where there is none. */
  maxFragments?: number | null;
} | null;

export type ItemSearchResponse = {
  dataItems: Array<FoundItem>;
  pagingMetadata: ItemPagingMetadata;
  suggestions?: SearchSuggestions;
};

/** An item in its wrapper, and what of it answers where `search.highlight` asks for that. */
export type FoundItem = {
  id: string;
  dataCollectionId: string;
  data: (ItemData) & (ItemSystemFields);
  /** The fields with text that answers, the display field first. */
  highlights?: Array<FieldHighlight>;
};

export type FieldHighlight = {
  fieldName: string;
  /** Pieces of the field's text, in its order and apart from each other: those with most of the words that are searched for, then with most matches, then the first ones. */
  fragments: Array<HighlightFragment>;
};

/** A piece of the text of a field: text, not markup. Texts of a list stand one under the other. */
export type HighlightFragment = {
  /** Joined, their texts are the piece. */
  parts: Array<{
    text: string;
    /** Whether it is what was searched for. */
    isMatch: boolean;
  }>;
  hasTextBefore: boolean;
  hasTextAfter: boolean;
};

/** Words of the index that may be meant. There where `returnSuggestions` asks for it and the caller may read all of every item, drafts included, and no code of the site decides on what is read. */
export type SearchSuggestions = {
  /** The expression with the likeliest words in place of some of its own. Missing where there are none, and where it would be longer than an expression may be. */
  expression?: string;
  /** The words of the expression for which there are others. */
  words: Array<SearchSuggestion>;
};

export type SearchSuggestion = {
  /** As it was typed. */
  word: string;
  /** The likeliest first: fewest errors, then most items, then in the order of their bytes. */
  alternatives: Array<{
    /** In small letters and without accents, as it is searched for. */
    word: string;
    /** How many items hold it. */
    itemCount: number;
  }>;
};

/** Items of a page, 100 where it is missing. */
export type SearchPageLimit = number;

export type SearchOffsetPaging = {
  limit?: SearchPageLimit;
  /** Items before the page. */
  offset?: number;
} | null;

/** Without a cursor it asks for the first page. With one, filter, sort and words are those of the first request, whatever is sent. */
export type SearchCursorPaging = {
  limit?: SearchPageLimit;
  cursor?: string | null;
} | null;

/** How late the index of words is. */
export type SearchLag = {
  /** All that was written before is in it. */
  isCurrent: boolean;
  /** Rows of the log that are still to be read, up to 1,000. For apps and those who run the site. */
  pendingEntries?: number;
  /** How long the first of them has waited. */
  lagMilliseconds: number;
  /** Collections not all of whose items are in it yet. For apps and those who run the site. */
  unbuiltCollections?: number;
};

export type ItemQueryByGetResponse = ItemQueryResponse | ItemResponse;

export type ItemCountRequest = {
  dataCollectionId: string;
  filter?: Filter | null;
  environment?: Environment;
  consistentRead?: ConsistentRead;
  language?: ReadLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemCountResponse = {
  totalCount: number;
};

export type ItemDistinctQueryRequest = {
  dataCollectionId: string;
  /** May be dotted. Needed unless a cursor is sent. */
  fieldName?: string;
  filter?: Filter | null;
  order?: ItemSortDirection;
  paging?: ItemOffsetPaging;
  cursorPaging?: ItemCursorPaging;
  returnTotalCount?: boolean | null;
  environment?: Environment;
  consistentRead?: ConsistentRead;
  language?: ReadLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ItemDistinctQueryResponse = {
  /** Null stands for items without a value; of a list each element counts. */
  distinctValues: Array<FieldValue>;
  pagingMetadata: ItemPagingMetadata;
};

/** A value that is worked out for each row; exactly one member says how. Nothing comes of what is missing or null. */
export type Expression = {
  /** The value of a field; may be dotted. */
  fieldPath?: string;
  text?: string;
  numeric?: number;
  add?: {
    expressions: Array<Expression>;
  };
  sum?: {
    expressions: Array<Expression>;
  };
  multiply?: {
    expressions: Array<Expression>;
  };
  concat?: {
    expressions: Array<Expression>;
  };
  subtract?: {
    firstExpression: Expression;
    secondExpression: Expression;
  };
  divide?: {
    firstExpression: Expression;
    secondExpression: Expression;
  };
  mod?: {
    firstExpression: Expression;
    secondExpression: Expression;
  };
  abs?: {
    expression: Expression;
  };
  floor?: {
    expression: Expression;
  };
  ceil?: {
    expression: Expression;
  };
  stringify?: {
    expression: Expression;
  };
  toLower?: {
    expression: Expression;
  };
  toUpper?: {
    expression: Expression;
  };
  length?: {
    expression: Expression;
  };
  substring?: {
    expression: Expression;
    startExpression: Expression;
    lengthExpression?: Expression | null;
  };
};

/** A member of each group's result: beside `resultFieldName` exactly one member says what of. */
export type Accumulator = {
  resultFieldName: string;
  sum?: {
    expression: Expression;
  };
  avg?: {
    expression: Expression;
  };
  min?: {
    expression: Expression;
  };
  max?: {
    expression: Expression;
  };
  first?: {
    expression: Expression;
  };
  last?: {
    expression: Expression;
  };
  push?: {
    expression: Expression;
  };
};

/** What a projection does; exactly one member says what. */
export type ProjectedField = {
  include?: {
    fieldName: string;
  };
  exclude?: {
    fieldName: string;
  };
  reshape?: {
    resultFieldName: string;
    expression: Expression;
  };
  projectNested?: {
    resultFieldName: string;
    fields: Array<ProjectedField>;
  };
};

export type PipelineSortKey = {
  fieldName: string;
  order?: ItemSortDirection;
};

/** What becomes of the rows; exactly one member says what. */
export type Stage = {
  filter?: Filter;
  projection?: {
    fields: Array<ProjectedField>;
  };
  group?: {
    /** The members of `_id` of each result. */
    groupIds?: Array<{
      key: string;
      expression: Expression;
    }> | null;
    accumulators?: Array<Accumulator> | null;
  };
  unwindArray?: {
    arrayFieldName: string;
  };
  sort?: {
    values: Array<PipelineSortKey>;
  };
  limit?: number;
  skip?: number;
  objectToArray?: {
    objectFieldName: string;
    destinationFieldName: string;
  };
};

/** A member of each result: beside `resultFieldName` exactly one member says what of. */
export type AggregateOperation = {
  resultFieldName: string;
  sum?: {
    itemFieldName: string;
  };
  average?: {
    itemFieldName: string;
  };
  min?: {
    itemFieldName: string;
  };
  max?: {
    itemFieldName: string;
  };
  itemCount?: Record<string, unknown>;
};

export type ItemAggregateRequest = {
  dataCollectionId: string;
  /** Of items. */
  initialFilter?: Filter | null;
  /** Of results. */
  finalFilter?: Filter | null;
  /** Needed unless a cursor is sent. */
  aggregation?: {
    groupingFields?: Array<string> | null;
    operations?: Array<AggregateOperation> | null;
  };
  /** Of results, in order of importance; without it by their groups. */
  sort?: Array<ItemSortKey> | null;
  paging?: ItemOffsetPaging;
  cursorPaging?: ItemCursorPaging;
  returnTotalCount?: boolean | null;
  environment?: Environment;
  consistentRead?: ConsistentRead;
  language?: ReadLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

/** What the items of a group have in common. */
export type AggregateKey = Record<string, unknown>;

/** `_id` has the grouping fields, which stand beside it as well, as do the results of the operations. */
export type AggregateResult = {
  _id: AggregateKey;
};

export type ItemAggregateResponse = {
  results: Array<AggregateResult>;
  pagingMetadata: ItemPagingMetadata;
};

export type ItemPipelineRequest = {
  dataCollectionId: string;
  pipeline: {
    /** One after another; needed unless a cursor is sent. */
    stages?: Array<Stage> | null;
    paging?: ItemOffsetPaging;
    cursorPaging?: ItemCursorPaging;
  };
  /** Without effect yet. */
  showDrafts?: boolean | null;
  returnTotalCount?: boolean | null;
  environment?: Environment;
  consistentRead?: ConsistentRead;
  language?: ReadLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

/** What the last stage lets through. */
export type PipelineResult = Record<string, unknown>;

export type ItemPipelineResponse = {
  results: Array<PipelineResult>;
  pagingMetadata: ItemPagingMetadata;
};

export type TaskDeleteOptions = {
  dataCollectionId: string;
  environment?: Environment;
  /** All items without. */
  filter?: Filter | null;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
  suppressHooks?: SuppressHooks;
};

/** Items that don't have the field that is copied stay as they are. */
export type TaskCopyOptions = {
  dataCollectionId: string;
  environment?: Environment;
  sourceFieldKey: string;
  targetFieldKey: string;
  suppressHooks?: SuppressHooks;
};

export type TaskEditOptions = {
  dataCollectionId: string;
  environment?: Environment;
  /** All items without. */
  filter?: Filter | null;
  suppressHooks?: SuppressHooks;
  fieldKey: string;
  operations: TaskEditOperations;
};

/** One at least. They are done in this order: elements taken out, replaced, added, and each left but once. The field has to be a list, or missing, unless nothing but values is replaced. */
export type TaskEditOperations = {
  addItems?: Array<FieldValue> | null;
  /** All elements that equal one of these. */
  removeItems?: Array<FieldValue> | null;
  /** All elements that equal `from`; of a field that is no list, its value. */
  replaceItems?: Array<{
    from: FieldValue;
    to: FieldValue;
  }> | null;
  removeDuplicates?: boolean | null;
};

/** `schedulePublishedStatusOptions` belongs to `SCHEDULE_PUBLISHED_STATUS`, `scheduleDraftStatusOptions` to `SCHEDULE_DRAFT_STATUS`; a time that is past is now. */
export type TaskStatusOptions = {
  dataCollectionId: string;
  environment?: Environment;
  /** All items without. */
  filter?: Filter | null;
  suppressHooks?: SuppressHooks;
  operation: 'SET_PUBLISHED_STATUS' | 'SET_DRAFT_STATUS' | 'SCHEDULE_PUBLISHED_STATUS' | 'SCHEDULE_DRAFT_STATUS' | 'CANCEL_SCHEDULING';
  schedulePublishedStatusOptions?: {
    date: string;
  } | null;
  scheduleDraftStatusOptions?: {
    date: string;
  } | null;
};

export type TaskCreateRequest = {
  /** A type, and the options that belong to it. They have at most 64 KB. */
  task: {
    type: 'DELETE_BY_QUERY' | 'COPY_FIELD_DATA' | 'EDIT_FIELD_DATA' | 'UPDATE_PUBLISH_STATUS';
    deleteByQueryOptions?: TaskDeleteOptions | null;
    copyFieldDataOptions?: TaskCopyOptions | null;
    editFieldDataOptions?: TaskEditOptions | null;
    updatePublishStatusOptions?: TaskStatusOptions | null;
  };
};

/** Options as they were sent; without the filter once items are marked to be published or taken back at a time. */
export type TaskOptions = Record<string, unknown>;

export type Task = {
  id: string;
  type: 'DELETE_BY_QUERY' | 'COPY_FIELD_DATA' | 'EDIT_FIELD_DATA' | 'UPDATE_PUBLISH_STATUS';
  /** `RUNNING` also while it waits for its time. */
  status: 'NEW' | 'RUNNING' | 'COMPLETED' | 'FAILED';
  startedAt?: string;
  finishedAt?: string;
  /** Items that were changed. While a task waits for its time this is 0, and `estimatedItemCount` those that wait. */
  itemsSucceeded: number;
  itemsFailed: number;
  /** Items that are known to be affected. */
  estimatedItemCount: number;
  /** Why it failed, `CANCELLED` if it was cancelled; and the first items that could not be changed, twenty at most. */
  failures: Array<{
    code: string;
    description: string;
    data?: {
      itemId: string;
    };
  }>;
  deleteByQueryOptions?: TaskOptions;
  copyFieldDataOptions?: TaskOptions;
  editFieldDataOptions?: TaskOptions;
  updatePublishStatusOptions?: TaskOptions;
};

export type TaskResponse = {
  task: Task;
};

export type TaskListResponse = {
  tasks: Array<Task>;
  metadata: CollectionPagingMetadata;
};

/** The id of an item, or an object that has it in `_id`. */
export type ItemIdOrItem = string | {
  _id: string;
};

/** A link: an item, one of its reference fields, and the item that it leads to. */
export type ItemReference = {
  referringItemFieldName: string;
  referringItemId: string;
  referencedItemId: string;
};

export type ItemReferenceInput = {
  /** A multi-reference field of the collection. */
  referringItemFieldName: string;
  referringItemId: ItemIdOrItem;
  referencedItemId: ItemIdOrItem;
};

export type ReferenceBulkInsertRequest = {
  dataCollectionId: string;
  /** At most 1000 unless configured otherwise. */
  dataItemReferences: Array<ItemReferenceInput>;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

/** A result for each reference of the request, in its order. All are done or none is, so no result tells of a failure. */
export type ReferenceBulkResponse = {
  results: Array<{
    action: 'INSERT' | 'DELETE';
    referenceMetadata: {
      /** The position in the request. */
      originalIndex: number;
      success: true;
    };
    dataItemReference: ItemReference;
  }>;
  bulkActionMetadata: BulkTotals;
};

export type ReferenceBulkRemoveRequest = ReferenceBulkInsertRequest;

export type ReferenceReplaceRequest = {
  dataCollectionId: string;
  /** A multi-reference field of the collection. */
  referringItemFieldName: string;
  referringItemId: ItemIdOrItem;
  /** Take the place of all that the field leads to, in this order; at most 1000 unless configured otherwise. */
  newReferencedItemIds: Array<ItemIdOrItem>;
  environment?: Environment;
  language?: WriteLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ReferenceReplaceResponse = {
  /** The new links, each once. */
  dataItemReferences: Array<ItemReference>;
};

export type ReferenceCheckRequest = {
  dataCollectionId: string;
  /** A reference or multi-reference field of the collection. */
  referringItemFieldName: string;
  referringItemId: ItemIdOrItem;
  referencedItemId: ItemIdOrItem;
  environment?: Environment;
  consistentRead?: ConsistentRead;
  language?: ReadLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ReferenceCheckResponse = {
  isReferenced: boolean;
};

/** With `referringItemIds` each result says which of the items refers. Requests with a cursor need neither items nor field. */
export type ReferencedItemQueryRequest = {
  dataCollectionId: string;
  /** A reference or multi-reference field of the collection. */
  referringItemFieldName?: string;
  referringItemId?: ItemIdOrItem;
  /** Counts before `referringItemId`; at most 1000 unless configured otherwise. */
  referringItemIds?: Array<ItemIdOrItem> | null;
  /** By the age of the links; of a single reference by the order of the request. */
  order?: ItemSortDirection;
  /** Dotted names of what is wanted of each item, all of it where there are none. */
  fields?: Array<string> | null;
  paging?: ItemOffsetPaging;
  cursorPaging?: ItemCursorPaging;
  returnTotalCount?: boolean | null;
  environment?: Environment;
  consistentRead?: ConsistentRead;
  language?: ReadLanguage;
  suppressHooks?: SuppressHooks;
  appOptions?: AppOptions;
  publishPluginOptions?: PublishPluginOptions;
};

export type ReferencedItem = {
  /** Where the request has `referringItemIds`. */
  referringItemId?: string;
  dataItem: Item;
};

/** A single reference to an item that isn't there, or isn't the caller's to read. */
export type UnresolvedReference = {
  /** Where the request has `referringItemIds`. */
  referringItemId?: string;
  unresolvedReference: {
    referringItemId: string;
    referringItemFieldName: string;
    referencedItemId: string;
    /** False where the caller may read all items of the other collection: then the item isn't there. */
    unauthorized: boolean;
  };
};

export type ReferencedItemQueryResponse = {
  results: Array<ReferencedItem | UnresolvedReference>;
  pagingMetadata: ItemPagingMetadata;
};

/** Who may do something, the lowest demand first. Who holds a level holds those before it. `SITE_MEMBER_AUTHOR`: members, for items that they own. */
export type Level = 'ANYONE' | 'SITE_MEMBER' | 'SITE_MEMBER_AUTHOR' | 'CMS_EDITOR' | 'PRIVILEGED';

/** A level in the older model, where `ADMIN` stands for `CMS_EDITOR`, and for `PRIVILEGED` in answers. */
export type OlderLevel = 'ADMIN' | 'SITE_MEMBER_AUTHOR' | 'SITE_MEMBER' | 'ANYONE';

/** A number; one that is not finite travels as text. */
export type BoundNumber = number | 'NaN' | 'Infinity' | '-Infinity';

export type FieldType = 'TEXT' | 'NUMBER' | 'DATE' | 'DATETIME' | 'IMAGE' | 'BOOLEAN' | 'DOCUMENT' | 'URL' | 'RICH_TEXT' | 'VIDEO' | 'ANY' | 'ARRAY_STRING' | 'ARRAY_DOCUMENT' | 'AUDIO' | 'TIME' | 'LANGUAGE' | 'RICH_CONTENT' | 'MEDIA_GALLERY' | 'ADDRESS' | 'PAGE_LINK' | 'REFERENCE' | 'MULTI_REFERENCE' | 'OBJECT' | 'ARRAY' | 'SLUG' | 'EMAIL' | 'SECURED_MEDIA' | 'MEDIA_IMAGE' | 'MEDIA_VECTOR_ART' | 'LEGACY_TIME' | 'LEGACY_BOOK' | 'LEGACY_EXTERNAL_URL' | 'LEGACY_BROKEN_REFERENCE' | 'LEGACY_IMAGE' | 'LEGACY_COLOR' | 'LEGACY_EXTERNAL_VIDEO';

/** What the type of a field asks of its values: at most one member is not null, named after the type. */
export type FieldMetadata = {
  reference?: {
    referencedCollectionId?: string | null;
  } | null;
  multiReference?: {
    referencedCollectionId?: string | null;
    /** The field of the other collection that has the same links; the server names it where it is not sent. */
    referencingFieldKey?: string | null;
    referencingDisplayName?: string | null;
  } | null;
  object?: {
    fields?: Array<{
      key?: string | null;
      displayName?: string | null;
      type?: FieldType | null;
      typeMetadata?: FieldMetadata | null;
    }> | null;
    defaultValue?: FieldValue;
  } | null;
  array?: {
    elementType?: FieldType | null;
    typeMetadata?: FieldMetadata | null;
    minSize?: number | null;
    maxSize?: number | null;
    defaultValue?: FieldValue;
  } | null;
  pageLink?: {
    /** At most one member is not null. With one the value is calculated from other fields: a `pattern` is `/products/{title}` (docs/page-links.md). */
    calculator?: {
      fieldsPattern?: {
        pattern?: string | null;
        lowercase?: boolean | null;
      } | null;
      urlizedOnlyPattern?: {
        pattern?: string | null;
      } | null;
    } | null;
    linkedRouterPage?: string | null;
    pageLinkType?: 'COLLECTION_DEFINED' | 'ROUTER_DEFINED' | null;
  } | null;
  slug?: {
    pattern?: string | null;
    minLength?: number | null;
    maxLength?: number | null;
    defaultValue?: FieldValue;
  } | null;
  text?: {
    textValidation?: {
      minLength?: number | null;
      maxLength?: number | null;
      pattern?: string | null;
    } | null;
    enumValues?: {
      values?: Array<string> | null;
    } | null;
    defaultValue?: FieldValue;
  } | null;
  number?: {
    defaultValue?: FieldValue;
    min?: BoundNumber | null;
    max?: BoundNumber | null;
  } | null;
  date?: {
    /** A time in ISO 8601. */
    defaultValueFixed?: string | null;
    defaultValueOffsetFromNowInDays?: number | null;
    /** A time in ISO 8601. */
    minDateFixed?: string | null;
    minValueOffsetFromNowInDays?: number | null;
    /** A time in ISO 8601. */
    maxDateFixed?: string | null;
    maxValueOffsetFromNowInDays?: number | null;
  } | null;
  datetime?: {
    /** A time in ISO 8601. */
    defaultValueFixed?: string | null;
    defaultValueOffsetFromNowInSeconds?: number | null;
    /** A time in ISO 8601. */
    minDateFixed?: string | null;
    minDateOffsetFromNowInSeconds?: number | null;
    /** A time in ISO 8601. */
    maxDateFixed?: string | null;
    maxDateOffsetFromNowInSeconds?: number | null;
  } | null;
  url?: {
    defaultValue?: string | null;
    textValidation?: {
      minLength?: number | null;
      maxLength?: number | null;
      pattern?: string | null;
    } | null;
  } | null;
  richText?: {
    defaultValue?: FieldValue;
    minLength?: number | null;
    maxLength?: number | null;
  } | null;
  arrayString?: {
    defaultValue?: FieldValue;
    minSize?: number | null;
    maxSize?: number | null;
    minLengthForItem?: number | null;
    maxLengthForItem?: number | null;
  } | null;
  arrayDocument?: {
    defaultValue?: FieldValue;
    minSize?: number | null;
    maxSize?: number | null;
  } | null;
  time?: {
    defaultValue?: FieldValue;
    minTime?: string | null;
    maxTime?: string | null;
  } | null;
  email?: {
    defaultValue?: FieldValue;
  } | null;
  image?: {
    defaultValue?: FieldValue;
  } | null;
  boolean?: {
    defaultValue?: FieldValue;
  } | null;
  document?: {
    defaultValue?: FieldValue;
  } | null;
  video?: {
    defaultValue?: FieldValue;
  } | null;
  audio?: {
    defaultValue?: FieldValue;
  } | null;
  richContent?: {
    defaultValue?: FieldValue;
  } | null;
  mediaGallery?: {
    defaultValue?: FieldValue;
  } | null;
  address?: {
    defaultValue?: FieldValue;
  } | null;
  legacyColor?: {
    defaultValue?: FieldValue;
  } | null;
};

/** A field of a collection. Members that the server doesn't know are kept as they were sent. Those who don't manage collections read `key`, `displayName`, `type` and `typeMetadata` alone; to others the flags and the capabilities are always shown. */
export type Field = {
  key: string;
  displayName?: string;
  type: FieldType;
  typeMetadata?: FieldMetadata;
  /** Whether every item has it and the server gives it its values. */
  systemField?: boolean;
  encrypted?: boolean;
  readOnly?: boolean;
  immutable?: boolean;
  required?: boolean;
  capabilities?: {
    sortable: boolean;
    queryOperators: Array<'EQ' | 'NE' | 'LT' | 'LTE' | 'GT' | 'GTE' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'HAS_SOME' | 'HAS_ALL' | 'EXISTS' | 'URLIZED'>;
  };
  description?: string;
  plugins?: Array<{
    type?: 'UNKNOWN' | 'CMS' | 'CATEGORY_FIELD' | 'CATEGORY_CONSUMER' | 'PRIMARY_CATEGORY_FIELD' | null;
    cmsOptions?: {
      internal?: boolean | null;
    } | null;
    categoryFieldOptions?: {
      isPrimary?: boolean | null;
    } | null;
  }>;
  numberRange?: {
    min?: BoundNumber | null;
    max?: BoundNumber | null;
  };
  stringLengthRange?: {
    minLength?: number | null;
    maxLength?: number | null;
  };
  arraySizeRange?: {
    minSize?: number | null;
    maxSize?: number | null;
  };
};

/** Set by the server alone. Clients send it back as they read it, and it is not looked at. */
export type ReadOnlyMember = unknown;

/** A field as it is sent. Members that the server doesn't know are kept. */
export type FieldInput = {
  /** Must not begin with `$` or have dots or control characters in it. A field of the system in a list of fields is passed over. */
  key: string;
  displayName?: string | null;
  type: FieldType;
  /** A reference needs its `referencedCollectionId`. */
  typeMetadata?: FieldMetadata | null;
  /** Whether values are stored encrypted. It can't be changed later. */
  encrypted?: boolean | null;
  /** At most 16000 characters unless configured otherwise. */
  description?: string | null;
  readOnly?: boolean | null;
  immutable?: boolean | null;
  required?: boolean | null;
  plugins?: Array<{
    type?: 'UNKNOWN' | 'CMS' | 'CATEGORY_FIELD' | 'CATEGORY_CONSUMER' | 'PRIMARY_CATEGORY_FIELD' | null;
    cmsOptions?: {
      internal?: boolean | null;
    } | null;
    categoryFieldOptions?: {
      isPrimary?: boolean | null;
    } | null;
  }> | null;
  numberRange?: {
    min?: BoundNumber | null;
    max?: BoundNumber | null;
  } | null;
  stringLengthRange?: {
    minLength?: number | null;
    maxLength?: number | null;
  } | null;
  arraySizeRange?: {
    minSize?: number | null;
    maxSize?: number | null;
  } | null;
  systemField?: ReadOnlyMember;
  capabilities?: ReadOnlyMember;
  deleted?: ReadOnlyMember;
  condition?: ReadOnlyMember;
};

export type PublishOptions = {
  defaultStatus?: 'PUBLISHED' | 'DRAFT';
  /** Set by the server. */
  lifecycleStatus?: 'ACTIVE';
};

export type SingleItemOptions = {
  /** The id of the only item, `SINGLE` where it is missing. */
  singleItemId?: string;
};

/** How values stand in page links (docs/page-links.md). `ORIGINAL`: in lower-case letters, with a hyphen for each run of spaces, tabs and line feeds. `PLAIN`: as they are. Both are percent-encoded. Anything else is `ORIGINAL`. */
export type UrlizedOptions = {
  format?: 'UNKNOWN_FORMAT' | 'ORIGINAL' | 'PLAIN';
};

export type MultilingualOptions = {
  translatableFieldKeys?: Array<string>;
};

/** `isPersisted`: page links are stored when items are written, and stay. `isMutable`, which needs it: writers may set others (docs/page-links.md). */
export type EditablePageLinkOptions = {
  isPersisted?: boolean;
  isMutable?: boolean;
};

export type CmsOptions = {
  siteSort?: {
    sort?: Array<{
      fieldKey?: string | null;
      direction?: 'ASC' | 'DESC' | null;
    }> | null;
  };
};

/** Keys of fields of the collection, each of a type that fits; a field that is deleted leaves them. Names without `FieldKey` are deprecated, and kept as they are sent. */
export type CatalogOptions = {
  nameFieldKey?: string;
  priceFieldKey?: string;
  urlFieldKey?: string;
  descriptionFieldKey?: string;
  imageFieldKey?: string;
  quantityFieldKey?: string;
  digitalFileFieldKey?: string;
  weightFieldKey?: string;
  skuFieldKey?: string;
  shippableFieldKey?: string;
  name?: string;
  price?: string;
  url?: string;
  description?: string;
  image?: string;
  quantity?: string;
  digitalFile?: string;
  weight?: string;
  sku?: string;
  shippable?: string;
};

export type DraftItemsOptions = {
  draftPermissions?: {
    manageDrafts?: Level | null;
    managePublishStatus?: Level | null;
  };
};

/** Options of a plugin that has none which the server knows. */
export type PluginOptions = Record<string, unknown>;

export type PluginType = 'PUBLISH' | 'SINGLE_ITEM' | 'URLIZED' | 'GRIDAPPLESS' | 'MULTILINGUAL' | 'SHARED' | 'EDITABLE_PAGE_LINK' | 'CMS' | 'CATALOG' | 'CATEGORIES' | 'DRAFT_ITEMS';

/** A plugin of a collection, with no other options than those of its type. A collection has one of a type at most. */
export type Plugin = {
  type: PluginType;
  publishOptions?: PublishOptions;
  singleItemOptions?: SingleItemOptions;
  urlizedOptions?: UrlizedOptions;
  gridapplessOptions?: PluginOptions;
  multilingualOptions?: MultilingualOptions;
  sharedOptions?: PluginOptions;
  editablePageLinkOptions?: EditablePageLinkOptions;
  cmsOptions?: CmsOptions;
  catalogOptions?: CatalogOptions;
  categoriesOptions?: PluginOptions;
  draftItemsOptions?: DraftItemsOptions;
};

/** A plugin as it is sent: options of other types are refused. */
export type PluginInput = {
  type: PluginType;
  publishOptions?: PublishOptions | null;
  singleItemOptions?: SingleItemOptions | null;
  urlizedOptions?: UrlizedOptions | null;
  gridapplessOptions?: PluginOptions | null;
  multilingualOptions?: MultilingualOptions | null;
  sharedOptions?: PluginOptions | null;
  editablePageLinkOptions?: EditablePageLinkOptions | null;
  cmsOptions?: CmsOptions | null;
  catalogOptions?: CatalogOptions | null;
  categoriesOptions?: PluginOptions | null;
  draftItemsOptions?: DraftItemsOptions | null;
};

/** Who may do what with items. */
export type ItemLevels = {
  itemRead: Level;
  itemInsert: Level;
  itemUpdate: Level;
  itemRemove: Level;
};

/** The same in the older model. */
export type OlderLevels = {
  read: OlderLevel;
  insert: OlderLevel;
  update: OlderLevel;
  remove: OlderLevel;
};

/** Levels that are missing or null stay as they are; of a new collection reading is for `SITE_MEMBER_AUTHOR`, all else for `CMS_EDITOR`. */
export type ItemLevelsInput = {
  itemRead?: Level | null;
  itemInsert?: Level | null;
  itemUpdate?: Level | null;
  itemRemove?: Level | null;
} | null;

/** The older model of `dataPermissions`. Where both are sent the one that differs from what is stored counts; if both do, `dataPermissions`. */
export type OlderLevelsInput = {
  read?: OlderLevel | null;
  insert?: OlderLevel | null;
  update?: OlderLevel | null;
  remove?: OlderLevel | null;
} | null;

export type CollectionCapabilities = {
  dataOperations: Array<'FIND' | 'GET' | 'COUNT' | 'DISTINCT' | 'INSERT' | 'UPDATE' | 'SAVE' | 'PATCH' | 'REMOVE' | 'BULK_INSERT' | 'BULK_UPDATE' | 'BULK_SAVE' | 'BULK_PATCH' | 'TRUNCATE' | 'BULK_REMOVE' | 'INSERT_REFERENCE' | 'REMOVE_REFERENCE' | 'REPLACE_REFERENCES' | 'IS_REFERENCED' | 'QUERY_REFERENCED'>;
  collectionOperations: Array<'UPDATE' | 'REMOVE'>;
  indexLimits: {
    regular: number;
    unique: number;
    total: number;
  };
  indexQuotaLimits: {
    regular1Field: number;
    regular3Field: number;
    unique1Field: number;
    total: number;
  };
};

/** What a caller reads of a collection. Those who don't manage collections get `id`, `displayName`, `displayField`, `plugins` and `fields`; where `fields` names members of the answer, only these and the id. */
export type CollectionView = {
  id: string;
  displayName?: string;
  /** The field that stands for an item in lists: the collection's choice, or its first text. */
  displayField?: string;
  plugins?: Array<Plugin>;
  /** Those of the system are the last four. */
  fields?: Array<Field>;
  /** What the caller may do, where `includeAllowedDataPermissions` asks for it. */
  allowedDataPermissions?: {
    itemRead: boolean;
    itemInsert: boolean;
    itemUpdate: boolean;
    itemRemove: boolean;
  };
  collectionType?: 'NATIVE';
  description?: string;
  /** Items of a page by offset. */
  maxPageSize?: number;
  defaultDisplayOrder?: {
    fieldKey: '_createdDate';
    direction: 'DESC';
  };
  /** A whole number as text, one more with each change. */
  revision?: string;
  /** Whether items are held to the rules of their fields. */
  strictMode?: boolean;
  /** For how long shared caches may keep what is read by GET. */
  cacheSeconds?: number;
  /** The log holds what updated and deleted items were before. */
  logOldValues?: true;
  /** Who may read items may follow them as they change. */
  realtime?: true;
  /** No index of the words of its items is kept. */
  search?: false;
  /** Items may be followed as they are stored, though a hook decides on how they are shown to others. */
  realtimeWithoutHooks?: true;
  pagingModes?: Array<'OFFSET' | 'CURSOR'>;
  createdDate?: string;
  updatedDate?: string;
  dataPermissions?: ItemLevels;
  permissions?: OlderLevels;
  capabilities?: CollectionCapabilities;
};

/** A collection whole, as those who manage it read it. */
export type Collection = (CollectionView);

export type CollectionResponse = {
  collection: CollectionView;
};

export type DataCollectionResponse = {
  dataCollection: Collection;
};

/** Where a page of collections or indexes stands. */
export type CollectionPagingMetadata = {
  /** Elements of this page. */
  count: number;
  /** Elements before this page. */
  offset: number;
  /** Elements of all pages. */
  total: number;
  tooManyToCount: false;
};

export type CollectionListResponse = {
  collections: Array<CollectionView>;
  pagingMetadata: CollectionPagingMetadata;
};

export type CollectionCreateRequest = {
  /** Needs `permissions` or `dataPermissions`. */
  collection: {
    /** 1 to 256 characters, without `?`, `#` and control characters. */
    id: string;
    displayName?: string | null;
    displayField?: string | null;
    /** At most 4000 characters unless configured otherwise. */
    description?: string | null;
    strictMode?: boolean | null;
    /** For how long shared caches may keep what is read by GET; 0 for not at all. It needs a collection that ANYONE may read, without encrypted fields and without drafts. */
    cacheSeconds?: number | null;
    /** Whether the log holds what updated and deleted items were before. */
    logOldValues?: boolean | null;
    /** Whether who may read items may follow them as they change. It brings what `logOldValues` does. */
    realtime?: boolean | null;
    /** Whether an index of the words of its items is kept, so that who may read items may search them. */
    search?: boolean | null;
    /** Whether items may be followed as they are stored, though a hook afterGet or afterQuery decides on how they are shown to others. */
    realtimeWithoutHooks?: boolean | null;
    permissions?: OlderLevelsInput;
    dataPermissions?: ItemLevelsInput;
    /** At most 1000 unless configured otherwise. */
    fields: Array<FieldInput>;
    plugins?: Array<PluginInput> | null;
    collectionType?: ReadOnlyMember;
    maxPageSize?: ReadOnlyMember;
    defaultDisplayOrder?: ReadOnlyMember;
    pagingModes?: ReadOnlyMember;
    capabilities?: ReadOnlyMember;
    createdDate?: ReadOnlyMember;
    updatedDate?: ReadOnlyMember;
    allowedDataPermissions?: ReadOnlyMember;
    revision?: ReadOnlyMember;
  };
};

export type CollectionUpdateRequest = {
  /** Takes the place of what the collection is. Only permissions, `cacheSeconds`, `logOldValues`, `realtime`, `realtimeWithoutHooks` and `search` that are not sent stay as they are. */
  collection: {
    /** 1 to 256 characters, without `?`, `#` and control characters. */
    id: string;
    /** The revision that the change was made from. */
    revision: string | number;
    displayName?: string | null;
    displayField?: string | null;
    /** At most 4000 characters unless configured otherwise. */
    description?: string | null;
    strictMode?: boolean | null;
    /** For how long shared caches may keep what is read by GET; 0 for not at all. It needs a collection that ANYONE may read, without encrypted fields and without drafts. */
    cacheSeconds?: number | null;
    /** Whether the log holds what updated and deleted items were before. */
    logOldValues?: boolean | null;
    /** Whether who may read items may follow them as they change. It brings what `logOldValues` does. */
    realtime?: boolean | null;
    /** Whether an index of the words of its items is kept, so that who may read items may search them. */
    search?: boolean | null;
    /** Whether items may be followed as they are stored, though a hook afterGet or afterQuery decides on how they are shown to others. */
    realtimeWithoutHooks?: boolean | null;
    permissions?: OlderLevelsInput;
    dataPermissions?: ItemLevelsInput;
    /** At most 1000 unless configured otherwise. */
    fields: Array<FieldInput>;
    plugins?: Array<PluginInput> | null;
    collectionType?: ReadOnlyMember;
    maxPageSize?: ReadOnlyMember;
    defaultDisplayOrder?: ReadOnlyMember;
    pagingModes?: ReadOnlyMember;
    capabilities?: ReadOnlyMember;
    createdDate?: ReadOnlyMember;
    updatedDate?: ReadOnlyMember;
    allowedDataPermissions?: ReadOnlyMember;
  };
};

/** Members that are sent are changed. Null takes the names, the description and `cacheSeconds` away; elsewhere it changes nothing. */
export type CollectionPatch = {
  /** 1 to 256 characters, without `?`, `#` and control characters. */
  id: string;
  /** The revision that the change was made from. */
  revision?: string | number | null;
  displayName?: string | null;
  displayField?: string | null;
  /** At most 4000 characters unless configured otherwise. */
  description?: string | null;
  strictMode?: boolean | null;
  /** For how long shared caches may keep what is read by GET; 0 for not at all. It needs a collection that ANYONE may read, without encrypted fields and without drafts. */
  cacheSeconds?: number | null;
  /** Whether the log holds what updated and deleted items were before. */
  logOldValues?: boolean | null;
  /** Whether who may read items may follow them as they change. It brings what `logOldValues` does. */
  realtime?: boolean | null;
  /** Whether an index of the words of its items is kept, so that who may read items may search them. */
  search?: boolean | null;
  /** Whether items may be followed as they are stored, though a hook afterGet or afterQuery decides on how they are shown to others. */
  realtimeWithoutHooks?: boolean | null;
  permissions?: OlderLevelsInput;
  dataPermissions?: ItemLevelsInput;
  /** At most 1000 unless configured otherwise. */
  fields?: Array<FieldInput> | null;
  plugins?: Array<PluginInput> | null;
  collectionType?: ReadOnlyMember;
  maxPageSize?: ReadOnlyMember;
  defaultDisplayOrder?: ReadOnlyMember;
  pagingModes?: ReadOnlyMember;
  capabilities?: ReadOnlyMember;
  createdDate?: ReadOnlyMember;
  updatedDate?: ReadOnlyMember;
  allowedDataPermissions?: ReadOnlyMember;
};

/** The members that are sent take the place of the field's own. */
export type FieldPatch = {
  /** Must not begin with `$` or have dots or control characters in it. A field of the system in a list of fields is passed over. */
  key: string;
  displayName?: string | null;
  type?: FieldType;
  /** A reference needs its `referencedCollectionId`. */
  typeMetadata?: FieldMetadata | null;
  /** Whether values are stored encrypted. It can't be changed later. */
  encrypted?: boolean | null;
  /** At most 16000 characters unless configured otherwise. */
  description?: string | null;
  readOnly?: boolean | null;
  immutable?: boolean | null;
  required?: boolean | null;
  plugins?: Array<{
    type?: 'UNKNOWN' | 'CMS' | 'CATEGORY_FIELD' | 'CATEGORY_CONSUMER' | 'PRIMARY_CATEGORY_FIELD' | null;
    cmsOptions?: {
      internal?: boolean | null;
    } | null;
    categoryFieldOptions?: {
      isPrimary?: boolean | null;
    } | null;
  }> | null;
  numberRange?: {
    min?: BoundNumber | null;
    max?: BoundNumber | null;
  } | null;
  stringLengthRange?: {
    minLength?: number | null;
    maxLength?: number | null;
  } | null;
  arraySizeRange?: {
    minSize?: number | null;
    maxSize?: number | null;
  } | null;
  systemField?: ReadOnlyMember;
  capabilities?: ReadOnlyMember;
  deleted?: ReadOnlyMember;
  condition?: ReadOnlyMember;
};

export type CollectionPatchRequest = unknown;

export type CollectionRestoreRequest = {
  /** Counts before the id in the path. */
  dataCollectionId?: string;
};

export type FieldCreateRequest = {
  dataCollectionId: string;
  field: FieldInput;
};

export type FieldUpdateRequest = FieldCreateRequest;

export type FieldDeleteRequest = {
  dataCollectionId: string;
  fieldKey: string;
};

export type PluginAddRequest = {
  dataCollectionId: string;
  plugin: PluginInput;
};

/** What becomes of drafts by the plugin PUBLISH, if it is there. The second answers `WDE0119`. */
export type PublishPluginConflictAction = 'FAIL_WHEN_PUBLISH_INSTALLED' | 'COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS' | null;

/** What becomes of drafts in a collection of their own, if there is one. The last answers `WDE0119`. */
export type DraftItemsPluginConflictAction = 'FAIL_WHEN_DRAFT_ITEMS_INSTALLED' | 'DISCARD_DRAFT_ITEMS' | 'PUBLISH_DRAFT_ITEMS' | 'COPY_DRAFT_ITEMS_WITH_DRAFT_STATUS' | null;

/** What becomes of drafts in a collection of their own; without it there must be none. */
export type DraftItemsRemovalAction = 'FAIL_IF_DRAFT_ITEMS_EXIST' | 'DISCARD_EXISTING_DRAFT_ITEMS' | 'PUBLISH_EXISTING_DRAFT_ITEMS' | null;

export type PluginDeleteRequest = {
  dataCollectionId: string;
  pluginType: PluginType;
  draftItemsRemovalAction?: DraftItemsRemovalAction;
};

export type TypedPluginDeleteRequest = {
  dataCollectionId: string;
  draftItemsRemovalAction?: DraftItemsRemovalAction;
};

export type PublishPluginAddRequest = {
  dataCollectionId: string;
  publishOptions?: PublishOptions | null;
  draftItemsPluginConflictAction?: DraftItemsPluginConflictAction;
};

export type UrlizedPluginAddRequest = {
  dataCollectionId: string;
  urlizedOptions?: UrlizedOptions | null;
};

export type MultilingualPluginAddRequest = {
  dataCollectionId: string;
  multilingualOptions?: MultilingualOptions | null;
};

export type CmsPluginAddRequest = {
  dataCollectionId: string;
  cmsOptions?: CmsOptions | null;
};

export type CatalogPluginAddRequest = {
  dataCollectionId: string;
  catalogOptions?: CatalogOptions | null;
};

export type DraftItemsPluginAddRequest = {
  dataCollectionId: string;
  draftItemsOptions?: DraftItemsOptions | null;
  publishPluginConflictAction?: PublishPluginConflictAction;
};

export type IndexField = {
  path: string;
  order: 'ASC' | 'DESC';
};

export type Index = {
  id: string;
  name: string;
  fields: Array<IndexField>;
  unique: boolean;
  caseInsensitive: boolean;
  /** Only an `ACTIVE` index serves queries. */
  status: 'BUILDING' | 'ACTIVE' | 'FAILED' | 'DROPPING';
  /** Who made it: the server with the collection, one who manages it, or the server because of slow queries. */
  source: 'SYSTEM' | 'USER' | 'AUTO';
  /** Why it is `FAILED`. */
  failure?: {
    code: 'WDE0112' | 'WDE0113' | 'WDE0114';
    description: string;
    itemId?: string;
  };
  /** The slow queries for which the server made it. */
  why?: {
    queries: number;
    slowestMilliseconds: number;
    windowMinutes: number;
  };
};

export type IndexResponse = {
  index: Index;
};

export type IndexListResponse = {
  /** Those of the system first, then the oldest first. */
  indexes: Array<Index>;
  pagingMetadata: CollectionPagingMetadata;
};

/** How many more indexes the collection may have. */
export type IndexAvailableResponse = {
  /** None: any regular index may have three fields. */
  regular1Field: 0;
  regular3Field: number;
  unique1Field: number;
  total: number;
};

export type IndexCreateRequest = {
  dataCollectionId: string;
  index: {
    name: string;
    fields: Array<{
      /** May be dotted. */
      path: string;
      /** `ASC` where it is missing. */
      order?: 'ASC' | 'DESC' | null;
    }>;
    /** Of one field that is none of the system's. */
    unique?: boolean | null;
    caseInsensitive?: boolean | null;
    id?: ReadOnlyMember;
    status?: ReadOnlyMember;
    source?: ReadOnlyMember;
    failure?: ReadOnlyMember;
    why?: ReadOnlyMember;
  };
};

/** `UNSPECIFIED` leaves it to the level. */
export type SpecialAccess = 'UNSPECIFIED' | 'ALLOWED';

/** Rights of a user, or of all who hold a role, beside those of their level. */
export type SpecialPermissions = {
  id: string;
  /** Whose they are: a member or one who runs the site. Either this is there or `policyId`. */
  userId?: string;
  /** Whose they are: those who hold the role `OWNER` or `EDITOR`; no one holds another. */
  policyId?: string;
  itemRead: SpecialAccess;
  itemInsert: SpecialAccess;
  itemUpdate: SpecialAccess;
  itemRemove: SpecialAccess;
  draftItemsPluginPermissions: {
    manageDrafts: SpecialAccess;
    managePublishStatus: SpecialAccess;
  };
};

/** The levels and special permissions of a collection. */
export type DataPermissions = {
  /** The collection. */
  id: string;
  itemRead: Level;
  itemInsert: Level;
  itemUpdate: Level;
  itemRemove: Level;
  specialPermissions: Array<SpecialPermissions>;
  /** Where the collection has the plugin DRAFT_ITEMS. */
  draftItemsPluginPermissions?: {
    manageDrafts: Level;
    managePublishStatus: Level;
  };
};

export type PermissionsResponse = {
  dataPermissions: DataPermissions;
};

export type PermissionsUpdateRequest = {
  dataPermissions: {
    /** The collection. */
    id: string;
    itemRead?: Level | null;
    itemInsert?: Level | null;
    itemUpdate?: Level | null;
    itemRemove?: Level | null;
    /** Needs the plugin DRAFT_ITEMS. */
    draftItemsPluginPermissions?: {
      manageDrafts?: Level | null;
      managePublishStatus?: Level | null;
    } | null;
    specialPermissions?: ReadOnlyMember;
  };
};

/** What the caller may do with a collection's items. */
export type AllowedPermissions = {
  itemRead: boolean;
  itemInsert: boolean;
  itemUpdate: boolean;
  itemRemove: boolean;
  /** Where the collection has the plugin DRAFT_ITEMS, and the caller may do one of both. */
  draftItemsPluginPermissions?: {
    manageDrafts: boolean;
    managePublishStatus: boolean;
  };
};

export type SpecialPermissionCreateRequest = {
  dataCollectionId: string;
  /** Needs either `userId` or `policyId`. */
  specialPermissions: {
    userId?: string | null;
    policyId?: string | null;
    itemRead?: SpecialAccess | null;
    itemInsert?: SpecialAccess | null;
    itemUpdate?: SpecialAccess | null;
    itemRemove?: SpecialAccess | null;
    draftItemsPluginPermissions?: {
      manageDrafts?: SpecialAccess | null;
      managePublishStatus?: SpecialAccess | null;
    } | null;
  };
};

export type SpecialPermissionUpdateRequest = {
  /** Rights that are sent are changed. Whose they are can't be. */
  specialPermissions: {
    /** Counts before the id in the path. */
    id?: string;
    userId?: string | null;
    policyId?: string | null;
    itemRead?: SpecialAccess | null;
    itemInsert?: SpecialAccess | null;
    itemUpdate?: SpecialAccess | null;
    itemRemove?: SpecialAccess | null;
    draftItemsPluginPermissions?: {
      manageDrafts?: SpecialAccess | null;
      managePublishStatus?: SpecialAccess | null;
    } | null;
  };
};

export type SpecialPermissionResponse = {
  specialPermissions: SpecialPermissions;
};

export type RealtimeStreamRequest = {
  /** What is followed, all over one connection: at most 20 unless configured otherwise. */
  subscriptions: Array<RealtimeSubscription>;
};

export type RealtimeSubscription = {
  /** What messages name it by; each of a request has its own. */
  key: string;
  /** A collection with `realtime`. */
  dataCollectionId: string;
  /** Which of its items, by their own fields. */
  filter?: Filter | null;
  /** Dotted names of what is wanted of each item, all of it where there are none. */
  fields?: Array<string> | null;
  /** Whether the items as they are now come first. Without it and `resume` what is told begins with the next change. */
  snapshot?: boolean | null;
  /** Items of the snapshot, at most; only with `snapshot`. */
  limit?: number | null;
  /** Which of them come first in the snapshot, and so are in it; only with `snapshot`. Messages about changes have no order but that of the changes. */
  sort?: Array<ItemSortKey> | null;
  /** Where another stream was, for this subscription: what has come since is told. Not with `snapshot`. */
  resume?: string | null;
};

/** The subscription that it is about. */
export type RealtimeKey = string;

/** What the item holds, as far as `fields` names it. */
export type RealtimeItem = (ItemData) & (ItemSystemFields);

/** Everything up to it was told. What `resume` takes. Of `ready` it is for that subscription, of all other messages for every one that is ready. Opaque, and no other text is taken for one. */
export type RealtimeToken = string;

/** A message of the stream: its `event`, its `id` if it has one, and its `data`, which is JSON. */
export type RealtimeMessage = RealtimeSnapshotMessage | RealtimeReadyMessage | RealtimeChangeMessage | RealtimeResyncMessage | RealtimeFailedMessage | RealtimeByeMessage | RealtimePlaceMessage;

/** Items as they are; several of these make a snapshot. */
export type RealtimeSnapshotMessage = {
  event: 'snapshot';
  data: {
    key: RealtimeKey;
    items: Array<RealtimeItem>;
  };
};

/** The snapshot is whole, or there is none: from here on changes are told. */
export type RealtimeReadyMessage = {
  event: 'ready';
  id: RealtimeToken;
  data: {
    key: RealtimeKey;
    /** Items that match in all, of which the snapshot has the first. */
    total?: number;
  };
};

/** An item that fits now and didn't before (`enter`), one that still fits and was changed (`update`), or one that fits no more (`leave`), of which nothing but the id is told. */
export type RealtimeChangeMessage = {
  event: 'change';
  id?: RealtimeToken;
  data: {
    key: RealtimeKey;
    type: 'enter' | 'update' | 'leave';
    /** The item's. */
    id: string;
    /** A number as text that grows with each change. */
    sequence: string;
    item?: RealtimeItem;
    /** The fields that differ, of an update. */
    modifiedFields?: Array<string>;
    /** The item is gone, and not only out of sight. */
    deleted?: true;
  };
};

/** What the client holds of the subscription may be wrong: the subscription ends, and another begins with a snapshot. */
export type RealtimeResyncMessage = {
  event: 'resync';
  data: {
    key: RealtimeKey;
    reason: 'gap' | 'overload' | 'import' | 'truncated' | 'permission' | 'schema';
  };
};

/** A subscription that can't be, or can no longer be. The others go on. */
export type RealtimeFailedMessage = {
  event: 'failed';
  data: {
    key: RealtimeKey;
    /** As in errors of other calls. */
    code: string;
    description: string;
  };
};

/** Where a stream is in which nothing was told for a while. It comes with a comment, the sign of life. */
export type RealtimePlaceMessage = {
  id: RealtimeToken;
};

/** The stream ends: its token does, the server stops, or a right was withdrawn. */
export type RealtimeByeMessage = {
  event: 'bye';
  data: {
    /** How long to wait before the next one. */
    reconnectMs: number;
  };
};

/** A document with its variables. Of several operations `operationName` names one. */
export type GraphqlRequest = {
  query: string;
  operationName?: string | null;
  variables?: GraphqlValues | null;
  extensions?: GraphqlValues | null;
};

/** Values by their names. */
export type GraphqlValues = Record<string, unknown>;

/** The answer to a document. Without `data` nothing has run; a field that failed is null in it. */
export type GraphqlResponse = {
  data?: GraphqlValues | null;
  errors?: Array<GraphqlError>;
};

/** Something that is wrong with a document, or with a field of it. */
export type GraphqlError = {
  message: string;
  locations?: Array<{
    line: number;
    column: number;
  }>;
  path?: Array<string | number>;
  extensions: {
    /** Of content (`WDE0027`), or what kind of error it is (`GRAPHQL_LIMIT`). */
    code: string;
    data?: ErrorData;
    fieldViolations?: Array<Violation>;
    limit?: string;
    most?: number;
    found?: number;
  };
};

export type HookName = 'beforeInsert' | 'afterInsert' | 'beforeUpdate' | 'afterUpdate' | 'beforeRemove' | 'afterRemove' | 'beforeGet' | 'afterGet' | 'beforeQuery' | 'afterQuery' | 'beforeCount' | 'afterCount' | 'beforeDistinct' | 'afterDistinct' | 'onFailure';

export type HookVersion = {
  /** Counted from 1 in each site. */
  number: number;
  /** Whether it is the version that runs. */
  active: boolean;
  /** The application that is asked in place of code. */
  plugin?: {
    appId: string;
    url: string;
  };
  /** Its functions, such as `cars_beforeInsert`. */
  exports: Array<string>;
  /** The id of who deployed it. */
  author: string;
  createdDate: string;
};

export type HookVersionResponse = {
  version: HookVersion;
};

export type HookVersionListResponse = {
  versions: Array<HookVersion>;
};

export type HookVersionDeployRequest = {
  /** One module of JavaScript, of 1 MB at most. */
  source?: string;
  /** An application that is asked in place of code, at `url` followed by `/v1/data-hooks/HOOK`. */
  plugin?: {
    /** A client of the site with a secret and an active key. */
    appId: string;
    /** Without a query. */
    url: string;
    /** Those that it answers, such as `cars_beforeInsert`. */
    hooks: Array<string>;
  } | null;
};

/** `NOTHING`: it answered nothing, or what such a hook can't answer, which is ignored. */
export type HookOutcome = 'VALUE' | 'NOTHING' | 'THROWN' | 'TIMED_OUT' | 'OUT_OF_MEMORY' | 'TOO_LARGE' | 'DIED' | 'NOT_STARTED' | 'FAILING';

export type HookLogListResponse = {
  entries: Array<{
    /** Later entries have greater ones. */
    id: string;
    time: string;
    collectionId: string;
    hook: HookName;
    version: number;
    /** The request that it was asked in (`x-wix-request-id`); null for what a command on the machine did. */
    requestId: string | null;
    milliseconds: number;
    outcome: HookOutcome;
    /** What it said to `console`. */
    console: string;
  }>;
};

export type HookTryRequest = {
  collectionId: string;
  hook: HookName;
  /** What the hook is given: an item, an id, a query, a number, as it stands in requests. */
  argument: Json;
  /** `context.currentItem` of an update or a removal: an object. */
  currentItem?: Json;
  /** Code that is not deployed. */
  source?: string | null;
};

export type HookTryResponse = {
  /** The number of the version; 0 for code that was sent. */
  version: number;
  outcome: HookOutcome;
  /** What it answered, or threw where that is no `Error`. */
  value?: Json;
  /** The `Error` that it threw. */
  error?: {
    name: string;
    message: string;
    code?: string | number;
  };
  /** What it said to `console`, 4 kB at most. */
  console: string;
  /** How long it took, with all that it waited for. */
  milliseconds: number;
};

/** A grant with what it needs. Each name may be written with `_` or in camel case; where both stand, they must be equal. An empty `client_secret` is none. The client's id and secret may stand in `Authorization: Basic` instead. */
export type TokenRequest = unknown;

/** Applications have `authorization_code` and `refresh_token` only. */
export type GrantType = 'anonymous' | 'refresh_token' | 'authorization_code' | 'authorized_client' | 'client_credentials' | 'strip_bound_session';

/** The whole request as JSON in base64; what stands beside it is passed over. It counts only where neither a grant nor a token does. */
export type TokenEnvelope = string | null;

export type TokenResponse = {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  /** For all grants but `client_credentials` and `strip_bound_session`. One that comes back as it was stays good. */
  refresh_token?: string;
  /** What the access token is held to, with spaces between the scopes, and `offline_access` beside a refresh token. */
  scope?: string;
};

/** A token of any kind. A client with a secret has to show it. */
export type TokenRevokeRequest = unknown;

/** It is answered to a client with a secret, and to an API key in `Authorization`. */
export type TokenIntrospectRequest = unknown;

export type TokenInfoRequest = unknown;

export type TokenInfo = ActiveToken | InactiveToken;

/** A token that is not good, or not any more, or that the asking client has no business with. */
export type InactiveToken = {
  active: false;
};

/** An access token or an API key. */
export type ActiveToken = {
  active: true;
  subjectType: SubjectType;
  subjectId: string;
  siteId: string;
  /** The same as `siteId`. */
  instanceId: string;
  /** What it is held to, with spaces between the scopes. */
  scope?: string;
  act?: TokenActor;
  /** The client that it was given to. */
  clientId?: string;
  /** When it ends, in seconds since 1970. API keys have none. */
  exp?: string;
  /** When it was made, in seconds since 1970. API keys have none. */
  iat?: string;
};

/** An owner of the site acts as the member (RFC 8693, section 4.1). */
export type TokenActor = {
  /** The id of the owner. */
  sub: string;
};

export type SubjectType = 'VISITOR' | 'MEMBER' | 'USER' | 'APP';

export type TokenIntrospection = IntrospectedAccess | IntrospectedRefresh | InactiveToken;

/** An access token or an API key of the client's site. */
export type IntrospectedAccess = {
  active: true;
  token_type: 'Bearer';
  sub: string;
  client_id: string | null;
  /** When it ends, in seconds since 1970; null for API keys. */
  exp: number | null;
  /** When it was made, in seconds since 1970; null for API keys. */
  iat: number | null;
  iss: string;
  /** The id of the site. */
  aud: string;
  subject_type: SubjectType;
  act?: TokenActor;
  /** What it is held to, with spaces between the scopes. */
  scope?: string;
};

/** A refresh token of a member of the client's site. */
export type IntrospectedRefresh = {
  active: true;
  token_type: 'refresh_token';
  /** The id of the member. */
  sub: string;
  client_id: string | null;
  /** The id of the session. */
  sid: string;
  /** What it is held to, with spaces between the scopes. */
  scope?: string;
};

export type KeySet = {
  keys: Array<{
    kty: 'OKP';
    crv: 'Ed25519';
    use: 'sig';
    alg: 'EdDSA';
    kid: string;
    /** The public key in base64url. */
    x: string;
  }>;
};

/** What the profile has no value for is left out. */
export type UserInfo = {
  /** The id of the member. */
  sub: string;
  /** The first 20 characters. */
  givenName?: string;
  /** The first 20 characters. */
  familyName?: string;
  /** Both names, else the nickname. */
  name?: string;
  email: string;
  emailVerified: boolean;
  /** An address on the web, or empty. */
  picture?: string;
  language?: string;
  act?: TokenActor;
};

export type LoginId = {
  /** An address; the part before the `@` may be of any script. */
  email: string;
};

/** The answer to a captcha, where the site asks for one: one element, or a list of them, of which the first text counts that isn't empty. */
export type CaptchaTokens = CaptchaToken | Array<CaptchaToken> | null;

/** The answer to a challenge stands in any of them. */
export type CaptchaToken = {
  Recaptcha?: string | null;
  InvisibleRecaptcha?: string | null;
  NoCaptcha?: string | null;
  recaptchaForClientSiteKey?: {
    token?: string | null;
    /** Not looked at: the site has one key. */
    siteKeyId?: string | null;
  } | null;
};

export type MemberRegisterRequest = {
  loginId: LoginId;
  password: string;
  profile?: IdentityProfileInput;
  captchaTokens?: CaptchaTokens;
};

/** The address and the password; or a `stateToken` with what the answer that it stands in asked for. */
export type MemberLoginRequest = unknown;

export type MemberSignOnRequest = {
  loginId: LoginId;
  /** What it has is set; the rest of the member's profile stays. */
  profile?: IdentityProfileInput;
  /** Whether the application has seen that the address is the member's. */
  verifyEmail?: boolean | null;
  mergeExistingContact?: true | null;
};

export type MemberSignOnResponse = {
  sessionToken: SessionToken;
  identity: Identity;
};

/** What a session is asked for with; it is good once. */
export type SessionToken = string;

/** By which the sign-in goes on. */
export type StateToken = string;

/** Where a sign-in stands, by `state`. */
export type StateMachine = SignedIn | FirstFactorRequired | EmailVerificationRequired | MissingFieldsRequired | OwnerApprovalRequired | FactorChallenged | FactorRequired | StatusChecked;

export type SignedIn = {
  state: 'SUCCESS';
  sessionToken: SessionToken;
  identity: Identity;
};

/** A password is needed. It says nothing of whether the address is known. */
export type FirstFactorRequired = {
  state: 'REQUIRE_FIRST_FACTOR';
  stateToken: StateToken;
};

/** A code was sent to the member's address. */
export type EmailVerificationRequired = {
  state: 'REQUIRE_EMAIL_VERIFICATION';
  stateToken: StateToken;
  identity: Identity;
};

/** The site requires more of the profile. */
export type MissingFieldsRequired = {
  state: 'REQUIRE_MISSING_FIELDS';
  stateToken: StateToken;
  identity: Identity;
  additionalData: {
    missingFields: MissingFields;
  };
};

/** Names of members of the profile. */
export type MissingFields = {
  listValue: {
    value: Array<{
      strValue: 'firstName' | 'lastName' | 'nickname';
    }>;
  };
};

/** An owner of the site must let the member in first. */
export type OwnerApprovalRequired = {
  state: 'REQUIRE_OWNER_APPROVAL';
  identity: Identity;
};

/** The address was verified, outside of a sign-in. */
export type StatusChecked = {
  state: 'STATUS_CHECK';
  identity: Identity;
};

/** A member as sign-in shows them. */
export type Identity = {
  id: string;
  revision: Revision;
  createdDate: string;
  updatedDate: string;
  /** By what the member is known to identity providers. */
  connections: Array<{
    idpConnection: {
      /** Of the site's connection. */
      idpConnectionId: string;
      /** The subject that the provider names. */
      idpUserId: string;
    };
  }>;
  identityProfile: IdentityProfile;
  metadata: {
    /** Always empty. */
    tags: Array<unknown>;
  };
  email: {
    address: string;
    isVerified: boolean;
  };
  status: {
    name: 'PENDING' | 'ACTIVE' | 'BLOCKED' | 'DELETED' | 'OFFLINE';
    /** What a pending member waits for. */
    reasons: Array<'PENDING_EMAIL_VERIFICATION_REQUIRED' | 'PENDING_REQUIRED_FIELDS_MISSING' | 'PENDING_ADMIN_APPROVAL_REQUIRED'>;
  };
  /** The password, if there is one. */
  factors: Array<{
    factorId: string;
    type: 'PASSWORD';
    status: 'ACTIVE';
  }>;
};

/** A number that goes up with every change, as text. */
export type Revision = string;

/** What was given of it; the rest is left out. */
export type IdentityProfile = {
  firstName?: string;
  lastName?: string;
  nickname?: string;
  /** An address on the web, or empty. */
  picture?: string;
  emails?: Array<string>;
  phones?: Array<string>;
  labels?: Array<string>;
  language?: string;
  privacyStatus?: 'UNDEFINED' | 'PUBLIC' | 'PRIVATE';
  customFields?: Array<ProfileCustomField>;
  secondaryEmails?: Array<TaggedEmail>;
  phonesV2?: Array<TaggedPhone>;
  addresses?: Array<TaggedAddress>;
  company?: string;
  position?: string;
  birthdate?: string;
  slug?: string;
  subscription?: boolean;
  vatId?: string;
  customAttributes?: Record<string, Json>;
};

/** Null is as if it were missing. At most 64 KiB of JSON text. What it has beside these is not kept, nor does it give a right: `isAdmin` for example. */
export type IdentityProfileInput = {
  firstName?: string | null;
  lastName?: string | null;
  nickname?: string | null;
  /** An address that begins with `https://` or `http://`, or empty. */
  picture?: string | null;
  emails?: Array<string> | null;
  phones?: Array<string> | null;
  labels?: Array<string> | null;
  language?: string | null;
  /** Where the site lets no member show themselves, `PUBLIC` becomes `PRIVATE`. */
  privacyStatus?: 'UNDEFINED' | 'PUBLIC' | 'PRIVATE' | null;
  customFields?: Array<ProfileCustomField> | null;
  secondaryEmails?: Array<TaggedEmail> | null;
  phonesV2?: Array<TaggedPhone> | null;
  addresses?: Array<TaggedAddress> | null;
  company?: string | null;
  position?: string | null;
  birthdate?: string | null;
  /** Letters, digits, dots, hyphens and underscores, or empty. */
  slug?: string | null;
  subscription?: boolean | null;
  vatId?: string | null;
  customAttributes?: Record<string, Json> | null;
} | null;

/** A custom field. Other members that it was sent with are kept. */
export type ProfileCustomField = {
  name: string;
  value?: ProfileFieldValue | null;
};

/** At most one of these that is not null; lists and maps at most eight deep. */
export type ProfileFieldValue = {
  strValue?: string | null;
  numValue?: number | null | 'NaN' | 'Infinity' | '-Infinity';
  /** A date, with or without a time, or milliseconds since 1970. */
  dateValue?: string | number | null;
  boolValue?: boolean | null;
  listValue?: ProfileFieldList;
  mapValue?: ProfileFieldMap;
};

export type ProfileFieldList = {
  value?: Array<ProfileFieldValue> | null;
} | null;

export type ProfileFieldMap = {
  value?: Record<string, ProfileFieldValue> | null;
} | null;

/** Other members that it was sent with are kept. */
export type TaggedEmail = {
  id?: string | null;
  email?: string | null;
  tag?: 'UNTAGGED' | 'MAIN' | 'HOME' | 'WORK' | null;
};

/** Other members that it was sent with are kept. */
export type TaggedPhone = {
  id?: string | null;
  /** Two capital letters, or empty. */
  countryCode?: string | null;
  phone?: string | null;
  tag?: 'UNTAGGED' | 'MAIN' | 'HOME' | 'MOBILE' | 'WORK' | 'FAX' | null;
};

/** Other members that it was sent with are kept. */
export type TaggedAddress = {
  id?: string | null;
  address?: PostalAddress | null;
  tag?: 'UNTAGGED' | 'HOME' | 'WORK' | 'BILLING' | 'SHIPPING' | null;
};

/** Other members that it was sent with are kept. */
export type PostalAddress = {
  country?: string | null;
  countryFullname?: string | null;
  subdivision?: string | null;
  subdivisionFullname?: string | null;
  city?: string | null;
  postalCode?: string | null;
  addressLine?: string | null;
  addressLine2?: string | null;
  formattedAddress?: string | null;
  hint?: string | null;
  geocode?: {
    latitude?: number | null;
    longitude?: number | null;
  } | null;
  streetAddress?: StreetAddress;
};

/** `name` and `number`, and other texts that it was sent with. */
export type StreetAddress = {
  name?: string | null;
  number?: string | null;
  apt?: string | null;
  formattedAddressLine?: string | null;
} | null;

export type PasswordChangeRequest = {
  newPassword: string;
};

export type PasswordReplaceRequest = {
  oldPassword: string;
  newPassword: string;
};

export type CaptchaChallenge = WorkChallenge | ProviderChallenge;

/** The answer is the challenge, `~` and a number such that the SHA-256 of this text begins with as many zero bits. It is good once. */
export type WorkChallenge = {
  kind: 'PROOF_OF_WORK';
  challenge: string;
  bits: number;
  expires: string;
};

/** The answer is a token of the provider's widget. */
export type ProviderChallenge = {
  kind: 'PROVIDER';
  visibleSiteKey: string | null;
  invisibleSiteKey: string | null;
  /** The widget that the account pages draw, RECAPTCHA_SCORE with the invisible key, the others with the visible one where there is one; null where they draw none. */
  widget?: 'RECAPTCHA' | 'RECAPTCHA_SCORE' | 'HCAPTCHA' | 'TURNSTILE' | 'OTHER' | null;
  /** Address of the script that draws it. */
  scriptUrl?: string | null;
};

export type EmailValidateRequest = {
  email: string;
};

export type EmailValidateResponse = {
  valid: boolean;
  /** The contrary of `valid`. */
  formatInvalid: boolean;
};

export type MemberRegisterByEmailRequest = {
  email: string;
  password: string;
  /** As in the profile of `memberRegister`. */
  contactInfo?: {
    firstName?: string | null;
    lastName?: string | null;
    picture?: string | null;
    emails?: Array<string> | null;
    phones?: Array<string> | null;
    labels?: Array<string> | null;
    customFields?: Array<NamedFieldValue> | null;
  } | null;
  /** Others than `PUBLIC` and `PRIVATE` are as if it were missing. */
  profilePrivacyStatus?: string | null;
  captchaTokens?: CaptchaTokens;
};

/** A custom field, its value beside its name: at most one of the values is not null. */
export type NamedFieldValue = {
  name: string;
  strValue?: string | null;
  numValue?: number | null | 'NaN' | 'Infinity' | '-Infinity';
  /** A date, with or without a time, or milliseconds since 1970. */
  dateValue?: string | number | null;
  boolValue?: boolean | null;
  listValue?: ProfileFieldList;
  mapValue?: ProfileFieldMap;
};

export type MemberLoginByEmailRequest = {
  email: string;
  password: string;
  captchaTokens?: CaptchaTokens;
};

/** `session` where nothing is left to be done, and `approvalToken` where an owner of the site must let the member in first; neither where the profile is not complete yet. */
export type SiteMemberSession = {
  session?: {
    token: SessionToken;
  };
  member: SiteMember;
  /** It names the member to those who run the site. */
  approvalToken?: string;
};

/** A member, in the form of the members package. What the profile has no value for is left out. */
export type SiteMember = {
  id: string;
  /** The same as `id`. */
  contactId: string;
  loginEmail: string;
  emailVerified: boolean;
  firstName?: string;
  lastName?: string;
  nickname?: string;
  slug?: string;
  profilePrivacyStatus: 'PUBLIC' | 'PRIVATE';
  status: MemberStatus;
  role: 'MEMBER';
  creationDate: string;
  lastUpdateDate: string;
  lastLoginDate?: string;
  emails: Array<string>;
  phones: Array<string>;
  addresses: Array<ContactAddress>;
  labels: Array<string>;
  customFields: Array<NamedFieldValue>;
  /** Always empty. */
  groups: Array<unknown>;
};

export type PasswordEmailSendRequest = {
  email: string;
  /** Without effect: the answer never tells whether the address is known. */
  hideIgnoreMessage?: boolean | null;
};

export type Accepted = {
  accepted: true;
};

export type AuthRequest = {
  clientId: string;
  responseType?: 'code' | null;
  responseMode?: 'fragment' | 'query' | 'web_message' | null;
  redirectUri?: string | null;
  state: string;
  codeChallenge: string;
  codeChallengeMethod: 'S256';
  nonce?: string | null;
  scope?: string | null;
  prompt?: 'login' | 'consent' | 'none' | '' | null;
  sessionToken?: string | null;
  /** The id of a connection to an identity provider. */
  idp?: string | null;
};

/** One intent: `auth`, `login`, `logout`, or one of the site's own pages. */
export type RedirectSessionCreateRequest = {
  auth?: {
    authRequest: AuthRequest;
    prompt?: 'login' | 'consent' | 'none' | '' | null;
  } | null;
  login?: Record<string, unknown> | null;
  logout?: {
    clientId: string;
  } | null;
  ecomCheckout?: {
    checkoutId: string;
  } | null;
  eventsCheckout?: {
    reservationId: string;
    eventSlug: string;
  } | null;
  paidPlansCheckout?: {
    planId: string;
    checkoutData?: string | null;
  } | null;
  bookingsCheckout?: {
    slotAvailability?: Json;
    slot?: Json;
    timezone?: string | null;
  } | null;
  storesProduct?: {
    productSlug: string;
  } | null;
  bookingsBook?: {
    resourceId?: string | null;
  } | null;
  ecomOrderPaymentRequest?: {
    paymentRequestId: string;
  } | null;
  memberAccountPage?: {
    section?: 'ACCOUNT_INFO' | 'BOOKINGS' | 'ORDERS' | 'SUBSCRIPTIONS' | 'EVENTS' | null;
  } | null;
  prompt?: 'login' | 'consent' | 'none' | '' | null;
  /** Addresses of the client. */
  callbacks?: {
    postFlowUrl?: string | null;
    thankYouPageUrl?: string | null;
    loginUrl?: string | null;
    bookingsServiceListUrl?: string | null;
    cartPageUrl?: string | null;
    planListUrl?: string | null;
    plansListUrl?: string | null;
  } | null;
  origin?: string | null;
  preferences?: {
    additionalQueryParameters?: Record<string, string | null> | null;
    useGenericWixPages?: true | null;
    maintainIdentity?: true | null;
    checkIfPublish?: false | null;
    createShortUrl?: false | null;
  } | null;
};

export type RedirectSessionCreateResponse = {
  redirectSession: {
    id: string;
    fullUrl: string;
    urlDetails: {
      endpoint: string;
      searchParams: {
        session: string;
      };
    };
    /** Empty without one. */
    sessionToken: string;
  };
};

export type LogoutResponse = {
  statusCode: 200 | 302;
  headers: Array<{
    key: 'Location';
    value: string;
  }>;
};

export type VerificationCheckRequest = {
  /** The code of the message. */
  code: string;
  /** Of the answer after which the code was sent, or `verificationId`. */
  stateToken: string;
};

export type VerificationResendRequest = {
  stateToken: string;
};

export type VerificationStartRequest = {
  /** The member's id. */
  identityId: string;
  target?: 'EMAIL' | null;
};

export type VerificationStartResponse = {
  /** The state token that goes with the code. */
  verificationId: string;
};

/** Where the link leads in the end. */
export type LinkRedirect = {
  /** One that the client may lead to. */
  url?: string | null;
  /** The caller's own where it is missing. */
  clientId?: string | null;
} | null;

/** The language of the message, `en` or `pt-BR` for example; the member's own where it is missing. */
export type LinkLanguage = string | null;

export type RecoveryEmailSendRequest = {
  email: string;
  language?: LinkLanguage;
  redirect?: LinkRedirect;
};

export type ActivationEmailSendRequest = {
  /** The member's id. */
  identityId: string;
  emailOptions?: {
    language?: LinkLanguage;
    redirect?: LinkRedirect;
  } | null;
};

export type RecoveryFinishRequest = {
  /** The token of the link. */
  recoveryToken: string;
  /** The new one. */
  password: string;
};

export type SessionListResponse = {
  sessions: Array<Session>;
};

/** A browser or an application in which the member is signed in, with all clients there. */
export type Session = {
  id: string;
  createdDate: string;
  lastUsedDate: string;
  clientIds: Array<string>;
  /** Of those that are still there. */
  clientNames?: Array<string>;
  /** The browser in which it began, `Firefox · Linux`; absent where no browser on the account pages did. */
  device?: string;
  place?: Place;
  /** The network address from which it began. */
  address?: string;
  /** Whether it is the one that asks. */
  isCurrent: boolean;
  impersonation?: SessionImpersonation;
};

/** Where the network address is, as far as the server has a file of places that knows. Names are in the first language of `Accept-Language`, or else in English. */
export type Place = {
  city?: string;
  /** Two letters of ISO 3166-1. */
  country?: string;
};

/** Present where the member isn't signed in: an owner of the site acts as the member. */
export type SessionImpersonation = {
  /** Whether the owner can change items as well. */
  access: 'READ' | 'WRITE';
  /** When it ends by itself. */
  expiresDate: string;
};

export type ImpersonationStartRequest = {
  /** Why, in one line; kept in the audit log. */
  reason: string;
  /** The owner's own. */
  password: string;
  /** `READ` where it is absent. `WRITE` lets items be changed as the member may, where the policy has it. */
  access?: 'READ' | 'WRITE' | null;
};

export type ImpersonationStartResponse = {
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
  expiresDate: string;
  /** As the member's list of sessions has it. */
  sessionId: string;
  memberId: string;
  access: 'READ' | 'WRITE';
};

export type ImpersonationEndResponse = {
  /** Sessions in which an owner acted as the member. */
  ended: number;
};

export type ApplicationListResponse = {
  applications: Array<Application>;
};

/** A client that others than those who run the site wrote, to which the member has agreed or in which they are signed on. */
export type Application = {
  /** Of the client. */
  id: string;
  name: string;
  /** Where it is found. */
  home?: string;
  /** What it may do of what the member may; absent where that is all. */
  scopes?: Array<string>;
  /** When the first of its sessions began that is still open. */
  createdDate: string;
  lastUsedDate: string;
};

export type DeletionAskRequest = {
  /** For how many days the member was told that the account stays: refused when the policy says otherwise by now. */
  deletionDays?: number | null;
};

export type DeletionAskResponse = {
  /** Whether the account is gone already: the policy waits no day. */
  isDeleted: boolean;
  /** When it goes; until then it can be kept. */
  deletionDate?: string;
};

export type DeletionView = {
  email: string;
  /** When the account goes; absent once it is kept. */
  deletionDate?: string;
  site: SiteFace;
};

/** What is kept about a member. Lists have at most 5,000 rows each, the newest ones where they have dates. */
export type MemberExport = {
  /** When the copy was made. */
  createdDate: string;
  /** The account: address, status, profile, contact, and what others see of it. */
  member: Json;
  /** What the member has written about themselves. */
  about?: Json;
  /** Roles and badges that they have, whom they follow, have blocked or reported. */
  ties: Array<{
    kind: 'role' | 'badge' | 'follow' | 'block' | 'report';
    target: string;
    createdDate: string;
  }>;
  sessions: Array<{
    createdDate: string;
    lastUsedDate: string;
    clientIds: Array<string>;
    device?: string;
    address?: string;
    isCurrent: boolean;
    impersonation?: SessionImpersonation;
  }>;
  factors: Array<{
    type: AddedFactorType;
    name: string;
    createdDate: string;
    lastUsedDate?: string;
  }>;
  /** Identity providers by which the member signs in. */
  connections: Array<MemberConnection>;
  recoveryCodesLeft: number;
  rememberedBrowsers: number;
  /** Addresses that the account had before, and that a link takes back until then. */
  keptAddresses: Array<{
    email: string;
    changedDate: string;
    expiresDate: string;
  }>;
  knownDevices: number;
  /** Clients of others that may act for the member, and how far. */
  consents: Array<{
    clientId: string;
    scopes: Array<string>;
    createdDate: string;
    lastAgreedDate: string;
  }>;
  /** What happened to the account; network addresses are those of the member. */
  audit: Array<{
    createdDate: string;
    event: string;
    actorKind: string;
    address?: string;
  }>;
};

export type EmailChangeBeginRequest = {
  /** The address that the account is to have. */
  email: string;
};

export type EmailChangeBeginResponse = {
  /** Until when the code is good. */
  expiresDate: string;
};

export type EmailChangeConfirmRequest = {
  /** The code that went to the address. */
  code: string;
};

export type EmailChangeConfirmResponse = {
  /** The address that the account has now. */
  email: string;
};

export type EmailChangeView = {
  /** The address that the account can have again, or has. */
  email: string;
  /** Whether it has it again. */
  isUndone: boolean;
  site: SiteFace;
};

export type FactorType = 'WEBAUTHN' | 'TOTP' | 'PUSH' | 'EMAIL' | 'SMS' | 'CALL' | 'PASSWORD' | 'RECOVERY_CODE';

export type FactorCode = {
  /** Without one the factor is only chosen; where codes are sent, one is. */
  code?: string | null;
};

export type SmsCode = {
  /** Without one a message is sent. */
  code?: string | null;
  deliveryMethod?: 'SMS' | null;
};

/** The question whose answer is asked for; without one the member's browsers are asked. */
export type PushShown = {
  transactionId?: string | null;
};

export type PushAsked = {
  transactionId: string;
};

/** Two digits, which are to be typed in the browser that is asked. */
export type PushNumber = string;

/** What a passkey has signed; without any of it a challenge for one is answered. */
export type PasskeyShown = {
  /** Of the challenge that it answers. */
  challengeId?: string | null;
  /** JSON text of `AuthenticationResponseJSON`, as `PublicKeyCredential.toJSON` has it. */
  credential?: string | null;
};

/** What a passkey is to sign, within five minutes: once for newer clients, and in single members for those before. */
export type PasskeyAsked = {
  challengeId: string;
  /** JSON text of `PublicKeyCredentialRequestOptionsJSON`. */
  publicKeyCredentialRequestOptionsJson: string;
  /** In base64. */
  challenge: string;
  timeoutMs: number;
  allowCredentials: Array<{
    /** In base64. */
    id: string;
    transports: Array<string>;
  }>;
  userVerification: 'USER_VERIFICATION_REQUIRED';
};

/** The object of the factor that the path names. */
export type FactorVerifyRequest = {
  /** As in the path. */
  factorType?: FactorType;
  stateToken: StateToken;
  /** Not to ask again in the browser where the sign-in ends, for thirty days. */
  rememberThisDevice?: boolean | null;
  webauthnData?: PasskeyShown;
  totpData?: FactorCode;
  pushData?: PushShown;
  emailData?: FactorCode;
  smsData?: SmsCode;
  callData?: FactorCode;
  /** Beside an identity provider; without a password the factor is only chosen. */
  passwordData?: {
    password?: string | null;
  };
  recoveryCodeData?: FactorCode;
};

/** A second factor is needed; the state token goes with it to `/v2/{factorType}/verify`. */
export type FactorChallenged = {
  state: 'MFA_CHALLENGE';
  stateToken: StateToken;
  mfaChallengeData: {
    factorType: FactorType;
    availableFactors: Array<{
      factorType: FactorType;
      factorStatus: 'ENABLED';
    }>;
    reason: 'USER_SETTINGS';
    verificationChallengeData?: {
      hint?: AddressHint;
      webauthnData?: PasskeyAsked;
    } | {
      hint: PushNumber;
      pushData: PushAsked;
    };
  };
};

/** The site requires a second factor of the member, who has no authenticator; on the account pages they set one up and are signed in. */
export type FactorRequired = {
  state: 'REQUIRE_MFA';
  requireMfaData: {
    availableFactors: Array<{
      factorType: 'WEBAUTHN' | 'TOTP';
      factorStatus: 'REQUIRE_ACTIVATION';
    }>;
    reason: 'USER_SETTINGS';
  };
  additionalData: {
    /** The page on which they sign in. */
    signInUrl: {
      strValue: string;
    };
  };
};

/** An authenticator, a passkey or a browser of a member, or that codes are sent. */
export type Factor = {
  id: string;
  type: AddedFactorType;
  /** Of codes that go to a number: most of the number left out. */
  name: string;
  createdDate: string;
  lastUsedDate?: string;
  /** Of a passkey: whether copies of it are on other devices. */
  backedUp?: boolean;
  /** Of a browser that its push service doesn't know any more: it has to be enrolled again. */
  needsReenrolment?: true;
};

export type AddedFactorType = 'WEBAUTHN' | 'TOTP' | 'PUSH' | 'EMAIL' | 'SMS' | 'CALL' | 'PASSWORD';

export type FactorListResponse = {
  /** Whether the site lets members add one, or requires it of some. */
  policy: 'OFF' | 'OPTIONAL' | 'REQUIRED';
  /** The kinds that can be added, as far as the member has room for them. */
  addable: Array<AddedFactorType>;
  factors: Array<Factor>;
  recoveryCodesLeft: number;
  /** In which the member is not asked. */
  rememberedBrowsers: number;
  /** The public key with which a browser subscribes (RFC 8292), an uncompressed point of P-256 in base64url; absent where none can be added. */
  pushKey?: string;
  /** Until when this session may change any of it; absent where `proof` is needed first. */
  provedUntil?: string;
};

export type FactorBeginRequest = {
  /** An authenticator where none is named. */
  type?: AddedFactorType | null;
  /** What the member calls an authenticator or a browser. */
  name?: string | null;
  /** The number that codes go to, with its calling code: of SMS and CALL. */
  phone?: string | null;
  /** `PushSubscription.toJSON()` of the browser: of PUSH. */
  subscription?: PushSubscription | null;
};

export type PushSubscription = {
  endpoint: string;
  /** Nothing is made of it. */
  expirationTime?: number | null;
  keys: {
    /** An uncompressed point of P-256 in base64url. */
    p256dh: string;
    /** 16 bytes in base64url. */
    auth: string;
  };
};

export type FactorBeginResponse = PushBegun | FactorBegun | FactorSentBegun | PasskeyBegun | FactorConfirmResponse;

/** `PublicKeyCredentialCreationOptionsJSON` (Web Authentication Level 3). */
export type PasskeyCreationOptions = {
  rp: {
    id: string;
    name: string;
  };
  user: {
    id: string;
    name: string;
    displayName: string;
  };
  /** Base64url. */
  challenge: string;
  pubKeyCredParams: Array<{
    type: 'public-key';
    alg: number;
  }>;
  /** Milliseconds. */
  timeout: number;
  excludeCredentials: Array<PasskeyDescriptor>;
  authenticatorSelection: {
    residentKey: 'required';
    requireResidentKey: true;
    userVerification: 'required';
  };
  attestation: 'none';
};

/** A passkey that the member has. */
export type PasskeyDescriptor = {
  type: 'public-key';
  /** Base64url. */
  id: string;
  transports?: Array<string>;
};

/** A passkey to be made by the browser, and confirmed under this id. */
export type PasskeyBegun = {
  factor: {
    id: string;
    type: 'WEBAUTHN';
    name: string;
  };
  options: PasskeyCreationOptions;
  expiresDate: string;
};

/** A browser that was sent its first code. */
export type PushBegun = {
  factor: {
    id: string;
    type: 'PUSH';
    name: string;
  };
  expiresDate: string;
};

/** A sign-in, or a change of the account, that asks a browser of the member. */
export type PushQuestion = {
  site: SiteFace;
  /** Whether somebody signs in, or changes the account in a session. */
  for: 'SIGN_IN' | 'CHANGE';
  /** The browser in which somebody signs in, where it is known. */
  device?: string;
  /** Its network address. */
  address: string;
  createdDate: string;
  expiresDate: string;
};

/** A number, or that it is denied. */
export type PushAnswerRequest = {
  /** Of the message that the browser got. */
  token: string;
  /** The two digits that are shown where somebody signs in. */
  number?: string | null;
  denied?: boolean | null;
};

/** A code is on its way. */
export type FactorSentBegun = {
  factor: {
    id: string;
    type: 'EMAIL' | 'SMS' | 'CALL';
    name: string;
  };
  sentTo: AddressHint;
  expiresDate: string;
};

/** The address without most of its name, or the number without most of its digits. */
export type AddressHint = string;

/** An authenticator to be set up. */
export type FactorBegun = {
  factor: {
    id: string;
    type: 'TOTP';
    name: string;
  };
  /** Base32, for typing. */
  secret: string;
  /** The same as a QR code holds it. */
  uri: string;
  expiresDate: string;
};

/** A code, or the passkey that the browser has made. */
export type FactorConfirmRequest = {
  code?: string | null;
  /** JSON text of `RegistrationResponseJSON`, as `PublicKeyCredential.toJSON` has it. */
  credential?: string | null;
  /** What the member calls the passkey. */
  name?: string | null;
};

export type FactorRenameRequest = {
  name: string;
};

export type FactorRenameResponse = {
  factor: Factor;
};

export type FactorConfirmResponse = {
  factor: Factor;
  recoveryCodes?: RecoveryCodes;
};

/** Ten, each good once. */
export type RecoveryCodes = Array<string>;

export type RecoveryCodesResponse = {
  recoveryCodes: RecoveryCodes;
};

/** One of them. */
export type MemberProveRequest = {
  /** Of members without a second factor. */
  password?: string;
  webauthnData?: PasskeyShown;
  totpData?: FactorCode;
  pushData?: PushShown;
  emailData?: FactorCode;
  smsData?: SmsCode;
  callData?: FactorCode;
  recoveryCodeData?: FactorCode;
};

export type MemberProveResponse = MemberProved | ProofCodeSent | PushProofAsked | PasskeyProofAsked;

/** The member's browsers are asked. */
export type PushProofAsked = {
  hint: PushNumber;
  pushData: PushAsked;
  expiresDate: string;
};

export type PasskeyProofAsked = {
  webauthnData: PasskeyAsked;
};

/** A code is on its way, good for ten minutes in this session. */
export type ProofCodeSent = {
  sentTo: AddressHint;
};

export type MemberProved = {
  provedUntil: string;
};

export type FactorsResetResponse = {
  removed: number;
};

/** A connection of the site to an identity provider (OpenID Connect). */
export type IdpConnection = {
  id: string;
  /** By which those who run the site know it. */
  name: string;
  issuer: string;
  clientId: string;
  /** What members call the provider. */
  label: string;
  /** Whether people who are unknown get an account. */
  createsMembers: boolean;
  /** Whether an account whose member has shown the address is linked by the provider's word alone. */
  linksByEmail: boolean;
  isEnabled: boolean;
};

export type IdpConnectionResponse = {
  idpConnection: IdpConnection;
  /** The redirect URI that the provider has to know. */
  callbackUrl: string;
};

export type IdpConnectionListResponse = {
  idpConnections: Array<IdpConnection>;
};

export type IdpConnectionCreateRequest = {
  idpConnection: {
    name: string;
    issuer: string;
    clientId: string;
    clientSecret: string;
    label?: string | null;
    createsMembers?: boolean | null;
    linksByEmail?: boolean | null;
    isEnabled?: boolean | null;
  };
};

export type IdpConnectionUpdateRequest = {
  idpConnection: {
    name?: string | null;
    clientId?: string | null;
    clientSecret?: string | null;
    label?: string | null;
    createsMembers?: boolean | null;
    linksByEmail?: boolean | null;
    isEnabled?: boolean | null;
  };
};

export type MemberConnection = {
  idpConnectionId: string;
  /** What people call the provider. */
  label: string;
  /** The subject that the provider names. */
  idpUserId: string;
  /** The address that the provider named when it was connected. */
  email?: string;
  createdDate: string;
  lastUsedDate?: string;
};

export type MemberConnectionListResponse = {
  connections: Array<MemberConnection>;
};

export type IdpLoginQuery = {
  /** What the answer in the channel repeats. */
  customPayload?: Record<string, string>;
};

export type IdpTokenLoginRequest = {
  idpConnectionId: string;
  tokenParams: {
    idToken: string;
    nonce: string;
  };
};

/** How much of it is shown depends on the field set and on who asks. Members without the field set `EXTENDED` have `UNKNOWN` as `status` and `activityStatus`; what there is no value for is left out. */
export type Member = {
  id: string;
  /** The same as `id`. */
  contactId: string;
  profile: MemberProfile;
  /** Whether others see the profile. */
  privacyStatus: 'PUBLIC' | 'PRIVATE';
  status: MemberStatus;
  activityStatus: ActivityStatus;
  /** From `EXTENDED` on. */
  loginEmail?: string;
  /** From `EXTENDED` on. */
  loginEmailVerified?: boolean;
  /** From `EXTENDED` on. */
  createdDate?: string;
  /** From `EXTENDED` on. */
  updatedDate?: string;
  /** From `EXTENDED` on, of those who have signed in. */
  lastLoginDate?: string;
  /** In `FULL`. */
  contact?: MemberContact;
};

export type MemberStatus = 'UNKNOWN' | 'PENDING' | 'APPROVED' | 'BLOCKED' | 'OFFLINE';

export type ActivityStatus = 'UNKNOWN' | 'ACTIVE' | 'MUTED';

/** What others see. */
export type MemberProfile = {
  /** The nickname, else the given names. */
  nickname?: string;
  slug?: string;
  /** The photo, else the picture of the profile. */
  photo?: MemberImage;
  cover?: MemberImage;
  title?: string;
};

/** Other members that it was sent with are kept, but for those that are null. */
export type MemberImage = {
  /** An address on the web, or empty. */
  url?: string;
  id?: Json;
  /** As it was sent: a number, most often. */
  height?: Json;
  /** As it was sent: a number, most often. */
  width?: Json;
  offsetX?: Json;
  offsetY?: Json;
};

export type MemberContact = {
  firstName?: string;
  lastName?: string;
  company?: string;
  jobTitle?: string;
  birthdate?: string;
  phones: Array<string>;
  /** With the address that the member signs in with, as long as no list was written. */
  emails: Array<string>;
  addresses: Array<ContactAddress>;
  /** By their names. */
  customFields: Record<string, {
    name: string;
    value: CustomFieldValue;
  }>;
};

/** Text, a number, true or false, a list or a map of them; null where there is no value. */
export type CustomFieldValue = unknown;

/** Members that were never sent are left out. */
export type ContactAddress = {
  id?: string;
  addressLine?: string | null;
  addressLine2?: string | null;
  city?: string | null;
  subdivision?: string | null;
  country?: string | null;
  postalCode?: string | null;
  streetAddress?: StreetAddress;
};

/** Members that are not named stay as they are, null removes. What is shown in place of something that isn't there can be sent back: it changes nothing. */
export type MemberInput = {
  /** At most 16 KiB of photo, cover and title as JSON text. */
  profile?: {
    nickname?: string | null;
    /** Letters, digits, dots, hyphens and underscores, or empty. */
    slug?: string | null;
    photo?: MemberImageInput;
    cover?: MemberImageInput;
    title?: string | null;
  } | null;
  contact?: {
    firstName?: string | null;
    lastName?: string | null;
    company?: string | null;
    jobTitle?: string | null;
    birthdate?: string | null;
    phones?: Array<string> | null;
    emails?: Array<string> | null;
    /** One is known by its id, by what it says, or by its position. */
    addresses?: Array<ContactAddressInput> | null;
    /** By their names, each as `{ "value": … }` or as the value alone. A field that is null goes, one that isn't named stays. */
    customFields?: Record<string, CustomFieldValue> | null;
  } | null;
  /** `UNKNOWN` and null change nothing. */
  privacyStatus?: 'UNKNOWN' | 'PUBLIC' | 'PRIVATE' | null;
};

export type MemberImageInput = {
  /** An address that begins with `https://` or `http://`, or empty. */
  url?: string | null;
  id?: string | null;
  height?: number | null;
  width?: number | null;
  offsetX?: number | null;
  offsetY?: number | null;
} | null;

export type ContactAddressInput = {
  id?: string | null;
  addressLine?: string | null;
  addressLine2?: string | null;
  city?: string | null;
  subdivision?: string | null;
  country?: string | null;
  postalCode?: string | null;
  streetAddress?: StreetAddress;
};

export type MemberResponse = {
  member: Member;
  act?: TokenActor;
};

export type MemberCreateRequest = {
  member: (MemberInput) & ({
    loginEmail: string;
  });
};

export type MemberUpdateRequest = {
  member: (MemberInput) & ({
    id?: ReadOnlyMember;
    contactId?: ReadOnlyMember;
    loginEmail?: ReadOnlyMember;
    loginEmailVerified?: ReadOnlyMember;
    status?: ReadOnlyMember;
    activityStatus?: ReadOnlyMember;
    createdDate?: ReadOnlyMember;
    updatedDate?: ReadOnlyMember;
    lastLoginDate?: ReadOnlyMember;
  });
};

export type MemberSlugUpdateRequest = {
  /** Letters, digits, dots, hyphens and underscores; not `.` or `..`. */
  slug: string;
};

/** How much of a member is wanted: one name or a list, of which the largest counts; `PUBLIC` where it is missing. */
export type Fieldsets = 'PUBLIC' | 'EXTENDED' | 'FULL' | null | Array<'PUBLIC' | 'EXTENDED' | 'FULL'>;

/** At most one field; the newest first where it is missing. A cursor goes with that order only. */
export type MemberSort = Array<{
  /** The last two for those who run the site. */
  fieldName: 'createdDate' | '_createdDate' | 'nickname' | 'profile.nickname' | 'loginEmail' | 'lastLoginDate';
  order?: 'ASC' | 'DESC' | 'asc' | 'desc' | null;
}> | null;

/** Paging, filter and order may also stand beside `query`. */
export type MemberQueryRequest = {
  fieldsets?: Fieldsets;
  query?: {
    filter?: MemberFilter;
    sort?: MemberSort;
    /** Another name of `sort`. */
    sorting?: MemberSort;
    paging?: OffsetPaging;
    /** It goes before `paging`. */
    cursorPaging?: CursorPaging;
  } | null;
  search?: MemberSearch;
  filter?: MemberFilter;
  sorting?: MemberSort;
  paging?: OffsetPaging;
  cursorPaging?: CursorPaging;
};

/** Finds members by what one of the fields begins with. */
export type MemberSearch = {
  expression?: string | null;
  /** One name or a list: fields of text that a filter can have. Without it the nickname, and for those who run the site the address. */
  fields?: string | null | Array<string>;
} | null;

export type MemberConditions = {
  id?: TextCondition;
  _id?: TextCondition;
  contactId?: TextCondition;
  'profile.nickname'?: TextCondition;
  nickname?: TextCondition;
  'profile.slug'?: TextCondition;
  slug?: TextCondition;
  /** `PUBLIC` or `PRIVATE`. */
  privacyStatus?: TextCondition;
  /** For those who run the site, as all that follow. */
  loginEmail?: TextCondition;
  /** `APPROVED`, `PENDING`, `BLOCKED` or `OFFLINE`. */
  status?: TextCondition;
  /** `ACTIVE` or `MUTED`. */
  activityStatus?: TextCondition;
  createdDate?: DateCondition;
  _createdDate?: DateCondition;
  updatedDate?: DateCondition;
  _updatedDate?: DateCondition;
  lastLoginDate?: DateCondition;
} | null;

/** Conditions that all hold; at most 200 of them. */
export type MemberFilter = (MemberConditions) & ({
  /** A filter of the same kind, or a list of them. */
  $and?: MemberFilter | Array<MemberFilter>;
  /** A filter of the same kind, or a list of them. */
  $or?: MemberFilter | Array<MemberFilter>;
  /** A filter of the same kind, or a list of them. */
  $not?: MemberFilter | Array<MemberFilter>;
} | null);

/** A value, or operators that all hold. Null and `$exists` ask whether there is a value; of members they can't be asked. */
export type TextCondition = string | null | {
  $eq?: string | null;
  $ne?: string | null;
  $gt?: string;
  $gte?: string;
  $lt?: string;
  $lte?: string;
  $in?: Array<string | null>;
  /** The same as `$in`. */
  $hasSome?: Array<string | null>;
  $nin?: Array<string | null>;
  $startsWith?: string;
  $exists?: boolean;
};

/** A date, or operators that all hold. Null and `$exists` ask whether there is one; of members they can't be asked. */
export type DateCondition = FilterDate | {
  $eq?: FilterDate;
  $ne?: FilterDate;
  $gt?: FilterDate;
  $gte?: FilterDate;
  $lt?: FilterDate;
  $lte?: FilterDate;
  $in?: Array<FilterDate>;
  /** The same as `$in`. */
  $hasSome?: Array<FilterDate>;
  $nin?: Array<FilterDate>;
  $exists?: boolean;
};

/** Milliseconds since 1970 or a text, a date or a date and time of RFC 3339; inside of operators both may stand in `{ "$date": … }`. */
export type FilterDate = number | string | null | {
  $date: number | string;
};

export type MemberQueryResponse = {
  members: Array<Member>;
  /** The second where pages are asked for by cursor. */
  metadata: OffsetMetadata | CursorMetadata;
};

export type MemberBulkDeleteRequest = {
  /** One id, or a list of at most 100. */
  memberIds: string | Array<string>;
};

/** Whom both filter and search find. */
export type MemberFilterRequest = {
  /** `{}` finds all. */
  filter: MemberFilter;
  /** Not without an expression. */
  search?: MemberSearch;
};

export type UserMemberQueryRequest = {
  query?: {
    filter?: UserMemberFilter;
    cursorPaging?: CursorPaging;
  } | null;
  cursorPaging?: CursorPaging;
};

/** As of members, whose id may be named in two more ways. */
export type UserMemberFilter = (MemberConditions) & ({
  /** A filter of the same kind, or a list of them. */
  $and?: UserMemberFilter | Array<UserMemberFilter>;
  /** A filter of the same kind, or a list of them. */
  $or?: UserMemberFilter | Array<UserMemberFilter>;
  /** A filter of the same kind, or a list of them. */
  $not?: UserMemberFilter | Array<UserMemberFilter>;
  userId?: TextCondition;
  memberId?: TextCondition;
} | null);

export type UserMember = {
  memberId: string;
  /** The same as `memberId`, as is `contactId`. */
  userId: string;
  contactId: string;
  /** The id of the site, as is `metaSiteId`. */
  siteMembersInstanceId: string;
  metaSiteId: string;
  nickname?: string;
  photo?: MemberImage;
  privacyStatus: 'PUBLIC' | 'PRIVATE';
  status: MemberStatus;
  activityStatus: ActivityStatus;
  createdDate: string;
  updatedDate: string;
};

export type UserMemberQueryResponse = {
  userMembers: Array<UserMember>;
  metadata: CursorMetadata;
};

export type MemberLoginEmailUpdateRequest = {
  newEmail: string;
};

export type SiteMemberResponse = {
  member: SiteMember;
};

/** The token that the registration gave, else the id, else the address. */
export type MemberApproveByAnyRequest = unknown;

/** An empty `session`: the member signs in alone. */
export type SessionPlaceholder = {
  session: Empty;
};

/** The id, else the address. */
export type MemberNamedRequest = unknown;

export type Role = {
  /** The same as `roleKey`. */
  id: string;
  roleKey: string;
  /** The key where there is no other. */
  title: string;
  blockable: boolean;
  revision: Revision;
};

export type RoleResponse = {
  role: Role;
};

export type RoleListResponse = {
  /** In their order. */
  roles: Array<Role>;
};

export type RoleCreateRequest = {
  /** It stays as it was made. */
  roleKey: string;
  roleTitle?: string | null;
  blockable?: boolean | null;
};

/** What is not named stays, null removes. */
export type RoleUpdateRequest = {
  roleTitle?: string | null;
  blockable?: boolean | null;
  revision?: RevisionInput;
};

/** The revision that the change was made from; without it, the change is made to whichever there is. */
export type RevisionInput = number | string | null;

export type AssignedRole = {
  roleKey: string;
  /** The key where there is no other. */
  title: string;
};

export type MemberRoleListResponse = {
  roles: Array<AssignedRole>;
};

/** At most 100 members, named here or in the filter; of those in both places the ones that both name. */
export type MemberRoleQueryRequest = {
  memberIds?: IdOrIds;
  query?: {
    filter?: NamedMembersFilter;
  } | null;
};

/** By `$eq` or `$in`. */
export type NamedMembersFilter = {
  memberId?: NamedIds;
  memberIds?: NamedIds;
  /** The members that any of them names. */
  $or?: Array<NamedMembersFilter>;
} | null;

/** One id, or a list. */
export type IdOrIds = string | null | Array<string>;

/** One id, a list, or one of them in an operator. */
export type NamedIds = string | Array<string> | {
  $eq?: string;
  $in?: Array<string>;
};

export type MemberRoleQueryResponse = {
  /** By the ids that were asked for. */
  rolesByMemberId: Record<string, MemberRoleListResponse>;
};

export type MemberRoleAssignRequest = {
  roleKey: string;
};

export type MemberRoleChangeResponse = {
  roleKey: string;
};

/** What was given of it; the rest is left out. */
export type Badge = {
  id: string;
  title?: string;
  description?: string;
  backgroundColor?: string;
  textColor?: string;
  /** Under `/members/v3` an address, else an object. */
  icon?: string | BadgeIcon;
  permissionsEnabled?: boolean;
  slug?: string;
  revision: Revision;
  createdDate: string;
  updatedDate: string;
};

/** Other members that it was sent with are kept. */
export type BadgeIcon = {
  id?: string | null;
  url?: string | null;
  height?: number | null;
  width?: number | null;
  altText?: string | null;
  filename?: string | null;
};

/** Of a badge that is there, what is not named stays, and null removes. */
export type BadgeInput = {
  title?: string | null;
  description?: string | null;
  backgroundColor?: string | null;
  textColor?: string | null;
  /** An address, or an object with it. */
  icon?: string | null | BadgeIcon;
  permissionsEnabled?: boolean | null;
  slug?: string | null;
};

export type BadgeResponse = {
  badge: Badge;
};

export type BadgeListResponse = {
  badges: Array<Badge>;
};

export type BadgeCreateRequest = {
  badge: (BadgeInput) & ({
    title: string;
  });
};

export type BadgeUpdateRequest = {
  badge: (BadgeInput) & ({
    revision?: RevisionInput;
  });
};

/** Paging and filter may also stand beside `query`. */
export type BadgeQueryRequest = {
  query?: {
    filter?: BadgeFilter;
    paging?: OffsetPaging;
    /** It goes before `paging`. */
    cursorPaging?: CursorPaging;
  } | null;
  filter?: BadgeFilter;
  paging?: OffsetPaging;
  cursorPaging?: CursorPaging;
};

/** Conditions that all hold; at most 200 of them. */
export type BadgeFilter = {
  /** A filter of the same kind, or a list of them. */
  $and?: BadgeFilter | Array<BadgeFilter>;
  /** A filter of the same kind, or a list of them. */
  $or?: BadgeFilter | Array<BadgeFilter>;
  /** A filter of the same kind, or a list of them. */
  $not?: BadgeFilter | Array<BadgeFilter>;
  id?: TextCondition;
  _id?: TextCondition;
  title?: TextCondition;
  description?: TextCondition;
  slug?: TextCondition;
  backgroundColor?: TextCondition;
  textColor?: TextCondition;
  permissionsEnabled?: FlagCondition;
  createdDate?: DateCondition;
  _createdDate?: DateCondition;
  updatedDate?: DateCondition;
  _updatedDate?: DateCondition;
} | null;

/** A value, or operators that all hold. Null and `$exists` ask whether there is a value. */
export type FlagCondition = boolean | null | {
  $eq?: boolean | null;
  $ne?: boolean | null;
  $in?: Array<boolean | null>;
  $nin?: Array<boolean | null>;
  $exists?: boolean;
};

export type BadgeQueryResponse = {
  /** In their order. */
  badges: Array<Badge>;
  metadata: OffsetMetadata;
  pagingMetadata: CursorMetadata;
};

export type BadgeOrderUpdateV3Request = {
  /** At most 500. */
  ids?: IdOrIds;
  /** Where it stands, `ids` is not looked at. */
  badgeIds?: IdOrIds;
};

export type BadgeOrderUpdateRequest = {
  /** At most 500. */
  badgeIds?: IdOrIds;
  /** The same, where there are no `badgeIds`. */
  ids?: IdOrIds;
};

export type BadgeMoveRequest = {
  /** `LAST` where it is missing. */
  position?: 'FIRST' | 'LAST' | 'AFTER' | '' | null;
  /** For `AFTER`. */
  moveAfterBadgeId?: string | null;
};

export type MemberBadgeListResponse = {
  /** For each of the members that were named. */
  memberBadgeIds: Array<{
    memberId: string;
    badgeIds: Array<string>;
  }>;
};

export type BadgeMemberCountResponse = {
  /** All badges in their order. */
  badgeMemberCounts: Array<{
    badgeId: string;
    memberCount: number;
  }>;
};

export type BadgeMemberListResponse = {
  memberIds: Array<string>;
  /** Without a total. */
  metadata: OffsetMetadata;
  pagingMetadata: CursorMetadata;
};

export type BadgeMembersResponse = {
  /** As they were sent. */
  memberIds: Array<string>;
};

export type BadgeAssignment = {
  id: string;
  badgeId: string;
  memberId: string;
  createdDate: string;
  /** The same as `createdDate`. */
  updatedDate: string;
  /** Of those that have tags. */
  tags?: BadgeTags;
};

/** At most 8 KiB of JSON text in a request. Other members that it was sent with are kept. */
export type BadgeTags = {
  tags?: TagList;
  /** In lists only for those who run the site. */
  privateTags?: TagList;
};

export type TagList = {
  /** One id, or a list. */
  tagIds?: string | null | Array<string>;
} | null;

export type BadgeAssignmentInput = {
  badgeId: string;
  memberId: string;
  tags?: BadgeTags | null;
};

export type BadgeAssignmentCreateRequest = {
  badgeAssignment: BadgeAssignmentInput;
};

export type BadgeAssignmentResponse = {
  badgeAssignment: BadgeAssignment;
};

/** Conditions that all hold; at most 200 of them. */
export type BadgeAssignmentFilter = {
  /** A filter of the same kind, or a list of them. */
  $and?: BadgeAssignmentFilter | Array<BadgeAssignmentFilter>;
  /** A filter of the same kind, or a list of them. */
  $or?: BadgeAssignmentFilter | Array<BadgeAssignmentFilter>;
  /** A filter of the same kind, or a list of them. */
  $not?: BadgeAssignmentFilter | Array<BadgeAssignmentFilter>;
  id?: TextCondition;
  _id?: TextCondition;
  memberId?: TextCondition;
  badgeId?: TextCondition;
  createdDate?: DateCondition;
  _createdDate?: DateCondition;
} | null;

/** Paging and filter may also stand beside `query`. */
export type BadgeAssignmentQueryRequest = {
  query?: {
    filter?: BadgeAssignmentFilter;
    cursorPaging?: CursorPaging;
  } | null;
  filter?: BadgeAssignmentFilter;
  cursorPaging?: CursorPaging;
};

export type BadgeAssignmentQueryResponse = {
  badgeAssignments: Array<BadgeAssignment>;
  pagingMetadata: CursorMetadata;
};

export type BadgeAssignmentBulkCreateRequest = {
  badgeAssignments: Array<BadgeAssignmentInput>;
};

/** One id, or a list of at most 100. */
export type BadgeAssignmentIds = string | Array<string>;

export type BadgeAssignmentBulkDeleteRequest = {
  badgeAssignmentIds: BadgeAssignmentIds;
};

/** Public and private tags. */
export type TagChange = BadgeTags | null;

export type BadgeAssignmentBulkTagRequest = {
  ids: BadgeAssignmentIds;
  assignTags?: TagChange;
  unassignTags?: TagChange;
};

export type BadgeAssignmentBulkTagByFilterRequest = {
  /** `{}` finds all. */
  filter: BadgeAssignmentFilter;
  assignTags?: TagChange;
  unassignTags?: TagChange;
};

/** A field that the site adds to its members. What it has no value for is left out. */
export type CustomField = {
  id: string;
  name?: string;
  key?: string;
  defaultPrivacy?: 'UNKNOWN' | 'PUBLIC' | 'PRIVATE';
  fieldType: CustomFieldType;
  socialType?: SocialType;
  fieldOrigin?: 'UNKNOWN' | 'CUSTOM' | 'CONTACT' | 'SYSTEM';
  /** To whom it applies where nothing else says so; all without it. */
  appliesTo?: 'ALL_MEMBERS' | 'SELECTED_MEMBERS';
  section?: CustomFieldSection;
  /** Only those who run the site see it then. */
  hidden?: boolean;
  revision: Revision;
  createdDate: string;
  updatedDate: string;
};

export type CustomFieldType = 'UNKNOWN' | 'TEXT' | 'NUMBER' | 'DATE' | 'URL' | 'SOCIAL';

export type SocialType = 'UNKNOWN' | 'FACEBOOK' | 'INSTAGRAM' | 'LINKEDIN' | 'TWITTER' | 'YOUTUBE' | 'PINTEREST' | 'TIKTOK' | 'DEVIANTART' | 'SOUNDCLOUD' | 'TUMBLR' | 'VIMEO' | 'VKONTAKTE' | 'ODNOKLASSNIKI' | 'OTHER';

export type CustomFieldSection = 'GENERAL' | 'SOCIAL' | 'DISPLAY_INFO' | 'ADDRESS';

/** Of a field that is there, what is not named stays, and null removes. */
export type CustomFieldInput = {
  name?: string | null;
  /** Made of the name where it is missing. */
  key?: string | null;
  /** `PRIVATE` where it is missing. */
  defaultPrivacy?: 'UNKNOWN' | 'PUBLIC' | 'PRIVATE' | null;
  /** It stays as it was made; `TEXT` where it is missing. */
  fieldType?: CustomFieldType | null;
  socialType?: SocialType | null;
  /** `CUSTOM` where it is missing. */
  fieldOrigin?: 'UNKNOWN' | 'CUSTOM' | 'CONTACT' | 'SYSTEM' | null;
  appliesTo?: 'ALL_MEMBERS' | 'SELECTED_MEMBERS' | null;
  /** `GENERAL` where it is missing. */
  section?: CustomFieldSection | null;
  hidden?: boolean | null;
};

export type CustomFieldResponse = {
  field: CustomField;
};

export type CustomFieldListResponse = {
  /** In their order. */
  fields: Array<CustomField>;
  metadata: OffsetMetadata;
};

export type CustomFieldCreateRequest = {
  field: (CustomFieldInput) & ({
    name: string;
  });
};

export type CustomFieldUpdateRequest = {
  field: (CustomFieldInput) & ({
    revision?: RevisionInput;
  });
};

export type CustomFieldHideRequest = {
  revision?: RevisionInput;
};

export type CustomFieldOrderUpdateRequest = {
  /** At most 500. */
  fieldIds?: IdOrIds;
  /** Without effect; it is given back. */
  section?: CustomFieldSection | null;
};

export type CustomFieldOrderUpdateResponse = {
  /** All of them. */
  fields: Array<CustomField>;
  /** What was sent as it. */
  section?: Json;
};

/** Paging and filter may also stand beside `query`. */
export type CustomFieldSuggestionQueryRequest = {
  query?: {
    filter?: CustomFieldSuggestionFilter;
    paging?: OffsetPaging;
  } | null;
  filter?: CustomFieldSuggestionFilter;
  paging?: OffsetPaging;
};

/** Conditions that all hold; at most 200 of them. */
export type CustomFieldSuggestionFilter = {
  /** A filter of the same kind, or a list of them. */
  $and?: CustomFieldSuggestionFilter | Array<CustomFieldSuggestionFilter>;
  /** A filter of the same kind, or a list of them. */
  $or?: CustomFieldSuggestionFilter | Array<CustomFieldSuggestionFilter>;
  /** A filter of the same kind, or a list of them. */
  $not?: CustomFieldSuggestionFilter | Array<CustomFieldSuggestionFilter>;
  name?: TextCondition;
  fieldType?: TextCondition;
  socialType?: TextCondition;
} | null;

export type CustomFieldSuggestion = {
  name: string;
  fieldType: 'TEXT' | 'DATE' | 'URL' | 'SOCIAL';
  socialType: SocialType;
  fieldOrigin: 'SYSTEM';
  defaultPrivacy: 'PRIVATE';
};

export type CustomFieldSuggestionsResponse = {
  suggestions: Array<CustomFieldSuggestion>;
  metadata: OffsetMetadata;
};

/** To whom a field applies: to those of `applications` that are not among the `exclusions`. */
export type FieldApplication = {
  customFieldId: string;
  /** The key that the field had when this was made. */
  customFieldKey: string | null;
  applications: FieldApplicationItems;
  exclusions: FieldApplicationItems;
  revision: Revision;
};

/** Members and roles, as they were sent. */
export type FieldApplicationItems = {
  /** A list of objects with `applicationType`, or `exclusionType` among exclusions, and `entityId`. */
  items?: Json;
};

/** Of one that is there, what is not named stays, and null removes. */
export type FieldApplicationInput = {
  applications?: {
    items?: Array<{
      applicationType: 'MEMBER' | 'ROLE';
      /** The id of the member or the key of the role. */
      entityId: string;
    }>;
  } | null;
  exclusions?: {
    items?: Array<{
      exclusionType: 'MEMBER' | 'ROLE';
      /** The id of the member or the key of the role. */
      entityId: string;
    }>;
  } | null;
};

export type FieldApplicationCreateRequest = {
  application: (FieldApplicationInput) & ({
    customFieldId: string;
  });
};

export type FieldApplicationUpdateRequest = {
  application: (FieldApplicationInput) & ({
    /** It stays as it was made. */
    customFieldId?: string;
    /** It stays as it was made. */
    customFieldKey?: string | null;
    revision?: RevisionInput;
  });
};

export type FieldApplicationResponse = {
  application: FieldApplication;
};

export type FieldApplicationListRequest = {
  customFieldIds?: IdOrIds;
};

export type FieldApplicationListResponse = {
  applications: Array<FieldApplication>;
};

export type FieldApplicationListOfRolesRequest = {
  /** Keys of roles, at most 100. */
  roleIds?: IdOrIds;
};

export type AppliedFieldsResponse = {
  /** For each that was named, by `memberId` or by `roleId` as it was asked. */
  results: Array<FieldsOfMember | FieldsOfRole>;
};

export type FieldsOfMember = {
  memberId: string;
  applications: Array<AppliedField>;
};

export type FieldsOfRole = {
  roleId: string;
  applications: Array<AppliedField>;
};

/** All fields of the site, whether or not they apply. */
export type AppliedField = {
  customFieldKey: string | null;
  applies: boolean;
  customField: CustomField;
};

export type PrivacySettings = {
  /** The id of the site. */
  id: string;
  /** `0` where nothing was ever set. */
  revision: Revision;
  /** Whether new members are shown. */
  defaultPrivacy: 'PUBLIC' | 'PRIVATE';
  /** Who sees the members that show themselves. */
  publicMemberVisibility: 'VISIBLE_TO_MEMBERS_ONLY' | 'VISIBLE_TO_ALL';
  /** Who may show themselves. */
  publicMemberCandidates: 'NO_ONE' | 'ANYONE';
  /** Once something was set. */
  updatedDate?: string;
};

/** What is not named stays; null is the default again. */
export type PrivacySettingsInput = {
  defaultPrivacy?: 'PUBLIC' | 'PRIVATE' | null;
  publicMemberVisibility?: 'VISIBLE_TO_MEMBERS_ONLY' | 'VISIBLE_TO_ALL' | null;
  publicMemberCandidates?: 'NO_ONE' | 'ANYONE' | null;
  revision?: RevisionInput;
};

export type DefaultPrivacyUpdateRequest = {
  defaultPrivacy: PrivacySettingsInput;
};

export type DefaultPrivacyResponse = {
  defaultPrivacy: PrivacySettings;
};

export type PrivacySettingsUpdateRequest = {
  memberPrivacySettings: PrivacySettingsInput;
};

export type PrivacySettingsResponse = {
  memberPrivacySettings: PrivacySettings;
};

export type MemberIdPage = {
  memberIds: Array<string>;
  pagingMetadata: CursorMetadata;
};

export type ConnectionQueryRequest = {
  /** At most 100. */
  connectedMemberIds?: IdOrIds;
};

export type ConnectionQueryResponse = {
  /** For each that was named. */
  connectedMembers: Array<{
    connectedMemberId: string;
    /** Whether the member of the call follows this one. */
    followedByMember: boolean;
    /** Whether this one follows the member of the call. */
    followingMember: boolean;
  }>;
};

export type MemberBlockCreateRequest = {
  memberId: string;
};

export type MemberBlockListMyResponse = {
  blockedMemberIds: Array<string>;
  pagingMetadata: CursorMetadata;
};

export type MemberBlockListResponse = {
  memberBlocks: Array<{
    /** The other member. */
    memberId: string;
    /** `BLOCKED` where the other one has blocked the member of the call; only those who run the site are told. */
    blockDirection: 'BLOCKING' | 'BLOCKED';
  }>;
  pagingMetadata: CursorMetadata;
};

export type ReportCategory = 'UNKNOWN' | 'SPAM' | 'IMPERSONATION' | 'HARASSMENT' | 'OTHER';

export type MemberReport = {
  id: string;
  reportedMemberId: string;
  reportingMemberId: string;
  reason: {
    category: ReportCategory;
    description?: string;
  };
  createdDate: string;
};

export type MemberReportCreateRequest = {
  memberReport: {
    reportedMemberId: string;
    reason?: {
      /** `UNKNOWN` where it is missing. */
      category?: ReportCategory | null;
      description?: string | null;
    } | null;
  };
};

export type MemberReportResponse = {
  memberReport: MemberReport;
};

/** Conditions that all hold; at most 200 of them. */
export type MemberReportFilter = {
  /** A filter of the same kind, or a list of them. */
  $and?: MemberReportFilter | Array<MemberReportFilter>;
  /** A filter of the same kind, or a list of them. */
  $or?: MemberReportFilter | Array<MemberReportFilter>;
  /** A filter of the same kind, or a list of them. */
  $not?: MemberReportFilter | Array<MemberReportFilter>;
  id?: TextCondition;
  _id?: TextCondition;
  reportedMemberId?: TextCondition;
  reportingMemberId?: TextCondition;
  createdDate?: DateCondition;
  _createdDate?: DateCondition;
} | null;

/** Paging and filter may also stand beside `query`. */
export type MemberReportQueryRequest = {
  query?: {
    filter?: MemberReportFilter;
    cursorPaging?: CursorPaging;
  } | null;
  filter?: MemberReportFilter;
  cursorPaging?: CursorPaging;
};

export type MemberReportQueryResponse = {
  memberReports: Array<MemberReport>;
  pagingMetadata: CursorMetadata;
};

export type ReportedMembersResponse = {
  reportedMembers: Array<{
    reportedMemberId: string;
    /** A number as text. */
    reportCount: string;
    reviewed: false;
    lastReportDate: string;
  }>;
  pagingMetadata: CursorMetadata;
};

export type MemberAbout = {
  /** The same as `memberId`. */
  id: string;
  memberId: string;
  /** A document, as it was sent. */
  content?: Record<string, Json>;
  revision: Revision;
  createdDate: string;
  updatedDate: string;
};

export type MemberAboutWriteRequest = {
  /** At most 128 KiB of JSON text. */
  memberAbout: {
    /** Whose, for owners and keys; their own for members. Where the path says it, it is not needed. */
    memberId?: string | null;
    /** Null removes it. */
    content?: Record<string, Json> | null;
    revision?: RevisionInput;
  };
};

export type MemberAboutResponse = {
  memberAbout: MemberAbout;
};

/** It names at most 100 members. Without one, the calling member's own text is read. */
export type MemberAboutFilter = {
  memberId?: NamedId;
  id?: NamedId;
  _id?: NamedId;
  /** A filter of the same kind, or a list of them. */
  $and?: MemberAboutFilter | Array<MemberAboutFilter>;
  /** A filter of the same kind, or a list of them. */
  $or?: MemberAboutFilter | Array<MemberAboutFilter>;
} | null;

/** An id, or ids in an operator. */
export type NamedId = string | {
  $eq?: string;
  $in?: Array<string>;
  /** Beside others that name members. */
  $ne?: string;
};

export type MemberAboutQueryRequest = {
  query?: {
    filter?: MemberAboutFilter;
    /** Without effect: all that the filter names are on one page. */
    cursorPaging?: CursorPaging;
  } | null;
  /** The same, where `query` has none. */
  filter?: MemberAboutFilter;
};

export type MemberAboutQueryResponse = {
  /** In the order in which the filter names them. */
  memberAbouts: Array<MemberAbout>;
  /** There is one page only. */
  pagingMetadata: CursorMetadata;
  metadata: OffsetMetadata;
};

/** What follows the first two is shown where it asks for something. */
export type SignOnPolicy = {
  requireOwnerApproval: boolean;
  requireEmailVerification: boolean;
  requiredFields?: Array<'firstName' | 'lastName' | 'nickname'>;
  requireCaptcha?: boolean;
  /** Whether members can add second factors, or have to; `OFF` where it is absent. */
  secondFactor?: 'OPTIONAL' | 'REQUIRED';
  /** Whether a number of a telephone is one of those that they can add; not where it is absent. */
  secondFactorByTelephone?: boolean;
  /** For how many days members may put off what is required, from `secondFactorRequiredDate` or from when they registered. */
  secondFactorGraceDays?: number;
  /** The keys of the roles of whose members one is required; of all members where it is absent. */
  secondFactorRoles?: Array<string>;
  secondFactorRequiredDate?: string;
  /** The same of those roles of whose members it has been required for longer, by key. */
  secondFactorRoleDates?: Record<string, string>;
  /** Whether those who run the site need a second factor; `OPTIONAL` where it is absent. */
  operatorSecondFactor?: 'REQUIRED';
  /** For how many days they may put it off, from `operatorSecondFactorRequiredDate` or from when their account was made. */
  operatorSecondFactorGraceDays?: number;
  operatorSecondFactorRequiredDate?: string;
  /** For how many days an account stays that its member wants to be deleted, who can keep it until then; 14 where it is absent. */
  accountDeletionDays?: number;
  /** What owners may do as members: see what they see, or change items as well; `OFF` where it is absent. */
  impersonation?: 'READ' | 'WRITE';
  /** Whether members get no message when an owner begins to act as them; they get one where it is absent. */
  impersonationWithoutNotice?: boolean;
};

export type SignOnPolicyResponse = {
  signOnPolicy: SignOnPolicy;
};

export type SignOnPolicyUpdateRequest = {
  signOnPolicy: {
    requireOwnerApproval?: boolean | null;
    requireEmailVerification?: boolean | null;
    requiredFields?: Array<'firstName' | 'lastName' | 'nickname'> | null;
    requireCaptcha?: boolean | null;
    secondFactor?: 'OFF' | 'OPTIONAL' | 'REQUIRED' | null;
    /** Where the server has a telephone provider. */
    secondFactorByTelephone?: boolean | null;
    /** Goes with `REQUIRED` only; 14 where none is named. */
    secondFactorGraceDays?: number | null;
    /** Goes with `REQUIRED` only; none for all members. */
    secondFactorRoles?: Array<string> | null;
    /** Of those who run the site. An owner who requires it has one. */
    operatorSecondFactor?: 'OPTIONAL' | 'REQUIRED' | null;
    /** Goes with `REQUIRED` only; 14 where none is named. */
    operatorSecondFactorGraceDays?: number | null;
    id?: Json;
    revision?: Json;
    createdDate?: Json;
    updatedDate?: Json;
    /** 0 to delete at once. */
    accountDeletionDays?: number | null;
    /** Where it becomes less, what owners have begun ends. */
    impersonation?: 'OFF' | 'READ' | 'WRITE' | null;
    impersonationWithoutNotice?: boolean | null;
    secondFactorRequiredDate?: Json;
    secondFactorRoleDates?: Json;
    operatorSecondFactorRequiredDate?: Json;
  };
};

export type SitePages = {
  pages: {
    ecomCheckout?: string;
    eventsCheckout?: string;
    paidPlansCheckout?: string;
    bookingsCheckout?: string;
    storesProduct?: string;
    bookingsBook?: string;
    ecomOrderPaymentRequest?: string;
    memberAccountPage?: string;
  };
};

export type MailSender = {
  /** What people read; the site's name where it is absent. */
  name?: string;
  /** From where; the server's address where it is absent. */
  address?: string;
  /** Where answers go; to the sender where it is absent. */
  replyTo?: string;
  /** Where `address` may be: set by the operator of the server. */
  allowedDomains: Array<string>;
};

export type MailSenderResponse = {
  mailSender: MailSender;
};

export type MailSenderUpdateRequest = {
  mailSender: {
    /** One line, without @. */
    name?: string | null;
    /** In one of `allowedDomains`. */
    address?: string | null;
    replyTo?: string | null;
    /** As it was read. */
    allowedDomains?: Array<string>;
  };
  /** The owner's; of apps none is asked. */
  password?: string | null;
};

export type AuditListResponse = {
  entries: Array<AuditEntry>;
};

export type AuditEntry = {
  id: string;
  /** Milliseconds since 1970. */
  created: number;
  event: string;
  actorKind: string;
  actor: string;
  member?: string;
  address?: string;
  /** Why it was done, or by which call; gone once the member is deleted. */
  detail?: string;
};

export type AppConsentRequest = {
  appId: string;
  redirectUrl: string;
  state?: string | null;
};

export type AppConsentDecideRequest = {
  appId: string;
  redirectUrl: string;
  state?: string | null;
  decision: 'INSTALL' | 'DECLINE';
};

export type AppConsent = {
  appName: string;
  host: string;
  isThirdParty: boolean;
  /** Null for full rights. */
  scopes: Array<string> | null;
  site: SiteFace;
};

export type AppConsentDecideResponse = {
  url: string;
};

export type AppKeySet = {
  keys: Array<{
    kty: 'RSA';
    use: 'sig';
    alg: 'RS256';
    kid: string;
    n: string;
    e: string;
  }>;
};

/** `jwt`: a token signed with the application's key (RS256), as the public client takes it. `standard`: JSON with a signature in headers, as Standard Webhooks describes it. */
export type WebhookFormat = 'jwt' | 'standard';

export type WebhookEndpoint = {
  id: string;
  /** The application whose key signs. */
  appId: string;
  url: string;
  types: Array<string>;
  /** Of items and indexes those of these collections; all without it. */
  collections?: Array<string>;
  environment: 'LIVE';
  format: WebhookFormat;
  /** A larger message goes without its data. */
  maxBytes: number;
  /** Within which the receiver answers. */
  timeoutMs: number;
  /** `OPEN`: the receiver fails, and one message is tried now and then. `DISABLED`: nothing is sent until `resume`. */
  state: 'ACTIVE' | 'OPEN' | 'PAUSED' | 'DISABLED';
  /** Why nothing is sent, or what is missing. */
  reason?: string;
  /** How long the oldest event has waited that it has not read. */
  lagSeconds?: number;
  /** Events that are tried again later, with those that wait behind them. */
  parked?: number;
  /** Events that were given up. */
  dead?: number;
  /** Since when nothing was taken, though something was sent. */
  failingSince?: string;
  /** When it is tried again. */
  nextAttempt?: string;
  /** Not each success is noted: it may be later. */
  lastSuccess?: string;
  /** The last failure that was noted. */
  lastFailure?: string;
  /** What came of it. */
  lastError?: string;
  /** When rows of the log were gone before they were sent. */
  missedBefore?: string;
  createdDate: string;
  updatedDate: string;
};

export type WebhookEndpointResponse = {
  endpoint: WebhookEndpoint;
};

export type WebhookEndpointListResponse = {
  endpoints: Array<WebhookEndpoint>;
};

export type WebhookEndpointCreateResponse = {
  endpoint: WebhookEndpoint;
  /** `whsec_` and 24 to 64 bytes in base64, by which `webhook-signature` is checked. */
  secret: string;
};

export type WebhookSecretResponse = {
  secret: string;
};

export type WebhookEventTypeListResponse = {
  eventTypes: Array<{
    /** What an endpoint names. */
    type: string;
    /** Empty for what is about no entity. */
    entityFqdn: string;
    /** What happened to it. */
    slug: string;
  }>;
};

export type WebhookEndpointCreateRequest = {
  /** A client of the site with a secret. */
  appId: string;
  /** By https and public, unless the server's configuration says otherwise. */
  url: string;
  types: Array<string>;
  /** Of items and indexes those of these collections; null for all. */
  collections?: Array<string> | null;
  environment?: 'LIVE' | null;
  /** `jwt` without it. */
  format?: 'jwt' | 'standard' | null;
  /** 98304 without it. */
  maxBytes?: number | null;
  /** 10000 without it. */
  timeoutMs?: number | null;
};

/** What is not named stays. Application, format and environment are for good. */
export type WebhookEndpointUpdateRequest = {
  /** By https and public, unless the server's configuration says otherwise. */
  url?: string | null;
  types?: Array<string> | null;
  /** Of items and indexes those of these collections; null for all. */
  collections?: Array<string> | null;
  /** 98304 without it. */
  maxBytes?: number | null;
  /** 10000 without it. */
  timeoutMs?: number | null;
};

export type WebhookEndpointResumeRequest = {
  /** What has waited is never sent. */
  fromNow?: boolean | null;
};

/** A token (RS256) in compact form, alone; `kid` of its header names the key of the application. */
export type WebhookToken = string;

export type WebhookClaims = {
  /** This site. */
  iss: string;
  /** The application. */
  aud: string;
  /** The event. */
  jti: string;
  iat: number;
  /** Five minutes later. */
  exp: number;
  data: string;
};

/** What the public client reads; two of its members are JSON as text. */
export type WebhookEnvelope = {
  eventType: string;
  /** The site. */
  instanceId: string;
  /** Who did it, where that is known. */
  identity?: string;
  accountInfo?: {
    siteId: string;
  };
  data: string;
};

export type WebhookIdentity = {
  identityType: 'ANONYMOUS_VISITOR' | 'MEMBER' | 'WIX_USER' | 'APP';
  anonymousVisitorId?: string;
  memberId?: string;
  wixUserId?: string;
  appId?: string;
};

/** A domain event with one of the four last members; of `AppInstalled` and `AppRemoved` the data alone. */
export type WebhookEvent = unknown;

/** An event as Standard Webhooks has it. */
export type WebhookMessage = {
  type: string;
  /** When it happened. */
  timestamp: string;
  data: WebhookEvent;
};

export type WebhookTestResponse = {
  /** Whether it was taken. */
  delivered: boolean;
  status?: number;
  /** Milliseconds until it answered or was left. */
  ms: number;
  /** The beginning of the answer. */
  excerpt: string;
  /** Why there was no answer, or no message. */
  error?: string;
  /** Of the event that was sent. */
  type: string;
};

/** One of `since`, `event` and `dead`. */
export type WebhookReplayRequest = {
  since?: string | null;
  types?: Array<string> | null;
  entityId?: string | null;
  /** The id of one. */
  event?: string | null;
  /** Those that were given up. */
  dead?: boolean | null;
};

export type WebhookReplayResponse = {
  /** Events that will be sent. */
  count: number;
  /** There were more than may wait apart: ask again since then. */
  next?: string;
};

export type WebhookEventListResponse = {
  events: Array<WebhookWaitingEvent>;
  /** Where the page ends, if there are more. */
  next?: string;
};

export type WebhookWaitingEvent = {
  /** The same in all messages that tell it. */
  id: string;
  type: string;
  entityId: string;
  dataCollectionId?: string;
  state: 'PARKED' | 'HELD' | 'DEAD';
  attempts: number;
  /** When it happened. */
  eventTime: string;
  /** Since when it waits apart. */
  createdDate: string;
  /** When it is tried again. */
  nextAttempt?: string;
  /** When it was given up. */
  diedDate?: string;
  /** What came of the last attempt. */
  lastError?: string;
};

export type WebhookPullRequest = {
  /** The application whose key signs. */
  appId: string;
  types: Array<string>;
  collections?: Array<string> | null;
  format?: 'jwt' | 'standard' | null;
  /** `token` of the answer before. */
  after?: string | null;
  /** 100 without it. */
  limit?: number | null;
  /** How long it waits for the first one; 0 without it. */
  waitMs?: number | null;
};

export type WebhookPullResponse = {
  messages: Array<WebhookPulledMessage>;
  /** The place after them. */
  token: string;
  /** Why events are missing before these, if some are: `floor`, as they are gone from the log, or `epoch`, as the site was restored. */
  gap?: string;
};

export type WebhookPulledMessage = {
  /** The event. */
  id: string;
  type: string;
  entityId: string;
  /** What it is sent with. */
  headers: Record<string, string>;
  body: string;
};

/** A flow as its page shows it. */
export type FlowView = {
  token: string;
  kind: FlowKind;
  site: SiteFace;
  step: FlowStep;
  problems: Array<Problem>;
  canGoBack: boolean;
  cancelUrl: string | null;
  clientId: string | null;
  homeUrl: string | null;
};

/** The member who is signed in in a browser. */
export type MemberAccount = {
  site: SiteFace;
  access_token: string;
  /** Seconds. */
  expires_in: number;
  memberId: string;
  email: string;
  emailVerified: boolean;
  /** Whether they have set one. */
  hasPassword: boolean;
  passwordMinLength: number;
  /** For how many days the account stays that the member wants to be deleted. */
  deletionDays: number;
};

export type FlowKind = 'SIGN_IN' | 'SIGN_UP' | 'SIGN_OUT' | 'RECOVER' | 'OWNER_SETUP' | 'OWNER_SIGN_IN';

/** How the site presents itself on its account pages. */
export type SiteFace = {
  id: string;
  name: string;
  language: string | null;
  logoUrl: string | null;
  colours: SiteColours | null;
  termsUrl: string | null;
  privacyUrl: string | null;
};

export type SiteColours = {
  light: Palette;
  dark: Palette;
};

/** Each as `#rrggbb`. */
export type Palette = {
  accent: string;
  accentStrong: string;
  accentText: string;
  accentSurface: string;
};

export type ProfileField = {
  name: string;
  required: boolean;
};

/** Something wrong with the last input. */
export type Problem = {
  field: string | null;
  code: string;
  message: string;
};

/** An identity provider by which members sign in. */
export type Provider = {
  id: string;
  /** What people call it. */
  label: string;
};

/** What a browser is asked to have a passkey sign, or to make one with. Each view has another one. */
export type PasskeyChallenge = {
  challengeId: string;
  /** JSON text of `PublicKeyCredentialRequestOptionsJSON`; of `PublicKeyCredentialCreationOptionsJSON` in the step `ENROL_FACTOR`. */
  options: string;
  expiresDate: string;
};

/** One question to the person, or the end of the flow. */
export type FlowStep = {
  type: 'SIGN_IN';
  email: string | null;
  canSignUp: boolean;
  canRecover: boolean;
  passkey?: PasskeyChallenge | null;
  providers?: Array<Provider>;
} | {
  type: 'SIGN_UP';
  email: string | null;
  fields: Array<ProfileField>;
  passwordMinLength: number;
  providers?: Array<Provider>;
} | {
  type: 'LINK_PROVIDER';
  /** What people call it. */
  provider: string;
  email: string;
  canRecover: boolean;
} | {
  type: 'PROVIDER_FAILED';
  provider: Provider;
  reason: 'DECLINED' | 'UNAVAILABLE' | 'NO_EMAIL' | 'NO_ACCOUNT' | 'REFUSED';
} | {
  type: 'VERIFY_EMAIL';
  emailHint: string;
  resendAfterSeconds: number;
} | {
  type: 'AWAIT_APPROVAL';
  emailHint: string;
} | {
  type: 'MISSING_FIELDS';
  fields: Array<ProfileField>;
} | {
  type: 'RECOVER_REQUEST';
  email: string | null;
} | {
  type: 'RECOVER_SENT';
  emailHint: string;
} | {
  type: 'NEW_PASSWORD';
  emailHint: string | null;
  passwordMinLength: number;
} | {
  type: 'SECOND_FACTOR';
  factors: Array<FactorType>;
  rememberDays: number;
  sentTo: string | null;
  sentBy: FactorType | null;
  resendAfterSeconds: number;
  passkey?: PasskeyChallenge | null;
} | {
  type: 'AWAIT_PUSH';
  number: PushNumber;
  expiresDate: string;
} | {
  type: 'OFFER_FACTOR';
  until: string | null;
} | {
  type: 'ENROL_FACTOR';
  secret: string;
  uri: string;
  until: string | null;
  passkey?: PasskeyChallenge | null;
} | {
  type: 'RECOVERY_CODES';
  codes: Array<string>;
} | {
  type: 'CONSENT';
  appName: string;
  host: string;
  account: string;
  scopes: Array<string>;
} | {
  type: 'CONFIRM_SIGN_OUT';
  displayName: string | null;
} | {
  type: 'REDIRECT';
  url: string;
} | {
  type: 'POST_MESSAGE';
  origin: string;
  code: string | null;
  state: string;
  error: string | null;
  errorDescription: string | null;
} | {
  type: 'DONE';
  message: 'SIGNED_IN' | 'SIGNED_OUT' | 'PASSWORD_CHANGED' | 'OWNER_READY';
} | {
  type: 'FAILED';
  code: string;
  message: string;
};

export type ProfileInput = {
  firstName?: string | null;
  lastName?: string | null;
  nickname?: string | null;
};

/** What the page sends. */
export type FlowInput = {
  type: 'SIGN_IN';
  email: string;
  password: string;
  captcha?: string | null;
} | {
  type: 'SIGN_UP';
  email: string;
  password: string;
  profile: ProfileInput;
  captcha?: string | null;
} | {
  type: 'PROVIDER';
  id: string;
} | {
  type: 'LINK_PROVIDER';
  password: string;
  captcha?: string | null;
} | {
  type: 'SWITCH';
  to: FlowKind;
  email?: string | null;
} | {
  type: 'VERIFY_EMAIL';
  code: string;
} | {
  type: 'RESEND';
  /** The second factor of which a code is to be sent; by e-mail where none is named. */
  factor?: FactorType | null;
} | {
  type: 'MISSING_FIELDS';
  profile: ProfileInput;
} | {
  type: 'RECOVER_REQUEST';
  email: string;
} | {
  type: 'NEW_PASSWORD';
  password: string;
} | {
  type: 'SECOND_FACTOR';
  factor: FactorType;
  code: string;
  remember: boolean;
} | {
  type: 'PASSKEY';
  challengeId: string;
  credential: string;
  remember: boolean;
} | {
  type: 'ENROL_FACTOR';
} | {
  type: 'CONFIRM_FACTOR';
  code: string;
} | {
  type: 'CONFIRM_PASSKEY';
  challengeId: string;
  credential: string;
} | {
  type: 'LATER';
} | {
  type: 'CODES_KEPT';
} | {
  type: 'ALLOW';
} | {
  type: 'DECLINE';
} | {
  type: 'CONFIRM_SIGN_OUT';
} | {
  type: 'BACK';
} | {
  type: 'CANCEL';
};

export type FlowStart = {
  kind: FlowKind;
  clientId?: string | null;
  returnUrl?: string | null;
  invite?: string | null;
};

export type LinkBody = {
  token: string;
};

export type ApprovalView = {
  siteName: string;
  name: string | null;
  email: string;
  emailVerified: boolean;
  createdDate: string;
  state: 'PENDING' | 'APPROVED' | 'DECLINED';
  site: SiteFace;
};

export type ApprovalDecideRequest = {
  token: string;
  decision: 'APPROVE' | 'DECLINE';
};

export type OperatorToken = {
  access_token: string;
  /** Seconds. */
  expires_in: number;
};

export type OperatorAccount = {
  site: SiteFace;
  email: string;
  role: 'OWNER' | 'EDITOR';
  passwordMinLength: number;
  sessions: Array<OperatorSession>;
  problems: Array<Problem>;
};

export type OperatorSession = {
  id: string;
  siteName: string;
  device: string | null;
  place?: Place | null;
  /** The network address from which it began, where it is known. */
  address?: string | null;
  createdDate: string;
  isCurrent: boolean;
};

export type OperatorPasswordChangeRequest = {
  old: string;
  password: string;
};

export type OperatorSessionEndRequest = {
  session: string;
};

export type OperatorFactorListResponse = {
  /** Whether the site requires one of those who run it. */
  policy: 'OPTIONAL' | 'REQUIRED';
  /** The kinds that can be added, as far as there is room for them. */
  addable: Array<'WEBAUTHN' | 'TOTP'>;
  factors: Array<Factor>;
  recoveryCodesLeft: number;
  /** Until when this session may change any of it; absent where `proof` is needed first. */
  provedUntil?: string;
};

export type OperatorFactorBeginRequest = {
  /** An authenticator where none is named. */
  type?: 'WEBAUTHN' | 'TOTP' | null;
  /** What the person calls an authenticator. */
  name?: string | null;
};

export type OperatorFactorBeginResponse = FactorBegun | PasskeyBegun;

/** One of them. */
export type OperatorProveRequest = {
  /** Of those without a second factor. */
  password?: string;
  webauthnData?: PasskeyShown;
  totpData?: FactorCode;
  recoveryCodeData?: FactorCode;
};

export type OperatorProveResponse = MemberProved | PasskeyProofAsked;

export type ServerStatus = {
  status: 'ok' | 'ready';
};

export type SitePublicSettings = {
  siteId: string;
  name: string;
  clientId: string | null;
  language: string;
  captcha: SiteCaptcha;
};

/** This document. */
export type OpenApiDocument = Record<string, unknown>;

/** The provider's keys; null where the site has none. */
export type SiteCaptcha = {
  kind: 'PROOF_OF_WORK' | 'PROVIDER';
  visibleSiteKey: string | null;
  invisibleSiteKey: string | null;
};

/** What an item holds. Dates are `{"$date": …}`; no other name begins with `$`. Of the members that begin with an underscore the server gives the values: what is sent of `_createdDate` and `_updatedDate` is not looked at, and `_owner` counts only where an owner of the site or a key sends it. */
export type ItemData = {
  _id?: string;
};

/** The calls by their ids. */
export interface Calls {
  /** Tells that the process lives */
  healthGet: {
    method: 'GET';
    path: '/healthz';
    query: Record<string, never>;
    request: undefined;
    answer: ServerStatus;
  };
  /** Tells that requests can be served */
  readinessGet: {
    method: 'GET';
    path: '/readyz';
    query: Record<string, never>;
    request: undefined;
    answer: ServerStatus;
  };
  /** Tells crawlers what to leave out */
  robotsGet: {
    method: 'GET';
    path: '/robots.txt';
    query: Record<string, never>;
    request: undefined;
    answer: string;
  };
  /** Reads what a website needs to start */
  sitePublicSettingsGet: {
    method: 'GET';
    path: '/_api/site/v1/public-settings';
    query: Record<string, never>;
    request: undefined;
    answer: SitePublicSettings;
  };
  /** The public keys by which an application knows what it is sent from here */
  appKeySetGet: {
    method: 'GET';
    path: '/_api/apps/v1/{id}/jwks';
    query: Record<string, never>;
    request: undefined;
    answer: AppKeySet;
  };
  /** Gives tokens for a grant */
  tokenCreate: {
    method: 'POST';
    path: '/oauth2/token';
    query: Record<string, never>;
    request: TokenRequest;
    answer: TokenResponse;
  };
  /** Gives an application tokens for its code, or new ones */
  applicationTokenCreate: {
    method: 'POST';
    path: '/oauth/access';
    query: Record<string, never>;
    request: TokenRequest;
    answer: TokenResponse;
  };
  /** Takes a token back, with those of its family */
  tokenRevoke: {
    method: 'POST';
    path: '/oauth2/revoke';
    query: Record<string, never>;
    request: TokenRevokeRequest;
    answer: Empty;
  };
  /** Tells a client what a token of its says */
  tokenIntrospect: {
    method: 'POST';
    path: '/oauth2/introspect';
    query: Record<string, never>;
    request: TokenIntrospectRequest;
    answer: TokenIntrospection;
  };
  /** Tells what a token says */
  tokenInfoGet: {
    method: 'POST';
    path: '/oauth2/token-info';
    query: Record<string, never>;
    request: TokenInfoRequest;
    answer: TokenInfo;
  };
  /** Lists the public keys of access tokens */
  tokenKeyList: {
    method: 'GET';
    path: '/oauth2/jwks';
    query: Record<string, never>;
    request: undefined;
    answer: KeySet;
  };
  /** Registers a member */
  memberRegister: {
    method: 'POST';
    path: '/v2/register';
    query: Record<string, never>;
    request: MemberRegisterRequest;
    answer: StateMachine;
  };
  /** Signs a member in by address and password */
  memberLogin: {
    method: 'POST';
    path: '/v2/login';
    query: Record<string, never>;
    request: MemberLoginRequest;
    answer: StateMachine;
  };
  /** Signs a member in whom an application vouches for */
  memberSignOn: {
    method: 'POST';
    path: '/v2/sign-on';
    query: Record<string, never>;
    request: MemberSignOnRequest;
    answer: MemberSignOnResponse;
  };
  /** Shows the second factor that a sign-in asks for */
  factorVerify: {
    method: 'POST';
    path: '/v2/{factorType}/verify';
    query: Record<string, never>;
    request: FactorVerifyRequest;
    answer: StateMachine;
  };
  /** Changes the calling member's password */
  passwordChange: {
    method: 'POST';
    path: '/v2/change-password';
    query: Record<string, never>;
    request: PasswordChangeRequest;
    answer: Empty;
  };
  /** Gives a captcha challenge, or the keys of the site's provider */
  captchaChallengeGet: {
    method: 'GET';
    path: '/_api/account/v1/captcha';
    query: Record<string, never>;
    request: undefined;
    answer: CaptchaChallenge;
  };
  /** Tells whether an address has the form of one */
  emailValidate: {
    method: 'POST';
    path: '/v2/validate-email';
    query: Record<string, never>;
    request: EmailValidateRequest;
    answer: EmailValidateResponse;
  };
  /** Registers a member, in the form of the members package */
  memberRegisterByEmail: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/api/v1/auth/register';
    query: Record<string, never>;
    request: MemberRegisterByEmailRequest;
    answer: SiteMemberSession;
  };
  /** Signs a member in, in the form of the members package */
  memberLoginByEmail: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/api/v1/auth/login';
    query: Record<string, never>;
    request: MemberLoginByEmailRequest;
    answer: SiteMemberSession;
  };
  /** Sends a link by which a member sets a password */
  passwordEmailSend: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/v1/auth/members/send-set-password-email';
    query: Record<string, never>;
    request: PasswordEmailSendRequest;
    answer: Accepted;
  };
  /** Makes an address to which a website sends a person */
  redirectSessionCreate: {
    method: 'POST';
    path: '/v1/redirect-session';
    query: Record<string, never>;
    request: RedirectSessionCreateRequest;
    answer: RedirectSessionCreateResponse;
  };
  /** Leads an owner's browser to the page that asks whether to install an application */
  appInstall: {
    method: 'GET';
    path: '/installer/install';
    query: {
      /** The application. */
      appId: string;
      /** Where the answer goes; one of the application's addresses. */
      redirectUrl: string;
      /** It comes back as it is. */
      state?: string;
      /** What the client of the platform sends; it is not looked at. */
      token?: string;
      /** Set by the page that leads here itself. */
      here?: string;
    };
    request: undefined;
    answer: string;
  };
  /** Begins an authorization in the browser that comes */
  authorize: {
    method: 'GET';
    path: '/oauth2/authorize';
    query: {
      /** The token of a redirect session. */
      session?: string;
      /** The client. */
      client_id?: string;
      /** Where the answer goes; one of the client's addresses. */
      redirect_uri?: string;
      /** `code`. */
      response_type?: string;
      /** `query`, `fragment` or `web_message`. */
      response_mode?: string;
      /** What is asked for, with spaces between. */
      scope?: string;
      /** It comes back as it is. */
      state?: string;
      /** It stands in the token. */
      nonce?: string;
      /** PKCE, by SHA-256. */
      code_challenge?: string;
      /** `S256`. */
      code_challenge_method?: string;
      /** `none`, `login`, or what OpenID Connect has. */
      prompt?: string;
      /** Seconds since the last sign-in, at most. */
      max_age?: string;
      /** The address that is offered. */
      login_hint?: string;
    };
    request: undefined;
    answer: string;
  };
  /** Signs a member out */
  memberLogout: {
    method: 'GET';
    path: '/v1/logout';
    query: {
      /** Where to go then; one of the client's addresses. */
      postLogoutRedirectUri?: string;
      /** The client. */
      clientId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: LogoutResponse;
  };
  /** Sends a browser to an identity provider */
  loginWithIdpConnection: {
    method: 'GET';
    path: '/v1/sso/login/{tenantId}/{idpConnectionId}';
    query: {
      /** The site, as in the path. */
      tenantId?: string;
      /** The connection, as in the path. */
      idpConnectionId?: string;
      /** `SITE`. */
      tenantType?: string;
      /** The end of the channel's name: letters, digits, `-`, `_` and `.`. */
      sessionId?: string;
      /** Base64 of 16 or 32 bytes. */
      encryptionKey?: string;
      /** Who becomes the member: the visitor of the token. */
      visitorId?: string;
      /** Nothing is made of it. */
      bsi?: string;
      /** What an answer to a call with a token has in its address. */
      ticket?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: LogoutResponse;
  };
  /** Takes a browser back from an identity provider */
  loginCallback: {
    method: 'GET';
    path: '/v1/callback';
    query: {
      /** As it was sent there. */
      state?: string;
      /** What the provider gave. */
      code?: string;
      /** Why it gave none (RFC 6749, section 4.1.2.1). */
      error?: string;
      /** Which provider it is (RFC 9207). */
      iss?: string;
    };
    request: undefined;
    answer: string;
  };
  /** Signs a member in by an ID token that a front end got from an identity provider */
  loginWithIdpConnectionTokenParams: {
    method: 'POST';
    path: '/v1/sso/login-with-token-params';
    query: Record<string, never>;
    request: IdpTokenLoginRequest;
    answer: StateMachine;
  };
  /** Lists the identity providers by which the calling member signs in */
  memberConnectionList: {
    method: 'GET';
    path: '/_api/identity/v1/connections';
    query: Record<string, never>;
    request: undefined;
    answer: MemberConnectionListResponse;
  };
  /** Ends that the calling member signs in by an identity provider */
  memberConnectionRemove: {
    method: 'DELETE';
    path: '/_api/identity/v1/connections/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Lists the site's connections to identity providers */
  idpConnectionList: {
    method: 'GET';
    path: '/_api/identity/v1/idp-connections';
    query: Record<string, never>;
    request: undefined;
    answer: IdpConnectionListResponse;
  };
  /** Adds a connection to an identity provider */
  idpConnectionCreate: {
    method: 'POST';
    path: '/_api/identity/v1/idp-connections';
    query: Record<string, never>;
    request: IdpConnectionCreateRequest;
    answer: IdpConnectionResponse;
  };
  /** Reads a connection to an identity provider */
  idpConnectionGet: {
    method: 'GET';
    path: '/_api/identity/v1/idp-connections/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: IdpConnectionResponse;
  };
  /** Changes a connection to an identity provider */
  idpConnectionUpdate: {
    method: 'PATCH';
    path: '/_api/identity/v1/idp-connections/{id}';
    query: Record<string, never>;
    request: IdpConnectionUpdateRequest;
    answer: IdpConnectionResponse;
  };
  /** Removes a connection to an identity provider */
  idpConnectionRemove: {
    method: 'DELETE';
    path: '/_api/identity/v1/idp-connections/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Checks a code that was sent by mail */
  verificationCheck: {
    method: 'POST';
    path: '/v1/auth/verify';
    query: Record<string, never>;
    request: VerificationCheckRequest;
    answer: StateMachine;
  };
  /** Sends another code */
  verificationResend: {
    method: 'POST';
    path: '/v1/auth/resend';
    query: Record<string, never>;
    request: VerificationResendRequest;
    answer: StateMachine;
  };
  /** Sends a code by which a member's address is verified */
  verificationStart: {
    method: 'POST';
    path: '/v1/start';
    query: Record<string, never>;
    request: VerificationStartRequest;
    answer: VerificationStartResponse;
  };
  /** Sends a link by which an account is recovered */
  recoveryEmailSend: {
    method: 'POST';
    path: '/v1/send-email';
    query: Record<string, never>;
    request: RecoveryEmailSendRequest;
    answer: Empty;
  };
  /** Sends a member a link by which the account is taken into use */
  activationEmailSend: {
    method: 'POST';
    path: '/v1/activation-email';
    query: Record<string, never>;
    request: ActivationEmailSendRequest;
    answer: Empty;
  };
  /** Sets a password by a link that was sent */
  recoveryFinish: {
    method: 'POST';
    path: '/v1/recover';
    query: Record<string, never>;
    request: RecoveryFinishRequest;
    answer: StateMachine;
  };
  /** Lists where a member is signed in */
  sessionList: {
    method: 'GET';
    path: '/_api/identity/v1/sessions';
    query: {
      /** Whose, for owners and keys; their own for members. */
      memberId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: SessionListResponse;
  };
  /** Ends all sessions but the one that asks */
  sessionEndOthers: {
    method: 'DELETE';
    path: '/_api/identity/v1/sessions';
    query: {
      /** Whose, for owners and keys; their own for members. */
      memberId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Ends a session */
  sessionEnd: {
    method: 'DELETE';
    path: '/_api/identity/v1/sessions/{id}';
    query: {
      /** Whose, for owners and keys; their own for members. */
      memberId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Begins that an owner acts as a member */
  impersonationStart: {
    method: 'POST';
    path: '/_api/identity/v1/members/{id}/impersonation';
    query: Record<string, never>;
    request: ImpersonationStartRequest;
    answer: ImpersonationStartResponse;
  };
  /** Ends that owners act as a member */
  impersonationEnd: {
    method: 'DELETE';
    path: '/_api/identity/v1/members/{id}/impersonation';
    query: Record<string, never>;
    request: undefined;
    answer: ImpersonationEndResponse;
  };
  /** Lists the applications of others that may act for the calling member */
  applicationList: {
    method: 'GET';
    path: '/_api/identity/v1/applications';
    query: Record<string, never>;
    request: undefined;
    answer: ApplicationListResponse;
  };
  /** Signs the calling member off an application of others */
  applicationEnd: {
    method: 'DELETE';
    path: '/_api/identity/v1/applications/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Lists the calling member's second factors */
  factorList: {
    method: 'GET';
    path: '/_api/identity/v1/factors';
    query: Record<string, never>;
    request: undefined;
    answer: FactorListResponse;
  };
  /** Begins to add a second factor */
  factorBegin: {
    method: 'POST';
    path: '/_api/identity/v1/factors';
    query: Record<string, never>;
    request: FactorBeginRequest;
    answer: FactorBeginResponse;
  };
  /** Shows the first code of a second factor, or a new passkey */
  factorConfirm: {
    method: 'POST';
    path: '/_api/identity/v1/factors/{id}/confirm';
    query: Record<string, never>;
    request: FactorConfirmRequest;
    answer: FactorConfirmResponse;
  };
  /** Gives an authenticator, a passkey or a browser another name */
  factorRename: {
    method: 'PATCH';
    path: '/_api/identity/v1/factors/{id}';
    query: Record<string, never>;
    request: FactorRenameRequest;
    answer: FactorRenameResponse;
  };
  /** Removes a second factor */
  factorRemove: {
    method: 'DELETE';
    path: '/_api/identity/v1/factors/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Makes new recovery codes */
  recoveryCodesRenew: {
    method: 'POST';
    path: '/_api/identity/v1/recovery-codes';
    query: Record<string, never>;
    request: Empty;
    answer: RecoveryCodesResponse;
  };
  /** Asks for a second factor in every browser again */
  rememberedBrowsersForget: {
    method: 'DELETE';
    path: '/_api/identity/v1/remembered-browsers';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Tells a browser that a member enrolled which sign-in, or change of the account, asks it */
  pushQuestionGet: {
    method: 'POST';
    path: '/_api/identity/v1/push-questions';
    query: Record<string, never>;
    request: LinkBody;
    answer: PushQuestion;
  };
  /** Approves or denies the sign-in that asks */
  pushQuestionAnswer: {
    method: 'POST';
    path: '/_api/identity/v1/push-questions/answer';
    query: Record<string, never>;
    request: PushAnswerRequest;
    answer: Empty;
  };
  /** Shows once more who the calling member is */
  memberProve: {
    method: 'POST';
    path: '/_api/identity/v1/proof';
    query: Record<string, never>;
    request: MemberProveRequest;
    answer: MemberProveResponse;
  };
  /** Sends a code to an address that the calling member wants */
  emailChangeBegin: {
    method: 'POST';
    path: '/_api/identity/v1/email';
    query: Record<string, never>;
    request: EmailChangeBeginRequest;
    answer: EmailChangeBeginResponse;
  };
  /** Gives the calling member's account the address to which the last code of the session went */
  emailChangeConfirm: {
    method: 'POST';
    path: '/_api/identity/v1/email/confirm';
    query: Record<string, never>;
    request: EmailChangeConfirmRequest;
    answer: EmailChangeConfirmResponse;
  };
  /** Has the calling member's account deleted */
  deletionAsk: {
    method: 'POST';
    path: '/_api/identity/v1/deletion';
    query: Record<string, never>;
    request: DeletionAskRequest;
    answer: DeletionAskResponse;
  };
  /** Gives a member a copy of their data */
  memberExport: {
    method: 'GET';
    path: '/_api/identity/v1/export';
    query: Record<string, never>;
    request: undefined;
    answer: MemberExport;
  };
  /** Changes the password of the calling member, who shows the one before */
  passwordReplace: {
    method: 'POST';
    path: '/_api/identity/v1/password';
    query: Record<string, never>;
    request: PasswordReplaceRequest;
    answer: Empty;
  };
  /** Begins a flow */
  flowStart: {
    method: 'POST';
    path: '/_api/account/v1/flows';
    query: Record<string, never>;
    request: FlowStart;
    answer: FlowView;
  };
  /** Tells where a flow stands */
  flowGet: {
    method: 'GET';
    path: '/_api/account/v1/flows/{token}';
    query: Record<string, never>;
    request: undefined;
    answer: FlowView;
  };
  /** Takes what a person sent to the step of a flow */
  flowAnswer: {
    method: 'POST';
    path: '/_api/account/v1/flows/{token}';
    query: Record<string, never>;
    request: FlowInput;
    answer: FlowView;
  };
  /** Gives the pages an access token of the person who uses them */
  operatorTokenCreate: {
    method: 'POST';
    path: '/_api/account/v1/token';
    query: Record<string, never>;
    request: undefined;
    answer: OperatorToken;
  };
  /** Tells which member is signed in in this browser, and gives the pages a token of theirs */
  memberAccountOpen: {
    method: 'POST';
    path: '/_api/account/v1/member';
    query: Record<string, never>;
    request: Empty;
    answer: MemberAccount;
  };
  /** Leads the browser from a link of a message to the page where a password is set */
  recoveryOpen: {
    method: 'GET';
    path: '/_api/account/v1/recover';
    query: {
      /** The token of the link. */
      token: string;
    };
    request: undefined;
    answer: undefined;
  };
  /** Tells which member waits to be let in */
  approvalGet: {
    method: 'POST';
    path: '/_api/account/v1/approvals';
    query: Record<string, never>;
    request: LinkBody;
    answer: ApprovalView;
  };
  /** Lets a member in, or not */
  approvalDecide: {
    method: 'POST';
    path: '/_api/account/v1/approvals/decide';
    query: Record<string, never>;
    request: ApprovalDecideRequest;
    answer: ApprovalView;
  };
  /** Tells which account is to be deleted, by the link in the message */
  deletionGet: {
    method: 'POST';
    path: '/_api/account/v1/deletions';
    query: Record<string, never>;
    request: LinkBody;
    answer: DeletionView;
  };
  /** Keeps an account that is to be deleted */
  deletionUndo: {
    method: 'POST';
    path: '/_api/account/v1/deletions/undo';
    query: Record<string, never>;
    request: LinkBody;
    answer: DeletionView;
  };
  /** Tells which address an account can have again, by the link in the message */
  emailChangeGet: {
    method: 'POST';
    path: '/_api/account/v1/email-changes';
    query: Record<string, never>;
    request: LinkBody;
    answer: EmailChangeView;
  };
  /** Gives an account the address of before again */
  emailChangeUndo: {
    method: 'POST';
    path: '/_api/account/v1/email-changes/undo';
    query: Record<string, never>;
    request: LinkBody;
    answer: EmailChangeView;
  };
  /** Tells who runs the site in this browser */
  operatorGet: {
    method: 'GET';
    path: '/_api/account/v1/operator';
    query: Record<string, never>;
    request: undefined;
    answer: OperatorAccount;
  };
  /** Changes the password, and ends the other sessions */
  operatorPasswordChange: {
    method: 'POST';
    path: '/_api/account/v1/operator/password';
    query: Record<string, never>;
    request: OperatorPasswordChangeRequest;
    answer: OperatorAccount;
  };
  /** Ends a session */
  operatorSessionEnd: {
    method: 'POST';
    path: '/_api/account/v1/operator/sessions/end';
    query: Record<string, never>;
    request: OperatorSessionEndRequest;
    answer: OperatorAccount;
  };
  /** Ends all sessions but the one that asks */
  operatorSessionEndOthers: {
    method: 'POST';
    path: '/_api/account/v1/operator/sessions/end-others';
    query: Record<string, never>;
    request: Empty;
    answer: OperatorAccount;
  };
  /** Lists the second factors of who runs the site in this browser */
  operatorFactorList: {
    method: 'GET';
    path: '/_api/account/v1/operator/factors';
    query: Record<string, never>;
    request: undefined;
    answer: OperatorFactorListResponse;
  };
  /** Begins to add a second factor */
  operatorFactorBegin: {
    method: 'POST';
    path: '/_api/account/v1/operator/factors';
    query: Record<string, never>;
    request: OperatorFactorBeginRequest;
    answer: OperatorFactorBeginResponse;
  };
  /** Shows the first code of a second factor, or a new passkey */
  operatorFactorConfirm: {
    method: 'POST';
    path: '/_api/account/v1/operator/factors/{id}/confirm';
    query: Record<string, never>;
    request: FactorConfirmRequest;
    answer: FactorConfirmResponse;
  };
  /** Gives an authenticator or a passkey another name */
  operatorFactorRename: {
    method: 'PATCH';
    path: '/_api/account/v1/operator/factors/{id}';
    query: Record<string, never>;
    request: FactorRenameRequest;
    answer: FactorRenameResponse;
  };
  /** Removes a second factor */
  operatorFactorRemove: {
    method: 'DELETE';
    path: '/_api/account/v1/operator/factors/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Makes new recovery codes */
  operatorRecoveryCodesRenew: {
    method: 'POST';
    path: '/_api/account/v1/operator/recovery-codes';
    query: Record<string, never>;
    request: Empty;
    answer: RecoveryCodesResponse;
  };
  /** Shows once more who runs the site in this browser */
  operatorProve: {
    method: 'POST';
    path: '/_api/account/v1/operator/proof';
    query: Record<string, never>;
    request: OperatorProveRequest;
    answer: OperatorProveResponse;
  };
  /** Tells what an application asks for */
  appConsentGet: {
    method: 'POST';
    path: '/_api/account/v1/installs';
    query: Record<string, never>;
    request: AppConsentRequest;
    answer: AppConsent;
  };
  /** Installs an application, or not */
  appConsentDecide: {
    method: 'POST';
    path: '/_api/account/v1/installs/decide';
    query: Record<string, never>;
    request: AppConsentDecideRequest;
    answer: AppConsentDecideResponse;
  };
  /** Reads who may become a member, and how */
  signOnPolicyGet: {
    method: 'GET';
    path: '/v1/sign-on-policies';
    query: Record<string, never>;
    request: undefined;
    answer: SignOnPolicyResponse;
  };
  /** Changes the policy of sign-on */
  signOnPolicyUpdate: {
    method: 'PATCH';
    path: '/v1/sign-on-policies';
    query: Record<string, never>;
    request: SignOnPolicyUpdateRequest;
    answer: SignOnPolicyResponse;
  };
  /** Reads the site's own pages */
  sitePagesGet: {
    method: 'GET';
    path: '/_api/site/v1/pages';
    query: Record<string, never>;
    request: undefined;
    answer: SitePages;
  };
  /** Sets the site's own pages */
  sitePagesUpdate: {
    method: 'PUT';
    path: '/_api/site/v1/pages';
    query: Record<string, never>;
    request: SitePages;
    answer: SitePages;
  };
  /** Reads in whose name the site's messages are sent */
  mailSenderGet: {
    method: 'GET';
    path: '/_api/site/v1/mail-sender';
    query: Record<string, never>;
    request: undefined;
    answer: MailSenderResponse;
  };
  /** Changes in whose name the site's messages are sent */
  mailSenderUpdate: {
    method: 'PATCH';
    path: '/_api/site/v1/mail-sender';
    query: Record<string, never>;
    request: MailSenderUpdateRequest;
    answer: MailSenderResponse;
  };
  /** Lists what happened to accounts, the latest first */
  auditList: {
    method: 'GET';
    path: '/_api/identity/v1/audit';
    query: {
      /** The member that it is about. */
      member?: string;
      /** The kind of event. */
      event?: string;
      /** From this time on, in milliseconds since 1970. */
      since?: number;
      /** Before this time, in milliseconds since 1970. */
      before?: number;
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: AuditListResponse;
  };
  /** Tells who the calling member is */
  userInfoGet: {
    method: 'GET';
    path: '/oauth2/user-info';
    query: Record<string, never>;
    request: undefined;
    answer: UserInfo;
  };
  /** Lets a member set another password before the next sign-in */
  passwordRefuse: {
    method: 'POST';
    path: '/_api/identity/v1/members/{id}/refuse-password';
    query: Record<string, never>;
    request: Empty;
    answer: Empty;
  };
  /** Removes all second factors of a member */
  factorsReset: {
    method: 'DELETE';
    path: '/_api/identity/v1/members/{id}/factors';
    query: Record<string, never>;
    request: undefined;
    answer: FactorsResetResponse;
  };
  /** Keeps the account of a member who is to be deleted */
  deletionUndoByOwner: {
    method: 'POST';
    path: '/_api/identity/v1/members/{id}/keep';
    query: Record<string, never>;
    request: Empty;
    answer: Empty;
  };
  /** Lists members by pages */
  memberList: {
    method: 'GET';
    path: '/members/v1/members';
    query: {
      /** How much of a member is wanted. No one gets more than they may see. */
      fieldsets?: Array<'PUBLIC' | 'EXTENDED' | 'FULL'>;
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberQueryResponse;
  };
  /** Makes an account */
  memberCreate: {
    method: 'POST';
    path: '/members/v1/members';
    query: Record<string, never>;
    request: MemberCreateRequest;
    answer: MemberResponse;
  };
  /** Reads the calling member */
  memberGetMy: {
    method: 'GET';
    path: '/members/v1/members/my';
    query: {
      /** How much of a member is wanted. No one gets more than they may see. */
      fieldsets?: Array<'PUBLIC' | 'EXTENDED' | 'FULL'>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberResponse;
  };
  /** Deletes the calling member */
  memberDeleteMy: {
    method: 'DELETE';
    path: '/members/v1/members/my';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Changes the calling member's slug */
  memberSlugUpdateMy: {
    method: 'POST';
    path: '/members/v1/members/my/slug';
    query: Record<string, never>;
    request: MemberSlugUpdateRequest;
    answer: MemberResponse;
  };
  /** Finds members by a filter */
  memberQuery: {
    method: 'POST';
    path: '/members/v1/members/query';
    query: Record<string, never>;
    request: MemberQueryRequest;
    answer: MemberQueryResponse;
  };
  /** Shows the calling member to others */
  communityJoin: {
    method: 'POST';
    path: '/members/v1/members/join-community';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Hides the calling member from others */
  communityLeave: {
    method: 'POST';
    path: '/members/v1/members/leave-community';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Deletes many members */
  memberBulkDelete: {
    method: 'POST';
    path: '/members/v1/members/bulk/delete';
    query: Record<string, never>;
    request: MemberBulkDeleteRequest;
    answer: BulkResponse;
  };
  /** Deletes the members that a filter finds */
  memberBulkDeleteByFilter: {
    method: 'POST';
    path: '/members/v1/members/bulk/delete-by-filter';
    query: Record<string, never>;
    request: MemberFilterRequest;
    answer: JobResponse;
  };
  /** Lets the members in that a filter finds */
  memberBulkApproveByFilter: {
    method: 'POST';
    path: '/members/v1/members/bulk/approve-by-filter';
    query: Record<string, never>;
    request: MemberFilterRequest;
    answer: JobResponse;
  };
  /** Blocks the members that a filter finds */
  memberBulkBlockByFilter: {
    method: 'POST';
    path: '/members/v1/members/bulk/block-by-filter';
    query: Record<string, never>;
    request: MemberFilterRequest;
    answer: JobResponse;
  };
  /** Reads a member */
  memberGet: {
    method: 'GET';
    path: '/members/v1/members/{id}';
    query: {
      /** How much of a member is wanted. No one gets more than they may see. */
      fieldsets?: Array<'PUBLIC' | 'EXTENDED' | 'FULL'>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberResponse;
  };
  /** Changes a member */
  memberUpdate: {
    method: 'PATCH';
    path: '/members/v1/members/{id}';
    query: Record<string, never>;
    request: MemberUpdateRequest;
    answer: MemberResponse;
  };
  /** Deletes a member */
  memberDelete: {
    method: 'DELETE';
    path: '/members/v1/members/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Changes a member's slug */
  memberSlugUpdate: {
    method: 'POST';
    path: '/members/v1/members/{id}/slug';
    query: Record<string, never>;
    request: MemberSlugUpdateRequest;
    answer: MemberResponse;
  };
  /** Lets a member in */
  memberApprove: {
    method: 'POST';
    path: '/members/v1/members/{id}/approve';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Blocks a member, whose sessions end */
  memberBlock: {
    method: 'POST';
    path: '/members/v1/members/{id}/block';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Puts a member outside the site */
  memberDisconnect: {
    method: 'POST';
    path: '/members/v1/members/{id}/disconnect';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Mutes a member */
  memberMute: {
    method: 'POST';
    path: '/members/v1/members/{id}/mute';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Unmutes a member */
  memberUnmute: {
    method: 'POST';
    path: '/members/v1/members/{id}/unmute';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Deletes a member's phone numbers */
  memberPhonesDelete: {
    method: 'DELETE';
    path: '/members/v1/members/{id}/phones';
    query: Record<string, never>;
    request: undefined;
    answer: MemberResponse;
  };
  /** Deletes a member's other addresses */
  memberEmailsDelete: {
    method: 'DELETE';
    path: '/members/v1/members/{id}/emails';
    query: Record<string, never>;
    request: undefined;
    answer: MemberResponse;
  };
  /** Deletes a member's postal addresses */
  memberAddressesDelete: {
    method: 'DELETE';
    path: '/members/v1/members/{id}/addresses';
    query: Record<string, never>;
    request: undefined;
    answer: MemberResponse;
  };
  /** Finds people as members, by their user ids */
  userMemberQuery: {
    method: 'POST';
    path: '/members/v1/user-members/query';
    query: Record<string, never>;
    request: UserMemberQueryRequest;
    answer: UserMemberQueryResponse;
  };
  /** Changes the address that a member signs in with */
  memberLoginEmailUpdate: {
    method: 'PATCH';
    path: '/wix-sm/api/v1/auth/api/v1/members/{id}/change-login-email';
    query: Record<string, never>;
    request: MemberLoginEmailUpdateRequest;
    answer: SiteMemberResponse;
  };
  /** Lets a member in, by id, address or token */
  memberApproveByAny: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/api/v1/members/approve';
    query: Record<string, never>;
    request: MemberApproveByAnyRequest;
    answer: SessionPlaceholder;
  };
  /** Blocks a member, by id or address */
  memberBlockByAny: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/api/v1/members/block';
    query: Record<string, never>;
    request: MemberNamedRequest;
    answer: Empty;
  };
  /** Lists the roles of the site */
  roleList: {
    method: 'GET';
    path: '/members/v1/roles/definitions';
    query: Record<string, never>;
    request: undefined;
    answer: RoleListResponse;
  };
  /** Makes a role */
  roleCreate: {
    method: 'POST';
    path: '/members/v1/roles/definitions';
    query: Record<string, never>;
    request: RoleCreateRequest;
    answer: RoleResponse;
  };
  /** Reads a role */
  roleGet: {
    method: 'GET';
    path: '/members/v1/roles/definitions/{key}';
    query: Record<string, never>;
    request: undefined;
    answer: RoleResponse;
  };
  /** Changes a role */
  roleUpdate: {
    method: 'PATCH';
    path: '/members/v1/roles/definitions/{key}';
    query: Record<string, never>;
    request: RoleUpdateRequest;
    answer: RoleResponse;
  };
  /** Deletes a role, which its members lose */
  roleDelete: {
    method: 'DELETE';
    path: '/members/v1/roles/definitions/{key}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Reads the roles of many members */
  memberRoleQuery: {
    method: 'POST';
    path: '/members/v1/roles/members/query';
    query: Record<string, never>;
    request: MemberRoleQueryRequest;
    answer: MemberRoleQueryResponse;
  };
  /** Lists the roles of a member */
  memberRoleList: {
    method: 'GET';
    path: '/members/v1/roles/members/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: MemberRoleListResponse;
  };
  /** Gives a member a role */
  memberRoleAssign: {
    method: 'POST';
    path: '/members/v1/roles/members/{id}';
    query: Record<string, never>;
    request: MemberRoleAssignRequest;
    answer: MemberRoleChangeResponse;
  };
  /** Takes a role from a member */
  memberRoleUnassign: {
    method: 'DELETE';
    path: '/members/v1/roles/members/{id}';
    query: {
      /** The role. */
      roleKey?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberRoleChangeResponse;
  };
  /** Lists badges by pages */
  badgeListV3: {
    method: 'GET';
    path: '/members/v3/badges';
    query: {
      /** Those of this id. */
      'filter.id'?: string;
      /** Those of this title. */
      'filter.title'?: string;
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: BadgeQueryResponse;
  };
  /** Makes a badge */
  badgeCreateV3: {
    method: 'POST';
    path: '/members/v3/badges';
    query: Record<string, never>;
    request: BadgeCreateRequest;
    answer: BadgeResponse;
  };
  /** Puts badges first, in this order */
  badgeOrderUpdateV3: {
    method: 'PATCH';
    path: '/members/v3/badges/order';
    query: Record<string, never>;
    request: BadgeOrderUpdateV3Request;
    answer: BadgeListResponse;
  };
  /** Reads which badges members have */
  memberBadgeListV3: {
    method: 'POST';
    path: '/members/v3/badges/members';
    query: Record<string, never>;
    request: MemberIdsRequest;
    answer: MemberBadgeListResponse;
  };
  /** Counts the members that have each badge */
  badgeMemberCountV3: {
    method: 'GET';
    path: '/members/v3/badges/members/count';
    query: {
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: BadgeMemberCountResponse;
  };
  /** Reads a badge */
  badgeGetV3: {
    method: 'GET';
    path: '/members/v3/badges/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: BadgeResponse;
  };
  /** Changes a badge */
  badgeUpdateV3: {
    method: 'PATCH';
    path: '/members/v3/badges/{id}';
    query: Record<string, never>;
    request: BadgeUpdateRequest;
    answer: BadgeResponse;
  };
  /** Deletes a badge, which its members lose */
  badgeDeleteV3: {
    method: 'DELETE';
    path: '/members/v3/badges/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Lists the members that have a badge */
  badgeMemberListV3: {
    method: 'GET';
    path: '/members/v3/badges/{id}/members';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: BadgeMemberListResponse;
  };
  /** Gives members a badge */
  badgeAssignV3: {
    method: 'POST';
    path: '/members/v3/badges/{id}/members';
    query: Record<string, never>;
    request: MemberIdsRequest;
    answer: BadgeMembersResponse;
  };
  /** Takes a badge from members */
  badgeUnassignV3: {
    method: 'DELETE';
    path: '/members/v3/badges/{id}/members';
    query: {
      /** The members. */
      memberIds?: Array<string>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Makes a badge */
  badgeCreate: {
    method: 'POST';
    path: '/badges/v4/badges';
    query: Record<string, never>;
    request: BadgeCreateRequest;
    answer: BadgeResponse;
  };
  /** Finds badges by a filter */
  badgeQuery: {
    method: 'POST';
    path: '/badges/v4/badges/query';
    query: Record<string, never>;
    request: BadgeQueryRequest;
    answer: BadgeQueryResponse;
  };
  /** Puts badges first, in this order */
  badgeOrderUpdate: {
    method: 'POST';
    path: '/badges/v4/badges/order';
    query: Record<string, never>;
    request: BadgeOrderUpdateRequest;
    answer: BadgeListResponse;
  };
  /** Reads a badge */
  badgeGet: {
    method: 'GET';
    path: '/badges/v4/badges/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: BadgeResponse;
  };
  /** Changes a badge */
  badgeUpdate: {
    method: 'PATCH';
    path: '/badges/v4/badges/{id}';
    query: Record<string, never>;
    request: BadgeUpdateRequest;
    answer: BadgeResponse;
  };
  /** Deletes a badge, which its members lose */
  badgeDelete: {
    method: 'DELETE';
    path: '/badges/v4/badges/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Moves a badge within the order */
  badgeMove: {
    method: 'POST';
    path: '/badges/v4/badges/{id}/move';
    query: Record<string, never>;
    request: BadgeMoveRequest;
    answer: Empty;
  };
  /** Gives a member a badge */
  badgeAssignmentCreate: {
    method: 'POST';
    path: '/badges/v4/assignments';
    query: Record<string, never>;
    request: BadgeAssignmentCreateRequest;
    answer: BadgeAssignmentResponse;
  };
  /** Finds assignments by member and badge */
  badgeAssignmentQuery: {
    method: 'POST';
    path: '/badges/v4/assignments/query';
    query: Record<string, never>;
    request: BadgeAssignmentQueryRequest;
    answer: BadgeAssignmentQueryResponse;
  };
  /** Takes a badge from a member */
  badgeAssignmentDelete: {
    method: 'DELETE';
    path: '/badges/v4/assignments/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Gives many members badges */
  badgeAssignmentBulkCreate: {
    method: 'POST';
    path: '/badges/v4/bulk/assignments/create';
    query: Record<string, never>;
    request: BadgeAssignmentBulkCreateRequest;
    answer: BulkResponse;
  };
  /** Takes many badges away */
  badgeAssignmentBulkDelete: {
    method: 'POST';
    path: '/badges/v4/bulk/assignments/delete';
    query: Record<string, never>;
    request: BadgeAssignmentBulkDeleteRequest;
    answer: BulkResponse;
  };
  /** Tags assignments */
  badgeAssignmentBulkTag: {
    method: 'POST';
    path: '/badges/v4/bulk/assignments/bulk-update-tags';
    query: Record<string, never>;
    request: BadgeAssignmentBulkTagRequest;
    answer: BulkResponse;
  };
  /** Tags the assignments that a filter finds */
  badgeAssignmentBulkTagByFilter: {
    method: 'POST';
    path: '/badges/v4/bulk/assignments/update-tags-by-filter';
    query: Record<string, never>;
    request: BadgeAssignmentBulkTagByFilterRequest;
    answer: JobResponse;
  };
  /** Lists fields by pages */
  customFieldList: {
    method: 'GET';
    path: '/members/v1/custom-fields';
    query: {
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: CustomFieldListResponse;
  };
  /** Makes a field */
  customFieldCreate: {
    method: 'POST';
    path: '/members/v1/custom-fields';
    query: Record<string, never>;
    request: CustomFieldCreateRequest;
    answer: CustomFieldResponse;
  };
  /** Puts fields first, in this order */
  customFieldOrderUpdate: {
    method: 'POST';
    path: '/members/v1/custom-fields/order';
    query: Record<string, never>;
    request: CustomFieldOrderUpdateRequest;
    answer: CustomFieldOrderUpdateResponse;
  };
  /** Reads a field */
  customFieldGet: {
    method: 'GET';
    path: '/members/v1/custom-fields/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: CustomFieldResponse;
  };
  /** Changes a field */
  customFieldUpdate: {
    method: 'PATCH';
    path: '/members/v1/custom-fields/{id}';
    query: Record<string, never>;
    request: CustomFieldUpdateRequest;
    answer: CustomFieldResponse;
  };
  /** Deletes a field */
  customFieldDelete: {
    method: 'DELETE';
    path: '/members/v1/custom-fields/{id}';
    query: {
      /** The revision that is deleted. */
      revision?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Hides a field */
  customFieldHide: {
    method: 'POST';
    path: '/members/v1/custom-fields/{id}/hide';
    query: Record<string, never>;
    request: CustomFieldHideRequest;
    answer: Empty;
  };
  /** Lists fields that sites usually have and this one doesn't */
  customFieldSuggestionList: {
    method: 'GET';
    path: '/members/v1/custom-field-suggestions';
    query: {
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: CustomFieldSuggestionsResponse;
  };
  /** Finds fields that sites usually have and this one doesn't */
  customFieldSuggestionQuery: {
    method: 'POST';
    path: '/members/v1/custom-field-suggestions/query';
    query: Record<string, never>;
    request: CustomFieldSuggestionQueryRequest;
    answer: CustomFieldSuggestionsResponse;
  };
  /** Says to whom a field applies */
  fieldApplicationCreate: {
    method: 'POST';
    path: '/members/v1/custom-fields-applications';
    query: Record<string, never>;
    request: FieldApplicationCreateRequest;
    answer: FieldApplicationResponse;
  };
  /** Reads to whom fields apply */
  fieldApplicationList: {
    method: 'POST';
    path: '/members/v1/custom-fields-applications/applications';
    query: Record<string, never>;
    request: FieldApplicationListRequest;
    answer: FieldApplicationListResponse;
  };
  /** Reads which fields apply to members */
  fieldApplicationListOfMembers: {
    method: 'POST';
    path: '/members/v1/custom-fields-applications/members';
    query: Record<string, never>;
    request: MemberIdsRequest;
    answer: AppliedFieldsResponse;
  };
  /** Reads which fields apply to roles */
  fieldApplicationListOfRoles: {
    method: 'POST';
    path: '/members/v1/custom-fields-applications/roles';
    query: Record<string, never>;
    request: FieldApplicationListOfRolesRequest;
    answer: AppliedFieldsResponse;
  };
  /** Reads to whom a field applies */
  fieldApplicationGet: {
    method: 'GET';
    path: '/members/v1/custom-fields-applications/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: FieldApplicationResponse;
  };
  /** Changes to whom a field applies */
  fieldApplicationUpdate: {
    method: 'PATCH';
    path: '/members/v1/custom-fields-applications/{id}';
    query: Record<string, never>;
    request: FieldApplicationUpdateRequest;
    answer: FieldApplicationResponse;
  };
  /** Lets a field apply to all again */
  fieldApplicationDelete: {
    method: 'DELETE';
    path: '/members/v1/custom-fields-applications/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Reads whether new members are shown */
  defaultPrivacyGet: {
    method: 'GET';
    path: '/members/v1/default-privacy-status';
    query: {
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: DefaultPrivacyResponse;
  };
  /** Sets whether new members are shown */
  defaultPrivacyUpdate: {
    method: 'PATCH';
    path: '/members/v1/default-privacy-status';
    query: Record<string, never>;
    request: DefaultPrivacyUpdateRequest;
    answer: DefaultPrivacyResponse;
  };
  /** Reads how much members show of themselves */
  privacySettingsGet: {
    method: 'GET';
    path: '/members/v1/privacy-settings';
    query: {
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: PrivacySettingsResponse;
  };
  /** Sets how much members show of themselves */
  privacySettingsUpdate: {
    method: 'POST';
    path: '/members/v1/privacy-settings';
    query: Record<string, never>;
    request: PrivacySettingsUpdateRequest;
    answer: PrivacySettingsResponse;
  };
  /** Lists who follows the calling member */
  followerListMy: {
    method: 'GET';
    path: '/members/v3/followers/my';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberIdPage;
  };
  /** Lists whom the calling member follows */
  followingListMy: {
    method: 'GET';
    path: '/members/v3/followers/my/following';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberIdPage;
  };
  /** Tells which of these follow the calling member, or are followed */
  connectionQueryMy: {
    method: 'POST';
    path: '/members/v3/followers/my/connections';
    query: Record<string, never>;
    request: ConnectionQueryRequest;
    answer: ConnectionQueryResponse;
  };
  /** Lists who follows a member */
  followerList: {
    method: 'GET';
    path: '/members/v3/followers/{id}';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberIdPage;
  };
  /** Follows a member */
  followerCreate: {
    method: 'POST';
    path: '/members/v3/followers/{id}';
    query: Record<string, never>;
    request: Empty;
    answer: Empty;
  };
  /** Follows a member no more */
  followerDelete: {
    method: 'DELETE';
    path: '/members/v3/followers/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Lists whom a member follows */
  followingList: {
    method: 'GET';
    path: '/members/v3/followers/{id}/following';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberIdPage;
  };
  /** Tells which of these follow a member, or are followed */
  connectionQuery: {
    method: 'POST';
    path: '/members/v3/followers/{id}/connections';
    query: Record<string, never>;
    request: ConnectionQueryRequest;
    answer: ConnectionQueryResponse;
  };
  /** Lists whom the calling member has blocked */
  memberBlockListMy: {
    method: 'GET';
    path: '/members/v1/member-to-member-blocks/members/my';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberBlockListMyResponse;
  };
  /** Blocks a member for the calling one */
  memberBlockCreate: {
    method: 'POST';
    path: '/members/v1/member-to-member-blocks/members/my';
    query: Record<string, never>;
    request: MemberBlockCreateRequest;
    answer: Empty;
  };
  /** Takes such a block back */
  memberBlockDelete: {
    method: 'DELETE';
    path: '/members/v1/member-to-member-blocks/members/my/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Lists whom a member has blocked, and by whom they are */
  memberBlockList: {
    method: 'GET';
    path: '/members/v1/member-to-member-blocks/members/{id}';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberBlockListResponse;
  };
  /** Reports a member */
  memberReportCreate: {
    method: 'POST';
    path: '/members/v1/member-reports';
    query: Record<string, never>;
    request: MemberReportCreateRequest;
    answer: MemberReportResponse;
  };
  /** Finds reports */
  memberReportQuery: {
    method: 'POST';
    path: '/members/v1/member-reports/query';
    query: Record<string, never>;
    request: MemberReportQueryRequest;
    answer: MemberReportQueryResponse;
  };
  /** Lists the members that were reported */
  reportedMemberList: {
    method: 'GET';
    path: '/members/v1/member-reports/members';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: ReportedMembersResponse;
  };
  /** Lists the members that were reported, asked in the body */
  reportedMemberQuery: {
    method: 'POST';
    path: '/members/v1/member-reports/members/query';
    query: Record<string, never>;
    request: MemberReportQueryRequest;
    answer: ReportedMembersResponse;
  };
  /** Deletes the reports of a member */
  memberReportDelete: {
    method: 'DELETE';
    path: '/members/v1/member-reports/members/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Writes about the calling member */
  memberAboutCreate: {
    method: 'POST';
    path: '/members/v2/abouts';
    query: Record<string, never>;
    request: MemberAboutWriteRequest;
    answer: MemberAboutResponse;
  };
  /** Reads what the calling member wrote */
  memberAboutGetMy: {
    method: 'GET';
    path: '/members/v2/abouts/my';
    query: {
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberAboutResponse;
  };
  /** Reads what members wrote */
  memberAboutQuery: {
    method: 'POST';
    path: '/members/v2/abouts/query';
    query: Record<string, never>;
    request: MemberAboutQueryRequest;
    answer: MemberAboutQueryResponse;
  };
  /** Reads what a member wrote */
  memberAboutGet: {
    method: 'GET';
    path: '/members/v2/abouts/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: MemberAboutResponse;
  };
  /** Changes what a member wrote */
  memberAboutUpdate: {
    method: 'PATCH';
    path: '/members/v2/abouts/{id}';
    query: Record<string, never>;
    request: MemberAboutWriteRequest;
    answer: MemberAboutResponse;
  };
  /** Deletes what a member wrote */
  memberAboutDelete: {
    method: 'DELETE';
    path: '/members/v2/abouts/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Lists the types of event that an endpoint can name */
  webhookEventTypeList: {
    method: 'GET';
    path: '/_api/webhooks/v1/event-types';
    query: Record<string, never>;
    request: undefined;
    answer: WebhookEventTypeListResponse;
  };
  /** Lists the endpoints of the site */
  webhookEndpointList: {
    method: 'GET';
    path: '/_api/webhooks/v1/endpoints';
    query: Record<string, never>;
    request: undefined;
    answer: WebhookEndpointListResponse;
  };
  /** Makes an endpoint, which is told of what happens from now on */
  webhookEndpointCreate: {
    method: 'POST';
    path: '/_api/webhooks/v1/endpoints';
    query: Record<string, never>;
    request: WebhookEndpointCreateRequest;
    answer: WebhookEndpointCreateResponse;
  };
  /** Reads an endpoint */
  webhookEndpointGet: {
    method: 'GET';
    path: '/_api/webhooks/v1/endpoints/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: WebhookEndpointResponse;
  };
  /** Changes an endpoint */
  webhookEndpointUpdate: {
    method: 'PATCH';
    path: '/_api/webhooks/v1/endpoints/{id}';
    query: Record<string, never>;
    request: WebhookEndpointUpdateRequest;
    answer: WebhookEndpointResponse;
  };
  /** Deletes an endpoint, with all that waits for it */
  webhookEndpointDelete: {
    method: 'DELETE';
    path: '/_api/webhooks/v1/endpoints/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Sends nothing until the endpoint is resumed; what happens meanwhile waits */
  webhookEndpointPause: {
    method: 'POST';
    path: '/_api/webhooks/v1/endpoints/{id}/pause';
    query: Record<string, never>;
    request: Empty;
    answer: WebhookEndpointResponse;
  };
  /** Goes on sending where it stopped, or with what happens from now on */
  webhookEndpointResume: {
    method: 'POST';
    path: '/_api/webhooks/v1/endpoints/{id}/resume';
    query: Record<string, never>;
    request: WebhookEndpointResumeRequest;
    answer: WebhookEndpointResponse;
  };
  /** Sends one signed message now and tells what the receiver answered */
  webhookEndpointTest: {
    method: 'POST';
    path: '/_api/webhooks/v1/endpoints/{id}/test';
    query: Record<string, never>;
    request: Empty;
    answer: WebhookTestResponse;
  };
  /** Sends again what happened since a time, one event, or what was given up */
  webhookEndpointReplay: {
    method: 'POST';
    path: '/_api/webhooks/v1/endpoints/{id}/replay';
    query: Record<string, never>;
    request: WebhookReplayRequest;
    answer: WebhookReplayResponse;
  };
  /** Makes another secret; the one before it signs as well for a day */
  webhookSecretRotate: {
    method: 'POST';
    path: '/_api/webhooks/v1/endpoints/{id}/rotate-secret';
    query: Record<string, never>;
    request: Empty;
    answer: WebhookSecretResponse;
  };
  /** Lists events that were refused, those that wait behind them, or those given up */
  webhookEventList: {
    method: 'GET';
    path: '/_api/webhooks/v1/endpoints/{id}/events';
    query: {
      /** Which events; `PARKED` without it. */
      state?: 'PARKED' | 'HELD' | 'DEAD';
      /** As many on a page, 1 to 100; 50 without it. */
      limit?: number;
      /** Where the page before ended: its `next`. */
      after?: string;
    };
    request: undefined;
    answer: WebhookEventListResponse;
  };
  /** Waits for messages and answers them signed, as an endpoint would be sent them */
  webhookPull: {
    method: 'POST';
    path: '/_api/webhooks/v1/pull';
    query: Record<string, never>;
    request: WebhookPullRequest;
    answer: WebhookPullResponse;
  };
  /** Lists the versions of the code that are kept */
  hookVersionList: {
    method: 'GET';
    path: '/_api/hooks/v1/versions';
    query: Record<string, never>;
    request: undefined;
    answer: HookVersionListResponse;
  };
  /** Deploys code, which runs from now on in place of what ran before */
  hookVersionDeploy: {
    method: 'POST';
    path: '/_api/hooks/v1/versions';
    query: Record<string, never>;
    request: HookVersionDeployRequest;
    answer: HookVersionResponse;
  };
  /** Has another version run: the way back */
  hookVersionActivate: {
    method: 'POST';
    path: '/_api/hooks/v1/versions/{number}/activate';
    query: Record<string, never>;
    request: Empty;
    answer: Empty;
  };
  /** Lists calls of hooks that failed or said something */
  hookLogList: {
    method: 'GET';
    path: '/_api/hooks/v1/log';
    query: {
      /** As many, 1 to 1000; 100 without it. */
      limit?: number;
      /** The id of an entry: those after it, the oldest first. Without it the newest are listed. */
      after?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: HookLogListResponse;
  };
  /** Lets hooks be asked again on this server, after so many of their processes died that none is */
  hooksResume: {
    method: 'POST';
    path: '/_api/hooks/v1/resume';
    query: Record<string, never>;
    request: Empty;
    answer: Empty;
  };
  /** Asks one hook, and writes nothing */
  hookTry: {
    method: 'POST';
    path: '/_api/hooks/v1/try';
    query: Record<string, never>;
    request: HookTryRequest;
    answer: HookTryResponse;
  };
  /** Inserts an item */
  itemInsert: {
    method: 'POST';
    path: '/v2/items';
    query: Record<string, never>;
    request: ItemInsertRequest;
    answer: ItemResponse;
  };
  /** Reads an item whose id stands in the query alone */
  itemGetByQuery: {
    method: 'GET';
    path: '/v2/items/';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The id, where it is not the one in the path: ids with slashes, dots or nothing but them. */
      dataItemId: string;
      /** The data of which environment. `SANDBOX` is for those who work on the site, and apps; for others `SANDBOX_PREFERRED` is `LIVE`. */
      environment?: 'LIVE' | 'SANDBOX_PREFERRED' | 'SANDBOX';
      /** Fields that are wanted, by dotted names; all without. */
      fields?: Array<string>;
      /** Reference fields whose items are wanted in the place of their ids. */
      includeReferencedItems?: Array<string>;
      /** All that stands in the query. Dotted pairs may stand there as well. */
      '.r'?: string;
    };
    request: undefined;
    answer: ItemResponse;
  };
  /** Finds items, asked in the query of the address */
  itemQueryByGet: {
    method: 'GET';
    path: '/v2/items/query';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The id, where it is not the one in the path: ids with slashes, dots or nothing but them. */
      dataItemId?: string;
      /** The data of which environment. `SANDBOX` is for those who work on the site, and apps; for others `SANDBOX_PREFERRED` is `LIVE`. */
      environment?: 'LIVE' | 'SANDBOX_PREFERRED' | 'SANDBOX';
      /** All that stands in the query. Dotted pairs may stand there as well. */
      '.r'?: string;
    };
    request: undefined;
    answer: ItemQueryByGetResponse;
  };
  /** Finds items by a filter, in an order, by pages */
  itemQuery: {
    method: 'POST';
    path: '/v2/items/query';
    query: Record<string, never>;
    request: ItemQueryRequest;
    answer: ItemQueryResponse;
  };
  /** Counts the items that a filter finds */
  itemCount: {
    method: 'POST';
    path: '/v2/items/count';
    query: Record<string, never>;
    request: ItemCountRequest;
    answer: ItemCountResponse;
  };
  /** Reads the values that a field has, each once */
  itemDistinctQuery: {
    method: 'POST';
    path: '/v2/items/query-distinct-values';
    query: Record<string, never>;
    request: ItemDistinctQueryRequest;
    answer: ItemDistinctQueryResponse;
  };
  /** Groups items and counts, sums or compares their values */
  itemAggregate: {
    method: 'POST';
    path: '/v2/items/aggregate';
    query: Record<string, never>;
    request: ItemAggregateRequest;
    answer: ItemAggregateResponse;
  };
  /** Passes items through stages */
  itemAggregatePipeline: {
    method: 'POST';
    path: '/v2/items/aggregate-pipeline';
    query: Record<string, never>;
    request: ItemPipelineRequest;
    answer: ItemPipelineResponse;
  };
  /** Finds items by words, the best first or in an order */
  itemSearch: {
    method: 'POST';
    path: '/v2/items/search';
    query: Record<string, never>;
    request: ItemSearchRequest;
    answer: ItemSearchResponse;
  };
  /** Reads how late the index of words is */
  searchLagGet: {
    method: 'GET';
    path: '/_api/search/v1/lag';
    query: {
      /** The data of which environment. `SANDBOX` is for those who work on the site, and apps; `SANDBOX_PREFERRED` is `LIVE`: it is decided for a collection. */
      environment?: 'LIVE' | 'SANDBOX_PREFERRED' | 'SANDBOX';
    };
    request: undefined;
    answer: SearchLag;
  };
  /** Replaces an item that is there */
  itemUpdate: {
    method: 'POST';
    path: '/v2/items/update';
    query: Record<string, never>;
    request: ItemUpdateRequest;
    answer: ItemResponse;
  };
  /** Inserts an item, or replaces the one that has its id */
  itemSave: {
    method: 'POST';
    path: '/v2/items/save';
    query: Record<string, never>;
    request: ItemSaveRequest;
    answer: ItemSaveResponse;
  };
  /** Changes fields of an item */
  itemPatch: {
    method: 'POST';
    path: '/v2/items/patch';
    query: Record<string, never>;
    request: ItemPatchRequest;
    answer: ItemResponse;
  };
  /** Removes an item */
  itemRemove: {
    method: 'POST';
    path: '/v2/items/remove';
    query: Record<string, never>;
    request: ItemRemoveRequest;
    answer: ItemRemoveResponse;
  };
  /** Copies a published item into a draft */
  itemDraftCreate: {
    method: 'POST';
    path: '/v2/items/create-draft';
    query: Record<string, never>;
    request: ItemDraftRequest;
    answer: ItemResponse;
  };
  /** Publishes a draft */
  itemDraftPublish: {
    method: 'POST';
    path: '/v2/items/publish-draft';
    query: Record<string, never>;
    request: ItemDraftRequest;
    answer: ItemResponse;
  };
  /** Takes a published item back */
  itemUnpublish: {
    method: 'POST';
    path: '/v2/items/unpublish';
    query: Record<string, never>;
    request: ItemUnpublishRequest;
    answer: ItemRemoveResponse;
  };
  /** Removes all items of a collection */
  itemTruncate: {
    method: 'POST';
    path: '/v2/items/truncate';
    query: Record<string, never>;
    request: ItemTruncateRequest;
    answer: Empty;
  };
  /** Reads an item */
  itemGet: {
    method: 'GET';
    path: '/v2/items/{id}';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The id, where it is not the one in the path: ids with slashes, dots or nothing but them. */
      dataItemId?: string;
      /** The data of which environment. `SANDBOX` is for those who work on the site, and apps; for others `SANDBOX_PREFERRED` is `LIVE`. */
      environment?: 'LIVE' | 'SANDBOX_PREFERRED' | 'SANDBOX';
      /** Fields that are wanted, by dotted names; all without. */
      fields?: Array<string>;
      /** Reference fields whose items are wanted in the place of their ids. */
      includeReferencedItems?: Array<string>;
      /** All that stands in the query. Dotted pairs may stand there as well. */
      '.r'?: string;
    };
    request: undefined;
    answer: ItemResponse;
  };
  /** Replaces an item that is there, by its path */
  itemPut: {
    method: 'PUT';
    path: '/v2/items/{id}';
    query: Record<string, never>;
    request: ItemUpdateRequest;
    answer: ItemResponse;
  };
  /** Changes fields of the item in the path */
  itemPatchById: {
    method: 'PATCH';
    path: '/v2/items/{id}';
    query: Record<string, never>;
    request: ItemPatchRequest;
    answer: ItemResponse;
  };
  /** Removes the item in the path */
  itemDelete: {
    method: 'DELETE';
    path: '/v2/items/{id}';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The id, where it is not the one in the path: ids with slashes, dots or nothing but them. */
      dataItemId?: string;
      /** The data of which environment. `SANDBOX` is for those who work on the site, and apps; for others `SANDBOX_PREFERRED` is `LIVE`. */
      environment?: 'LIVE' | 'SANDBOX_PREFERRED' | 'SANDBOX';
      /** All that stands in the query. Dotted pairs may stand there as well. */
      '.r'?: string;
    };
    request: undefined;
    answer: ItemRemoveResponse;
  };
  /** Inserts many items */
  itemBulkInsert: {
    method: 'POST';
    path: '/v2/bulk/items/insert';
    query: Record<string, never>;
    request: ItemBulkInsertRequest;
    answer: ItemBulkResponse;
  };
  /** Replaces many items */
  itemBulkUpdate: {
    method: 'POST';
    path: '/v2/bulk/items/update';
    query: Record<string, never>;
    request: ItemBulkUpdateRequest;
    answer: ItemBulkResponse;
  };
  /** Inserts or replaces many items */
  itemBulkSave: {
    method: 'POST';
    path: '/v2/bulk/items/save';
    query: Record<string, never>;
    request: ItemBulkSaveRequest;
    answer: ItemBulkResponse;
  };
  /** Changes fields of many items */
  itemBulkPatch: {
    method: 'POST';
    path: '/v2/bulk/items/patch';
    query: Record<string, never>;
    request: ItemBulkPatchRequest;
    answer: ItemBulkResponse;
  };
  /** Removes many items */
  itemBulkRemove: {
    method: 'POST';
    path: '/v2/bulk/items/remove';
    query: Record<string, never>;
    request: ItemBulkRemoveRequest;
    answer: ItemBulkResponse;
  };
  /** Changes fields of all items that a filter finds, in the background */
  itemPatchByFilter: {
    method: 'POST';
    path: '/v2/bulk/items/async-patch-by-filter';
    query: Record<string, never>;
    request: ItemPatchByFilterRequest;
    answer: AsyncJobResponse;
  };
  /** Removes all items that a filter finds, in the background */
  itemRemoveByFilter: {
    method: 'POST';
    path: '/v2/bulk/items/async-remove-by-filter';
    query: Record<string, never>;
    request: ItemRemoveByFilterRequest;
    answer: AsyncJobResponse;
  };
  /** Reads how a job stands */
  asyncJobStatusGet: {
    method: 'GET';
    path: '/v2/async-jobs/{id}/status';
    query: {
      /** The job, where it is not the one in the path. */
      jobId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: AsyncJobStatusResponse;
  };
  /** Begins a task on all items that a filter finds */
  taskCreate: {
    method: 'POST';
    path: '/v1/tasks';
    query: Record<string, never>;
    request: TaskCreateRequest;
    answer: TaskResponse;
  };
  /** Lists tasks, the newest first */
  taskList: {
    method: 'GET';
    path: '/v1/tasks';
    query: {
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: TaskListResponse;
  };
  /** Reads how a task stands */
  taskGet: {
    method: 'GET';
    path: '/v1/tasks/{id}';
    query: {
      /** The task, where it is not the one in the path. */
      taskId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: TaskResponse;
  };
  /** Cancels a task */
  taskCancel: {
    method: 'DELETE';
    path: '/v1/tasks/{id}';
    query: {
      /** The task, where it is not the one in the path. */
      taskId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: TaskResponse;
  };
  /** Links items with others */
  referenceBulkInsert: {
    method: 'POST';
    path: '/v2/bulk/items/insert-references';
    query: Record<string, never>;
    request: ReferenceBulkInsertRequest;
    answer: ReferenceBulkResponse;
  };
  /** Takes links away */
  referenceBulkRemove: {
    method: 'POST';
    path: '/v2/bulk/items/remove-references';
    query: Record<string, never>;
    request: ReferenceBulkRemoveRequest;
    answer: ReferenceBulkResponse;
  };
  /** Sets all links of an item's field */
  referenceReplace: {
    method: 'POST';
    path: '/v2/items/replace-references';
    query: Record<string, never>;
    request: ReferenceReplaceRequest;
    answer: ReferenceReplaceResponse;
  };
  /** Tells whether two items are linked */
  referenceCheck: {
    method: 'POST';
    path: '/v2/items/is-referenced';
    query: Record<string, never>;
    request: ReferenceCheckRequest;
    answer: ReferenceCheckResponse;
  };
  /** Reads the items that an item's field links to, by pages */
  referencedItemQuery: {
    method: 'POST';
    path: '/v2/items/query-referenced';
    query: Record<string, never>;
    request: ReferencedItemQueryRequest;
    answer: ReferencedItemQueryResponse;
  };
  /** Makes a collection */
  collectionCreate: {
    method: 'POST';
    path: '/v2/collections';
    query: Record<string, never>;
    request: CollectionCreateRequest;
    answer: CollectionResponse;
  };
  /** Lists the collections that the caller may know of */
  collectionList: {
    method: 'GET';
    path: '/v2/collections';
    query: {
      /** As many on a page, at most 1000. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** By what they are sorted. */
      'sort.fieldName'?: 'id' | '_id' | 'displayName' | 'createdDate' | '_createdDate' | 'updatedDate' | '_updatedDate';
      /** In which direction. */
      'sort.order'?: 'ASC' | 'DESC';
      /** Members of the answer that are wanted; all without. */
      fields?: Array<string>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: CollectionListResponse;
  };
  /** Replaces what a collection is */
  collectionUpdate: {
    method: 'PUT';
    path: '/v2/collections';
    query: Record<string, never>;
    request: CollectionUpdateRequest;
    answer: CollectionResponse;
  };
  /** Adds a field */
  fieldCreate: {
    method: 'POST';
    path: '/v2/collections/create-field';
    query: Record<string, never>;
    request: FieldCreateRequest;
    answer: DataCollectionResponse;
  };
  /** Replaces a field */
  fieldUpdate: {
    method: 'POST';
    path: '/v2/collections/update-field';
    query: Record<string, never>;
    request: FieldUpdateRequest;
    answer: DataCollectionResponse;
  };
  /** Deletes a field with its values */
  fieldDelete: {
    method: 'POST';
    path: '/v2/collections/delete-field';
    query: Record<string, never>;
    request: FieldDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds a plugin */
  pluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-plugin';
    query: Record<string, never>;
    request: PluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes a plugin away */
  pluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-plugin';
    query: Record<string, never>;
    request: PluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin PUBLISH */
  publishPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-publish-plugin';
    query: Record<string, never>;
    request: PublishPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin PUBLISH away */
  publishPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-publish-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin URLIZED */
  urlizedPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-urlized-plugin';
    query: Record<string, never>;
    request: UrlizedPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin URLIZED away */
  urlizedPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-urlized-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin MULTILINGUAL */
  multilingualPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-multilingual-plugin';
    query: Record<string, never>;
    request: MultilingualPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin MULTILINGUAL away */
  multilingualPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-multilingual-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin CMS */
  cmsPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-cms-plugin';
    query: Record<string, never>;
    request: CmsPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin CMS away */
  cmsPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-cms-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin CATALOG */
  catalogPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-catalog-plugin';
    query: Record<string, never>;
    request: CatalogPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin CATALOG away */
  catalogPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-catalog-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin DRAFT_ITEMS, with a collection of drafts */
  draftItemsPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-draft-items-plugin';
    query: Record<string, never>;
    request: DraftItemsPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin DRAFT_ITEMS away, and the collection of drafts with it */
  draftItemsPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-draft-items-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Restores a collection that was deleted */
  collectionRestore: {
    method: 'POST';
    path: '/v2/collections/restore/{id}';
    query: Record<string, never>;
    request: CollectionRestoreRequest;
    answer: DataCollectionResponse;
  };
  /** Reads a collection */
  collectionGet: {
    method: 'GET';
    path: '/v2/collections/{id}';
    query: {
      /** The id, where it can't stand in the path. */
      dataCollectionId?: string;
      /** Members of the answer that are wanted; all without. */
      fields?: Array<string>;
      /** Adds what the caller may do. */
      includeAllowedDataPermissions?: boolean;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: CollectionResponse;
  };
  /** Changes members of a collection, or a field */
  collectionPatch: {
    method: 'PATCH';
    path: '/v2/collections/{id}';
    query: Record<string, never>;
    request: CollectionPatchRequest;
    answer: DataCollectionResponse;
  };
  /** Deletes a collection with its items */
  collectionDelete: {
    method: 'DELETE';
    path: '/v2/collections/{id}';
    query: {
      /** The id, where it can't stand in the path. */
      dataCollectionId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Lists the indexes of a collection */
  indexList: {
    method: 'GET';
    path: '/v2/indexes';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: IndexListResponse;
  };
  /** Makes an index */
  indexCreate: {
    method: 'POST';
    path: '/v2/indexes';
    query: Record<string, never>;
    request: IndexCreateRequest;
    answer: IndexResponse;
  };
  /** Drops an index */
  indexDrop: {
    method: 'DELETE';
    path: '/v2/indexes';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The index. */
      indexName: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Tells how many indexes a collection may still have */
  indexAvailableGet: {
    method: 'GET';
    path: '/v2/indexes/available';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: IndexAvailableResponse;
  };
  /** Reads who may do what with a collection */
  permissionsGet: {
    method: 'GET';
    path: '/v1/permissions';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: PermissionsResponse;
  };
  /** Sets levels of a collection */
  permissionsUpdate: {
    method: 'POST';
    path: '/v1/permissions';
    query: Record<string, never>;
    request: PermissionsUpdateRequest;
    answer: PermissionsResponse;
  };
  /** Tells what the caller may do */
  permissionsGetMy: {
    method: 'GET';
    path: '/v1/permissions/current';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: AllowedPermissions;
  };
  /** Gives a user or a role rights of their own */
  specialPermissionCreate: {
    method: 'POST';
    path: '/v1/permissions/special';
    query: Record<string, never>;
    request: SpecialPermissionCreateRequest;
    answer: SpecialPermissionResponse;
  };
  /** Changes special permissions */
  specialPermissionUpdate: {
    method: 'POST';
    path: '/v1/permissions/special/{id}';
    query: Record<string, never>;
    request: SpecialPermissionUpdateRequest;
    answer: SpecialPermissionResponse;
  };
  /** Takes special permissions back */
  specialPermissionDelete: {
    method: 'DELETE';
    path: '/v1/permissions/special/{id}';
    query: {
      /** The id, where it can't stand in the path. */
      specialPermissionsId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Tells changes of items as they happen */
  realtimeStream: {
    method: 'POST';
    path: '/_api/realtime/v1/stream';
    query: Record<string, never>;
    request: RealtimeStreamRequest;
    answer: string;
  };
  /** Runs a document of GraphQL */
  graphqlExecute: {
    method: 'POST';
    path: '/graphql/v1';
    query: Record<string, never>;
    request: GraphqlRequest;
    answer: GraphqlResponse;
  };
  /** Reads this document */
  documentGet: {
    method: 'GET';
    path: '/openapi.json';
    query: Record<string, never>;
    request: undefined;
    answer: OpenApiDocument;
  };
  /** Shows this document as a page */
  referencePageGet: {
    method: 'GET';
    path: '/docs/api';
    query: {
      /** Words of what is looked for. */
      filter?: string;
    };
    request: undefined;
    answer: string;
  };
  /** Reads this document with the types of the site's items */
  siteDocumentGet: {
    method: 'GET';
    path: '/_api/content/v1/openapi.json';
    query: Record<string, never>;
    request: undefined;
    answer: OpenApiDocument;
  };
}
