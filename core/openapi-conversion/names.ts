import { createHash } from 'node:crypto';
import { toolPrefix } from '../tools/tool-name.ts';

const MAX_NAME = 64;
const HASH = 6;

/** Abbreviations of long words, used only if a name is too long. */
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

/** The parts that a name is built from. */
export interface NameSource {
  /** Method and path; they identify the operation in later imports. */
  sourceId: string;
  operationId?: string;
  method: string;
  path: string;
  /** The name that an overlay requests. */
  wanted?: string;
}

/**
 * Names the tools of a connector: `<connector>_<operation>`, at most 64 characters of `[a-z0-9_]`. A name depends on
 * its operation, and on the other operations and tools that want or have the same name, but not on their order. Names
 * of earlier imports are kept.
 *
 * @param locked names of earlier imports, by source id
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
  // Names of removed operations are not taken. An operation whose path has changed looks like a removed and an added
  // operation; because both have the same operation id, the added operation gets the name of the removed one.
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

/**
 * Returns the name that an overlay requests, otherwise the operation's id, in words with underscores. If both are
 * missing, it uses method and path: GET /users/{id} becomes get_users_by_id.
 */
function wordsOf({ operationId, wanted, method, path }: NameSource): string {
  const words = snake(wanted ?? operationId ?? '');
  if (words !== '') return words;
  const places = path.replace(/\{[+]?([^{}]*)\}/g, ' by $1 ');
  return snake(`${method.toLowerCase()} ${places}`);
}

/** Returns the beginning of a name and a hash, so that two long names with the same beginning stay different. */
function hashed(name: string, of: string): string {
  const hash = createHash('sha256').update(of).digest('hex').slice(0, HASH);
  return `${name.slice(0, MAX_NAME - HASH - 1).replace(/_$/, '')}_${hash}`;
}

/** Splits camelCase, HTTPVerbs, dots and slashes into words with underscores. */
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
