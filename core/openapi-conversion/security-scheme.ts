import type { AuthField, AuthPattern } from '../connectors/auth-pattern.ts';
import { isCookieName, isCredentialHeader } from '../connectors/header-names.ts';
import { isRecord } from '../tools/pointer.ts';
import { snake } from './names.ts';
import { plainText } from './plain-text.ts';

type Data = Record<string, unknown>;

/** The authorization pattern of a security scheme (none if it is not supported), and a detail for the report. */
export type MappedScheme = { pattern: AuthPattern; detail: string } | { detail: string };

/** Converts one security scheme. @param name its name in the document */
export function mapScheme(name: string, scheme: Data): MappedScheme {
  const { type } = scheme;
  if (type === 'http') return mapHttp(String(scheme['scheme']).toLowerCase());
  if (type === 'apiKey') {
    const field = keyField(name, scheme);
    if (!isPlaceable(field)) {
      const { in: place = 'header', name: key = '' } = field.placement ?? {};
      return { detail: `A key in the ${place} "${plainText(key, 60)}" is not supported.` };
    }
    const { placement, ...rest } = field;
    return {
      pattern: { type: 'API_KEY', fields: [{ ...rest, field_name: 'api_key' }], ...(placement && { placement }) },
      detail: `Sent in the ${placement?.in} ${placement?.name}; set a prefix such as Token with an overlay.`,
    };
  }
  if (type === 'oauth2') return mapOAuth(isRecord(scheme['flows']) ? Object.keys(scheme['flows']) : []);
  if (type === 'openIdConnect') return mapOAuth(['authorizationCode']);
  return { detail: `${plainText(String(type), 40)} is not supported.` };
}

function mapHttp(scheme: string): MappedScheme {
  if (scheme === 'bearer') return { pattern: { type: 'BEARER_TOKEN' }, detail: 'A token in Authorization: Bearer.' };
  if (scheme === 'basic') return { pattern: { type: 'BASIC' }, detail: 'User name and password.' };
  return { detail: `HTTP ${plainText(scheme, 40)} authentication is not supported.` };
}

function mapOAuth(flows: string[]): MappedScheme {
  const known: Record<string, string> = { authorizationCode: 'OAUTH', clientCredentials: 'OAUTH_M2M' };
  const possible = flows.flatMap((flow) => known[flow] ?? []);
  const detail =
    possible.length > 0
      ? `${possible.join(' and ')} needs the provider's own URLs, which are never taken from a document. Until you add such a pattern to the provider, accounts store a token.`
      : 'The implicit and password flows are not supported: store a token that you obtained elsewhere.';
  return { pattern: { type: 'BEARER_TOKEN' }, detail };
}

/** Returns the field in which users enter the key of an apiKey scheme, with the place of the key in requests. */
export function keyField(name: string, scheme: Data): AuthField {
  const place = scheme['in'];
  const field = snake(name).slice(0, 40).replace(/_$/, '');
  return {
    field_name: /^[a-z]/.test(field) ? field : `key_${field}`.slice(0, 40).replace(/_$/, ''),
    label: plainText(name, 60) || 'API key',
    input_type: 'password',
    required: true,
    placement: { in: place === 'query' || place === 'cookie' ? place : 'header', name: String(scheme['name'] ?? '') },
  };
}

/** Whether a credential may be sent at the placement of a field. */
export function isPlaceable({ placement }: AuthField): boolean {
  if (!placement) return false;
  if (placement.in === 'header') return isCredentialHeader(placement.name);
  return placement.in === 'cookie'
    ? isCookieName(placement.name)
    : /^[A-Za-z0-9_$@.:[\]-]{1,100}$/.test(placement.name);
}
