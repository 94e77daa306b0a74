import type { AuthorizationType } from '../authorization/type.ts';
import type { OAuthDeviations } from './oauth-deviations.ts';

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
  /** The members that an MCP server has told; the others were written by an operator. */
  learned?: string[];
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
  /** TRUSTED_IDP: the service name that signatures contain. */
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

/** True for a field whose input hides what is typed. `secretFieldsOf` (core/authorization/fields.ts) says which values of a pattern are secret. */
export function isSecretField(field: AuthField): boolean {
  return field.input_type === 'password' || field.input_type === 'textarea';
}
