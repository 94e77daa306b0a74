import type { OAuthConfig } from '../connectors/auth-pattern.ts';
import type { IdentityMethod } from '../connectors/oauth-deviations.ts';
import { atPointer } from '../tools/pointer.ts';
import { type FlowDocument, textAt } from './account-values.ts';

/** The provider's user that an account belongs to. */
export interface Identity {
  /** A stable id at the provider; null if the connector does not declare where to read one. */
  subject: string | null;
  /**
   * Names and addresses that users recognize the account by, best first. Addresses that the provider marks as
   * unverified are omitted.
   */
  identifierCandidates: string[];
}

/** Where most providers return the id of a user, including all that follow OpenID Connect. */
const USUAL_SUBJECTS = ['/identity/sub', '/identity/id'];

/**
 * Returns how a configuration reads the identity of an account. A configuration without `identity` may instead have a
 * `user_info_uri` and an `identity_field`.
 *
 * @returns undefined if the configuration has neither `identity` nor `user_info_uri`
 */
export function identityMethodOf(config: OAuthConfig): IdentityMethod | undefined {
  if (config.identity !== undefined || config.user_info_uri === undefined) return config.identity;
  const field = config.identity_field === undefined ? [] : [pointerOf(config.identity_field)];
  return { call: { uri: config.user_info_uri }, subject: [], identifiers: field };
}

/**
 * Reads the identity from the documents of a flow.
 *
 * @returns undefined if no subject is found, or if a part of it is missing, because the remaining parts could match
 * another user
 */
export function readIdentity(way: IdentityMethod, document: FlowDocument): Identity | undefined {
  const identifiers = (way.identifiers ?? []).filter((pointer) => !isUnverified(document, pointer));
  const texts = identifiers.map((pointer) => textAt(document, pointer)).filter((text) => text !== undefined);
  const subject = subjectOf(way.subject.length > 0 ? way.subject : usualSubject(document, identifiers), document);
  return subject === undefined ? undefined : { subject, identifierCandidates: [...new Set(texts)] };
}

function usualSubject(document: FlowDocument, identifiers: readonly string[]): string[] {
  const found = [...USUAL_SUBJECTS, ...identifiers].find((pointer) => textAt(document, pointer) !== undefined);
  return found === undefined ? [] : [found];
}

/**
 * Joins several parts with colons. The parts are encoded, so that two different lists of the same length never give the
 * same subject.
 */
function subjectOf(pointers: readonly string[], document: FlowDocument): string | undefined {
  const parts = pointers.map((pointer) => textAt(document, pointer));
  if (parts.length === 0 || parts.some((part) => part === undefined)) return undefined;
  return parts.length === 1 ? parts[0] : parts.map((part) => encodeURIComponent(part ?? '')).join(':');
}

/** Whether an email address is unverified, so that it could belong to another user (OpenID Connect Core §5.1). */
function isUnverified(document: FlowDocument, pointer: string): boolean {
  if (!pointer.endsWith('/email')) return false;
  const verified = atPointer(document, `${pointer}_verified`);
  return verified === false || verified === 'false';
}

function pointerOf(dotted: string): string {
  return `/identity/${dotted.replaceAll('.', '/')}`;
}
