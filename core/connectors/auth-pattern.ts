import type { OAuthDeviations } from './oauth-deviations.ts';

/** How an account of a pattern authenticates; the values of `authorization_type`. */
export const AUTHORIZATION_TYPES = [
  'OAUTH',
  'API_KEY',
  'BASIC_AUTH',
  'BEARER_TOKEN',
  'CUSTOM',
  'BASIC',
  'OAUTH_M2M',
  'BOARD_OAUTH1',
  'WORKSPACE_DWD',
  'TRUSTED_IDP',
  'SMART_FHIR',
  'NO_AUTH',
] as const;

export type AuthorizationType = (typeof AUTHORIZATION_TYPES)[number];

export interface FieldPlacement {
  in: 'header' | 'query' | 'cookie' | 'body';
  name: string;
}

/** One value that a person types. */
export interface AuthField {
  field_name: string;
  label: string;
  input_type: 'text' | 'password' | 'select' | 'textarea';
  options?: string[];
  hint?: string;
  required?: boolean;
  /** Describes the whole value; see linear-pattern.ts for the language. */
  pattern?: string;
  is_path_param?: boolean;
  placement?: FieldPlacement;
}

export interface FieldMutation {
  prefix?: string;
  suffix?: string;
  default?: string;
}

export interface ScopeEntry {
  scope: string;
  display_name: string;
  description?: string;
  required?: boolean;
}

/** How to speak OAuth with a provider. The deviations are for connector files alone; patterns of the contract are closed. */
export interface OAuthConfig extends OAuthDeviations {
  authorize_uri?: string;
  token_uri?: string;
  user_info_uri?: string;
  revocation_uri?: string;
  issuer?: string;
  available_scopes?: ScopeEntry[];
  scope_separator?: string;
  pkce?: 'required' | 'supported' | 'none';
  client_auth_method?: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none';
  extra_authorize_params?: Record<string, string>;
  extra_token_params?: Record<string, string>;
  token_request_format?: 'form' | 'json';
  identity_field?: string;
  /** BOARD_OAUTH1: where temporary credentials are had. */
  request_token_uri?: string;
  signature_method?: 'HMAC-SHA1' | 'HMAC-SHA256' | 'PLAINTEXT';
  signature_placement?: 'header' | 'query' | 'body';
  realm?: string;
  /** BOARD_OAUTH1 without `request_token_uri`: the names of the client's key and of the return address in `authorize_uri`. */
  key_parameter?: string;
  return_parameter?: string;
  /** TRUSTED_IDP: the service that calls are signed for, as it stands in the scope of a signature. */
  signing_service?: string;
  /** TRUSTED_IDP: whom our tokens are for, where a connection has no client id at the cloud. */
  identity_audience?: string;
}

/** One way of authenticating, as written in `auth_patterns` of a provider or a connector file. */
export interface AuthPattern {
  type: AuthorizationType;
  display_name?: string;
  description?: string;
  fields?: AuthField[];
  account_fields?: AuthField[];
  oauth_config?: OAuthConfig;
  is_mcp?: boolean;
  auth_header_key_override?: string;
  /** Connector files only: the scheme word instead of Bearer; empty for the bare value. */
  auth_scheme?: string;
  auth_field_mutations?: Record<string, FieldMutation>;
  placement?: FieldPlacement;
}

const USER_AND_PASSWORD: readonly AuthField[] = [
  { field_name: 'username', label: 'User name', input_type: 'text', required: true },
  { field_name: 'password', label: 'Password', input_type: 'password', required: true },
];

/** What a static type asks for when its pattern lists no fields. */
const CONVENTIONAL_FIELDS: Partial<Record<AuthorizationType, readonly AuthField[]>> = {
  API_KEY: [{ field_name: 'api_key', label: 'API key', input_type: 'password', required: true }],
  BEARER_TOKEN: [{ field_name: 'token', label: 'Token', input_type: 'password', required: true }],
  BASIC: USER_AND_PASSWORD,
  BASIC_AUTH: USER_AND_PASSWORD,
};

const STATIC_TYPES: ReadonlySet<AuthorizationType> = new Set([
  'API_KEY',
  'BASIC',
  'BASIC_AUTH',
  'BEARER_TOKEN',
  'CUSTOM',
]);

/**
 * True for a record system whose scopes are all those of backend services: no person gives access, the client itself has it (SMART
 * App Launch 2.2, "Backend Services").
 */
export function isBackendPattern({ type, oauth_config: config = {} }: AuthPattern): boolean {
  const scopes = config.available_scopes ?? [];
  return type === 'SMART_FHIR' && scopes.length > 0 && scopes.every(({ scope }) => scope.startsWith('system/'));
}

/** True for a pattern whose provider is a record system, which says itself where its tokens are had (SMART App Launch 2.2). */
export function isRecordSystem({
  type,
  oauth_config: config = {},
}: Pick<AuthPattern, 'type' | 'oauth_config'>): boolean {
  return type === 'SMART_FHIR' || config.discovery === 'smart';
}

/** True for the types whose credential a person types (static_auth). */
export function isStaticType(type: AuthorizationType): boolean {
  return STATIC_TYPES.has(type);
}

/** The fields of static_auth.details: those of the pattern, or the convention of its type. */
export function staticFieldsOf(pattern: AuthPattern): readonly AuthField[] {
  return pattern.fields ?? CONVENTIONAL_FIELDS[pattern.type] ?? [];
}

/** True for a field whose input hides what is typed. `secretFieldsOf` says which values of a pattern are secret. */
export function isSecretField(field: AuthField): boolean {
  return field.input_type === 'password' || field.input_type === 'textarea';
}

/**
 * The static fields of a pattern whose values are never shown: those that are typed as a password or in a text area, and those that
 * are the credential itself whatever their input type is.
 */
export function secretFieldsOf(pattern: AuthPattern): ReadonlySet<string> {
  const names = staticFieldsOf(pattern)
    .filter(isSecretField)
    .map((field) => field.field_name);
  return new Set([...names, ...credentialNamesOf(pattern)]);
}

/** The fields that are the credential by their role in the type. */
function credentialNamesOf(pattern: AuthPattern): readonly string[] {
  switch (pattern.type) {
    case 'API_KEY':
    case 'BEARER_TOKEN':
      return [credentialFieldOf(pattern)?.field_name].filter((name) => name !== undefined);
    case 'BASIC':
    case 'BASIC_AUTH':
      // Without a password of its own, the user name is where a key goes.
      return [staticFieldsOf(pattern).some((field) => field.field_name === 'password') ? 'password' : 'username'];
    case 'OAUTH_M2M':
    case 'SMART_FHIR':
      return ['client_secret', 'private_key'];
    default:
      return [];
  }
}

/**
 * The field that carries the one credential of an API_KEY or BEARER_TOKEN pattern: the one with the type's usual name,
 * else the first secret one that is not placed by itself.
 */
export function credentialFieldOf(pattern: AuthPattern): AuthField | undefined {
  const candidates = staticFieldsOf(pattern).filter((field) => !field.placement && !field.is_path_param);
  const usual = pattern.type === 'API_KEY' ? 'api_key' : 'token';
  return (
    candidates.find((field) => field.field_name === usual) ??
    candidates.find((field) => isSecretField(field)) ??
    candidates[0]
  );
}
