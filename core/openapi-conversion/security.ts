import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { isRecord } from '../tools/pointer.ts';
import type { Operation } from './operations.ts';
import type { CredentialNote } from './report.ts';
import type { Resolver } from './resolve.ts';
import { isPlaceable, keyField, mapScheme } from './security-scheme.ts';

type Data = Record<string, unknown>;

/** The security schemes of a document, converted to authorization patterns. */
export interface Security {
  patterns: AuthPattern[];
  notes: CredentialNote[];
  warnings: string[];
  /** Places and names of apiKey schemes, for example `query key`. Parameters with these names are credentials. */
  schemeNames: ReadonlySet<string>;
  /** Returns alternative sets of scopes; an account needs all scopes of one set. */
  scopesOf(operation: Operation): string[][];
}

const MAX_FIELDS = 4;

/**
 * Maps security schemes to authorization patterns. OAuth addresses in documents are often outdated, so they are never
 * used: until an administrator sets them, accounts need a token that was obtained elsewhere.
 *
 * @param seen parameters that look like credentials by their names; only used if no scheme is supported
 */
export function readSecurity(
  document: Data,
  resolve: Resolver,
  seen: readonly { in: string; name: string }[],
): Security {
  const components = isRecord(document['components']) ? document['components'] : {};
  const listed = isRecord(components['securitySchemes']) ? components['securitySchemes'] : {};
  const schemes = new Map(
    Object.entries(listed).flatMap(([name, node]) => {
      const scheme = resolve(node);
      return scheme ? [[name, scheme] as const] : [];
    }),
  );
  const notes: CredentialNote[] = [];
  const warnings: string[] = [];
  const patterns = new Map<AuthPattern['type'], AuthPattern>();
  const offer = (scheme: string, pattern: AuthPattern, detail: string) => {
    const present = patterns.has(pattern.type);
    if (!present) patterns.set(pattern.type, pattern);
    notes.push({
      scheme,
      type: pattern.type,
      detail: present ? `${detail} Another scheme of this type was used first.` : detail,
    });
  };
  const overlay = overlayPattern(document);
  if (overlay) offer('x-tool-auth', overlay, 'Set by an overlay.');
  const together = keysTogether(document, schemes);
  for (const [name, scheme] of schemes) {
    if (together.has(name)) continue;
    const mapped = mapScheme(name, scheme);
    if ('pattern' in mapped) offer(name, mapped.pattern, mapped.detail);
    else notes.push({ scheme: name, detail: mapped.detail });
  }
  if (together.size > 1) {
    const fields = [...together].map(([name, scheme]) => keyField(name, scheme));
    offer([...together.keys()].join(' + '), { type: 'CUSTOM', fields }, 'Keys that are sent together.');
  }
  if (patterns.size === 0) fallBack(schemes.size > 0, seen, offer, warnings);
  return {
    patterns: [...patterns.values()],
    notes,
    warnings,
    schemeNames: new Set(
      [...schemes.values()].flatMap(({ type, in: place, name }) =>
        type === 'apiKey' ? [`${place} ${String(name).toLowerCase()}`] : [],
      ),
    ),
    scopesOf: (operation) => scopesOf(operation, document, schemes),
  };
}

/**
 * Returns the apiKey schemes of the first requirement that consists of two to `MAX_FIELDS` of them: they are one
 * credential with several parts. Empty if there is no such requirement.
 */
function keysTogether(document: Data, schemes: ReadonlyMap<string, Data>): Map<string, Data> {
  const requirements = Array.isArray(document['security']) ? document['security'].filter(isRecord) : [];
  for (const requirement of requirements) {
    const keys = Object.keys(requirement).flatMap((name) => {
      const scheme = schemes.get(name);
      return scheme?.['type'] === 'apiKey' && isPlaceable(keyField(name, scheme)) ? [[name, scheme] as const] : [];
    });
    if (keys.length > 1 && keys.length <= MAX_FIELDS && keys.length === Object.keys(requirement).length)
      return new Map(keys);
  }
  return new Map();
}

/**
 * Reads `x-tool-auth` of the document: an authorization pattern, for example one that OpenAPI cannot express. For an
 * API key, it also contains the placement and a prefix such as `Token`.
 */
function overlayPattern(document: Data): AuthPattern | undefined {
  const { pattern, prefix, name, in: place } = isRecord(document['x-tool-auth']) ? document['x-tool-auth'] : {};
  const word = typeof prefix === 'string' ? prefix : undefined;
  const placement = {
    in: place === 'query' || place === 'cookie' ? place : 'header',
    name: typeof name === 'string' ? name : 'Authorization',
  } as const;
  switch (pattern) {
    case 'API_KEY':
      return {
        type: 'API_KEY',
        placement,
        ...(word !== undefined && { auth_field_mutations: { api_key: { prefix: word } } }),
      };
    case 'BEARER_TOKEN':
    case 'BASIC':
    case 'NO_AUTH':
      return { type: pattern };
    default:
      return undefined;
  }
}

function fallBack(
  hasSchemes: boolean,
  seen: readonly { in: string; name: string }[],
  offer: (scheme: string, pattern: AuthPattern, detail: string) => void,
  warnings: string[],
): void {
  const [hidden] = seen;
  if (hidden) {
    const field = keyField('api_key', hidden);
    if (isPlaceable(field) && field.placement) {
      offer(
        `parameter ${hidden.name}`,
        { type: 'API_KEY', placement: field.placement },
        'No scheme names it, but the parameter looks like a credential.',
      );
      return;
    }
  }
  if (hasSchemes) {
    offer(
      'none',
      { type: 'BEARER_TOKEN' },
      'None of the schemes in the document is supported. The accounts of the provider need a bearer token.',
    );
    return;
  }
  offer('none', { type: 'NO_AUTH' }, 'The document declares no security schemes.');
  warnings.push(
    'The document declares no security schemes: if its calls need authentication, set it with an overlay (x-tool-auth).',
  );
}

/**
 * Returns alternative sets of scopes: those of an overlay (`x-tool-scopes`), otherwise the scopes of each security
 * requirement. A set contains the scopes of all OAuth schemes of its requirement, because documents list the implicit
 * and the code flow of one credential as two schemes. Requirements without scopes give no set. If a requirement is empty
 * (calls need no credential), the result is empty.
 */
function scopesOf({ data }: Operation, document: Data, schemes: ReadonlyMap<string, Data>): string[][] {
  if (Array.isArray(data['x-tool-scopes'])) return clean(data['x-tool-scopes']);
  const own = data['security'] ?? document['security'];
  const requirements = Array.isArray(own) ? own.filter(isRecord) : [];
  const sets = requirements.map((requirement) =>
    Object.entries(requirement).flatMap(([name, scopes]) =>
      ['oauth2', 'openIdConnect'].includes(String(schemes.get(name)?.['type'])) && Array.isArray(scopes) ? scopes : [],
    ),
  );
  return clean(
    sets.some((set) => set.length === 0) && requirements.some((r) => Object.keys(r).length === 0) ? [] : sets,
  );
}

function clean(sets: readonly unknown[]): string[][] {
  const plain = sets.map((set) =>
    Array.isArray(set)
      ? [
          ...new Set(
            set.filter((scope): scope is string => typeof scope === 'string' && scope !== '' && scope.length <= 200),
          ),
        ].sort()
      : [],
  );
  const kept = plain.filter((set) => set.length > 0 && set.length <= 10);
  return [...new Map(kept.map((set) => [set.join(' '), set])).values()].slice(0, 10);
}
