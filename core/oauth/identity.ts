import type { OAuthConfig } from '../connectors/auth-pattern.ts';
import type { IdentityWay } from '../connectors/oauth-deviations.ts';
import { atPointer } from '../tools/pointer.ts';
import { type FlowDocument, textAt } from './account-values.ts';

/** Whose account it is, by the provider's own words. */
export interface Identity {
  /** A stable id within the provider; null where the connector knows no way to learn one. */
  subject: string | null;
  /** Names and addresses by which people know the account, best first. An address that the provider calls unverified is none. */
  identifierCandidates: string[];
}

/** What every provider that follows OpenID Connect, and most others, call the id of a user. */
const USUAL_SUBJECTS = ['/identity/sub', '/identity/id'];

/** How a config learns whose account it is; patterns of the contract name an address and a field. */
export function identityWayOf(config: OAuthConfig): IdentityWay | undefined {
  if (config.identity !== undefined || config.user_info_uri === undefined) return config.identity;
  const field = config.identity_field === undefined ? [] : [pointerOf(config.identity_field)];
  return { call: { uri: config.user_info_uri }, subject: [], identifiers: field };
}

/**
 * Reads the identity from the documents of a flow.
 *
 * @returns undefined if a part of the subject is missing: half of an id could belong to a different user
 */
export function readIdentity(way: IdentityWay, document: FlowDocument): Identity | undefined {
  const identifiers = (way.identifiers ?? []).filter((pointer) => !isUnverified(document, pointer));
  const texts = identifiers.map((pointer) => textAt(document, pointer)).filter((text) => text !== undefined);
  const subject = subjectOf(way.subject.length > 0 ? way.subject : usualSubject(document, identifiers), document);
  return subject === undefined ? undefined : { subject, identifierCandidates: [...new Set(texts)] };
}

function usualSubject(document: FlowDocument, identifiers: readonly string[]): string[] {
  const found = [...USUAL_SUBJECTS, ...identifiers].find((pointer) => textAt(document, pointer) !== undefined);
  return found === undefined ? [] : [found];
}

/** Several parts are encoded and joined by colons, so that two different lists never give the same id. */
function subjectOf(pointers: readonly string[], document: FlowDocument): string | undefined {
  const parts = pointers.map((pointer) => textAt(document, pointer));
  if (parts.length === 0 || parts.some((part) => part === undefined)) return undefined;
  return parts.length === 1 ? parts[0] : parts.map((part) => encodeURIComponent(part ?? '')).join(':');
}

/** OpenID Connect Core §5.1: an unverified email address could belong to anyone. */
function isUnverified(document: FlowDocument, pointer: string): boolean {
  if (!pointer.endsWith('/email')) return false;
  const verified = atPointer(document, `${pointer}_verified`);
  return verified === false || verified === 'false';
}

function pointerOf(dotted: string): string {
  return `/identity/${dotted.replaceAll('.', '/')}`;
}
