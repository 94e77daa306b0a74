import { isRecord } from '../tools/pointer.ts';
import type { Tool, ToolPagination } from '../tools/tool.ts';
import { type BodyPlan, planBody } from './body.ts';
import { describe, tagsOf, titleOf } from './describe.ts';
import { exposureOf, type ParameterRules } from './exposure.ts';
import { hintsOf } from './hints.ts';
import { writeInputSchema, writeOutputSchema } from './input-schema.ts';
import { type InputDraft, nameInputs } from './inputs.ts';
import { extension, type Operation } from './operations.ts';
import { findPages } from './pages.ts';
import { type Parameter, readParameters } from './parameters.ts';
import type { NoteKind } from './report.ts';
import { placesOf, writeRequest } from './request.ts';
import type { Resolver } from './resolve.ts';
import type { SchemaReader } from './schema-view.ts';
import type { Security } from './security.ts';
import { successResponseOf } from './success-response.ts';

type Data = Record<string, unknown>;

/**
 * A tool is reported if the JSON of its name, description and input schema has more characters than this: it costs a
 * model many tokens, and an overlay could shorten it.
 */
const NOTICE_BYTES = 8192;

/** The data that all operations of a document share. */
export interface DocumentContext {
  connector: string;
  resolve: Resolver;
  read: SchemaReader;
  security: Security;
}

/** A tool, and notes about parts of its operation that were omitted or changed. */
export interface MadeTool {
  tool: Tool;
  notes: { kind: NoteKind; detail: string }[];
}

/**
 * Creates the tool of one operation. Parameters and body become one flat input object, from which the request template
 * of the tool builds the request.
 *
 * @param name the name from `nameTools`
 * @param prefix the part of the path between the base address and the operation's path
 * @throws PathError for an invalid path; any other error if the operation contradicts itself or the standard, or its
 * input schema is too large
 */
export function makeTool(operation: Operation, name: string, prefix: string, context: DocumentContext): MadeTool {
  const { resolve, read, security } = context;
  const notes: MadeTool['notes'] = [];
  const note = (kind: NoteKind, detail: string) => notes.push({ kind, detail });
  const overlay = extension(operation.data, 'x-tool');
  const parameters = withPathPlaces(operation, readParameters(operation, resolve), note);
  const answer = successResponseOf(operation, resolve);
  const pages = findPages(operation, parameters, answer, read);

  const rules = parameterRules(operation.data);
  const taken = new Set(pages?.taken);
  const fixed: { parameter: Parameter; value: unknown }[] = [];
  const offered: { parameter: Parameter; draft: InputDraft }[] = [];
  for (const parameter of parameters) {
    if (parameter.in === 'query' && taken.has(parameter.name)) continue;
    const exposure = exposureOf(parameter, security.schemeNames, rules, read);
    if (exposure.kind === 'hide') note('INPUT_HIDDEN', `${parameter.in} ${parameter.name}: ${exposure.why}`);
    else if (exposure.kind === 'fix') {
      fixed.push({ parameter, value: exposure.value });
      note('INPUT_FIXED', `${parameter.in} ${parameter.name}: ${String(exposure.value)}`);
    } else {
      offered.push({ parameter, draft: draftOf(parameter) });
    }
  }

  const body = sendableBody(operation, planBody(operation, rules, resolve, read), note);
  const drafts = [...offered.map(({ draft }) => draft), ...(body?.drafts ?? [])].map((draft) =>
    Object.assign(draft, overlayOf(draft, operation.data)),
  );
  const inputs = nameInputs(drafts, pages ? ['cursor'] : []);
  const keys = new Map(drafts.map((draft, index) => [draft, inputs[index]?.key ?? draft.wire]));
  const keyOf = (draft: InputDraft) => keys.get(draft) as string;
  for (const { key, wire, place } of inputs) if (key !== wire) note('INPUT_RENAMED', `${place} ${wire}: ${key}`);

  const { schema, cut, dropped } = writeInputSchema(inputs, read);
  if (cut) note('SCHEMA_CUT', 'input_schema');
  if (dropped.length > 0) note('INPUT_DROPPED', dropped.slice(0, 10).join(', '));

  const tool: Tool = {
    connector: context.connector,
    name,
    title: titleOf(operation, overlay),
    description: describe(operation, overlay),
    tags: tagsOf(operation, overlay),
    hints: hintsOf(operation.method, overlay['hints']),
    scopes: security.scopesOf(operation),
    input_schema: schema,
    output_schema: writeOutputSchema(answer.schema, read),
    examples: [],
    request: writeRequest({ operation, prefix, offered, fixed, body, keyOf }),
    ...(pages && { pagination: withSizeKey(pages.pagination, offered, keyOf) }),
    ...responseOf(operation.data),
  };
  const size = JSON.stringify([tool.name, tool.description, schema]).length;
  if (size > NOTICE_BYTES) note('LARGE', `${size} bytes`);
  return { tool, notes };
}

/**
 * Returns the parameters, with exactly one path parameter for each placeholder of the path. Undeclared path parameters
 * are added; declared path parameters without a placeholder are dropped.
 */
function withPathPlaces(
  operation: Operation,
  parameters: Parameter[],
  note: (kind: NoteKind, detail: string) => void,
): Parameter[] {
  const places = new Set(placesOf(operation.path));
  const declared = parameters.filter((parameter) => parameter.in !== 'path' || places.has(parameter.name));
  const missing = [...places].filter(
    (name) => !declared.some((parameter) => parameter.in === 'path' && parameter.name === name),
  );
  for (const name of missing) note('PATH_UNDECLARED', name);
  return [...declared, ...missing.map(undeclared)];
}

function undeclared(name: string): Parameter {
  return {
    in: 'path',
    name,
    required: true,
    schema: { type: 'string' },
    description: undefined,
    style: undefined,
    explode: undefined,
    allowReserved: false,
    contentType: undefined,
    multiSegment: false,
    deprecated: false,
  };
}

function draftOf({ in: place, name, schema, required, description }: Parameter): InputDraft {
  return {
    place: place as InputDraft['place'],
    wire: name,
    schema,
    required,
    ...(description !== undefined && { description }),
  };
}

/** Reads the entries of an input in `x-tool-params.rename` and `.default`, whose keys are names in requests. */
function overlayOf({ wire }: InputDraft, data: Data): Partial<InputDraft> {
  const { rename, default: presets } = extension(data, 'x-tool-params');
  const wanted = isRecord(rename) && typeof rename[wire] === 'string' ? { wanted: rename[wire] } : {};
  return isRecord(presets) && Object.hasOwn(presets, wire) ? { ...wanted, preset: presets[wire] } : wanted;
}

function parameterRules(data: Data): ParameterRules {
  const { hide, show, fix } = extension(data, 'x-tool-params');
  const names = (list: unknown) => new Set(Array.isArray(list) ? list.map(String) : []);
  return { hide: names(hide), show: names(show), fix: isRecord(fix) ? fix : {} };
}

function sendableBody(
  operation: Operation,
  body: BodyPlan | undefined,
  note: (kind: NoteKind, detail: string) => void,
): BodyPlan | undefined {
  if (!body || (operation.method !== 'GET' && operation.method !== 'HEAD')) return body;
  if (body.drafts.length > 0) note('BODY_IGNORED', operation.method);
  return undefined;
}

function withSizeKey(
  pagination: ToolPagination,
  offered: readonly { draft: InputDraft }[],
  keyOf: (draft: InputDraft) => string,
): ToolPagination {
  if (!pagination.request) return pagination;
  // `page_size_input` is the parameter's name in requests; an overlay may also use the key of the input. A hidden
  // parameter has no input, so it cannot be the page size.
  const { page_size_input: name, ...request } = pagination.request;
  const size = offered.find(({ draft }) => draft.place === 'query' && (draft.wire === name || keyOf(draft) === name));
  return { ...pagination, request: { ...request, ...(size && { page_size_input: keyOf(size.draft) }) } };
}

/**
 * Reads `x-tool-response` and `x-tool-error-when`. Their members are those of tool definitions, except `cap`, which
 * becomes `max_bytes`. A value below 1,024 or above 81,920 bytes is replaced by this limit.
 */
function responseOf(data: Data): Pick<Tool, 'response' | 'errors'> {
  const { select, fields, cap } = extension(data, 'x-tool-response');
  const response = {
    ...(typeof select === 'string' && { select }),
    ...(Array.isArray(fields) && { fields: fields.map(String) }),
    ...(typeof cap === 'number' && { max_bytes: Math.min(Math.max(Math.trunc(cap), 1024), 81_920) }),
  };
  const errors = data['x-tool-error-when'];
  return {
    ...(Object.keys(response).length > 0 && { response }),
    ...(Array.isArray(errors) && errors.length > 0 && { errors: errors as NonNullable<Tool['errors']> }),
  };
}
