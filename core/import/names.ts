import { createHash } from 'node:crypto';
import { toolPrefix } from '../tools/tool-name.ts';

const MAX_NAME = 64;
const HASH = 6;

/** Long words that a reader recognises without their end; used only where a name is too long. */
const SHORT_WORDS: Readonly<Record<string, string>> = {
  administrator: 'admin',
  application: 'app',
  applications: 'apps',
  attribute: 'attr',
  attributes: 'attrs',
  authentication: 'auth',
  authorization: 'auth',
  configuration: 'config',
  configurations: 'configs',
  department: 'dept',
  description: 'desc',
  development: 'dev',
  document: 'doc',
  documents: 'docs',
  environment: 'env',
  environments: 'envs',
  identifier: 'id',
  information: 'info',
  management: 'mgmt',
  notification: 'notif',
  notifications: 'notifs',
  organization: 'org',
  organizations: 'orgs',
  parameter: 'param',
  parameters: 'params',
  permission: 'perm',
  permissions: 'perms',
  properties: 'props',
  property: 'prop',
  reference: 'ref',
  repository: 'repo',
  repositories: 'repos',
  subscription: 'sub',
  subscriptions: 'subs',
  transaction: 'txn',
  transactions: 'txns',
};

/** What a name is made of. */
export interface NameSource {
  /** Method and path: what locks the name. */
  sourceId: string;
  operationId?: string;
  method: string;
  path: string;
  /** A name that an overlay gives. */
  wanted?: string;
}

/**
 * Names the tools of a connector: `<connector>_<operation>`, at most 64 of `[a-z0-9_]`. A name depends on its operation and
 * on which other operations want the same one, never on their order, and a name that was given once stays.
 *
 * @param locked names given at earlier imports, by source id
 * @param others names that belong to other tools
 * @returns names by source id
 */
export function nameTools(
  connector: string,
  sources: readonly NameSource[],
  locked: ReadonlyMap<string, string> = new Map(),
  others: Iterable<string> = [],
): Map<string, string> {
  const prefix = toolPrefix(connector);
  const names = new Map(
    sources.flatMap(({ sourceId }) => (locked.has(sourceId) ? [[sourceId, locked.get(sourceId) as string]] : [])),
  );
  // A name whose operation is gone is free again: the path of an operation may change, and its tool stays.
  const taken = new Set([...names.values(), ...others]);
  const open = sources.filter(({ sourceId }) => !names.has(sourceId));
  const wanted = new Map<string, NameSource[]>();
  for (const source of open) {
    const name = fitted(prefix, source);
    wanted.set(name, [...(wanted.get(name) ?? []), source]);
  }
  for (const [name, claimants] of wanted) {
    const alone = claimants.length === 1 && !taken.has(name);
    for (const { sourceId } of claimants) {
      const own = alone ? name : hashed(name, sourceId);
      names.set(sourceId, own);
      taken.add(own);
    }
  }
  return names;
}

function fitted(prefix: string, source: NameSource): string {
  const words = wordsOf(source);
  const repeated = words.startsWith(prefix) ? words.slice(prefix.length) : words;
  const full = prefix + repeated;
  if (full.length <= MAX_NAME) return full;
  const short =
    prefix +
    repeated
      .split('_')
      .map((word) => SHORT_WORDS[word] ?? word)
      .join('_');
  return short.length <= MAX_NAME ? short : hashed(short, source.operationId ?? source.sourceId);
}

/** The operation's id in words, else the method and the path: GET /users/{id} is get_users_by_id. */
function wordsOf({ operationId, wanted, method, path }: NameSource): string {
  const said = snake(wanted ?? operationId ?? '');
  if (said !== '') return said;
  const places = path.replace(/\{[+]?([^{}]*)\}/g, ' by $1 ');
  return snake(`${method.toLowerCase()} ${places}`);
}

/** The beginning of a name and a hash, so that two long names with the same beginning stay different. */
function hashed(name: string, of: string): string {
  const hash = createHash('sha256').update(of).digest('hex').slice(0, HASH);
  return `${name.slice(0, MAX_NAME - HASH - 1).replace(/_$/, '')}_${hash}`;
}

/** camelCase, HTTPVerbs, dots and slashes as words with underscores. */
export function snake(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
}
