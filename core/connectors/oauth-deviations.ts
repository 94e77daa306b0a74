/**
 * Deviations of a provider from the OAuth 2 standards, as in a connector file; catalogue/connector.schema.json
 * describes each key. Texts may contain {{name}} placeholders for account values; the texts of calls also for
 * credentials. Pointers are RFC 6901.
 */
export interface OAuthDeviations {
  /** `smart`: the endpoints are in the SMART configuration below the base URL of the API. */
  discovery?: 'smart';
  resource?: string;
  authorization?: AuthorizationDeviations;
  token?: TokenDeviations;
  exchange?: HttpCall;
  refresh?: RefreshMethod;
  revocation?: RevocationMethod;
  lookup?: HttpCall;
  identity?: IdentityMethod;
  account_values?: AccountValue[];
}

/** A request to a provider that the OAuth standards do not define. */
export interface HttpCall {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  uri: string;
  origin_from?: string;
  auth?: 'token' | 'client' | 'none';
  headers?: Record<string, string>;
  query?: Record<string, string>;
  form?: Record<string, string>;
  json?: unknown;
}

/** How a response reports a failure, regardless of its HTTP status. */
export interface ResponseRules {
  success?: { pointer: string; equals: string | number | boolean | null };
  code?: string;
  /** Maps the provider's error codes to standard codes. */
  codes?: Record<string, StandardCode>;
}

export type StandardCode = 'invalid_grant' | 'invalid_client' | 'slow_down' | 'temporarily_unavailable';

export interface AuthorizationDeviations {
  pushed_uri?: string;
  scope_parameters?: Record<string, string>;
  names?: Record<string, string>;
  omit?: string[];
  callback_names?: Record<string, string>;
}

export interface TokenDeviations {
  origin_from?: string;
  headers?: Record<string, string>;
  names?: Record<string, string>;
  omit?: string[];
  grant_types?: Record<string, string>;
  basic?: BasicStyle;
  assertion_audience?: string;
  answer?: TokenResponseShape;
}

export type BasicStyle = 'raw' | 'secret_as_user';

export type ExpiryUnit = 'seconds' | 'milliseconds' | 'epoch_seconds' | 'epoch_milliseconds' | 'rfc3339';

export interface TokenResponseShape {
  at?: string[];
  names?: Record<string, string>;
  expires_in_unit?: ExpiryUnit;
  default_life_s?: number;
  errors?: ResponseRules;
}

/** `access_token`: the provider renews an access token in exchange for the token itself. */
export type RenewalKind = 'rotating' | 'static' | 'none' | 'access_token';

export interface RefreshMethod {
  kind?: RenewalKind;
  uri?: string;
  parameters?: Record<string, string>;
  with_scopes?: boolean;
  call?: HttpCall;
  idle_days?: number;
  life_days?: number;
  margin_s?: number;
}

export type TokenKind = 'refresh_token' | 'access_token';

export interface RevocationMethod {
  supported?: false;
  call?: HttpCall;
  tokens?: TokenKind[];
  gone_statuses?: number[];
  errors?: ResponseRules;
}

export interface IdentityMethod {
  call?: HttpCall;
  errors?: ResponseRules;
  subject: string[];
  identifiers?: string[];
}

/**
 * An account value that the consent flow reads from the callback or from a response of the provider, and the rules that
 * it must meet. API clients can also set it; the same rules apply.
 */
export interface AccountValue {
  name: string;
  from: string;
  pattern?: string;
  origins?: string[];
  optional?: boolean;
}
