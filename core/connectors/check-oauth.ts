import type { FieldError } from '../errors.ts';
import type { AuthPattern, OAuthConfig } from './auth-pattern.ts';
import { isCallerHeader, isCredentialHeader } from './header-names.ts';
import { patternProblem } from './linear-pattern.ts';
import { CREDENTIAL_PLACES, oauthAddresses, oauthCalls } from './oauth-addresses.ts';

const PLACE = /\{\{([^{}]*)\}\}/g;

/** A pointer into a document of the consent flow, such as the token response. The first segment names the document. */
const SOURCES = /^\/(account|callback|id_token|identity|lookup|token)(\/|$)/;

/**
 * Pointers to credentials. Account values are shown and used in URLs, so they must not come from these pointers.
 */
const CREDENTIALS = /^\/token\/(access_token|refresh_token|id_token|client_secret)$/;

/**
 * Checks the rules for oauth_config that a schema cannot express. Names, placeholders and pointers must refer to
 * something that exists, account values must not be credentials and need a rule, and some headers must not be set.
 *
 * @param path the path of the pattern in error messages
 */
export function checkOAuth(pattern: AuthPattern, path: string): FieldError[] {
  const config = pattern.oauth_config ?? {};
  const at = `${path}.oauth_config`;
  return [
    ...checkValues(config, at),
    ...checkPointers(config, at),
    ...checkTexts(pattern, config, at),
    ...checkHeaders(config, at),
    ...checkOrigins(config, at),
  ];
}

function checkValues({ account_values: values = [] }: OAuthConfig, at: string): FieldError[] {
  const names = values.map(({ name }) => name);
  return values.flatMap(({ name, from, pattern, origins }, index) => {
    const field = `${at}.account_values[${index}]`;
    const errors: FieldError[] = [];
    if (names.indexOf(name) !== index) errors.push({ field: `${field}.name`, message: `is used twice: ${name}` });
    if (CREDENTIAL_PLACES.has(name)) errors.push({ field: `${field}.name`, message: 'is reserved for a credential' });
    if (!SOURCES.test(from))
      errors.push({
        field: `${field}.from`,
        message: 'must begin with /account, /callback, /id_token, /identity, /lookup or /token',
      });
    if (CREDENTIALS.test(from)) errors.push({ field: `${field}.from`, message: 'must not be a credential' });
    const problem = pattern === undefined ? undefined : patternProblem(pattern);
    if (problem) errors.push({ field: `${field}.pattern`, message: problem });
    if (pattern === undefined && origins === undefined) {
      errors.push({ field, message: 'must have pattern or origins, so that the value can be checked' });
    }
    return errors;
  });
}

function checkPointers({ identity }: OAuthConfig, at: string): FieldError[] {
  const lists = { subject: identity?.subject ?? [], identifiers: identity?.identifiers ?? [] };
  return Object.entries(lists).flatMap(([list, pointers]) =>
    pointers.flatMap((pointer, index) =>
      SOURCES.test(pointer)
        ? []
        : [
            {
              field: `${at}.identity.${list}[${index}]`,
              message: 'must begin with /account, /callback, /id_token, /identity, /lookup or /token',
            },
          ],
    ),
  );
}

/** Checks that every placeholder refers to a value, in all texts except addresses. */
function checkTexts(pattern: AuthPattern, config: OAuthConfig, at: string): FieldError[] {
  const fields = [...(pattern.fields ?? []), ...(pattern.account_fields ?? [])].map((field) => field.field_name);
  const values = (config.account_values ?? []).map(({ name }) => name);
  const known = new Set([...fields, ...values]);
  const { extra_authorize_params, extra_token_params, resource } = config;
  const outsideCalls = {
    extra_authorize_params,
    extra_token_params,
    resource,
    'token.headers': config.token?.headers,
    'token.assertion_audience': config.token?.assertion_audience,
    'refresh.parameters': config.refresh?.parameters,
  };
  const inCalls = oauthCalls(config).map(([path, { headers, query, form, json }]): [string, unknown] => [
    path,
    { headers, query, form, json },
  ]);
  const unknown = (where: string, texts: unknown, places: ReadonlySet<string>) =>
    placesIn(texts)
      .filter((place) => !places.has(place))
      .map((place) => ({
        field: `${at}.${where}`,
        message: `{{${place}}} is not a known placeholder (known: ${[...places].join(', ') || 'none'})`,
      }));
  const withCredentials = new Set([...known, ...CREDENTIAL_PLACES]);
  return [
    ...Object.entries(outsideCalls).flatMap(([where, texts]) => unknown(where, texts, known)),
    ...inCalls.flatMap(([where, texts]) => unknown(where, texts, withCredentials)),
  ];
}

function placesIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(PLACE)].map((match) => match[1] ?? '');
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placesIn) : [];
}

function checkHeaders(config: OAuthConfig, at: string): FieldError[] {
  const ofToken = Object.keys(config.token?.headers ?? {})
    .filter((name) => !isCallerHeader(name))
    .map((name) => ({ field: `${at}.token.headers.${name}`, message: 'cannot be set by a connector' }));
  const ofCalls = oauthCalls(config).flatMap(([path, { headers = {} }]) =>
    Object.keys(headers)
      .filter((name) => !isCredentialHeader(name))
      .map((name) => ({ field: `${at}.${path}.headers.${name}`, message: 'cannot be set by a connector' })),
  );
  return [...ofToken, ...ofCalls];
}

/** Checks that every variable origin comes from an account value with a list of allowed origins. */
function checkOrigins(config: OAuthConfig, at: string): FieldError[] {
  const withOrigins = new Set(
    (config.account_values ?? []).filter(({ origins }) => origins !== undefined).map(({ name }) => name),
  );
  const lost = oauthAddresses(config).filter(
    ({ originFrom }) => originFrom !== undefined && !withOrigins.has(originFrom),
  );
  return lost.map(({ path, originFrom }) => ({
    field: `${at}.${path}`,
    message: `takes its origin from the account value ${originFrom} (origin_from), but account_values has no entry of this name with origins`,
  }));
}
