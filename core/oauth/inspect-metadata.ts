import type { AuthorizationServer } from 'oauth4webapi';
import { moduleOf } from '../authorization/registry.ts';
import { isClientPattern } from '../authorization/roles.ts';
import type { AuthPattern, OAuthConfig } from '../connectors/auth-pattern.ts';
import type { Check } from './check.ts';

/** Compares a pattern with the metadata of its provider (RFC 8414 §2). */
export function compareMetadata(pattern: AuthPattern, metadata: AuthorizationServer): Check[] {
  const config = pattern.oauth_config ?? {};
  return [
    ...endpoints(config, metadata),
    pkce(config, metadata),
    clientAuth(pattern, metadata),
    ...grants(pattern, metadata),
    ...scopes(config, metadata),
    ...pushed(config, metadata),
  ];
}

function endpoints(config: OAuthConfig, metadata: AuthorizationServer): Check[] {
  const pairs: [what: string, own: string | undefined, theirs: string | undefined][] = [
    ['authorize_uri', config.authorize_uri, metadata.authorization_endpoint],
    ['token_uri', config.token_uri, metadata.token_endpoint],
    ['revocation_uri', config.revocation_uri, metadata.revocation_endpoint],
    ['user_info_uri', config.user_info_uri, metadata.userinfo_endpoint],
  ];
  return pairs.flatMap(([what, own, theirs]) => {
    if (own === undefined && theirs === undefined) return [];
    return [compareEndpoint(what, own, theirs, config)];
  });
}

function compareEndpoint(
  what: string,
  own: string | undefined,
  theirs: string | undefined,
  { issuer, revocation }: OAuthConfig,
): Check {
  const found = theirs ?? 'not stated';
  const check = (verdict: Check['verdict'], expected = own ?? 'not stated'): Check => ({
    what,
    verdict,
    expected,
    found,
  });
  if (own === undefined) {
    if (what === 'revocation_uri' && revocation?.supported === false) return check('differs', 'no revocation endpoint');
    // If the pattern names the issuer, its metadata provides the missing value.
    return check(issuer === undefined ? 'unknown' : 'ok');
  }
  if (theirs === undefined || own.includes('{{')) return check('unknown');
  return check(own === theirs ? 'ok' : 'differs');
}

function pkce(
  { pkce: own = 'required' }: OAuthConfig,
  { code_challenge_methods_supported: methods }: AuthorizationServer,
): Check {
  const check = { what: 'pkce', expected: own, found: listed(methods) };
  if (methods === undefined) return { ...check, verdict: 'unknown' };
  return { ...check, verdict: methods.includes('S256') === (own !== 'none') ? 'ok' : 'differs' };
}

function clientAuth({ oauth_config = {}, is_mcp }: AuthPattern, metadata: AuthorizationServer): Check {
  const { token_endpoint_auth_methods_supported: methods } = metadata;
  const own = oauth_config.client_auth_method;
  const expected = own ?? (is_mcp ? 'client_secret_basic or none' : 'client_secret_basic');
  const check = { what: 'client_auth_method', expected, found: listed(methods) };
  if (methods === undefined) return { ...check, verdict: 'unknown' };
  return { ...check, verdict: expected.split(' or ').some((method) => methods.includes(method)) ? 'ok' : 'differs' };
}

function grants(pattern: AuthPattern, { grant_types_supported: types }: AuthorizationServer): Check[] {
  const { token, refresh } = pattern.oauth_config ?? {};
  // Some patterns obtain tokens for the client itself and without a user, for example for a SMART backend service.
  const usual = moduleOf(pattern.type).metadataGrant ?? 'authorization_code';
  const wanted: string[] = [isClientPattern(pattern) ? 'client_credentials' : usual];
  // A refresh with a custom call, or with the access token, is not a standard grant.
  const isStandard = refresh?.kind === 'rotating' || refresh?.kind === 'static';
  if (isStandard && refresh.call === undefined) wanted.push('refresh_token');
  return wanted.map((grant) => {
    const expected = token?.grant_types?.[grant] ?? grant;
    const check = { what: 'grant type', expected, found: listed(types) };
    if (types === undefined) return { ...check, verdict: 'unknown' };
    return { ...check, verdict: types.includes(expected) ? 'ok' : 'differs' };
  });
}

function scopes({ available_scopes = [] }: OAuthConfig, { scopes_supported: theirs }: AuthorizationServer): Check[] {
  if (available_scopes.length === 0) return [];
  const own = available_scopes.map(({ scope }) => scope);
  const check = { what: 'available_scopes', expected: own.join(', ') };
  if (theirs === undefined) return [{ ...check, verdict: 'unknown', found: listed(theirs) }];
  const missing = own.filter((scope) => !theirs.includes(scope));
  if (missing.length === 0) return [{ ...check, verdict: 'ok', found: 'all scopes' }];
  // Metadata may be incomplete (RFC 8414 §2), so a missing value is not a contradiction.
  return [{ ...check, verdict: 'unknown', found: `nothing about ${missing.join(', ')}` }];
}

function pushed({ authorization }: OAuthConfig, metadata: AuthorizationServer): Check[] {
  const { require_pushed_authorization_requests: required, pushed_authorization_request_endpoint: theirs } = metadata;
  const own = authorization?.pushed_uri;
  if (own === undefined && !required) return [];
  const verdict = theirs === undefined ? 'unknown' : own === theirs ? 'ok' : 'differs';
  const expected = own ?? 'requests that are not pushed';
  return [{ what: 'authorization.pushed_uri', verdict, expected, found: theirs ?? 'not stated' }];
}

function listed(values: readonly string[] | undefined): string {
  if (values === undefined) return 'not stated';
  return values.length === 0 ? 'none' : values.join(', ');
}
