import { createHash } from 'node:crypto';
import type { JsonSchema } from '../tools/tool.ts';
import { LEGAL_KEY } from './schema.ts';

export type InputPlace = 'path' | 'query' | 'header' | 'body';

/** An input of a tool before it has its key, the property name that models use. */
export interface InputDraft {
  place: InputPlace;
  /** Its name in the document and in requests. */
  wire: string;
  /** The schema from the document. */
  schema: unknown;
  /** A schema that replaces `schema`; used for files. */
  fixed?: JsonSchema;
  required: boolean;
  description?: unknown;
  /** The key that an overlay requests. */
  wanted?: string;
  /** The value that is used if a caller omits the input. */
  preset?: unknown;
}

/** One property of the tool's input. */
export interface Input extends InputDraft {
  key: string;
}

const MAX_KEY = 64;

/**
 * Gives every input its key, the property name that models use. The key is the name in requests if that is a legal key,
 * otherwise a legal key made from it. If several inputs want the same key, the first of body, path, query and header
 * gets it. The keys of the others get their place as a prefix (`path_id`), and also a hash as a suffix if the prefixed
 * key is taken. The order in the document has no influence.
 *
 * @param reserved keys that the server uses itself (`cursor` if the tool has pages)
 */
export function nameInputs(drafts: readonly InputDraft[], reserved: readonly string[] = []): Input[] {
  const ranked = [...drafts].sort((a, b) => RANK[a.place] - RANK[b.place] || compare(a.wire, b.wire));
  const taken = new Set(reserved);
  const keys = new Map<InputDraft, string>();
  for (const draft of ranked) {
    const plain = legalKey(draft.wanted ?? draft.wire, draft.place);
    const placed = legalKey(`${draft.place}_${plain}`, draft.place);
    const free =
      [plain, placed].find((key) => !taken.has(key)) ?? legalKey(`${placed}_${hash(draft.wire)}`, draft.place);
    keys.set(draft, free);
    taken.add(free);
  }
  return drafts.map((draft) => ({ ...draft, key: keys.get(draft) as string }));
}

const RANK: Record<InputPlace, number> = { body: 0, path: 1, query: 2, header: 3 };

/**
 * Returns a legal key: `$top` → `top`, `filter[x]` → `filter_x`. Path keys are variables of a URI template, which must
 * not contain a dash.
 */
export function legalKey(wire: string, place: InputPlace): string {
  const legal = place === 'path' ? /^[A-Za-z0-9_]{1,64}$/ : LEGAL_KEY;
  if (legal.test(wire) && wire !== '__proto__') return wire;
  const words = wire
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '');
  if (words === '') return `p_${hash(wire)}`;
  return words.length <= MAX_KEY ? words : `${words.slice(0, MAX_KEY - 7)}_${hash(wire)}`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
