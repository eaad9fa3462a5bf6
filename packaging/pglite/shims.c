/*
 * Functions of the server that margin calls and PGlite's main module does not export: the same by way of what it does export.
 * For PostgreSQL 18, which PGlite is.
 */
#include <postgres.h>

#include <signal.h>
#include <sys/mman.h>

#include <access/htup_details.h>
#include <executor/nodeAgg.h>
#include <nodes/makefuncs.h>
#include <nodes/nodeFuncs.h>
#include <optimizer/cost.h>
#include <parser/analyze.h>
#include <parser/parsetree.h>
#include <rewrite/rewriteHandler.h>
#include <tcop/tcopprot.h>
#include <utils/builtins.h>
#include <utils/datum.h>
#include <utils/expandeddatum.h>
#include <utils/fmgroids.h>
#include <utils/fmgrprotos.h>
#include <utils/guc.h>
#include <utils/jsonb.h>
#include <utils/rangetypes.h>
#include <utils/typcache.h>

/* No parallel worker can be made: one thread, and no signal that it could take from the server. */
int			max_parallel_workers_per_gather = 0;

int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return 0;
}

/* Advice only: pages are not given back. */
int
madvise(void *address, size_t length, int advice)
{
	return 0;
}

/* Asked only about settings that exist when the library is loaded, once in a session: placeholders of an earlier SET. */
int
GetConfigOptionFlags(const char *name, bool missing_ok)
{
	return GUC_CUSTOM_PLACEHOLDER;
}

/* --- functions that SQL can call ------------------------------------------------------------------------------------ */
static Datum
of_server(Oid function, FunctionCallInfo fcinfo)
{
	FmgrInfo	found;

	fmgr_info(function, &found);
	return found.fn_addr(fcinfo);
}

Datum
array_to_json(PG_FUNCTION_ARGS)
{
	return of_server(F_ARRAY_TO_JSON_ANYARRAY, fcinfo);
}

Datum
interval_in(PG_FUNCTION_ARGS)
{
	return of_server(F_INTERVAL_IN, fcinfo);
}

Datum
time_in(PG_FUNCTION_ARGS)
{
	return of_server(F_TIME_IN, fcinfo);
}

Datum
timestamp_to_char(PG_FUNCTION_ARGS)
{
	return of_server(F_TO_CHAR_TIMESTAMP_TEXT, fcinfo);
}

static RangeBound
bound(const RangeType *range, bool lower)
{
	const Datum value = RangeTypePGetDatum(range);
	RangeBound	b = {0};

	b.lower = lower;
	b.infinite = DatumGetBool(OidFunctionCall1(lower ? F_LOWER_INF_ANYRANGE : F_UPPER_INF_ANYRANGE, value));
	b.inclusive = DatumGetBool(OidFunctionCall1(lower ? F_LOWER_INC_ANYRANGE : F_UPPER_INC_ANYRANGE, value));
	if (!b.infinite)
		b.val = OidFunctionCall1(lower ? F_LOWER_ANYRANGE : F_UPPER_ANYRANGE, value);
	return b;
}

void
range_deserialize(TypeCacheEntry *typcache, const RangeType *range, RangeBound *lower, RangeBound *upper, bool *empty)
{
	*empty = DatumGetBool(OidFunctionCall1(F_ISEMPTY_ANYRANGE, RangeTypePGetDatum(range)));
	if (*empty)
		return;
	*lower = bound(range, true);
	*upper = bound(range, false);
}

/* --- nodes and values ------------------------------------------------------------------------------------------------ */
Aggref *
AggGetAggref(FunctionCallInfo fcinfo)
{
	const AggState *state;

	if (fcinfo->context == NULL || !IsA(fcinfo->context, AggState))
		return NULL;
	state = (const AggState *) fcinfo->context;
	if (state->curperagg != NULL)	/* in a final function */
		return state->curperagg->aggref;
	return state->curpertrans != NULL ? state->curpertrans->aggref : NULL;
}

TargetEntry *
get_tle_by_resno(List *tlist, AttrNumber resno)
{
	ListCell   *cell;

	foreach(cell, tlist)
		if (lfirst_node(TargetEntry, cell)->resno == resno)
			return lfirst_node(TargetEntry, cell);
	return NULL;
}

Var *
makeVarFromTargetEntry(int varno, TargetEntry *tle)
{
	const Node *value = (const Node *) tle->expr;

	return makeVar(varno, tle->resno, exprType(value), exprTypmod(value), exprCollation(value), 0);
}

List *
pg_analyze_and_rewrite_fixedparams(RawStmt *parsetree, const char *query_string, const Oid *paramTypes, int numParams,
								   QueryEnvironment *queryEnv)
{
	Query	   *query = parse_analyze_fixedparams(parsetree, query_string, paramTypes, numParams, queryEnv);

	return query->commandType == CMD_UTILITY ? list_make1(query) : QueryRewrite(query);
}

Size
datumGetSize(Datum value, bool typByVal, int typLen)
{
	if (typByVal || typLen > 0)
		return typLen;
	return typLen == -1 ? VARSIZE_ANY(DatumGetPointer(value)) : strlen(DatumGetCString(value)) + 1;
}

void
EOH_init_header(ExpandedObjectHeader *eohptr, const ExpandedObjectMethods *methods, MemoryContext obj_context)
{
	const varatt_expanded to = {eohptr};

	eohptr->vl_len_ = EOH_HEADER_MAGIC;
	eohptr->eoh_methods = methods;
	eohptr->eoh_context = obj_context;
	SET_VARTAG_EXTERNAL(eohptr->eoh_rw_ptr, VARTAG_EXPANDED_RW);
	memcpy(VARDATA_EXTERNAL(eohptr->eoh_rw_ptr), &to, sizeof to);
	SET_VARTAG_EXTERNAL(eohptr->eoh_ro_ptr, VARTAG_EXPANDED_RO);
	memcpy(VARDATA_EXTERNAL(eohptr->eoh_ro_ptr), &to, sizeof to);
}

/* Equal for rows of equal columns: the type cache counts versions of named types; no number of an anonymous one is used twice. */
uint64
assign_record_type_identifier(Oid type_id, int32 typmod)
{
	const		uint64 anonymous = UINT64CONST(1) << 62;
	static uint64 unknown = UINT64CONST(1) << 63;

	if (type_id != RECORDOID)
	{
		const TypeCacheEntry *entry = lookup_type_cache(type_id, TYPECACHE_TUPDESC);

		if (entry->tupDesc == NULL)
			ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("type %s is not composite", format_type_be(type_id)));
		return entry->tupDesc_identifier;
	}
	return typmod >= 0 ? anonymous + typmod : ++unknown;
}

/* --- jsonb, as it lies in memory (utils/jsonb.h) --------------------------------------------------------------------- */
static void
entry_at(const JEntry *entries, char *base, int index, uint32 *offset, JsonbValue *to)
{
	const JEntry entry = entries[index];
	const uint32 at = *offset;

	JBE_ADVANCE_OFFSET(*offset, entry);
	if (JBE_ISNULL(entry))
		to->type = jbvNull;
	else if (JBE_ISSTRING(entry))
	{
		to->type = jbvString;
		to->val.string.val = base + at;
		to->val.string.len = *offset - at;
	}
	else if (JBE_ISNUMERIC(entry))
	{
		to->type = jbvNumeric;
		to->val.numeric = (Numeric) (base + INTALIGN(at));
	}
	else if (JBE_ISBOOL(entry))
	{
		to->type = jbvBool;
		to->val.boolean = JBE_ISBOOL_TRUE(entry);
	}
	else
	{
		to->type = jbvBinary;
		to->val.binary.data = (JsonbContainer *) (base + INTALIGN(at));
		to->val.binary.len = *offset - INTALIGN(at);
	}
}

/* The keys of an object, then its values; the elements of an array. */
static int
entries_of(const JsonbContainer *container)
{
	return JsonContainerSize(container) * (JsonContainerIsObject(container) ? 2 : 1);
}

static JsonbIterator *
iterate(JsonbContainer *container, JsonbIterator *parent)
{
	JsonbIterator *it = palloc0(sizeof *it);

	it->container = container;
	it->parent = parent;
	it->nElems = JsonContainerSize(container);
	it->isScalar = JsonContainerIsArray(container) && JsonContainerIsScalar(container);
	it->children = container->children;
	it->dataProper = (char *) (container->children + entries_of(container));
	it->state = JsonContainerIsArray(container) ? JBI_ARRAY_START : JBI_OBJECT_START;
	if (JsonContainerIsObject(container))
		for (int k = 0; k < it->nElems; ++k)
			JBE_ADVANCE_OFFSET(it->curValueOffset, it->children[k]);
	return it;
}

JsonbIterator *
JsonbIteratorInit(JsonbContainer *container)
{
	return iterate(container, NULL);
}

/* Of a container that is in another: its own beginning is the next token. */
static JsonbIteratorToken
descend(JsonbIterator **it, JsonbValue *val, bool skipNested, JsonbIteratorToken token)
{
	if (val->type != jbvBinary || skipNested)
		return token;
	*it = iterate(val->val.binary.data, *it);
	return JsonbIteratorNext(it, val, false);
}

static JsonbIteratorToken
ascend(JsonbIterator **it, JsonbIteratorToken token)
{
	JsonbIterator *parent = (*it)->parent;

	pfree(*it);
	*it = parent;
	return token;
}

JsonbIteratorToken
JsonbIteratorNext(JsonbIterator **it, JsonbValue *val, bool skipNested)
{
	JsonbIterator *at = *it;

	if (at == NULL)
		return WJB_DONE;
	switch (at->state)
	{
		case JBI_ARRAY_START:
			val->type = jbvArray;
			val->val.array.nElems = at->nElems;
			val->val.array.rawScalar = at->isScalar;
			at->state = JBI_ARRAY_ELEM;
			return WJB_BEGIN_ARRAY;
		case JBI_ARRAY_ELEM:
			if (at->curIndex >= at->nElems)
				return ascend(it, WJB_END_ARRAY);
			entry_at(at->children, at->dataProper, at->curIndex++, &at->curDataOffset, val);
			return descend(it, val, skipNested, WJB_ELEM);
		case JBI_OBJECT_START:
			val->type = jbvObject;
			val->val.object.nPairs = at->nElems;
			at->state = JBI_OBJECT_KEY;
			return WJB_BEGIN_OBJECT;
		case JBI_OBJECT_KEY:
			if (at->curIndex >= at->nElems)
				return ascend(it, WJB_END_OBJECT);
			entry_at(at->children, at->dataProper, at->curIndex, &at->curDataOffset, val);
			at->state = JBI_OBJECT_VALUE;
			return WJB_KEY;
		case JBI_OBJECT_VALUE:
			entry_at(at->children, at->dataProper, at->nElems + at->curIndex++, &at->curValueOffset, val);
			at->state = JBI_OBJECT_KEY;
			return descend(it, val, skipNested, WJB_VALUE);
	}
	return WJB_DONE;
}

JsonbValue *
getKeyJsonValueFromContainer(JsonbContainer *container, const char *keyVal, int keyLen, JsonbValue *res)
{
	const int	n = JsonContainerSize(container);
	char	   *base = (char *) (container->children + entries_of(container));
	uint32		offset = 0;
	int			found = -1;

	for (int k = 0; k < n; ++k)
	{
		JsonbValue	key;

		entry_at(container->children, base, k, &offset, &key);
		if (key.val.string.len == keyLen && memcmp(key.val.string.val, keyVal, keyLen) == 0)
			found = k;
	}
	if (found < 0)
		return NULL;
	if (res == NULL)
		res = palloc(sizeof *res);
	for (int k = 0; k <= found; ++k)
		entry_at(container->children, base, n + k, &offset, res);
	return res;
}
