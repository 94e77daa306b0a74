import { fileInputSchema } from '../tools/file-input.ts';
import { isRecord } from '../tools/pointer.ts';
import type { JsonSchema, ToolBody } from '../tools/tool.ts';
import type { ParameterRules } from './exposure.ts';
import type { InputDraft } from './inputs.ts';
import type { Operation } from './operations.ts';
import { extension } from './operations.ts';
import { plainText } from './plain-text.ts';
import type { Resolver } from './resolve.ts';
import { isOffered } from './schema.ts';
import { branchesOf, isBinary, membersOf, requiredOf, type SchemaReader, typesOf } from './schema-view.ts';

type Data = Record<string, unknown>;

/** The plan for a request body: its inputs, and a function that builds its template after the inputs got their keys. */
export interface BodyPlan {
  drafts: InputDraft[];
  /** @param keyOf returns the key of a draft */
  write(keyOf: (draft: InputDraft) => string): ToolBody;
}

type Format = 'json' | 'form' | 'multipart' | 'raw';

/**
 * Plans the body of an operation in the media type that the overlay names (`x-tool-body`), if the document has it.
 * Otherwise it uses the best of the operation's media types: JSON before forms, forms before multipart, then any other
 * type without conversion.
 *
 * @returns undefined if the operation has no body
 */
export function planBody(
  operation: Operation,
  rules: ParameterRules,
  resolve: Resolver,
  read: SchemaReader,
): BodyPlan | undefined {
  const body = resolve(operation.data['requestBody']);
  const content = isRecord(body?.['content']) ? body['content'] : {};
  const overlay = extension(operation.data, 'x-tool-body');
  const chosen = chooseMedia(Object.keys(content), overlay['media_type']);
  if (!body || !chosen) return undefined;
  const media = resolve(content[chosen.key]) ?? {};
  const encoding = isRecord(media['encoding']) ? media['encoding'] : {};
  const required = body['required'] === true;
  const context = { ...chosen, encoding, required, rules, read, description: body['description'] };
  if (chosen.format === 'raw') return rawBody(media['schema'], context);

  const wrapper = typeof overlay['unwrap'] === 'string' ? overlay['unwrap'] : undefined;
  const outer = read(media['schema']);
  const inner = wrapper === undefined ? undefined : membersOf(outer ?? {}).find(([name]) => name === wrapper)?.[1];
  const plan = inner === undefined ? undefined : objectBody(inner, context, wrapper);
  return plan ?? objectBody(media['schema'], context) ?? wholeBody(media['schema'], context);
}

interface BodyContext {
  format: Format;
  mediaType: string;
  encoding: Data;
  required: boolean;
  rules: ParameterRules;
  read: SchemaReader;
  description: unknown;
}

/**
 * Chooses the media type `wanted` if the document has it, otherwise the one with the lowest rank; of equal ranks, the
 * first in the document. Returns undefined if there are no media types.
 */
function chooseMedia(
  keys: readonly string[],
  wanted: unknown,
): { key: string; format: Format; mediaType: string } | undefined {
  const ranked = keys
    .map((key) => ({ key, mediaType: key.split(';', 1)[0]?.trim().toLowerCase() ?? '' }))
    .map(({ key, mediaType }) => ({ key, mediaType, rank: rankOf(mediaType) }));
  const [best] = [...ranked].sort((a, b) => a.rank - b.rank);
  const chosen = ranked.find(({ key }) => key === wanted) ?? best;
  if (!chosen) return undefined;
  const { key, rank, mediaType } = chosen;
  const format: Format = rank <= 2 ? 'json' : rank === 3 ? 'form' : rank === 4 ? 'multipart' : 'raw';
  return { key, format, mediaType: rank === 2 ? 'application/json' : mediaType };
}

function rankOf(mediaType: string): number {
  if (mediaType === 'application/json') return 0;
  if (/^(application|text)\/(json|[a-z0-9.+-]+\+json)$/.test(mediaType)) return 1;
  if (mediaType === '*/*' || mediaType === 'application/*') return 2;
  if (mediaType === 'application/x-www-form-urlencoded') return 3;
  if (mediaType.startsWith('multipart/')) return 4;
  return mediaType.startsWith('text/') ? 5 : 6;
}

/**
 * Plans a body that is an object: its members become inputs. An object that must be empty has no inputs. Returns
 * undefined for any other body, for an object with alternatives or without named members, and for an object with a
 * member whose name looks like a template directive.
 */
function objectBody(schema: unknown, context: BodyContext, wrapper?: string): BodyPlan | undefined {
  const { read, rules, format } = context;
  const view = read(schema) ?? {};
  const all = membersOf(view).filter(([name, member]) => isOffered(read(member), 'input', requiredOf(view).has(name)));
  if (branchesOf(view).length === 0 && isEmptyObject(view)) return { drafts: [], write: () => bodyOf({}, context, []) };
  const types = typesOf(view);
  if (all.length === 0 || branchesOf(view).length > 0 || types.some((type) => type !== 'object' && type !== 'null'))
    return undefined;
  const members = all.filter(([name]) => !rules.hide.has(name) || rules.show.has(name));
  const needed = requiredOf(view);
  const drafts = members
    .filter(([name]) => !Object.hasOwn(rules.fix, name))
    .map(([name, member]): InputDraft => {
      const fixed = format === 'multipart' ? fileSchema(member, read) : undefined;
      const required =
        needed.has(name) && (context.required || wrapper !== undefined || format !== 'json' || needed.size > 0);
      return { place: 'body', wire: name, schema: member, required, ...(fixed && { fixed }) };
    });
  const write = (keyOf: (draft: InputDraft) => string): ToolBody => {
    const byName = new Map(drafts.map((draft) => [draft.wire, draft]));
    const value = Object.fromEntries(
      members.map(([name]) => {
        const draft = byName.get(name);
        if (!draft) return [name, { $literal: rules.fix[name] }];
        return [name, draft.fixed ? { $file: keyOf(draft) } : { $input: keyOf(draft) }];
      }),
    );
    return bodyOf(wrapper === undefined ? value : { [wrapper]: value }, context, members);
  };
  // A template could not distinguish a member named `$input` from its directive of this name.
  return members.some(([name]) => name.startsWith('$')) ? undefined : { drafts, write };
}

/** Whether a schema allows only an object without members. */
function isEmptyObject(view: Data): boolean {
  return isRecord(view['properties']) && Object.keys(view['properties']).length === 0 && !view['additionalProperties'];
}

/**
 * Plans one input for the whole body. Used if the body is a list, a plain value, one of several alternatives, or an
 * object with any members. A form that is not an object becomes one text, and a multipart body becomes a map of parts.
 */
function wholeBody(schema: unknown, context: BodyContext): BodyPlan {
  const { format, read } = context;
  const types = typesOf(read(schema) ?? {});
  const isMap = types.length === 0 || types.includes('object');
  if (format === 'form' && !isMap) return rawBody(schema, context);
  const free = format === 'json' ? (schema ?? {}) : isMap && schema !== undefined ? schema : { type: 'object' };
  const draft: InputDraft = {
    place: 'body',
    wire: 'body',
    schema: free,
    required: context.required,
    description: context.description,
  };
  return { drafts: [draft], write: (keyOf) => bodyOf({ $input: keyOf(draft) }, context, []) };
}

/** Plans one input for a body that is sent without conversion: a text for textual media types, otherwise a file. */
function rawBody(schema: unknown, context: BodyContext): BodyPlan {
  const view = context.read(schema) ?? {};
  const text =
    /^text\/|[/+](xml|yaml|csv)$|javascript|graphql|urlencoded|ndjson|jsonl/.test(context.mediaType) && !isBinary(view);
  const what = text ? `The body as text of type ${context.mediaType}.` : undefined;
  const draft: InputDraft = {
    place: 'body',
    wire: 'body',
    schema: { type: 'string' },
    required: context.required,
    description: [what, context.description].filter((part) => typeof part === 'string').join(' '),
    ...(!text && {
      fixed: fileInputSchema(plainText(context.description, 200) || `The body as a file of type ${context.mediaType}.`),
    }),
  };
  const media = /[*]/.test(context.mediaType) ? {} : { media_type: context.mediaType };
  return {
    drafts: [draft],
    write: (keyOf) => ({ format: 'raw', ...media, value: text ? { $input: keyOf(draft) } : { $file: keyOf(draft) } }),
  };
}

function bodyOf(
  value: unknown,
  { format, mediaType, encoding }: BodyContext,
  members: readonly [string, unknown][],
): ToolBody {
  if (format === 'json') return { format, ...(mediaType !== 'application/json' && { media_type: mediaType }), value };
  if (format === 'form') {
    const deep = members.some(([name]) => isRecord(encoding[name]) && encoding[name]['style'] === 'deepObject');
    // OpenAPI 3.1 §4.8.15: unless an encoding is declared, a list in a form repeats its name.
    return { format: 'form', value, lists: deep ? 'indices' : 'repeat' };
  }
  const parts = Object.fromEntries(
    members.flatMap(([name]) => {
      const type = isRecord(encoding[name]) ? encoding[name]['contentType'] : undefined;
      return typeof type === 'string' ? [[name, { content_type: type }]] : [];
    }),
  );
  return { format: 'multipart', value, ...(Object.keys(parts).length > 0 && { parts }) };
}

/** Returns the input schema of a multipart member that is a file or a list of files; undefined for other members. */
function fileSchema(member: unknown, read: SchemaReader): JsonSchema | undefined {
  const view = read(member) ?? {};
  const file = fileInputSchema(plainText(view['description'], 200) || 'A file.');
  if (isBinary(view)) return file;
  return typesOf(view).includes('array') && isBinary(read(view['items']) ?? {})
    ? { type: 'array', items: file, description: file['description'] }
    : undefined;
}
